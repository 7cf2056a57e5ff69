"""What the tests run: $HALO_RAW and the programs built beside it; by default the release build."""

import functools
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent.parent
HALO_RAW = Path(os.environ.get("HALO_RAW") or ROOT / ".build/release/halo-raw").absolute()


def built(name="halo-raw") -> Path:
    """A program of the build that is tested."""
    path = HALO_RAW if name == "halo-raw" else HALO_RAW.parent / name
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing; build it with `swift build -c release --product {name}`")
    if "HALO_COPIES" in os.environ:
        copy(path)
    return path


@functools.cache
def copy(path):
    """Has a virtual machine copy a file of its host into its memory (Tests/Kernel/machine): a change of its time does."""
    os.utime(path)


def whole_modules() -> list[str]:
    """Options of `swift build` that make a build of everything quicker: scripts/whole-modules."""
    lines = '. "$0" && printf "%s\\n" "${whole_modules[@]}"'
    return subprocess.run(
        ["bash", "-c", lines, ROOT / "scripts/whole-modules"], capture_output=True, text=True, check=True).stdout.split()
