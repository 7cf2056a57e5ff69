"""EDF and Parquet files."""

import json

import numpy as np
import pandas as pd
import pyarrow.parquet
import pyedflib
import pytest
from conftest import CLOCK, RING

import halo_raw

pytestmark = pytest.mark.verdict


def test_edf_has_every_sample_once_and_marks_what_is_missing(session, tmp_path):
    frame = halo_raw.read_stream(session / "session.csv")
    halo_raw.to_edf(frame, tmp_path / "session.edf")
    with pyedflib.EdfReader(str(tmp_path / "session.edf")) as file:
        labels = file.getSignalLabels()
        assert labels == ["ppg raw", "spo2 raw", "accel x_g", "accel y_g", "accel z_g"]
        assert [file.getSampleFrequency(index) for index in range(5)] == [25] * 5
        assert file.getPhysicalDimension(2) == "g" and RING in file.getEquipment()
        assert file.getStartdatetime().isoformat().startswith("2026-11-21T13:45")
        pulse = halo_raw.samples(frame, "ppg")
        digital = file.readSignal(0, digital=True)
        physical = file.readSignal(0)[digital != -32768]
        assert (physical == pulse["raw"].dropna().to_numpy()).all()
        upright = halo_raw.samples(frame, "accel")
        found = file.readSignal(3)[file.readSignal(3, digital=True) != -32768]
        assert np.abs(found - upright["y_g"].to_numpy()).max() < 0.001
        onsets, durations, texts = file.readAnnotations()
        notes = list(zip(onsets, durations, texts, strict=True))
    gaps = halo_raw.marks(frame).query("kind == 'gap'")
    assert sum(text.startswith("gap: connection lost") for _, _, text in notes) == len(gaps)
    for _, gap in gaps.iterrows():
        # The place without samples begins where the link was lost.
        assert any(text == "no ppg" and abs(onset - gap["t"]) < 5 and length > 0.1 for onset, length, text in notes)
    assert sum(text.startswith("rejected") for _, _, text in notes) == (frame["kind"] == "rejected").sum()


def test_edf_has_one_ring(session, tmp_path):
    frame = halo_raw.read_stream(session / "session.csv")
    two = pd.concat([frame, frame.assign(ring="C0:11:22:33:CA:FE")])
    with pytest.raises(ValueError, match="one ring, not 2"):
        halo_raw.to_edf(two, tmp_path / "x.edf")
    with pytest.raises(ValueError, match="no samples"):
        halo_raw.to_edf(halo_raw.marks(frame), tmp_path / "x.edf")


def test_a_steady_stream_has_no_holes(program, tmp_path):
    """Though its packets arrive in bursts: within a part, the order counts, not the jitter of the link."""
    path = tmp_path / "steady.csv"
    program("stream", "--ppg", "--count", 1000, "--output", path, "--adapter", CLOCK)
    halo_raw.to_edf(halo_raw.read_stream(path), tmp_path / "steady.edf")
    with pyedflib.EdfReader(str(tmp_path / "steady.edf")) as file:
        digital = file.readSignal(0, digital=True)[:1000]
        _, _, texts = file.readAnnotations()
    values = halo_raw.samples(halo_raw.read_stream(path), "ppg")["raw"]
    assert ((digital == -32768) == values.isna().to_numpy()).all()
    assert len(texts) <= values.isna().sum()


def test_parquet_returns_what_was_written(session, tmp_path):
    frame = halo_raw.read_stream(session / "session.jsonl")
    halo_raw.to_parquet(frame, tmp_path / "session.parquet")
    again = pd.read_parquet(tmp_path / "session.parquet")
    pd.testing.assert_frame_equal(again, frame, check_dtype=False)
    metadata = pyarrow.parquet.read_schema(tmp_path / "session.parquet").metadata
    assert json.loads(metadata[b"halo_raw"])["Ring"]["Address"] == RING
