# make            builds the release binary
# make test       says in ten minutes whether all is well (scripts/test; scripts/test all runs all tests)
# make install    installs it, for everybody without privileges and for a group with those to use the radio
# make uninstall  removes it
# make fuzz       fuzzes all that takes untrusted bytes, an hour each (scripts/fuzz)
# make deb        builds the Debian packages, in .build/packages (scripts/package): halo-raw for amd64 and arm64, and
#                 halo-raw-dev, the sources of the libraries. On an arm64 machine, that for amd64 is left out
# make deb-arm64  builds only halo-raw for a Raspberry Pi, on an amd64 machine (scripts/cross-build)
# make release VERSION=0.2.0  checks the version, and builds what a release has (scripts/release)
# make bench      runs all benchmarks (docs/performance.md)
# make bench-start   compares the start of a stream with a C program, Python and Bumble
# make bench-stream  compares the live stream with a C program, Python and Bumble
# make bench-kernel  the same on adapters of a Linux kernel, in a virtual machine
# make bench-serve   compares a server with a C program and Bumble
# make bench-kernel-serve  the same on adapters of a Linux kernel, and with BlueZ
# make bench-rest    measures what a program costs that runs for weeks, beside bleak
# make bench-security  measures addresses that are resolved, and the time until a link is encrypted, beside Bumble
# make bench-decode  compares the speed of decode with a C program, tshark and btmon
#
# Two files of one program are installed:
#   PREFIX/bin/halo-raw           for everybody; it has no privilege
#   PREFIX/lib/halo-raw/halo-raw  root:GROUP 0750, with capabilities. The first becomes this one where a command needs it
#                                 and the user may run it.
# What members of the group can do with it is in SECURITY.md. Nobody is a member at first: sudo usermod -aG halo $USER
#
#   make install NET_ADMIN=1      lets the group also switch adapters on and off, and take them (user:hciN)
#
# Manual pages, completion for bash, zsh and fish (scripts/install-data), and services for systemd that are off at first
# (scripts/install-units) are installed, too.
#
# The Swift libraries are linked into the binary. With them elsewhere, anybody who may write there would have the
# capabilities, too, and the toolchain could not be removed.
#
# DESTDIR is for those who make packages: nothing is granted then, as a package's own scripts do that.

PREFIX ?= /usr/local
GROUP ?= halo
PROGRAM = $(DESTDIR)$(PREFIX)/bin/halo-raw
PRIVILEGED = $(DESTDIR)$(PREFIX)/lib/halo-raw/halo-raw
BUILT ?= .build/release/halo-raw
# What is built; scripts/test release builds more.
PRODUCTS ?= halo-raw
# The program that prints manual pages and completion scripts: one that runs here.
PRINTER ?= $(BUILT)
SHARE = $(DESTDIR)$(PREFIX)/share
# The address of the repository, for the packages.
REPOSITORY ?= $(patsubst %.git,%,$(filter https://%,$(shell git remote get-url origin 2>/dev/null)))
export REPOSITORY
UNITS = $(DESTDIR)$(PREFIX)/lib/systemd/system
CAPABILITIES = cap_net_raw$(if $(filter 1,$(NET_ADMIN)),$(comma)cap_net_admin)+ep
comma = ,
SUDO = $(if $(DESTDIR),,$(shell [ "$$(id -u)" -eq 0 ] || echo sudo))
# setcap and groupadd are in sbin, which is not on every user's path.
ADMIN = $(SUDO) env PATH="$$PATH:/usr/sbin:/sbin"

.PHONY: build test install uninstall deb deb-arm64 release fuzz bench bench-start bench-stream bench-kernel \
  bench-serve bench-kernel-serve bench-rest bench-security bench-decode

# The C++ library is in the program, too: to find its symbols takes a fifth of the start. The linker prefers an archive only in
# a folder without the shared library.
build:
	@mkdir -p .build/archives
	@ln -sf "$$(cc -print-file-name=libstdc++.a)" .build/archives/
	for product in $(PRODUCTS); do \
	  swift build --product $$product $$(scripts/release-options) -Xswiftc -L.build/archives || exit; \
	done

test:
	scripts/test

fuzz:
	scripts/fuzz --seconds 3600

bench: bench-start bench-stream bench-kernel bench-serve bench-kernel-serve bench-rest bench-security bench-decode

bench-start: build
	HALO_RAW=$(BUILT) Benchmarks/start/bench

bench-stream: build
	HALO_RAW=$(BUILT) Benchmarks/stream/bench

bench-kernel: build
	HALO_RAW=$(BUILT) Benchmarks/kernel/bench

bench-serve:
	$(MAKE) build PRODUCTS=benchmark-server
	Benchmarks/serve/bench

bench-kernel-serve:
	$(MAKE) build PRODUCTS=benchmark-server
	Benchmarks/kernel-serve/bench

bench-rest: build
	HALO_RAW=$(BUILT) Benchmarks/rest/bench

bench-security: build
	HALO_RAW=$(BUILT) Benchmarks/security/bench

bench-decode: build
	HALO_RAW=$(BUILT) Benchmarks/decode/bench

# Does not build: in 'sudo make install' root would, and leave root's files behind.
install:
	@[ -x $(BUILT) ] || { echo "There is no $(BUILT) yet: run make first." >&2; exit 1; }
	@! ldd $(BUILT) 2>/dev/null | grep -q libswift || \
	  { echo "$(BUILT) needs the libraries of the toolchain, as swift build leaves it: run make first." >&2; exit 1; }
	$(SUDO) install -D -m 755 $(BUILT) $(PROGRAM)
	$(SUDO) scripts/install-data $(PRINTER) $(SHARE)
	$(SUDO) scripts/install-units $(PREFIX)/bin $(UNITS)
ifdef DESTDIR
	install -D -m 750 $(BUILT) $(PRIVILEGED)
else
	getent group $(GROUP) >/dev/null || $(ADMIN) groupadd --system $(GROUP)
	@# The user of the services.
	getent passwd halo >/dev/null || $(ADMIN) useradd --system --gid $(GROUP) --no-create-home \
	  --home-dir /var/lib/halo-raw --shell /usr/sbin/nologin halo
	$(SUDO) install -d -m 755 -o root -g root $(dir $(PRIVILEGED))
	$(SUDO) install -m 750 -o root -g $(GROUP) $(BUILT) $(PRIVILEGED)
	$(ADMIN) setcap $(CAPABILITIES) $(PRIVILEGED)
	@echo "Members of the group $(GROUP) use adapters without sudo ($(CAPABILITIES)). To join it:"
	@echo "  sudo usermod -aG $(GROUP) \$$USER    and log in again"
endif

deb: build
	scripts/package
	scripts/package dev
	[ "$$(uname -m)" != x86_64 ] || $(MAKE) --no-print-directory deb-arm64

deb-arm64: build
	program=$$(scripts/cross-build) && scripts/package arm64 $$program

release:
	@scripts/release $(VERSION)

uninstall:
	$(SUDO) rm -f $(PROGRAM) $(PRIVILEGED)
	$(SUDO) scripts/install-data --remove $(SHARE)
	$(SUDO) scripts/install-units --remove $(UNITS)
	[ ! -d $(dir $(PRIVILEGED)) ] || $(SUDO) rmdir $(dir $(PRIVILEGED))
ifndef DESTDIR
	@# A user of another home, and a group with members, were made by hand, and are kept.
	case $$(getent passwd halo) in halo:*:/var/lib/halo-raw:*) $(ADMIN) userdel halo ;; esac
	case $$(getent group $(GROUP)) in *:) $(ADMIN) groupdel $(GROUP) ;; esac
endif
