"""What can be done with the data of a stream: times, numbers, the header, the file beside the output, marks, sums."""

import csv
import json
import re
import signal
import stat
import time
from datetime import datetime, timedelta

import pytest
from program import NO_FILE, PROTOCOL, ROOT, TIMEOUT, USAGE

CLOCK = "virtual:fast,clock=2026-11-21T13:45:00"
RING = "30:35:38:41:BE:EF"


def rows(text):
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


def test_every_live_command_has_times_numbers_and_the_ring(halo):
    for command in (
            ["stream", "--count", 20], ["events", "--count", 9], ["measure", "heart-rate"], ["sport", "walk", "--duration", "3s"],
            ["raw", "03", "--count", 1], ["subscribe", "--uuid", "2A05", "--duration", "1s"]):
        records = halo.run(*command, "--format", "jsonl", adapter=f"{CLOCK},events=1").succeeded().records()
        assert records or command[0] == "subscribe"
        seen = set()
        for record in records:
            assert list(record)[:4] == ["t", "time", "ring", "seq"] and record["ring"] == RING
            key = [record.get(name) for name in ("seq", "kind", "event", "state", "direction")]
            # An event of a kind has its number, as a sample has.
            assert tuple(map(str, key)) not in seen
            seen.add(tuple(map(str, key)))
        starts = {datetime.fromisoformat(r["time"]) - timedelta(seconds=r["t"]) for r in records}
        assert not starts or max(starts) - min(starts) < timedelta(microseconds=3)
        assert all(start.isoformat().startswith("2026-11-21T13:4") for start in starts)


def test_numbers_do_not_repeat_over_a_new_connection(halo):
    result = halo.run("stream", "--duration", "20s", "--format", "jsonl", adapter=f"{CLOCK},drop-after=100").succeeded()
    records = result.records()
    gaps = [record for record in records if record["kind"] == "gap"]
    assert len(gaps) > 1 and all("connection" in gap["reason"] for gap in gaps)
    for kind in ("ppg", "accel", "spo2", "gap"):
        numbers = [record["seq"] for record in records if record["kind"] == kind]
        assert numbers == list(range(len(numbers)))


@pytest.mark.parametrize("arguments", [["stream", "--ppg", "--count", 3], ["events", "--count", 2]])
def test_csv_begins_with_comments_only_on_demand(halo, arguments):
    plain = halo.run(*arguments, "--format", "csv", adapter=f"{CLOCK},events=1").succeeded().out
    assert plain.startswith("t,time,ring,seq,")
    out = halo.run(*arguments, "--format", "csv", "--header", adapter=f"{CLOCK},events=1").succeeded().out
    comments = [line for line in out.splitlines() if line.startswith("#")]
    assert re.fullmatch(rf"# ring: R02_BEEF {RING} \(public\), firmware RT02R_3.11.00_250611", comments[1])
    assert re.fullmatch(r"# start: 2026-11-21T13:45:0\S+\+00:00, \d+\.\d{6} s on the clock of t", comments[2])
    assert [list(row)[4:] for row in rows(out)] == [list(row)[4:] for row in rows(plain)]


def test_the_header_is_a_record_of_its_own_in_jsonl(halo):
    first, second = halo.run(
        "stream", "--ppg", "--count", 1, "--format", "jsonl", "--header", adapter=CLOCK).succeeded().records()
    assert first["kind"] == "header" and first["header"]["Ring"]["Address"] == RING and second["kind"] == "ppg"


def measurements(halo):
    """What the ring's automatic measurements are set to."""
    names = ("heart-rate", "spo2", "stress", "hrv", "temperature")
    records = halo.run("settings", "--format", "jsonl", adapter=CLOCK).succeeded().records()
    found = {name: {} for name in names}
    for record in records:
        if record["setting"] in names:
            found[record["setting"]][record["field"]] = record["value"]
    assert all("enabled" in fields for fields in found.values())
    return found


