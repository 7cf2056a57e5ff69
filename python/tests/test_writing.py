"""EDF and Parquet files."""

import json
import os
import stat

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
        measured = halo_raw.rate(frame, "ppg")
        assert [file.getSampleFrequency(index) for index in range(5)] == pytest.approx([measured] * 5, rel=1e-5)
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
        assert any(text == "BAD_no ppg" and abs(onset - gap["t"]) < 5 and length > 0.1 for onset, length, text in notes)
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
        digital = file.readSignal(0, digital=True)
        _, _, texts = file.readAnnotations()
    values = halo_raw.samples(halo_raw.read_stream(path), "ppg")["raw"]
    first = np.flatnonzero(digital != -32768)[0]
    assert ((digital[first : first + 1000] == -32768) == values.isna().to_numpy()).all()
    # Beside the values that the sensor did not give: the time before the first sample, and the end of the last record.
    assert len(texts) <= values.isna().sum() + 2


def test_parquet_returns_what_was_written(session, tmp_path):
    frame = halo_raw.read_stream(session / "session.jsonl")
    halo_raw.to_parquet(frame, tmp_path / "session.parquet")
    again = pd.read_parquet(tmp_path / "session.parquet")
    pd.testing.assert_frame_equal(again, frame, check_dtype=False)
    metadata = pyarrow.parquet.read_schema(tmp_path / "session.parquet").metadata
    assert json.loads(metadata[b"halo_raw"])["Ring"]["Address"] == RING


def test_files_of_several_streams_are_one_data_set(program, tmp_path):
    """With a gap and without one: a column without a value was of the type null (apache/arrow 11967,
    pola-rs/polars 22322), and pyarrow.dataset refused the second file."""
    import pyarrow.dataset

    (tmp_path / "set").mkdir()
    for number, options in enumerate(("", ",bad-checksum-every=20,drop-after=100", "")):
        form = "jsonl" if number == 2 else "csv"
        path = tmp_path / f"{number}.{form}"
        program("stream", "--duration", "8s", "--output", path, "--adapter", CLOCK + options)
        halo_raw.to_parquet(halo_raw.read_stream(path), tmp_path / "set" / f"{number}.parquet")
    schemas = [pyarrow.parquet.read_schema(path).remove_metadata() for path in sorted((tmp_path / "set").iterdir())]
    assert schemas[0].equals(schemas[1]) and schemas[0].equals(schemas[2])
    assert schemas[0].field("note").type == pyarrow.string()
    table = pyarrow.dataset.dataset(tmp_path / "set").to_table().to_pandas()
    assert {"gap", "rejected"} <= set(table["note"].dropna().index.map(table["kind"]))
    again = pd.read_parquet(tmp_path / "set")
    assert len(again) == len(table)


def test_times_of_any_resolution_are_written(tmp_path):
    """As pandas makes nanoseconds of a time and a duration."""
    time = pd.Timestamp("2026-11-21T13:45:00Z") + pd.to_timedelta([1.0000000011, 2.5], unit="s")
    halo_raw.to_parquet(pd.DataFrame({"t": [1.0, 2.5], "time": time}), tmp_path / "x.parquet")
    assert pyarrow.parquet.read_schema(tmp_path / "x.parquet").field("time").type == pyarrow.timestamp("us", tz="UTC")
    assert pd.read_parquet(tmp_path / "x.parquet")["time"][0] == pd.Timestamp("2026-11-21T13:45:01Z")


def test_what_the_data_is_comes_back_with_it(session, store, tmp_path):
    frame = halo_raw.read_stream(session / "session.csv")
    halo_raw.to_parquet(frame, tmp_path / "session.parquet")
    assert pd.read_parquet(tmp_path / "session.parquet").attrs == frame.attrs
    # What is stored can be written, too: lists and numbers that may be missing.
    for kind in ("sport", "sleep", "stress"):
        rows = halo_raw.read_store(kind, store)
        halo_raw.to_parquet(rows, tmp_path / "rows.parquet")
        assert len(pd.read_parquet(tmp_path / "rows.parquet")) == len(rows)


@pytest.mark.parametrize("write, name", [(halo_raw.to_edf, "session.edf"), (halo_raw.to_parquet, "session.parquet")])
def test_new_files_are_their_users_alone(session, tmp_path, write, name):
    """As those of the program: they are health data. A file that is there keeps its mode."""
    frame = halo_raw.read_stream(session / "session.csv")
    before = os.umask(0)
    try:
        write(frame, tmp_path / name)
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
        (tmp_path / name).chmod(0o640)
        write(frame, tmp_path / name)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o640
