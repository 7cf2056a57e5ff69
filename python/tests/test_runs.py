"""Several runs of the program in one folder, its open file, and a choice of times and kinds.

Each restart of a service begins a new run, in which `t` and `seq` start anew: sccn/labstreaminglayer 131 and 134 are
about recordings whose time jumps in silence.
"""

import io
import os
import subprocess
import time

import numpy as np
import pandas as pd
import pytest
from conftest import RING

import halo_raw

pytestmark = pytest.mark.verdict


def clock(time: str, more: str = "") -> str:
    return f"virtual:fast,clock=2026-11-21T{time}{more}"


@pytest.fixture(scope="module")
def folder(program, tmp_path_factory):
    """Two runs of some seconds, an hour apart; the second has the same `t`."""
    path = tmp_path_factory.mktemp("runs")
    for time in ("13:45:00", "14:45:00"):
        program("stream", "--output", path, "--rotate", "3s", "--duration", "8s", "--adapter", clock(time))
    return path


def lines(path, start: str, first: float, count: int, hertz: float = 25.0) -> None:
    """A file of csv as the program writes it."""
    begin = pd.Timestamp(start)
    with path.open("w") as file:
        file.write("t,time,ring,seq,kind,raw,max,min,diff,note\n")
        for index in range(count):
            t = first + index / hertz
            time = begin + pd.Timedelta(t, unit="s")
            file.write(f"{t:.6f},{time.isoformat()},{RING},{index},ppg,{100 + index % 50},0,0,0,\n")


def test_runs_are_apart_everywhere(folder):
    frame = halo_raw.read_stream(folder)
    assert len(list(folder.glob("*.csv"))) > 4 and frame["run"].unique().tolist() == [0, 1]
    pulse = halo_raw.samples(frame, "ppg")
    assert pulse.groupby("run")["seq"].agg(lambda numbers: numbers.tolist() == list(range(len(numbers)))).all()
    # 50.15 if the runs are taken for one.
    assert halo_raw.rate(frame, "ppg") == pytest.approx(25, abs=0.1)
    assert halo_raw.segments(frame, "ppg").nunique() == 2
    (start,) = halo_raw.marks(frame).to_dict("records")
    assert (start["kind"], start["run"], start["time"]) == ("start", 1, frame[frame["run"] == 1]["time"].iloc[0])
    assert start["note"].startswith("359") and start["note"].endswith("s after the last record")
    wide = halo_raw.moments(frame)
    assert wide["run"].tolist() == sorted(wide["run"]) and (wide.groupby("run")["t"].first() == 0).all()


def test_runs_with_the_same_clock_are_apart(program, tmp_path):
    """As two of a virtual ring may be; the second one gets another name for its file."""
    for _ in range(2):
        program("stream", "--ppg", "--count", 5, "--output", tmp_path, "--rotate", "1h", "--adapter", clock("13:45:00"))
    assert halo_raw.read_stream(tmp_path)["run"].tolist() == [0] * 5 + [1] * 5


def test_a_folder_of_several_commands_is_one_frame(program, tmp_path):
    """Each command is a run, whatever its columns are; samples are where they were."""
    program("stream", "--duration", "2s", "--output", tmp_path, "--adapter", clock("13:45:00"))
    program("measure", "heart-rate", "--output", tmp_path, "--adapter", clock("14:45:00"))
    program("events", "--count", 5, "--output", tmp_path, "--adapter", clock("15:45:00", ",events=1"))
    for options in (["--all", "--adapter", clock("16:45:00", ",rings=2")],
                    ["--source", "counted", "--adapter", clock("17:45:00", ",counted,lose=5")]):
        program("stream", "--ppg", "--format", "jsonl", "--duration", "2s", "--output", tmp_path, *options)
    frame = halo_raw.read_stream(tmp_path)
    assert frame["run"].unique().tolist() == [0, 1, 2, 3, 4]
    assert halo_raw.samples(frame, "ppg").groupby("run").size().index.tolist() == [0, 3, 4]
    assert frame["heart_rate_bpm"].notna().any() and frame["steps"].dtype == "float64"
    assert (halo_raw.marks(frame)["kind"] == "start").sum() == 4
    halo_raw.to_parquet(frame, tmp_path / "all.parquet")
    assert len(pd.read_parquet(tmp_path / "all.parquet")) == len(frame)


def test_frames_that_are_put_together_are_two_runs(folder):
    """Without the column `run`, of frames that were read one by one."""
    files = sorted(folder.glob("*.csv"))
    frame = pd.concat([halo_raw.read_stream(files[0]), halo_raw.read_stream(files[-3])], ignore_index=True)
    frame = frame.drop(columns="run")
    assert halo_raw.rate(frame, "ppg") == pytest.approx(25, abs=0.3)
    assert halo_raw.segments(frame, "ppg").nunique() == 2