def test_a_recording_replays_with_and_without_a_file(halo, tmp_path):
    """The requests for the description of the ring are those of the recording, in any case."""
    command = ("stream", "--ppg", "--count", 5, "--output")
    for name, path in (("described", tmp_path / "first.csv"), ("plain", "-")):
        recording = tmp_path / f"{name}.btsnoop"
        out = halo.run(*command, path, "--record", recording, adapter=CLOCK).succeeded().out
        assert halo.run("replay", recording, *command, "-").succeeded().out == (out or path.read_text())
        halo.run("replay", recording, *command, tmp_path / f"{name}.csv").succeeded()
        assert (tmp_path / f"{name}.csv").read_text() == (out or path.read_text())
    first, described, plain = (
        json.loads((tmp_path / f"{name}.csv.json").read_text())["Ring"] for name in ("first", "described", "plain"))
    assert first["AutomaticMeasurements"]["heart-rate"] and described == first
    assert "AutomaticMeasurements" not in plain


@pytest.mark.parametrize("name, form", [("ppg.csv", "csv"), ("ppg.jsonl", "jsonl"), ("ppg", "csv")])
def test_the_file_beside_the_output(halo, tmp_path, name, form):
    path = tmp_path / name
    result = halo.run(
        "stream", "--ppg", "--duration", "4s", "--output", path, "--interval", "15..30", adapter=f"{CLOCK},rate=50").succeeded()
    assert result.out == ""
    count = len(rows(path.read_text())) if form == "csv" else len(path.read_text().splitlines())
    beside = json.loads((tmp_path / f"{name}.json").read_text())
    assert beside["Ring"] == {
        "Name": "R02_BEEF", "Address": RING, "AddressType": "public", "Firmware": "RT02R_3.11.00_250611",
        "AutomaticMeasurements": measurements(halo)}
    assert beside["SamplingFrequency"]["ppg"]["Asked"] is None
    assert beside["SamplingFrequency"]["ppg"]["Measured"] == pytest.approx(50, rel=0.03)
    assert beside["Printed"] == count and count > 150
    assert beside["ConnectionInterval_ms"]["AskedMax"] == 30
    assert datetime.fromisoformat(beside["Start"]) < datetime.fromisoformat(beside["End"])
    assert beside["raw"]["Units"] == "counts" and "raw" in beside["Columns"]
    assert beside["GeneratedBy"]["Command"].startswith("stream --ppg --duration 4s --output")
    assert {stat.S_IMODE(file.stat().st_mode) for file in (path, tmp_path / f"{name}.json")} == {0o600}


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_the_file_beside_the_output_is_there_however_it_ends(halo, tmp_path, end):
    path = tmp_path / "ppg.csv"
    process = halo.start("stream", "--ppg", "--output", path, adapter="virtual:rate=50")
    while not path.exists() or path.stat().st_size < 2000:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(end)
    process.communicate(timeout=20)
    beside = json.loads((tmp_path / "ppg.csv.json").read_text())
    records = rows(path.read_text())
    assert all(len(row) == 10 and None not in row.values() for row in records[:-1])
    if end == signal.SIGKILL:
        assert beside["End"] is None and "Printed" not in beside
    else:
        assert beside["End"] and beside["Printed"] == len(records)


def test_an_output_is_reproducible(halo, tmp_path):
    """Virtual time does not go on while a file is written."""
    for name in ("a", "b", "c"):
        halo.run("stream", "--duration", "5s", "--output", tmp_path / name, adapter=CLOCK).succeeded()
    contents = {(tmp_path / name).read_text() for name in ("a", "b", "c")}
    plain = halo.run("stream", "--duration", "5s", "--format", "csv", adapter=CLOCK).succeeded().out
    without_time = {re.sub(r",2026[^,]*,", ",", text) for text in contents | {plain}}
    assert len(without_time) == 1


def test_an_output_that_cannot_be_made(halo, tmp_path):
    halo.run("stream", "--output", tmp_path / "no/ppg.csv", adapter=CLOCK).failed(NO_FILE, saying="cannot create")
    same = tmp_path / "same"
    halo.run("stream", "--output", same, "--record", same, adapter=CLOCK).failed(USAGE, saying="same file")


def test_recorded_times_are_those_of_the_recording(halo):
    path = ROOT / "captures/virtual-stream.btsnoop"
    replayed = halo.run("replay", path, "stream", "--duration", "3s", "--format", "jsonl").succeeded().records()
    decoded = halo.run("decode", path, "--samples", "--format", "jsonl").succeeded().records()
    assert [r["time"] for r in replayed] == [r["time"] for r in decoded][:len(replayed)]


# Loss and silence


