"""Makes what a virtual machine starts with: Debian's kernel and an initramfs, in a cache folder.

Nothing is installed: the kernel's package is unpacked into the cache. The initramfs has busybox and the modules that it
takes to reach the root file system of the guest; all others stay in the cache, for modprobe.
"""

import fcntl
import gzip
import lzma
import os
import platform
import shutil
import struct
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
GUEST = HERE / "guest"
# Raised whenever a cache made by an older version of this file would not do.
LAYOUT = 2
# Loaded at the start, each after those it depends on.
START_MODULES = ["virtio_pci", "virtio_console", "9pnet_virtio", "9p", "overlay", "bluetooth", "hci_uart"]
# Parts of the module tree that a machine without hardware may want; the rest is left out of the cache.
KEPT_DRIVERS = {"bluetooth", "char", "hid", "input", "power", "tty", "virtio"}
# The releases of Debian whose kernels there are images of, and these kernels.
RELEASES = {"bookworm": "6.1", "trixie": "6.12"}
# What Debian's package lists are signed with, where the package debian-archive-keyring is installed.
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


class ImageError(Exception):
    """Why there is no image, in a sentence."""


class Image:
    """For guests whose root file system is the host's."""

    busybox = Path("/bin/busybox")
    start_modules = [*START_MODULES, "hci_vhci"]

    def __init__(self, cache: Path):
        self.cache = cache
        self.kernel, self.initramfs, self.modules = cache / "kernel", cache / "initramfs", cache / "modules"

    def made_of(self) -> str:
        return f"{LAYOUT} linux-image-amd64 {' '.join(self.start_modules)}\n" + (GUEST / "init").read_text()

    def apt_options(self, work: Path) -> list[str]:
        """What has apt take the package from where it shall be from."""
        return []

    def package(self, work: Path) -> Path:
        """The package with a kernel that `linux-image-amd64` stands for today."""
        options = self.apt_options(work)
        for line in run("apt-cache", *options, "depends", "linux-image-amd64").splitlines():
            relation, _, name = line.strip().partition(": ")
            if relation == "Depends" and name.startswith("linux-image-"):
                # As root, apt would otherwise complain that its own user may not write here.
                run("apt-get", "--quiet", *options, "-o", "APT::Sandbox::User=root", "download", name, cwd=work)
                (archive,) = work.glob("*.deb")
                return archive
        raise ImageError("apt knows no linux-image-amd64; has this system Debian's package lists? (apt-get update)")

    def kernel_of(self, packed: bytes) -> bytes:
        """The kernel proper. QEMU enters it directly (by its PVH note), which saves the guest from unpacking it: seconds
        without KVM. The form of a bzImage is in the kernel's boot.rst. What is packed otherwise is used as it is."""
        sectors = packed[0x1F1] or 4
        offset, length = struct.unpack_from("<II", packed, 0x248)
        start = (sectors + 1) * 512 + offset
        payload = packed[start : start + length]
        # The packed length stands behind, which only the readers of gzip and zstd take amiss.
        if payload.startswith(b"\xfd7zXZ\0"):
            return lzma.LZMADecompressor().decompress(payload)
        if payload.startswith(b"\x1f\x8b"):
            return gzip.decompress(payload[:-4])
        if payload.startswith(b"\x28\xb5\x2f\xfd"):
            return run_bytes("zstd", "--decompress", "--stdout", "--quiet", stdin=payload[:-4])
        return packed

    def ensure(self):
        """Makes the image unless it is there already. Of several runners at once, one makes it."""
        self.cache.mkdir(parents=True, exist_ok=True)
        with open(self.cache / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            stamp = self.cache / "made-of"
            if not stamp.exists() or stamp.read_text() != self.made_of():
                stamp.unlink(missing_ok=True)
                self.make()
                stamp.write_text(self.made_of())  # last: a cache that has it is complete

    def make(self):
        work = self.cache / "work"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        try:
            package = self.package(work)
            print(f"vm: making the virtual machine's image from {package.name}", file=sys.stderr, flush=True)
            run("dpkg-deb", "--extract", package, "root", cwd=work)
            # In Debian 13, /lib is part of /usr.
            (tree,) = [folder for folder in (work / "root/lib/modules", work / "root/usr/lib/modules") if folder.exists()]
            self.take_modules(tree)
            (packed,) = (work / "root/boot").glob("vmlinuz-*")
            self.kernel.write_bytes(self.kernel_of(packed.read_bytes()))
            self.initramfs.write_bytes(self.archive())
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def take_modules(self, tree: Path):
        (version,) = tree.iterdir()
        for folder in [version / "kernel/sound", *(version / "kernel/drivers").iterdir()]:
            if folder.name not in KEPT_DRIVERS:
                shutil.rmtree(folder)
        shutil.rmtree(self.modules, ignore_errors=True)
        # depmod and modprobe insist on lib/modules below the folder that they are told.
        (self.modules / "lib").mkdir(parents=True)
        shutil.move(tree, self.modules / "lib")
        run("depmod", "--basedir", self.modules, version.name)

    def archive(self) -> bytes:
        """The initramfs."""
        (version,) = (self.modules / "lib/modules").iterdir()
        order = []
        for name in self.start_modules:
            listing = run("modprobe", "--dirname", self.modules, "--set-version", version.name,
                          "--show-depends", name)
            # Lines are `insmod PATH OPTIONS`, or `builtin NAME`.
            paths = [words[1] for words in map(str.split, listing.splitlines()) if words[0] == "insmod"]
            order += [path for path in paths if path not in order]
        archive = Archive()
        for folder in ("bin", "dev", "proc", "sys", "modules", "host", "layer", "system"):
            archive.add(folder, 0o040755)
        archive.add("dev/console", 0o020600, device=(5, 1))
        archive.add("bin/busybox", 0o100755, self.busybox.read_bytes())
        archive.add("init", 0o100755, (GUEST / "init").read_bytes())
        for number, path in enumerate(order):
            name = Path(path).name.removesuffix(".xz")
            archive.add(f"modules/{number:02}-{name}", 0o100644, module_bytes(Path(path)))
        return archive.finished()


class ReleaseImage(Image):
    """The same with the kernel of another release of Debian than this machine's."""

    def __init__(self, cache: Path, release: str):
        super().__init__(cache)
        self.release = release

    def made_of(self) -> str:
        return f"{self.release} {super().made_of()}"

    def apt_options(self, work: Path) -> list[str]:
        """A configuration of apt with nothing but this release, from the mirror that this machine's apt uses."""
        try:
            mirror = run(HERE.parent.parent / "scripts/mirror").strip()
        except ImageError:
            raise ImageError("apt has no package lists of Debian; run apt-get update") from None
        signed = f"[signed-by={KEYRING}] " if KEYRING.exists() else ""
        folder = work / "apt"
        for name in ("lists/partial", "archives/partial"):
            (folder / name).mkdir(parents=True)
        (folder / "status").touch()
        (folder / "sources.list").write_text(f"deb {signed}{mirror} {self.release} main\n")
        settings = {
            "Dir::State": folder, "Dir::State::status": folder / "status", "Dir::Cache": folder,
            "Dir::Etc::sourcelist": folder / "sources.list", "Dir::Etc::sourceparts": "-",
            "APT::Architecture": "amd64", "APT::Architectures": "amd64", "APT::Default-Release": self.release,
            "APT::Sandbox::User": "root", "APT::Update::Error-Mode": "any",
            "Acquire::Languages": "none", "Acquire::Retries": 3}
        options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
        run("apt-get", "--quiet", *options, "update")
        return options


def image_of(cache: Path, release: str | None) -> Image:
    """The image with the kernel of a release of Debian; of this machine's, if None is given."""
    if release is None or release == platform.freedesktop_os_release().get("VERSION_CODENAME"):
        return Image(cache)
    return ReleaseImage(cache / release, release)


class SystemImage(Image):
    """For arm64 guests with a root file system of their own, which has the kernel's package in `/kernel`."""

    start_modules = START_MODULES

    def __init__(self, cache: Path, system: Path):
        super().__init__(cache)
        self.system = system
        self.busybox = system / "usr/bin/busybox"

    def made_of(self) -> str:
        names = " ".join(path.name for path in (self.system / "kernel").glob("*.deb"))
        return f"{LAYOUT} {names} {' '.join(self.start_modules)}\n" + (GUEST / "init").read_text()

    def package(self, work: Path) -> Path:
        for path in (self.system / "kernel").glob("*.deb"):
            return path
        raise ImageError(f"{self.system} has no package of a kernel; it is not of scripts/debian-system")

    def kernel_of(self, packed: bytes) -> bytes:
        # QEMU knows this form.
        return packed


class Archive:
    """A cpio archive of the form `newc`, as the kernel unpacks it (its buffer-format.rst)."""

    def __init__(self):
        self.parts, self.members = [], 0

    def add(self, name: str, mode: int, content: bytes = b"", device=(0, 0)):
        self.members += 1
        encoded = name.encode() + b"\0"
        owner = links = time = 0
        fields = (self.members, mode, owner, owner, links + 1, time, len(content), 0, 0, *device, len(encoded), 0)
        header = b"070701" + b"".join(b"%08x" % field for field in fields)
        for part in (header + encoded, content):
            self.parts.append(part + bytes(-len(part) % 4))

    def finished(self) -> bytes:
        self.add("TRAILER!!!", 0)
        return b"".join(self.parts)


def module_bytes(path: Path) -> bytes:
    """busybox loads plain modules only; Debian 13 packs them."""
    return lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()


def run(*command, cwd=None) -> str:
    return run_bytes(*command, cwd=cwd).decode()


def run_bytes(*command, cwd=None, stdin=b"") -> bytes:
    try:
        return subprocess.run(
            list(map(str, command)), cwd=cwd, check=True, input=stdin, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=os.environ | {"LC_ALL": "C"}).stdout
    except FileNotFoundError:
        raise ImageError(f"there is no {command[0]}; run scripts/setup kernel") from None
    except subprocess.CalledProcessError as error:
        last = (error.stderr.decode(errors="replace").strip() or f"exit code {error.returncode}").splitlines()[-1]
        raise ImageError(f"{command[0]} failed: {last}") from None