def test_appended_output_is_two_runs(program):
    """`halo-raw stream >> session.csv`: the names of the columns stand where a run begins, and may be others."""
    for form in ("csv", "jsonl"):
        text = ""
        for time, kinds in (("13:45:00", ["--ppg"]), ("14:45:00", ["--ppg", "--accel"])):
            text += program("stream", *kinds, "--count", 6, "--header", "--format", form, "--adapter", clock(time))
        frame = halo_raw.read_stream(io.StringIO(text))
        assert frame["run"].tolist() == [0] * 6 + [1] * 6
        assert halo_raw.samples(frame, "accel")["x_g"].notna().all() and len(halo_raw.samples(frame, "ppg")) == 9


def test_files_without_a_description_are_told_by_their_times(tmp_path):
    """As they are after `cp *.csv`."""
    lines(tmp_path / "stream-20261121T134500Z.csv", "2026-11-21T13:45:00Z", 0, 100)
    lines(tmp_path / "stream-20261121T134504Z.csv", "2026-11-21T13:45:00Z", 4, 100)
    lines(tmp_path / "stream-20261121T144500Z.csv", "2026-11-21T14:45:00Z", 0, 50)
    assert halo_raw.read_stream(tmp_path).groupby("run").size().tolist() == [200, 50]


def test_files_are_in_the_order_of_their_records_after_a_clock_was_set_back(tmp_path):
    """The name of the later file is that of an earlier time, as on a computer without a battery for its clock."""
    lines(tmp_path / "stream-20261121T134500Z.csv", "2026-11-21T13:45:00Z", 0, 100)
    lines(tmp_path / "stream-20261121T124504Z.csv", "2026-11-21T12:45:00Z", 4, 100)
    for path in tmp_path.glob("*.csv"):
        path.with_name(path.name + ".json").write_text('{"Start": "2026-11-21T13:44:59+00:00"}')
    frame = halo_raw.read_stream(tmp_path)
    assert frame["t"].is_monotonic_increasing and frame["run"].unique().tolist() == [0]


def test_the_open_file_is_read_as_far_as_it_is(tmp_path):
    arguments = ["stream", "--ppg", "--output", str(tmp_path), "--rotate", "1GB", "--adapter", "virtual:rate=100"]
    with subprocess.Popen(
            [os.environ["HALO_RAW"], *arguments], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            end = time.monotonic() + 60
            while not any(path.stat().st_size > 4096 for path in tmp_path.glob("*.csv.part")):
                assert time.monotonic() < end and process.poll() is None
                time.sleep(0.01)
            frame = halo_raw.read_stream(tmp_path)
        finally:
            process.terminate()
    assert len(frame) > 10 and frame.attrs["description"]["End"] is None
    # A line of which a part is written is none.
    (part,) = tmp_path.glob("*.csv")
    part.with_name("stream-20261121T134500Z.csv.part").write_bytes(part.read_bytes()[:-7])
    frame = halo_raw.read_stream(tmp_path)
    assert frame["seq"].iloc[-1] == frame["seq"].max() and frame["run"].nunique() == 2


def test_a_choice_of_times_reads_no_other_files(folder, monkeypatch):
    whole = halo_raw.read_stream(folder)
    since, until = "2026-11-21T13:45:04", pd.Timestamp("2026-11-21T13:45:05", tz="UTC")
    opened = []
    from halo_raw.folder import RunFile

    monkeypatch.setattr(RunFile, "open", lambda file: opened.append(file.path.name) or file.path.open("rb"))
    frame = halo_raw.read_stream(folder, since=since, until=until)
    expected = whole[(whole["time"] >= "2026-11-21T13:45:04Z") & (whole["time"] < until)].reset_index(drop=True)
    pd.testing.assert_frame_equal(frame, expected)
    assert len(frame) > 60 and len(opened) == 1
    # The numbers of runs are those of the folder.
    assert halo_raw.read_stream(folder, since="2026-11-21T14:00")["run"].unique().tolist() == [1]
    empty = halo_raw.read_stream(folder, since="2027-01-01")
    assert empty.empty and list(empty.columns) == list(whole.columns) and (
        (empty.dtypes == whole.dtypes).drop("ring").all())


def test_a_file_in_which_the_clock_was_set_is_read_for_any_time(tmp_path):
    """Its first and its last record do not say which times it has."""
    lines(tmp_path / "a.csv", "2026-11-21T13:45:00Z", 0, 100)
    lines(tmp_path / "b.csv", "2026-11-21T10:45:00Z", 4, 100)
    (tmp_path / "stream-1.csv").write_text(
        (tmp_path / "a.csv").read_text() + (tmp_path / "b.csv").read_text().split("\n", 1)[1])
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).unlink()
    assert len(halo_raw.read_stream(tmp_path, since="2026-11-21T13:45")) == 100
    assert len(halo_raw.read_stream(tmp_path, until="2026-11-21T11:00")) == 100


