"""Several rings in one process: each has its link, its records and its summary, and none waits for another."""

import csv
import json
import re
import signal

import pytest
from program import CONNECTION_LOST, NOT_FOUND, USAGE

FIRST, SECOND, THIRD = "30:35:38:41:BE:EF", "30:35:38:41:BE:F0", "30:35:38:41:BE:F1"
TWO = "virtual:fast,rings=2"


def of(records, ring):
    return [record for record in records if record["ring"] == ring]


def numbers(records, kind="ppg"):
    return [record["seq"] for record in records if record["kind"] == kind]


@pytest.mark.parametrize("names", [["R02_BEEF", "r02_bef0"], [SECOND, FIRST], ["--all", "--wait", "1s"]])
def test_each_record_has_its_ring_and_its_number(halo, names):
    result = halo.run("stream", *names, "--ppg", "--count", 20, "--format", "jsonl", adapter=TWO).succeeded()
    records = result.records()
    assert {record["ring"] for record in records} == {FIRST, SECOND}
    for ring in (FIRST, SECOND):
        assert numbers(of(records, ring)) == list(range(20))
        times = [record["t"] for record in of(records, ring)]
        assert times == sorted(times)
    # One time for all.
    assert min(record["t"] for record in records) == 0
    assert sum(record["t"] == 0 for record in records) == 1
    # A ring is called by the name that it advertises.
    for name in ("R02_BEEF", "R02_BEF0"):
        assert re.search(rf"^{name}: ppg: 20 samples, .* 0 gaps$", result.err, re.MULTILINE)
        assert re.search(rf"^{name}: link: interval ", result.err, re.MULTILINE)


def test_a_ring_out_of_reach_holds_no_other_up(halo):
    result = halo.run(
        "stream", "R02_NONE", "R02_BEEF", "R02_BEF0", "--ppg", "--count", 30, "--wait", "60s", "--format", "jsonl",
        adapter=TWO)
    assert result.code == NOT_FOUND, result
    records = result.records()
    assert all(numbers(of(records, ring)) == list(range(30)) for ring in (FIRST, SECOND))
    assert max(record["t"] for record in records) < 5
    assert "halo-raw: R02_NONE: no device named R02_NONE was found" in result.err
    assert result.err.splitlines()[-1] == "halo-raw: 1 of 3 rings failed; see above"


def test_a_link_that_is_lost_is_the_gap_of_its_ring_alone(halo):
    result = halo.run(
        "stream", "R02_BEEF", "R02_BEF0", "--ppg", "--count", 100, "--format", "jsonl",
        adapter=f"{TWO},ring=2,drop-after=40").succeeded()
    records = result.records()
    assert [record["kind"] for record in records].count("gap") == 2
    gaps = [record for record in records if record["kind"] == "gap"]
    assert all(gap["ring"] == SECOND and "supervision timeout" in gap["reason"] for gap in gaps)
    assert [gap["seq"] for gap in gaps] == [0, 1]
    assert all(numbers(of(records, ring)) == list(range(100)) for ring in (FIRST, SECOND))
    first = [record["t"] for record in of(records, FIRST)]
    assert max(b - a for a, b in zip(first, first[1:])) < 0.1
    assert "R02_BEF0: connected again 2 times" in result.err and "R02_BEEF: connected again" not in result.err


def test_a_ring_that_is_lost_for_good(halo):
    result = halo.run(
        "stream", "R02_BEEF", "R02_BEF0", "--ppg", "--count", 60, "--retry-for", "0", "--format", "jsonl",
        adapter=f"{TWO},ring=2,drop-after=20")
    assert result.code == CONNECTION_LOST, result
    assert numbers(of(result.records(), FIRST)) == list(range(60))
    assert numbers(of(result.records(), SECOND)) == list(range(20))
    assert "halo-raw: R02_BEF0: the connection to the ring was lost" in result.err, result


def test_csv_has_one_row_of_names(halo):
    out = halo.run("stream", "R02_BEEF", "R02_BEF0", "--count", 9, "--format", "csv", adapter=TWO).succeeded().out
    assert out.count("t,time,ring,seq") == 1
    assert {row["ring"] for row in csv.DictReader(out.splitlines())} == {FIRST, SECOND}


