"""The ring's clock, which can be set and not be read; and recordings, which have the time and the zone with them."""

import re
import datetime
import json
import os

import pytest
import tshark_check
from program import USAGE
from simulation import Simulation


@pytest.fixture
def at(halo, tmp_path):
    """Runs the program in a time zone, with a memory of its own."""
    halo.environment["XDG_STATE_HOME"] = str(tmp_path / "state")

    def run(zone, *arguments, **options):
        halo.environment["TZ"] = zone
        return halo.run(*arguments, "--format", "jsonl", **options).succeeded()

    return run


def frames_in(path, command: int) -> list[bytes]:
    """The frames that were written to the ring."""
    pdus = tshark_check.check(path)
    return [pdu.value for pdu in pdus
            if pdu.opcode in (tshark_check.WRITE_REQUEST, tshark_check.WRITE_COMMAND)
            and len(pdu.value) == 16 and pdu.value[0] == command]


def set_to(path) -> datetime.datetime:
    (frame,) = frames_in(path, 0x01)
    assert sum(frame[:15]) % 256 == frame[15]
    return datetime.datetime.strptime(frame[1:7].hex(), "%y%m%d%H%M%S")


@pytest.mark.parametrize("zone, hours", [("UTC0", 0), ("CET-1", 1), ("IST-5:30", 5.5), ("EST5", -5)])
def test_the_ring_gets_the_wall_clock(at, tmp_path, simulation, zone, hours):
    path = tmp_path / "set.btsnoop"
    (record,) = at(zone, "time", "--set", "--record", path, adapter=simulation.adapter).records()
    now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
    assert abs(set_to(path) - now - datetime.timedelta(hours=hours)) < datetime.timedelta(seconds=3)
    assert (record["policy"], record["utc_offset"]) == ("local", hours * 3600)
    assert "spo2" in record["capabilities"]


def test_utc_is_utc_everywhere(at, tmp_path, simulation):
    path = tmp_path / "set.btsnoop"
    at("JST-9", "time", "--set", "--utc", "--record", path, adapter=simulation.adapter)
    now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
    assert abs(set_to(path) - now) < datetime.timedelta(seconds=3)
    # From now on this ring goes by UTC.
    (record,) = at("JST-9", "time", adapter=simulation.adapter).records()
    assert (record["policy"], record["utc_offset"], record["lead_s"]) == ("utc", 0, 0)


def test_travel_shows_and_is_set_right_once(at, simulation):
    def time(zone, *options):
        (record,) = at(zone, "time", *options, adapter=simulation.adapter).records()
        return record

    assert time("CET-1")["set"] is None
    assert time("CET-1", "--set")["action"].startswith("set: ")
    assert time("CET-1", "--set")["action"].startswith("left alone")
    assert time("CET-1", "--set", "--force")["action"].startswith("set: ")
    assert time("CET-1")["lead_s"] == 0
    there = time("EST5")
    assert (there["lead_s"], there["set_utc_offset"], there["utc_offset"]) == (21600, 3600, -18000)
    # In the hours in which the two zones have another day, the ring's day is the stronger evidence.
    assert re.search(r"6 h ahead|at least ([1-6] h( \d+ min)?|\d+ min) ahead", time("EST5", "--set")["action"])
    assert time("EST5")["lead_s"] == 0


def test_a_replay_is_in_the_recordings_zone_and_time(at, halo, tmp_path, simulation):
    path = tmp_path / "set.btsnoop"
    original = at("CET-1", "time", "--set", "--record", path, adapter=simulation.adapter)
    shifted = tmp_path / "shifted.btsnoop"
    shift(path, shifted, years=-3)
    halo.environment["XDG_STATE_HOME"] = "/dev/null"
    assert at("EST5", "replay", path, "time", "--set").out == original.out
    # What is in the file counts, not today's date: of another date, it sets another time.
    halo.run("replay", shifted, "time", "--set").failed(78, saying="differs")


def shift(source, target, years):
    """Moves all records of a btsnoop file in time."""
    data = bytearray(source.read_bytes())
    place = 16
    while place < len(data):
        length = int.from_bytes(data[place + 4:place + 8], "big")
        stamp = int.from_bytes(data[place + 16:place + 24], "big") + years * 365 * 86_400_000_000
        data[place + 16:place + 24] = stamp.to_bytes(8, "big")
        place += 24 + length
    target.write_bytes(data)


def test_what_was_known_of_the_clock_is_in_the_recording(at, halo, tmp_path, simulation):
    at("CET-1", "time", "--set", "--utc", adapter=simulation.adapter)
    path = tmp_path / "show.btsnoop"
    original = at("CET-1", "time", "--record", path, adapter=simulation.adapter)
    assert json.loads(original.out)["policy"] == "utc"
    halo.environment["XDG_STATE_HOME"] = "/dev/null"
    assert at("EST5", "replay", path, "time").out == original.out


def test_notes_are_events_for_everybody(at, tmp_path, simulation):
    path = tmp_path / "battery.btsnoop"
    at("IST-5:30", "battery", "--record", path, adapter=simulation.adapter)
    tshark_check.check(path)
    assert path.read_bytes()[40:].startswith(b"\x04\xff\x1fhalo-raw: zone utc-offset=19800")
    if os.path.exists("/usr/bin/btmon"):
        import subprocess
        seen = subprocess.run(["/usr/bin/btmon", "-r", path], capture_output=True, text=True).stdout
        assert "HCI Event: Vendor (0xff)" in seen and "halo-raw: zone u" in seen


def test_setting_needs_to_be_said(halo):
    halo.run("time", "--utc", adapter="virtual:fast").failed(USAGE, saying="--utc needs --set")
    halo.run("time", "--force", adapter="virtual:fast").failed(USAGE, saying="--force needs --set")


@pytest.mark.parametrize("clock, day", [("2030-01-02T13:14:15", "2030-01-02"), ("2024-02-29T12:00:00", "2024-02-29")])
def test_the_rings_own_day_gives_a_wrong_clock_away(halo, at, clock, day):
    simulation = Simulation(halo, options=f"clock={clock}")
    try:
        (record,) = at("UTC0", "time", adapter=simulation.adapter).records()
        assert record["ring_day"] == day
        ours = datetime.datetime.fromisoformat(record["time"])
        truth = (datetime.datetime.fromisoformat(clock) - ours).total_seconds()
        assert record["least_lead_s"] <= truth <= record["most_lead_s"] == record["least_lead_s"] + 86399
        assert at("UTC0", "time", "--set", adapter=simulation.adapter).records()[0]["action"].startswith("set: ")
        # It was set right, and the ring's day is today: what the ring keeps has gone with its clock.
        (record,) = at("UTC0", "time", adapter=simulation.adapter).records()
        assert record["ring_day"] in (None, record["time"][:10])
        assert record["newest_data"] is None or record["newest_data"] <= record["time"]
    finally:
        simulation.close()
