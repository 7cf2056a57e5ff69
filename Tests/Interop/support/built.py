"""What the tests run: $HALO_RAW and the programs built beside it; by default the release build."""

import os
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent.parent
HALO_RAW = Path(os.environ.get("HALO_RAW") or ROOT / ".build/release/halo-raw").absolute()


def built(name="halo-raw") -> Path:
    """A program of the build that is tested."""
    path = HALO_RAW if name == "halo-raw" else HALO_RAW.parent / name
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing; build it with `swift build -c release --product {name}`")
    return path
