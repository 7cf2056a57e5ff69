"""Streams, stores and captures as frames."""

import datetime
import io
import os
import signal
import sqlite3
import subprocess
import time

import pandas as pd
import pyedflib
import pytest
from conftest import CLOCK, OTHER, RING, ROOT

import halo_raw


@pytest.mark.verdict
def test_csv_and_jsonl_are_the_same(session):
    tables = [halo_raw.read_stream(session / name) for name in ("session.csv", "session.jsonl")]
    for kind in ("ppg", "accel", "spo2"):
        first, second = (halo_raw.samples(table, kind).drop(columns="time") for table in tables)
        # A replayed or virtual session begins when it begins; everything else is the same.
        pd.testing.assert_frame_equal(first, second[first.columns], check_dtype=False)
        assert first["seq"].tolist() == list(range(len(first))) and set(first["ring"]) == {RING}


@pytest.mark.verdict
def test_times_are_of_one_stamp(session):
    frame = halo_raw.read_stream(session / "session.csv")
    assert str(frame["time"].dtype).endswith("UTC]")
    start = frame["time"] - pd.to_timedelta(frame["t"], unit="s")
    assert (start.max() - start.min()) < pd.Timedelta("3us")
    assert start.min().strftime("%Y-%m-%dT%H:%M") == "2026-11-21T13:45"


@pytest.mark.verdict
def test_what_the_data_is_stands_beside_it(session):
    frame = halo_raw.read_stream(session / "session.csv")
    description = halo_raw.samples(frame, "ppg").attrs["description"]
    assert description["Ring"]["Firmware"] == "RT02R_3.11.00_250611"
    assert description["Printed"] + description["Rejected"] == description["Received"]
    # The program counts what it printed; and so does the frame.
    assert description["Printed"] == (~frame["kind"].isin(["gap", "rejected"])).sum()
    assert description["Rejected"] == (frame["kind"] == "rejected").sum() > 10


@pytest.mark.verdict
def test_rates_are_those_of_the_ring_without_the_gaps(session):
    frame = halo_raw.read_stream(session / "session.csv")
    gaps = (halo_raw.marks(frame)["kind"] == "gap").sum()
    assert gaps > 0 and halo_raw.segments(frame, "ppg").max() >= gaps
    assert halo_raw.rate(frame, "ppg") == pytest.approx(25, rel=0.05)
    with pytest.raises(ValueError, match="two samples"):
        halo_raw.rate(frame.head(1), "ppg")


@pytest.mark.verdict
def test_headers_and_what_was_cut_off(program):
    for form in ("csv", "jsonl"):
        text = program("stream", "--ppg", "--count", 5, "--header", "--format", form, "--adapter", CLOCK)
        whole = halo_raw.read_stream(io.StringIO(text))
        assert len(whole) == 5
        cut = halo_raw.read_stream(io.StringIO(text[:-20]))
        assert len(cut) == 4
    assert whole.attrs["description"]["Ring"]["Address"] == RING
    with pytest.raises(ValueError, match="no records of halo-raw"):
        halo_raw.read_stream(io.StringIO("a,b\n1,2\n"))


@pytest.mark.verdict
def test_a_store_has_all_rings_and_right_times(store):
    rates = halo_raw.read_store("heart-rate", store)
    assert set(rates["ring"]) == {RING, OTHER} and rates["manual"].dtype == bool
    assert (rates["time"].dt.tz_localize(None) + pd.to_timedelta(rates["utc_offset"], unit="s") == rates["local"]).all()
    assert rates["heart_rate_bpm"].between(30, 220).all()
    one = halo_raw.read_store("heart-rate", store, ring="R02_CAFE")
    assert set(one["ring"]) == {OTHER} and len(one) == (rates["ring"] == OTHER).sum()
    for kind in ("steps", "spo2", "sleep", "stress", "hrv", "temperature"):
        assert len(halo_raw.read_store(kind, store)) > 0


@pytest.mark.verdict
def test_the_newer_kinds_of_a_store(program, tmp_path):
    file = str(tmp_path / "rings.sqlite")
    for arguments in ([], ["--kind", "sedentary"]):
        program("sync", *arguments, "--store", file, "--adapter", f"{CLOCK},support=minute-spo2")
    sport = halo_raw.read_store("sport", file)
    assert list(sport["sport"]) == ["walk"] * len(sport) and len(sport) > 0
    assert sport["duration_s"].dtype == "Int64" and sport["energy_kcal"].gt(100).all()
    for rates, low, high in zip(sport["heart_rates_bpm"], sport["heart_rate_minimum_bpm"], sport["heart_rate_maximum_bpm"]):
        assert (min(rates), max(rates)) == (low, high)
    values = halo_raw.read_store("spo2-values", file)
    assert values["manual"].dtype == bool and values["spo2_percent"].between(90, 100).all()
    assert all(len(parts) % 2 == 0 for parts in halo_raw.read_store("sedentary", file)["bytes"])