def test_text_has_the_name(halo):
    out = halo.run(
        "stream", "R02_BEEF", "R02_BEF0", "--ppg", "--count", 9, "--format", "text", adapter=TWO).succeeded().out
    lines = out.splitlines()
    assert len(lines) == 18
    assert all(re.match(r"\d\.\d{6} s  R02_BE(EF|F0)  ppg +\d+", line) for line in lines)


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_the_header_and_the_file_beside_the_output(halo, tmp_path, form):
    path = tmp_path / f"all.{form}"
    halo.run(
        "stream", "--all", "--wait", "1s", "--ppg", "--count", 50, "--header", "--output", path,
        adapter="virtual:fast,rings=3,ring=3,rate=50").succeeded()
    text = path.read_text()
    if form == "csv":
        named = re.findall(r"^# ring: R02_\w{4} (\S+) \(public\)", text, re.MULTILINE)
        assert text.count("# start:") == 1
    else:
        headers = [record["header"] for record in map(json.loads, text.splitlines()) if record["kind"] == "header"]
        named = [header["Ring"]["Address"] for header in headers]
    assert sorted(named) == [FIRST, SECOND, THIRD]
    beside = json.loads((tmp_path / f"all.{form}.json").read_text())
    assert "Ring" not in beside and beside["End"]
    rings = {ring["Address"]: ring for ring in beside["Rings"]}
    assert sorted(rings) == [FIRST, SECOND, THIRD]
    assert rings[THIRD]["Name"] == "R02_BEF1" and rings[THIRD]["Printed"] == 50
    assert rings[THIRD]["SamplingFrequency"]["ppg"]["Measured"] == pytest.approx(50, rel=0.05)
    assert rings[FIRST]["SamplingFrequency"]["ppg"]["Measured"] == pytest.approx(25, rel=0.05)
    assert all(ring["AutomaticMeasurements"]["heart-rate"]["enabled"] in (True, False) for ring in rings.values())
    assert rings[FIRST]["ConnectionInterval_ms"].keys() == {"AskedMin", "AskedMax", "AtEnd"}


def test_all_without_a_ring(halo):
    result = halo.run("stream", "--all", "--wait", "1s", adapter="virtual:fast,look-alike,name=Lamp")
    result.failed(NOT_FOUND, saying="no ring was found in 1 s")


@pytest.mark.parametrize("arguments, message", [
    (["R02_BEEF", "r02_beef"], "named twice"),
    ([FIRST, f"{FIRST}/public"], "named twice"),
    (["--all", "R02_BEEF"], "exclude each other"),
])
def test_a_wrong_selection(halo, arguments, message):
    halo.run("stream", *arguments, adapter=TWO).failed(USAGE, saying=message)


def test_two_selections_of_one_ring(halo):
    result = halo.run("stream", "R02_BEEF", FIRST, "--ppg", "--count", 10, "--format", "jsonl", adapter=TWO)
    assert result.code == USAGE and numbers(result.records()) == list(range(10))
    assert f"it is the ring {FIRST}, which is streamed already" in result.err


def test_a_reader_that_closes_ends_all(halo):
    process = halo.start("stream", "--all", "--wait", "30s", "--format", "jsonl", adapter="virtual:rings=3,rate=100")
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=15) == 0


def test_ctrl_c_ends_all(halo):
    process = halo.start("stream", "--all", "--wait", "30s", "--ppg", "--format", "jsonl", adapter="virtual:rings=3,rate=50")
    rings = set()
    while len(rings) < 3:
        rings.add(json.loads(process.stdout.readline())["ring"])
    process.send_signal(signal.SIGINT)
    result = halo.wait(process)
    assert result.code == 0 and result.err.count(": link: interval ") == 3


def test_a_recording_is_replayed_and_decoded(halo, tmp_path):
    path = tmp_path / "two.btsnoop"
    command = ["stream", "R02_BEEF", "R02_BEF0", "--ppg", "--count", 40, "--format", "jsonl"]
    live = halo.run(*command, "--record", path, adapter=TWO).succeeded()
    assert halo.run("replay", path, *command).succeeded().out == live.out
    decoded = halo.run("decode", path, "--samples", "--ppg", "--format", "jsonl").succeeded().records()
    for ring in (FIRST, SECOND):
        printed = [(record["seq"], record["raw"]) for record in of(live.records(), ring)]
        assert [(record["seq"], record["raw"]) for record in of(decoded, ring)][:40] == printed
    halo.run("replay", path, "--level", "att", *command).failed(USAGE, saying="one ring")


def test_automatic_measurements_of_each(halo):
    result = halo.run(
        "stream", "--all", "--wait", "1s", "--ppg", "--count", 5, "--pause-measurements", "-v", adapter=TWO).succeeded()
    assert result.err.count("automatic measurements are off") == 2
    assert result.err.count("automatic measurements are on again") == 2


def test_over_h4(halo):
    """One controller that is opened once, with three links."""
    simulation = halo.start("simulate", "--listen", "tcp:127.0.0.1:0", "--options", "rings=3,rate=50")
    port = re.search(r":(\d+)$", simulation.stderr.readline().strip())[1]
    result = halo.run(
        "stream", "R02_BEEF", "R02_BEF0", "R02_BEF1", "--ppg", "--count", 20, "--format", "jsonl",
        adapter=f"tcp:127.0.0.1:{port}").succeeded()
    assert all(numbers(of(result.records(), ring)) == list(range(20)) for ring in (FIRST, SECOND, THIRD))
    simulation.send_signal(signal.SIGINT)
    simulation.communicate(timeout=10)
