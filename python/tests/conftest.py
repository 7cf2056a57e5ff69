"""The program that the tests run: $HALO_RAW, or the release build."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "python/src"))
CLOCK = "virtual:fast,clock=2026-11-21T13:45:00"
RING = "30:35:38:41:BE:EF"
OTHER = "C0:11:22:33:CA:FE"


@pytest.fixture(scope="session", autouse=True)
def program(tmp_path_factory):
    """Nothing of the user's, and nothing left there."""
    path = Path(os.environ.get("HALO_RAW") or ROOT / ".build/release/halo-raw").absolute()
    home = tmp_path_factory.mktemp("home")
    os.environ |= {"HALO_RAW": str(path), "HOME": str(home), "XDG_DATA_HOME": str(home), "XDG_STATE_HOME": "/dev/null"}
    os.environ |= {"PYTHONPATH": str(ROOT / "python/src")}

    def run(*arguments):
        result = subprocess.run([path, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        return result.stdout

    return run


@pytest.fixture(scope="session")
def session(program, tmp_path_factory):
    """A stream with a lost link and rejected frames, as csv and as jsonl."""
    folder = tmp_path_factory.mktemp("session")
    for name in ("session.csv", "session.jsonl"):
        adapter = f"{CLOCK},drop-after=750,bad-checksum-every=50"
        program("stream", "--duration", "60s", "--output", folder / name, "--adapter", adapter)
    return folder


@pytest.fixture(scope="session")
def store(program, tmp_path_factory):
    """Two rings."""
    path = tmp_path_factory.mktemp("store") / "rings.sqlite"
    for options in ("", f",seed=9,address={OTHER}/random,name=R02_CAFE"):
        program("sync", "--store", path, "--adapter", f"{CLOCK}{options}")
    return path