@pytest.mark.verdict
def test_a_store_is_what_export_prints(program, store):
    steps = halo_raw.read_store("steps", store).sort_values(["ring", "time"])
    exported = pd.read_csv(io.StringIO(program("export", "steps", "--all", "--store", store))).sort_values(["ring", "time"])
    for column in ("ring", "firmware", "utc_offset", "steps", "distance_m", "energy_kcal"):
        assert steps[column].tolist() == exported[column].tolist()
    assert steps["time"].tolist() == pd.to_datetime(exported["time_utc"]).tolist()
    sleep = halo_raw.read_store("sleep", store)
    exported = pd.read_csv(io.StringIO(program("export", "sleep", "--all", "--store", store)))
    key = ["ring", "time", "stage"]
    found = sleep.assign(stage=sleep["stage"])[key].sort_values(key)
    exported = exported.assign(time=pd.to_datetime(exported["stage_start_utc"]))[key].sort_values(key)
    assert found["time"].tolist() == exported["time"].tolist()
    assert [name.lower() for name in found["stage"]] == [name.lower() for name in exported["stage"]]


@pytest.mark.verdict
def test_what_is_no_store_is_refused(tmp_path, store):
    (tmp_path / "text").write_text("no database " * 100)
    sqlite3.connect(tmp_path / "music").execute("CREATE TABLE music (title)")
    for name in ("text", "music"):
        with pytest.raises(ValueError, match=f"{name} is not a store of rings"):
            halo_raw.read_store("steps", tmp_path / name)
    with pytest.raises(FileNotFoundError, match="halo-raw sync"):
        halo_raw.read_store("steps")
    with pytest.raises(ValueError, match="unknown kind"):
        halo_raw.read_store("step", store)


@pytest.mark.verdict
def test_a_capture_has_packets_and_samples():
    path = ROOT / "captures/virtual-stream.btsnoop"
    packets = halo_raw.read_capture(path)
    assert packets["frame"].tolist() == list(range(1, len(packets) + 1))
    assert packets["time"].is_monotonic_increasing and "att.handle" in packets
    recorded = halo_raw.read_stream(path.with_suffix(".jsonl"))
    decoded = halo_raw.read_capture(path, samples=True).head(len(recorded))
    pd.testing.assert_frame_equal(decoded, recorded)
    with pytest.raises(halo_raw.ProgramError) as error:
        halo_raw.read_capture(ROOT / "README.md")
    assert error.value.code == 65 and "README.md" in str(error.value)


def test_a_week_of_files_adds_up(program, tmp_path):
    """A ring that comes and goes, in virtual time; each day is a file, and those of the last days are kept."""
    adapter = f"{CLOCK},rate=0.2,drop-after=20000,bad-checksum-every=5000"
    options = ("--ppg", "--retry-for", "forever", "--rotate", "1d", "--adapter", adapter)
    program("stream", "--duration", "7d", "--output", tmp_path / "week", *options)
    files = sorted(path.name for path in (tmp_path / "week").glob("*.csv"))
    days = [f"stream-202611{day}T000" for day in range(22, 29)]
    assert len(files) == 8 and [name[:19] for name in files[1:]] == days
    frame = halo_raw.read_stream(tmp_path / "week")
    pulse = halo_raw.samples(frame, "ppg")
    assert pulse["seq"].tolist() == list(range(len(pulse))) and pulse["time"].is_monotonic_increasing
    description = frame.attrs["description"]
    assert description["Printed"] == len(pulse) and description["Rejected"] == (frame["kind"] == "rejected").sum() > 0
    assert description["Received"] == description["Printed"] + description["NotSelected"] + description["Rejected"]
    assert description["Gaps"] == (frame["kind"] == "gap").sum() > 3
    assert pulse["t"].iloc[-1] == pytest.approx(7 * 86400, abs=60)

    program("stream", "--duration", "7d", "--output", tmp_path / "days", "--keep", "60h", *options)
    assert [path.name[:19] for path in sorted((tmp_path / "days").glob("*.csv"))] == days[-4:]
    assert len(list((tmp_path / "days").iterdir())) == 8