def summed(result):
    """The numbers of the summary, which add up."""
    (line,) = [line for line in result.err.splitlines() if " received: " in line]
    received, *parts = map(int, re.findall(r"\d+", line))
    assert received == sum(parts), line
    return dict(zip(re.findall(r"\d+ ([a-z]+)", line.split(": ")[1]), parts, strict=True)) | {"received": received}


@pytest.mark.parametrize("kinds, printed", [([], 3), (["--ppg"], 1)])
def test_a_rejected_frame_is_marked_at_its_place(halo, kinds, printed):
    result = halo.run(
        "stream", *kinds, "--duration", "20s", "--format", "csv", adapter=f"{CLOCK},bad-checksum-every=10").succeeded()
    records = rows(result.out)
    marks = [index for index, row in enumerate(records) if row["kind"] == "rejected"]
    assert len(marks) > 100
    # Every tenth frame is damaged: nine are between two marks, of which a third is selected, or all.
    between = [second - first - 1 for first, second in zip(marks, marks[1:], strict=False)]
    assert set(between) <= ({9} if printed == 3 else {3}), between
    assert all(re.fullmatch(r"the checksum is .*: a10[123][0-9a-f]{28}", records[index]["note"]) for index in marks)
    numbers = summed(result)
    assert numbers["rejected"] == len(marks) and numbers["printed"] == len(records) - len(marks)


def test_a_recording_has_the_same_marks(halo, tmp_path):
    """`decode --samples` prints what `stream` has printed, with the rejected frames in their places."""
    path = tmp_path / "session.btsnoop"
    printed = halo.run("stream", "--duration", "5s", "--format", "csv", "--record", path,
                       adapter=f"{CLOCK},bad-checksum-every=10").succeeded().out
    assert ",rejected," in printed
    assert halo.run("decode", path, "--samples", "--format", "csv").succeeded().out.startswith(printed)


def test_the_sum_over_lost_links_and_rejected_frames(halo):
    result = halo.run(
        "stream", "--ppg", "--duration", "60s", "--format", "jsonl",
        adapter=f"{CLOCK},drop-after=200,bad-checksum-every=7").succeeded()
    records = result.records()
    count = {kind: sum(record["kind"] == kind for record in records) for kind in ("ppg", "gap", "rejected")}
    numbers = summed(result)
    assert numbers["printed"] == count["ppg"] and numbers["rejected"] == count["rejected"] > 100
    assert f"{count['gap']} gaps" in result.err and count["gap"] > 3
    assert numbers["not"] == pytest.approx(2 * count["ppg"], rel=0.02)


@pytest.mark.parametrize("fault, reason", [
    ("stop-after=100", r"no sample for 1\.0 s; its battery is at 87 %"),
    ("refuse-after=100", r"the ring has stopped the stream; its battery is at 87 %"),
])
def test_a_stream_that_stops_is_started_again(halo, fault, reason):
    result = halo.run("stream", "--ppg", "--duration", "30s", "--format", "jsonl", adapter=f"{CLOCK},{fault}").succeeded()
    records = result.records()
    gaps = [index for index, record in enumerate(records) if record["kind"] == "gap"]
    assert len(gaps) >= 4 and all(re.fullmatch(reason, records[index]["reason"]) for index in gaps)
    for index in gaps:
        # It is noticed within three intervals or a second, and the battery's answer.
        assert records[index]["t"] - records[index - 1]["t"] < 1.3
        assert "starting the stream again" in result.err
    assert [r["seq"] for r in records if r["kind"] == "ppg"] == list(range(len(records) - len(gaps)))
    summed(result)


def test_the_charger_is_named(halo):
    result = halo.run("stream", "--ppg", "--format", "jsonl", "--retry-for", "20s", adapter=f"{CLOCK},charge-after=100")
    assert result.code in (TIMEOUT, PROTOCOL)
    *samples, gap = result.records()
    assert len(samples) == 100 and gap["reason"] == "no sample for 1.0 s; the ring is on its charger"
    assert "it is charging" in result.err or "while it is charging" in result.err
    summed(result)


def test_silence_before_an_interval_is_known(halo):
    result = halo.run("stream", "--ppg", "--duration", "20s", "--format", "jsonl", adapter=f"{CLOCK},rate=1,stop-after=1")
    gaps = [record for record in result.succeeded().records() if record["kind"] == "gap"]
    assert gaps and all(gap["reason"].startswith("no sample for 5.0 s; its battery") for gap in gaps)
