"""A running program as an iterator; the outlet; the types."""

import asyncio
import contextlib
import math
import shutil
import subprocess
import sys
from datetime import datetime, timezone

import pytest
from conftest import CLOCK, RING, ROOT

import halo_raw

pytestmark = pytest.mark.verdict


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


def test_the_outlet_publishes_samples(monkeypatch, tmp_path):
    """To inlets of LSL's own library, on this machine only."""
    configuration = tmp_path / "lsl.cfg"
    configuration.write_text("[multicast]\nResolveScope = machine\n[log]\nlevel = -3\n")
    monkeypatch.setenv("LSLAPICFG", str(configuration))
    import pylsl

    records = collect(adapter=f"{CLOCK},drop-after=10", arguments=["--duration", "8s"])
    samples = [record for record in records if record.kind != "gap"]
    outlet = halo_raw.Outlet()
    # What was pushed before an inlet is there is lost to it.
    assert [record for record in records if outlet.push(record)] == records
    inlets = {}
    for kind, units in (("ppg", ["counts"]), ("spo2", ["counts"]), ("accel", ["g"] * 3)):
        (found,) = pylsl.resolve_byprop("source_id", f"halo-raw {RING} {kind}", timeout=20)
        inlets[kind] = pylsl.StreamInlet(found, recover=False)
        inlets[kind].open_stream(timeout=20)
        info = inlets[kind].info(timeout=20)
        assert (info.name(), info.type()) == (f"halo-raw {kind}", kind.upper())
        assert info.get_channel_units() == units
    for record in samples:
        outlet.push(record)
    times = {}
    for record in samples:
        values, time = inlets[record.kind].pull_sample(timeout=20)
        expected = [record.values[name] for name in (["x_g", "y_g", "z_g"] if record.kind == "accel" else ["raw"])]
        assert values == pytest.approx([math.nan if value is None else value for value in expected], nan_ok=True)
        times[id(record)] = time
    assert all(inlet.pull_sample(timeout=0.0)[0] is None for inlet in inlets.values())
    first, last = samples[0], samples[-1]
    assert times[id(last)] - times[id(first)] == pytest.approx(last.t - first.t, abs=1e-4)


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
