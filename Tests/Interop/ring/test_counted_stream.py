"""The counted stream (0x69, kinds 13 and 14) of a ring that is not ours. Its packets are made of `struct` formats and bytes, its
losses are drawn at random, and its journal says what became of each packet.

The situations: a client of an H59 with the vendor's SDK (log tag HlthBLE: errors between packets), the SDK's demo (25 s), bleak
issue 584 (a packet twice), OpenBCI_GUI issue 1262 (losses by the number), capacitor bluetooth-le issue 424 (losses without
the end of the link)."""

import csv
import io
import re

import pytest
from program import PROTOCOL

JSON = ("--format", "jsonl")
FAULTS = ("--counted", "--lose", 1, "--double", 0.5, "--swap", 0.5)
FIRST_RAW = 10000


def accounted(records, ring, kind="ppg", field="raw"):
    """Holds what was printed against what the ring sent: each packet is there once, or said to be lost, and none of them wrongly.

    Returns the numbers of the lost packets, as far as the records go."""
    samples = [record for record in records if record["kind"] == kind]
    for record in samples:
        assert record[field] == (FIRST_RAW - 1 + record["packet"]) % 65535 + 1
    present = [record["packet"] for record in samples]
    assert len(present) == len(set(present))
    # The last packets may be to come: they changed their places.
    first, last = min(present), max(present) - 2
    lost = {event["packet"] for event in ring.events("lost") if first <= event["packet"] <= last}
    assert set(range(first, last + 1)) - set(present) == lost
    told, late = set(), set()
    for record in records:
        if record["kind"] == "lost":
            assert record["reason"] in ("lost", "late", "doubled")
            numbers = range(record["packet"], record["packet"] + max(1, abs(record["count"])))
            if record["count"] > 0:
                told |= set(numbers)
            if record["count"] < 0:
                late |= set(numbers)
    assert {number for number in told - late if number <= last} == lost
    return lost


def test_each_lost_packet_is_accounted_for(halo, ring_with):
    ring = ring_with(*FAULTS, "--rate", 500, "--lose", 5)
    result = halo.run("stream", "--ppg", "--count", 1500, *JSON, adapter=ring.adapter).succeeded()
    records = result.records()
    lost = accounted(records, ring)
    assert len(lost) > 40
    line = re.search(r"packets: (\d+) received, (\d+) lost \((\d+\.\d+) %\), (\d+) doubled, (\d+) late", result.err)
    assert int(line[1]) == 1500 and abs(int(line[2]) - len(lost)) <= 2
    assert float(line[3]) == pytest.approx(100 * int(line[2]) / (1500 + int(line[2])), abs=0.01)
    assert [int(line[index]) for index in (4, 5)] == [
        sum(record["kind"] == "lost" and record["reason"] == reason for record in records) for reason in ("doubled", "late")]
    assert "streaming the counted stream of green light, 0x69" in result.err
    assert ring.commands()[0] == "690d" and ring.commands()[-1] == "6a0d"
    ring.wait_for("counted stream ended", why="stopped")


def test_ten_minutes_with_one_percent_lost(halo, ring_with):
    """As many packets as in ten minutes at 25 a second."""
    ring = ring_with(*FAULTS, "--rate", 600, "--seed", 7)
    result = halo.run("stream", "--ppg", "--count", 15000, *JSON, adapter=ring.adapter, timeout=110).succeeded()
    lost = accounted(result.records(), ring)
    assert 100 < len(lost) < 200


@pytest.mark.verdict
def test_red_and_infrared_light(halo, ring_with):
    ring = ring_with("--counted", "--rate", 200)
    text = halo.run("stream", "--spo2", "--accel", "--count", 200, adapter=ring.adapter).succeeded().out
    rows = list(csv.DictReader(io.StringIO(text)))
    light, motion = ([row for row in rows if row["kind"] == kind] for kind in ("spo2", "accel"))
    assert len(light) == len(motion) == 100
    first = int(light[0]["packet"])
    for number, (row, axes) in enumerate(zip(light, motion, strict=True), first):
        assert (row["raw"], row["infrared"], row["spo2_percent"]) == (str(FIRST_RAW + number), str(65535 - number), "97")
        assert row["sent"] == (FIRST_RAW + number).to_bytes(2, "little").hex() + (65535 - number).to_bytes(2, "little").hex()
        assert [axes[name] for name in ("raw_x", "raw_y", "raw_z")] == [str(number % 64 - 32), "4096", "-8192"]
        # The ring's firmware has 12 bits elsewhere: where they are here is not known.
        assert axes["x_g"] == axes["y_g"] == axes["z_g"] == ""
        assert row["packet"] == axes["packet"] == str(number)
    assert ring.commands()[0] == "690e"


