"""A running program as an iterator; the outlet; the types."""

import asyncio
import contextlib
import shutil
import subprocess
import sys
import types
from datetime import datetime, timezone

import pytest
from conftest import CLOCK, RING, ROOT

import halo_raw


def collect(**options):
    async def run():
        return [record async for record in halo_raw.stream(**options)]
    return asyncio.run(run())


def test_records_come_as_they_are_printed():
    records = collect(kinds=["ppg", "accel"], adapter=CLOCK, arguments=["--count", "40"])
    assert len(records) == 40 and {record.kind for record in records} == {"ppg", "accel"}
    assert records[0].t == 0 and records[0].ring == RING
    assert records[0].time > datetime(2026, 11, 21, 13, 45, tzinfo=timezone.utc)
    pulse = [record for record in records if record.kind == "ppg"]
    assert [record.seq for record in pulse] == list(range(len(pulse))) and pulse[0].values["raw"] == 11506


def test_a_closed_iterator_stops_the_ring(tmp_path):
    capture = tmp_path / "session.btsnoop"

    async def run():
        arguments = ["--record", str(capture)]
        async with contextlib.aclosing(halo_raw.stream(adapter="virtual:rate=50", arguments=arguments)) as records:
            async for record in records:
                if record.seq == 5:
                    break
    asyncio.run(asyncio.wait_for(run(), 20))
    frames = halo_raw.read_capture(capture)
    # The ring was told to stop, and the link was ended in order.
    assert (frames["ring.form"] == "stop").any() or frames["att.value"].astype(str).str.startswith("a102").any()
    assert frames["hci.name"].astype(str).str.contains("Disconnect").any()


def test_an_error_of_the_program_is_raised():
    with pytest.raises(halo_raw.ProgramError, match="charg") as error:
        collect(adapter=f"{CLOCK},charging")
    assert error.value.code == 76
    with pytest.raises(FileNotFoundError, match="not installed"):
        collect(program="/nowhere/halo-raw")


def test_the_outlet_publishes_samples(monkeypatch):
    """With a stand-in for pylsl, whose library is in no package of Debian."""
    pushed = []

    class Element:
        def append_child(self, name):
            return self

        def append_child_value(self, name, value):
            return self

    class Info:
        def __init__(self, *arguments):
            self.arguments = arguments

        def desc(self):
            return Element()

    class StreamOutlet:
        def __init__(self, info):
            self.name = info.arguments[0]

        def push_sample(self, values, time):
            pushed.append((self.name, values, time))

    stand_in = types.SimpleNamespace(
        StreamInfo=Info, StreamOutlet=StreamOutlet, IRREGULAR_RATE=0.0, local_clock=lambda: 100.0)
    monkeypatch.setitem(sys.modules, "pylsl", stand_in)
    outlet = halo_raw.Outlet()
    records = collect(adapter=f"{CLOCK},drop-after=10", arguments=["--duration", "8s"])
    published = [record for record in records if outlet.push(record)]
    assert len(published) == len(pushed) == len(records) - sum(record.kind == "gap" for record in records)
    assert {name for name, _, _ in pushed} == {"halo-raw ppg", "halo-raw accel", "halo-raw spo2"}
    assert all(len(values) == (3 if "accel" in name else 1) for name, values, _ in pushed)
    assert pushed[-1][2] - pushed[0][2] == pytest.approx(published[-1].t - published[0].t, abs=1e-4)


def test_the_types_are_right():
    result = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", "src/halo_raw"], cwd=ROOT / "python",
        capture_output=True, text=True)
    assert result.returncode == 0, result.stdout


def test_it_is_installed_by_pip(tmp_path):
    """Without its dependencies, which the environment has; from a copy, as pip builds in the folder."""
    shutil.copytree(ROOT / "python", tmp_path / "source", ignore=shutil.ignore_patterns("tests", "*.egg-info", "build"))
    result = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index",
         "--disable-pip-version-check", "--target", tmp_path / "target", tmp_path / "source"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert {"py.typed", "streams.py"} <= {path.name for path in (tmp_path / "target/halo_raw").iterdir()}
