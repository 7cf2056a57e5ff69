# make            builds the release binary
# make test       runs all tests (scripts/test)
# make install    installs it as PREFIX/bin/halo-raw, with the capabilities that let it run without sudo
# make uninstall  removes it
#
# DESTDIR is for those who make packages: nothing is granted then, as a package's own scripts do that.

PREFIX ?= /usr/local
BINDIR = $(DESTDIR)$(PREFIX)/bin
PROGRAM = $(BINDIR)/halo-raw
BUILT = .build/release/halo-raw
CAPABILITIES = cap_net_raw,cap_net_admin+ep
SUDO = $(if $(DESTDIR),,$(shell [ "$$(id -u)" -eq 0 ] || echo sudo))
# setcap is in sbin, which is not on every user's path.
SETCAP = PATH="$$PATH:/usr/sbin:/sbin" setcap

.PHONY: build test install uninstall

build:
	swift build --configuration release --product halo-raw

test:
	scripts/test

# Not after 'build' by itself: that would be run by root in 'sudo make install', and leave root's files behind.
install:
	@[ -x $(BUILT) ] || { echo "There is no $(BUILT) yet: run make first." >&2; exit 1; }
	$(SUDO) install -D -m 755 $(BUILT) $(PROGRAM)
ifndef DESTDIR
	$(SUDO) env $(SETCAP) $(CAPABILITIES) $(PROGRAM)
	@echo "$(PROGRAM) has $(CAPABILITIES): who may run it may use all Bluetooth adapters, without sudo."
endif

uninstall:
	$(SUDO) rm -f $(PROGRAM)
