"""The beats of a pulse: of simulated light whose beats are known (Benchmarks/pulse), and of what stream has written."""

import json
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from program import BAD_DATA, NO_FILE, ROOT, USAGE

sys.path.insert(0, str(ROOT / "Benchmarks/pulse"))
import light  # noqa: E402
import score  # noqa: E402


def found(halo, record) -> score.Found:
    done = subprocess.run(
        [halo.path, "beats", "-"], input=record.csv(), capture_output=True, text=True, timeout=60, env=halo.environment)
    return score.Found.parse(done.stdout)


def figures(halo, category):
    records = [record for record in light.suite(1) if record.category == category]
    return score.summarize([score.score(record, found(halo, record)) for record in records])


@pytest.mark.verdict
def test_a_link_is_no_variability(halo):
    """Events of 15 and 50 ms, repeats, losses: what HeartPy makes an RMSSD of 60 to 130 ms of is one of 28."""
    own = figures(halo, "link")
    assert own["f1"] > 99 and own["lies"] < 0.2 and own["rmssd error"] < 2.5 and own["rated"] > 95


@pytest.mark.verdict
def test_nothing_comes_out_of_nothing(halo):
    assert figures(halo, "nothing")["from nothing"] == 0


def test_walking_is_not_taken_for_a_pulse(halo):
    own = figures(halo, "walk")
    assert own["lies"] == 0 and own["kept"] > 50


@pytest.mark.parametrize("category, error", [("clean 12.5", 5), ("clean 25", 3.5), ("clean 50", 3), ("clean 100", 3)])
def test_beats_at_rest_are_those_of_the_heart(halo, category, error):
    own = figures(halo, category)
    assert own["f1"] == 100 and own["lies"] == 0 and own["rmssd error"] < error and own["latency"] < 1.4


@pytest.mark.parametrize("category", ["motion", "contact", "ectopic", "steps", "rate", "weak"])
def test_what_is_accepted_is_true(halo, category):
    own = figures(halo, category)
    assert not own["lies"] > 2.5 and (category == "weak" or own["kept"] > 30)


def test_what_was_said_does_not_change(halo):
    for record in [record for record in light.suite(1) if record.category in ("link", "motion")][:3]:
        whole = found(halo, record)
        for end in (40, 75.5):
            part = light.Record(**{**vars(record), "t": record.t[record.t <= end]})
            said = {row for row in rows(whole) if row[2] <= end - 1e-6}
            assert said and said <= set(rows(found(halo, part)))


def rows(beats):
    return list(zip(beats.time.tolist(), beats.quality.tolist(), beats.said.tolist(), strict=True))


@pytest.mark.verdict
def test_each_format_of_stream_has_the_same_beats(halo, tmp_path):
    beats = {}
    for name in ("light.csv", "light.jsonl", "light.txt"):
        file = tmp_path / name
        halo.run("stream", "--ppg", "--accel", "--duration", "30s", "--output", file, adapter="virtual:fast").succeeded()
        result = halo.run("beats", file, "--format", "jsonl").succeeded()
        assert "accepted" in result.err and "not watched" not in result.err
        beats[name] = [round(row["t"], 2) for row in result.records() if row["kind"] == "beat"]
    assert len(beats["light.csv"]) > 25
    # Text has acceleration in fewer digits.
    assert beats["light.csv"] == beats["light.jsonl"] and len(beats["light.txt"]) == len(beats["light.csv"])


@pytest.mark.verdict
def test_beats_are_said_while_the_light_comes(halo):
    record = next(record for record in light.suite(1) if record.name == "link_25")
    lines = record.csv().splitlines(keepends=True)
    process = halo.start("beats", "-", stdin=subprocess.PIPE)
    process.stdin.write("".join(lines[:500]))
    process.stdin.flush()
    said = [process.stdout.readline() for _ in range(15)]
    assert said[0].startswith("# time,quality") and said[1].startswith("break,")
    assert all(float(line.split(",")[2]) < record.t[500] for line in said[2:])
    process.stdin.write("".join(lines[500:]))
    process.stdin.close()
    process.stdin = None
    assert len(halo.wait(process).succeeded().out.splitlines()) > 150


@pytest.mark.verdict
def test_too_slow_a_stream_is_said_to_be(halo, tmp_path):
    file = tmp_path / "slow.csv"
    halo.run("stream", "--ppg", "--duration", "60s", "--output", file, adapter="virtual:fast,rate=1").succeeded()
    result = halo.run("beats", file)
    assert result.code == BAD_DATA and "1.0 samples a second show no beats" in result.err
    assert [line for line in result.out.splitlines() if line[0].isdigit()] == []
    assert "measure heart-rate" in result.err


