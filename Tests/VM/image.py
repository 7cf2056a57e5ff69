"""Makes what the virtual machine starts with: Debian's kernel and an initramfs, in a cache folder.

Nothing is installed: the kernel's package is downloaded and unpacked into the cache. The initramfs has busybox and
the modules that it takes to reach the host's file system; all others stay in the cache, for modprobe.
"""

import fcntl
import gzip
import lzma
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

GUEST = Path(__file__).resolve().parent / "guest"
# Raised whenever a cache made by an older version of this file would not do.
LAYOUT = 1
PACKAGE = "linux-image-amd64"
BUSYBOX = Path("/bin/busybox")
# Loaded at the start, each after those it depends on.
START_MODULES = ["virtio_pci", "virtio_console", "9pnet_virtio", "9p", "overlay", "bluetooth", "hci_vhci", "hci_uart"]
# Parts of the module tree that a machine without hardware may want; the rest is left out of the cache.
KEPT_DRIVERS = {"bluetooth", "char", "hid", "input", "tty", "virtio"}


class ImageError(Exception):
    """Why there is no image, in a sentence."""


class Image:
    def __init__(self, cache: Path):
        self.cache = cache
        self.kernel, self.initramfs, self.modules = cache / "kernel", cache / "initramfs", cache / "modules"

    def ensure(self):
        """Makes the image unless it is there already. Of several runners at once, one makes it."""
        self.cache.mkdir(parents=True, exist_ok=True)
        with open(self.cache / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            stamp = self.cache / "made-of"
            if not stamp.exists() or stamp.read_text() != made_of():
                stamp.unlink(missing_ok=True)
                self.make()
                stamp.write_text(made_of())  # last: a cache that has it is complete

    def make(self):
        work = self.cache / "work"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        try:
            package = kernel_package()
            print(f"vm: making the virtual machine's image from {package}", file=sys.stderr, flush=True)
            # As root, apt would otherwise complain that its own user may not write here.
            run("apt-get", "--quiet", "-o", "APT::Sandbox::User=root", "download", package, cwd=work)
            (archive,) = work.glob("*.deb")
            run("dpkg-deb", "--extract", archive.name, "root", cwd=work)
            self.take_modules(work / "root/lib/modules")
            (packed,) = (work / "root/boot").glob("vmlinuz-*")
            self.kernel.write_bytes(elf_kernel(packed.read_bytes()))
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
        for name in START_MODULES:
            listing = run("modprobe", "--dirname", self.modules, "--set-version", version.name,
                          "--show-depends", name)
            # Lines are `insmod PATH OPTIONS`, or `builtin NAME`.
            paths = [words[1] for words in map(str.split, listing.splitlines()) if words[0] == "insmod"]
            order += [path for path in paths if path not in order]
        archive = Archive()
        for folder in ("bin", "dev", "proc", "sys", "modules", "host", "layer", "system"):
            archive.add(folder, 0o040755)
        archive.add("dev/console", 0o020600, device=(5, 1))
        archive.add("bin/busybox", 0o100755, BUSYBOX.read_bytes())
        archive.add("init", 0o100755, (GUEST / "init").read_bytes())
        for number, path in enumerate(order):
            name = Path(path).name.removesuffix(".xz")
            archive.add(f"modules/{number:02}-{name}", 0o100644, module_bytes(Path(path)))
        return archive.finished()


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


def made_of() -> str:
    return f"{LAYOUT} {PACKAGE} {' '.join(START_MODULES)}\n" + (GUEST / "init").read_text()


def kernel_package() -> str:
    """The package with a kernel that `linux-image-amd64` stands for today."""
    for line in run("apt-cache", "depends", PACKAGE).splitlines():
        relation, _, name = line.strip().partition(": ")
        if relation == "Depends" and name.startswith("linux-image-"):
            return name
    raise ImageError(f"apt knows no {PACKAGE}; has this system Debian's package lists? (apt-get update)")


def elf_kernel(packed: bytes) -> bytes:
    """The kernel proper. QEMU enters it directly (by its PVH note), which saves the guest from unpacking it: seconds
    without KVM. The form of a bzImage is in the kernel's boot.rst. What is packed otherwise is used as it is."""
    sectors = packed[0x1F1] or 4
    offset, length = struct.unpack_from("<II", packed, 0x248)
    start = (sectors + 1) * 512 + offset
    payload = packed[start : start + length]
    # The packed length stands behind, which only gzip's reader takes amiss.
    if payload.startswith(b"\xfd7zXZ\0"):
        return lzma.LZMADecompressor().decompress(payload)
    if payload.startswith(b"\x1f\x8b"):
        return gzip.decompress(payload[:-4])
    return packed


def module_bytes(path: Path) -> bytes:
    """busybox loads plain modules only; Debian 13 packs them."""
    return lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()


def run(*command, cwd=None) -> str:
    try:
        return subprocess.run(
            list(map(str, command)), cwd=cwd, check=True, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=os.environ | {"LC_ALL": "C"}).stdout
    except FileNotFoundError:
        raise ImageError(f"there is no {command[0]}; run scripts/setup kernel") from None
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip() or f"exit code {error.returncode}").splitlines()[-1]
        raise ImageError(f"{command[0]} failed: {last}") from None
