"""The counted stream: lost packets in frames, rates and EDF files."""

import io

import numpy as np
import pandas as pd
import pytest

import halo_raw

RING = "virtual:fast,counted,clock=2026-11-21T13:45:00"


def both(program, options: str = "", *arguments: object) -> list[pd.DataFrame]:
    """The same stream in csv and in jsonl."""
    return [
        halo_raw.read_stream(io.StringIO(program(
            "stream", "--ppg", "--accel", "--duration", "20s", "--format", form, "--adapter", RING + options, *arguments)))
        for form in ("csv", "jsonl")]


@pytest.mark.verdict
def test_lost_packets_are_counted_and_placed(program):
    csv, jsonl = both(program, ",lose=7,reorder")
    for frame in (csv, jsonl):
        # Every seventh of 500 is lost. Every tenth that is not is late, which takes back its loss; the last may be to come.
        numbers = set(halo_raw.samples(frame, "ppg")["packet"].astype(int))
        missing = set(range(min(numbers), max(numbers) + 1)) - numbers
        assert halo_raw.lost_packets(frame) == len(missing)
        assert {number for number in range(max(numbers)) if number % 7 == 6} <= missing
        marks = halo_raw.marks(frame)
        assert (marks["count"] == -1).sum() > 40 and set(marks["kind"]) == {"lost"}
        assert halo_raw.rate(frame, "ppg") == pytest.approx(25, rel=0.01)
        assert halo_raw.segments(frame, "ppg").max() == 0
    pd.testing.assert_frame_equal(
        halo_raw.samples(csv, "ppg").drop(columns="time"),
        halo_raw.samples(jsonl, "ppg").drop(columns="time")[halo_raw.samples(csv, "ppg").drop(columns="time").columns],
        check_dtype=False)


@pytest.mark.verdict
def test_bytes_are_read_as_they_were_sent(program):
    for frame in both(program):
        ppg, accel = (halo_raw.samples(frame, kind) for kind in ("ppg", "accel"))
        for sent, raw in zip(ppg["sent"], ppg["raw"], strict=True):
            assert int.from_bytes(bytes.fromhex(sent), "little") == raw
        axes = np.array([np.frombuffer(bytes.fromhex(sent), dtype="<i2") for sent in accel["sent"]])
        assert (axes == accel[["raw_x", "raw_y", "raw_z"]].to_numpy()).all()
        assert np.allclose(accel["x_g"], accel["raw_x"] / 8192, atol=1e-4)


@pytest.mark.verdict
def test_a_stream_without_numbers_has_no_count(program):
    frame = halo_raw.read_stream(io.StringIO(program("stream", "--ppg", "--count", 3, "--adapter", "virtual:fast")))
    with pytest.raises(ValueError, match="not known"):
        halo_raw.lost_packets(frame)


def test_a_lost_packet_is_a_place_without_a_sample(program, tmp_path):
    pyedflib = pytest.importorskip("pyedflib")
    frame, _ = both(program, ",lose=50")
    halo_raw.to_edf(frame, tmp_path / "counted.edf", rate_hz=25)
    with pyedflib.EdfReader(str(tmp_path / "counted.edf")) as reader:
        signal = reader.readSignal(reader.getSignalLabels().index("ppg raw"), digital=True)
        notes = reader.readAnnotations()
    numbers = halo_raw.samples(frame, "ppg")["packet"].astype(int)
    present = np.flatnonzero(signal != -32768)
    assert (present - present[0] + numbers.iloc[0]).tolist() == numbers.tolist()
    # The first hole is before the first sample, the last one behind the last.
    holes = [round(float(onset) * 25) for onset, text in zip(notes[0], notes[2], strict=True) if text == "BAD_no ppg"]
    assert holes[1:-1] == [
        number - numbers.iloc[0] + present[0] for number in range(int(numbers.max())) if number % 50 == 49]