@pytest.mark.verdict
@pytest.mark.parametrize("adapter", ["virtual:fast", "virtual:fast,counted"])
def test_stream_prints_the_beats_that_are_found_afterwards(halo, tmp_path, adapter):
    file = tmp_path / "light.csv"
    options = ["--ppg", "--accel", "--beats", "--duration", "40s", "--output", file]
    result = halo.run("stream", *options, adapter=adapter).succeeded()
    assert "accepted" in result.err
    frame = pd.read_csv(file)
    beats = frame[frame["kind"] == "beat"]
    afterwards = [row for row in halo.run("beats", file, "--format", "jsonl").records() if row["kind"] == "beat"]
    # The last one waits for the next, which does not come.
    assert 30 < len(beats) <= len(afterwards) <= len(beats) + 2
    for (_, row), known in zip(beats.iterrows(), afterwards):
        assert row["note"] == known["reason"] and abs(row["beat_s"] - known["t"]) < 0.002
        assert row["quality"] >= 0.5 or pd.isna(row["interval_s"]) and pd.isna(row["bpm"])
    assert beats["t"].is_monotonic_increasing and ((beats["t"] - beats["beat_s"]).between(0.5, 2.5)).all()
    assert {"beat_s", "interval_s", "bpm", "quality"} <= set(json.loads((tmp_path / "light.csv.json").read_text()))
    halo.run("report", file).succeeded()


def test_beats_need_green_light(halo):
    halo.run("stream", "--accel", "--beats", adapter="virtual:fast").failed(USAGE, saying="add --ppg")


def test_several_rings_have_beats_of_their_own(halo, tmp_path):
    file = tmp_path / "two.csv"
    halo.run("stream", "--all", "--ppg", "--duration", "20s", "--output", file, adapter="virtual:fast,rings=2").succeeded()
    records = halo.run("beats", file, "--seconds", "--format", "jsonl").succeeded().records()
    rings = {row["ring"] for row in records}
    assert len(rings) == 2
    for ring in rings:
        times = [row["t"] for row in records if row["ring"] == ring and row["kind"] == "beat"]
        assert times == sorted(times) and len(times) > 12
        seconds = [row for row in records if row["ring"] == ring and row["kind"] == "second"]
        assert np.allclose(np.diff([row["t"] for row in seconds]), 1)


def test_files_that_are_none(halo, tmp_path):
    halo.run("beats", tmp_path / "missing.csv").failed(NO_FILE)
    for number, content in enumerate([b"", b"\0" * 100, b"a,b\n1,2\n", b"{}\n" * 3, b"t,ppg\n" + b"x" * (2 << 20)]):
        file = tmp_path / f"{number}.csv"
        file.write_bytes(content)
        halo.run("beats", file).failed(BAD_DATA, saying="no light")


def test_an_interruption_is_no_fault_of_the_input(halo):
    """Ctrl-C before any light has come."""
    process = halo.start("beats", "-", stdin=subprocess.PIPE)
    assert process.stdout.readline().startswith("# time")
    process.send_signal(signal.SIGINT)
    process.stdin, kept = None, process.stdin
    result = halo.wait(process)
    kept.close()
    assert result.code == 0 and result.err == "", result


def test_numbers_of_any_size_are_taken(halo, tmp_path):
    file = tmp_path / "odd.csv"
    odd = ["nan", "inf", "-inf", "1e308", "-0", "", "9223372036854775808", "0x10", "١"]
    lines = ["t,ppg,x,y,z,n"]
    for index in range(3000):
        value = odd[index // 7 % len(odd)]
        fields = [f"{index / 25}", "11500", "0", "0", "1", f"{index % 256}"]
        if index % 7 == 0:
            fields[index // 63 % 6] = value
        lines.append(",".join(fields))
    file.write_text("\n".join(lines) + "\n")
    halo.run("beats", file, "--format", "jsonl").succeeded()


def test_a_reader_that_goes_ends_it(halo):
    record = next(record for record in light.suite(1) if record.name == "clean0_100")
    process = halo.start("beats", "-", stdin=subprocess.PIPE)
    process.stdout.close()
    process.stdout = None
    try:
        process.stdin.write(record.csv() * 3)
        process.stdin.close()
    except BrokenPipeError:
        pass
    process.stdin = None
    assert halo.wait(process).code == 0


def test_the_lines_of_json_are_whole(halo, tmp_path):
    record = next(record for record in light.suite(1) if record.name == "motion0_25")
    file = tmp_path / "light.csv"
    file.write_text(record.csv())
    out = halo.run("beats", file, "--format", "jsonl").succeeded().out
    beats = [json.loads(line) for line in out.splitlines()]
    for beat in (beat for beat in beats if beat["kind"] == "beat"):
        assert (beat["quality"] >= 0.5) or (beat["interval_s"] is None and beat["bpm"] is None)
        assert beat["reason"] in {"good", "ectopic", "irregular"} or beat["quality"] < 0.5