@pytest.mark.verdict
def test_runs_in_a_folder_are_told_apart(program, tmp_path):
    for hour in (13, 14):
        adapter = f"virtual:fast,clock=2026-11-21T{hour}:45:00"
        program("stream", "--ppg", "--count", 3, "--output", tmp_path, "--adapter", adapter)
    (tmp_path / "stream-20261121T134500Z.csv.part").write_text("t,time,ring,seq\n")
    frame = halo_raw.read_stream(tmp_path)
    assert frame["run"].tolist() == [0, 0, 0, 1, 1, 1] and frame["seq"].tolist() == [0, 1, 2, 0, 1, 2]
    with pytest.raises(ValueError, match="no csv or jsonl file with records"):
        halo_raw.read_stream(tmp_path.parent)


@pytest.mark.verdict
def test_moments_of_a_stream_are_marks_in_both_forms(program):
    """What the wearer does is a mark with a text; what the ring reports of itself is none."""
    texts = [program("stream", "--duration", "12s", "--format", form, "--adapter", f"{CLOCK},events=0.5") for form in ("csv", "jsonl")]
    frames = [halo_raw.read_stream(io.StringIO(text)) for text in texts]
    csv, jsonl = (halo_raw.marks(frame)[["t", "seq", "kind", "note"]] for frame in frames)
    assert csv["note"].tolist()[:4] == ["key next", "find-phone begins", "button tap", "heart-rate-alarm too-high 131"]
    assert set(csv["kind"]) == {"event"} and csv["seq"].tolist() == list(range(len(csv)))
    pd.testing.assert_frame_equal(csv, jsonl, check_dtype=False, atol=0.1)
    assert list(frames[0].columns) == list(frames[1].columns) and not halo_raw.segments(frames[0], "ppg").any()


@pytest.mark.verdict
def test_what_is_marked_during_a_stream_reaches_edf(program, tmp_path):
    """The whole way: a stream, halo-raw mark in the meantime, a frame, and the annotation of the file."""
    file = tmp_path / "a.csv"
    command = [os.environ["HALO_RAW"], "stream", "--ppg", "--output", file, "--adapter", "virtual:name=R02_EDF,rate=50"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 30
        while True:
            # In a batch, as samples are written once in a while.
            if file.exists() and file.read_text().count(",ppg,") > 20 and not subprocess.run(
                    [os.environ["HALO_RAW"], "mark", "drank a coffee", "--ring", "R02_EDF"], capture_output=True).returncode:
                break
            assert time.monotonic() < deadline
            time.sleep(0.05)
        count = file.read_text().count(",ppg,")
        while file.read_text().count(",ppg,") < count + 20:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
    frame = halo_raw.read_stream(file)
    (mark,) = halo_raw.marks(frame).itertuples()
    assert mark.kind == "mark" and mark.note == "drank a coffee" and mark.ring == RING
    halo_raw.to_edf(frame, tmp_path / "a.edf", rate_hz=50)
    with pyedflib.EdfReader(str(tmp_path / "a.edf")) as edf:
        onsets = dict(zip(edf.readAnnotations()[2], edf.readAnnotations()[0], strict=True))
        begin = edf.getStartdatetime().replace(microsecond=0, tzinfo=datetime.timezone.utc)
    assert abs((begin + datetime.timedelta(seconds=float(onsets["drank a coffee"])) - mark.time).total_seconds()) < 0.05


@pytest.mark.verdict
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_buttons_alarms_and_counters_are_events(program, form):
    text = program("events", "--count", 10, "--format", form, "--adapter", f"{CLOCK},events=1")
    events = halo_raw.read_stream(io.StringIO(text))
    notes = {event: note for event, note in zip(events["event"], events["note"]) if event != "notification"}
    assert (notes["button"], notes["heart-rate-alarm"], notes["counter"]) == ("tap", "too-high", "9")
    alarm = events[events["event"] == "heart-rate-alarm"]
    assert alarm["heart_rate_bpm"].tolist() == [131]


@pytest.mark.verdict
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_several_values_at_once_and_bytes(program, form):
    ring = f"{CLOCK},firmware=RT11CR_1.00.08_250514"
    text = program("measure", "all", "--include-estimates", "--format", form, "--adapter", ring)
    last = halo_raw.read_stream(io.StringIO(text)).iloc[-1]
    assert 40 < last["heart_rate_bpm"] < 120 and (last["systolic_mmhg"], last["diastolic_mmhg"]) == (118, 76)
    text = program("measure", "temperature", "--format", form, "--adapter", ring)
    assert halo_raw.read_stream(io.StringIO(text)).iloc[-1]["bytes"] == "6d01" + "00" * 10