def test_a_ring_without_it_is_asked_once(halo, ring_with, state):
    ring = ring_with("--rate", 200)
    for run in range(2):
        result = halo.run("stream", "--ppg", "--count", 5, adapter=ring.adapter).succeeded()
        assert "streaming the raw stream, 0xA1, which is not counted" in result.err
        assert ring.commands().count("690d") == 1, f"run {run}"
    assert '"counted":false' in (state / "streams.json").read_text().replace(" ", "")
    # What needs both lights has the raw stream, and the ring is not asked.
    ring = ring_with("--counted", "--rate", 200)
    halo.run("stream", "--count", 9, adapter=ring.adapter).succeeded()
    assert "690d" not in ring.commands() and "a104" in ring.commands()


@pytest.mark.verdict
def test_a_ring_with_it_is_known_the_next_time(halo, ring_with, state):
    ring = ring_with("--counted", "--rate", 200)
    for asked in (2, 1):
        before = ring.commands().count("690d")
        halo.run("stream", "--ppg", "--count", 5, adapter=ring.adapter).succeeded()
        # The first time, the ring streams when it is asked, and again when the stream begins.
        assert ring.commands().count("690d") - before == asked
    # An update has taken it away.
    other = ring_with("--rate", 200)
    result = halo.run("stream", "--ppg", "--count", 5, adapter=other.adapter).succeeded()
    assert "raw stream" in result.err and other.commands().count("690d") == 1
    assert '"counted":false' in (state / "streams.json").read_text().replace(" ", "")


@pytest.mark.parametrize("vector", ["counted, silent", "counted, empty", "counted, error"])
def test_the_fall_back_takes_less_than_two_seconds(halo, ring_with, vector):
    ring = ring_with("--vector", vector, "--rate", 200)
    result = halo.run("stream", "--ppg", "--count", 5, adapter=ring.adapter).succeeded()
    assert "raw stream" in result.err
    events = {event["frame"][:4]: event["at"] for event in ring.events("command")}
    assert ring.commands()[:3] == ["690d", "6a0d", "a104"]
    assert events["a104"] - events["690d"] < 2


@pytest.mark.parametrize("options", [["--vector", "counted, silent"], ["--vector", "counted, error", "--rate", 200]])
def test_what_is_not_certain_is_not_kept(halo, ring_with, state, options):
    """A ring on its charger may say nothing, and one without a finger has an error: neither is so for all rings of its firmware."""
    charging = [] if "--rate" in options else ["--charging"]
    ring = ring_with(*options, *charging)
    result = halo.run("stream", "--ppg", "--count", 5, "--wait", "3s", adapter=ring.adapter)
    assert (result.code == 0) == (not charging)
    assert "690d" in ring.commands() and "a104" in ring.commands()
    assert not (state / "streams.json").exists()


def test_a_ring_that_is_not_worn_is_named(halo, ring_with):
    ring = ring_with("--vector", "counted, error")
    result = halo.run("stream", "--ppg", "--source", "counted", "--count", 5, "--wait", "3s", adapter=ring.adapter)
    assert result.code == PROTOCOL and "status 1" in result.err


def test_an_explicit_source_is_not_replaced(halo, ring_with):
    ring = ring_with("--rate", 200)
    result = halo.run("stream", "--ppg", "--source", "counted", "--count", 5, adapter=ring.adapter)
    assert result.code == PROTOCOL and "it refuses" in result.err and "--source raw" in result.err
    assert "a104" not in ring.commands()
    ring = ring_with("--counted", "--rate", 200)
    result = halo.run("stream", "--ppg", "--source", "raw", "--count", 5, adapter=ring.adapter).succeeded()
    assert "690d" not in ring.commands() and "lost" not in result.err


@pytest.mark.verdict
def test_a_recording_replays(halo, ring_with, tmp_path):
    ring = ring_with(*FAULTS, "--rate", 400, "--lose", 10)
    capture = str(tmp_path / "counted.btsnoop")
    command = ("stream", "--ppg", "--count", 300, *JSON)
    recorded = halo.run(*command, "--record", capture, adapter=ring.adapter).succeeded().records()
    replayed = halo.run("replay", capture, *command).succeeded().records()
    decoded = halo.run("decode", capture, "--samples", "--ppg", *JSON).succeeded().records()

    def content(records):
        return [{name: value for name, value in record.items() if name not in ("t", "time")} for record in records]

    assert content(replayed) == content(recorded)
    # The capture has the packets of the question, too; and what came after the last sample that was wanted.
    asked = len(decoded) - len(recorded)
    assert asked >= 0 and any(record["kind"] == "lost" for record in decoded)


@pytest.mark.verdict
def test_a_lost_link_is_a_gap_and_no_loss(halo, ring_with):
    ring = ring_with("--counted", "--rate", 200, "--disconnect-after", 150)
    result = halo.run("stream", "--ppg", "--count", 250, *JSON, adapter=ring.adapter).succeeded()
    records = result.records()
    assert [record["kind"] for record in records if record["kind"] != "ppg"] == ["gap"]
    assert "packets: 250 received, 0 lost (0.00 %)" in result.err
    packets = [record["packet"] for record in records if record["kind"] == "ppg"]
    assert packets == list(range(packets[0], packets[0] + 250))