def test_a_choice_of_kinds_has_their_columns_alone(folder, program):
    frame = halo_raw.read_stream(folder, kinds=["ppg"])
    alone = halo_raw.read_stream(io.StringIO(program("stream", "--ppg", "--count", 3, "--adapter", clock("13:45:00"))))
    assert set(frame["kind"]) == {"ppg"}
    assert list(frame.columns) == list(alone.columns) and (frame.dtypes.drop("ring") == alone.dtypes.drop("ring")).all()
    with pytest.raises(ValueError, match="no kind pulse"):
        halo_raw.read_stream(folder, kinds=["pulse"])


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_the_columns_and_types_do_not_depend_on_what_happened(program, form):
    """pandas-dev/pandas 59497, apache/arrow 2782: a column without a value has another type than one with values."""
    frames = [
        halo_raw.read_stream(io.StringIO(program("stream", "--duration", "8s", "--format", form, "--adapter", adapter)))
        for adapter in (clock("13:45:00"), clock("13:45:00", ",bad-checksum-every=20,drop-after=100"))]
    assert len(halo_raw.marks(frames[0])) == 0 < len(halo_raw.marks(frames[1]))
    assert list(frames[0].columns) == list(frames[1].columns)
    assert frames[0].dtypes.tolist() == frames[1].dtypes.tolist()
    assert halo_raw.marks(frames[1])["note"].map(type).eq(str).all()
    for kind in ("ppg", "spo2", "accel"):
        first, second = (halo_raw.samples(frame, kind) for frame in frames)
        assert first.dtypes.to_dict() == second.dtypes.to_dict() and "note" not in first
    # A sensor that has given nothing yet has its column, too.
    nothing = frames[0].assign(raw=np.float32("nan"))
    assert list(halo_raw.samples(nothing, "ppg").columns) == list(halo_raw.samples(frames[0], "ppg").columns)


def test_marks_are_the_same_in_csv_and_in_jsonl(program):
    adapter = clock("13:45:00", ",bad-checksum-every=20,drop-after=100")
    texts = [program("stream", "--duration", "8s", "--format", form, "--adapter", adapter) for form in ("csv", "jsonl")]
    csv, jsonl = (halo_raw.marks(halo_raw.read_stream(io.StringIO(text))) for text in texts)
    pd.testing.assert_frame_equal(csv, jsonl)


def test_a_row_is_small(tmp_path):
    """A week of one sensor at 25 Hz has 15 million rows: a row of Python objects would take 300 bytes."""
    lines(tmp_path / "stream.csv", "2026-11-21T13:45:00Z", 0, 5000)
    frame = halo_raw.read_stream(tmp_path / "stream.csv")
    assert frame.memory_usage(deep=True).sum() / len(frame) < 60


def test_a_file_is_parsed_in_blocks(monkeypatch, tmp_path):
    """A line feed within quotation marks ends no line, wherever a block ends."""
    lines(tmp_path / "stream.csv", "2026-11-21T13:45:00Z", 0, 60)
    text = (tmp_path / "stream.csv").read_text()
    gap = f'2.4,2026-11-21T13:45:02.4+00:00,{RING},0,gap,,,,,"lost: ""a\n# b, c"""\n'
    (tmp_path / "stream.csv").write_text("# halo-raw\n" + text + gap + "2.44,2026-11-21T13:45:02.44+00:00,cut")
    expected = halo_raw.read_stream(tmp_path / "stream.csv")
    assert len(expected) == 61 and expected["note"].iloc[-1] == 'lost: "a\n# b, c"'
    from halo_raw import lines as blocks

    for size in (61, 100, 400):
        monkeypatch.setattr(blocks, "_BLOCK", size)
        pd.testing.assert_frame_equal(halo_raw.read_stream(tmp_path / "stream.csv"), expected)


def test_a_name_with_a_line_separator_is_one_line():
    """U+2028 and U+0085 end a line for `str.splitlines`, and not for JSON."""
    text = "".join(
        f'{{"t":{number}.0,"time":"2026-11-21T13:45:0{number}Z","ring":"R\u2028\u0085{number}","seq":0,"kind":"ppg"}}\n'
        for number in (0, 1))
    assert halo_raw.read_stream(io.StringIO(text))["ring"].tolist() == ["R\u2028\u00850", "R\u2028\u00851"]


@pytest.mark.parametrize("row", [
    "nan,{time},R,0,ppg,1,", "1e400,{time},R,0,ppg,1,", "0,yesterday,R,0,ppg,1,", "0,{time},R,99999999999,ppg,1,",
    "0,{time},R,,ppg,1,", "0,{time},R,0,ppg,bright,", "0,,R,0,ppg,1,", "0,9999999-01-01T00:00:00Z,R,0,ppg,1,",
    "0,{time},R,0,ppg,1,,,,,,",
])
def test_what_no_ring_sends_is_refused(row, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(f"t,time,ring,seq,kind,raw,note\n{row.format(time='2026-11-21T13:45:00+00:00')}\n")
    with pytest.raises(ValueError, match="x.csv"):
        halo_raw.read_stream(path)
    deep = '{"t":0}\n' + "[" * 100_000 + "\n"
    for text in ('{"t":[],"time":"2026","ring":"R","seq":0}\n', "{broken\n", "[1]\n", "{}\n", deep):
        (tmp_path / "x.jsonl").write_text(text)
        with pytest.raises(ValueError, match="x.jsonl"):
            halo_raw.read_stream(tmp_path / "x.jsonl")
