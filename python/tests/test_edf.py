"""EDF files keep time, whatever the rate, and however often the program was started.

Rates that are not whole numbers: holgern/pyedflib 159 and 189, mne-tools/mne-python 9643. The fraction of a second of
the start, which readers ignore or misread: mne-tools/mne-python 7872, holgern/pyedflib 64. The end of the last record:
holgern/pyedflib 51.
"""

import os
import stat

import numpy as np
import pandas as pd
import pyedflib
import pytest
from conftest import RING

import halo_raw

pytestmark = pytest.mark.verdict

START = pd.Timestamp("2026-11-21T13:45:00.924110Z")


def frame_of(times, kind="ppg", start=START, run=0, **values) -> pd.DataFrame:
    """A stream that was taken at these times; its values say which sample it is."""
    t = np.asarray(times, dtype=float)
    number = np.arange(len(t)) % 4000
    columns = {"raw": 1000 + number} if kind != "accel" else dict.fromkeys(("x_g", "y_g", "z_g"), number / 1000)
    return pd.DataFrame({
        "t": t, "time": start + pd.to_timedelta(t, unit="s"), "ring": RING, "seq": np.arange(len(t)), "kind": kind,
        **columns, "run": run, **values})


class Edf:
    """What an EDF file has, by pyEDFlib."""

    def __init__(self, path, signal=0):
        with pyedflib.EdfReader(str(path)) as file:
            self.hertz = file.getSampleFrequency(signal)
            self.digital = file.readSignal(signal, digital=True)
            self.values = file.readSignal(signal)
            self.notes = list(zip(*file.readAnnotations(), strict=True))
            # getStartdatetime takes ten units of the fraction for one.
            whole = pd.Timestamp(file.getStartdatetime()).floor("s").tz_localize("UTC")
            self.start = whole + pd.Timedelta(file.starttime_subsecond * 100, unit="ns")
        self.places = np.flatnonzero(self.digital != -32768)
        self.times = self.start + pd.to_timedelta(self.places / self.hertz, unit="s")

    def texts(self):
        return [text for _, _, text in self.notes]


@pytest.mark.parametrize("hertz", [6.5, 25.3, 25.03, 1.0, 0.1, 99.7])
def test_the_last_sample_of_an_hour_is_in_its_place(hertz, tmp_path):
    """6.5 Hz was written as 7: the last sample eight seconds early in two minutes, and each heart rate wrong."""
    frame = frame_of(np.arange(0, 3600, 1 / hertz))
    halo_raw.to_edf(frame, tmp_path / "hour.edf")
    edf = Edf(tmp_path / "hour.edf")
    assert edf.hertz == pytest.approx(hertz, rel=1e-4) and len(edf.places) == len(frame)
    late = np.abs((edf.times - pd.DatetimeIndex(frame["time"])).total_seconds())
    assert late.max() < 0.2 / hertz


def test_kinds_of_different_rates_are_each_in_their_place(tmp_path):
    frame = pd.concat([frame_of(np.arange(0, 600, 1 / 25.3)), frame_of(np.arange(0, 600, 1 / 6.5), "accel")])
    frame = frame.sort_values("t", kind="stable", ignore_index=True)
    halo_raw.to_edf(frame, tmp_path / "two.edf")
    for signal, kind in ((0, "ppg"), (2, "accel")):
        edf = Edf(tmp_path / "two.edf", signal)
        expected = frame[frame["kind"] == kind]["time"]
        assert np.abs((edf.times - pd.DatetimeIndex(expected)).total_seconds()).max() < 0.1


def test_a_single_sample_of_a_kind_has_the_rate_of_the_others(tmp_path):
    frame = pd.concat([frame_of(np.arange(0, 60, 0.04)), frame_of([30.0], "accel")], ignore_index=True)
    halo_raw.to_edf(frame.sort_values("t", kind="stable", ignore_index=True), tmp_path / "x.edf")
    assert Edf(tmp_path / "x.edf", 3).places.tolist() == [750 + 23]
    with pytest.raises(ValueError, match="rate_hz"):
        halo_raw.to_edf(frame_of([30.0]), tmp_path / "x.edf")
    halo_raw.to_edf(frame_of([30.0]), tmp_path / "x.edf", rate_hz=25)
    assert len(Edf(tmp_path / "x.edf").places) == 1


def test_a_given_rate_need_not_be_whole(tmp_path):
    halo_raw.to_edf(frame_of(np.arange(0, 60, 0.08)), tmp_path / "x.edf", rate_hz=12.5)
    assert Edf(tmp_path / "x.edf").hertz == pytest.approx(12.5)
    with pytest.raises(ValueError, match="Hz is not between"):
        halo_raw.to_edf(frame_of([0, 1]), tmp_path / "x.edf", rate_hz=float("nan"))


@pytest.mark.parametrize("fraction", ["000000", "000001", "050000", "924110", "999999"])
def test_the_file_begins_with_the_first_sample(fraction, tmp_path):
    """To the tenth of a millisecond; and to one interval for a reader that knows only the whole second."""
    frame = frame_of(np.arange(0, 30, 0.04), start=pd.Timestamp(f"2026-11-21T13:45:00.{fraction}Z"))
    halo_raw.to_edf(frame, tmp_path / "x.edf")
    edf = Edf(tmp_path / "x.edf")
    assert abs((edf.times[0] - frame["time"].iloc[0]).total_seconds()) < 1e-4
    assert abs((edf.times[0] - edf.start).total_seconds() - int(fraction) / 1e6) < 0.04


def test_a_clock_that_was_set_changes_neither_the_start_nor_the_places(tmp_path):
    frame = frame_of(np.arange(0, 60, 0.04))
    frame.loc[500:, "time"] -= pd.Timedelta("1h")
    mark = frame.iloc[[500]].assign(kind="clock", note="-3600.000000")
    frame = pd.concat([frame.iloc[:500], mark, frame.iloc[500:]], ignore_index=True)
    halo_raw.to_edf(frame, tmp_path / "x.edf")
    edf = Edf(tmp_path / "x.edf")
    assert abs((edf.times[0] - START).total_seconds()) < 1e-4
    assert (np.diff(edf.places) == 1).all() and "clock: -3600.000000" in edf.texts()


def test_places_without_a_sample_are_bad_and_counted(tmp_path):
    """MNE leaves out what has an annotation that begins with BAD_: also before the first sample and after the last."""
    times = np.arange(0, 10.5, 0.04)
    frame = frame_of(np.concatenate([times, times + 15]))
    frame.loc[20, "raw"] = np.nan
    halo_raw.to_edf(frame, tmp_path / "x.edf")
    edf = Edf(tmp_path / "x.edf")
    bad = np.ones(len(edf.digital), dtype=bool)
    for onset, duration, text in edf.notes:
        assert text == "BAD_no ppg"
        bad[round(onset * edf.hertz) : round((onset + duration) * edf.hertz)] = False
    assert (bad == (edf.digital != -32768)).all() and len(edf.notes) == 4


def test_a_long_text_ends_after_a_word():
    from halo_raw.edfnotes import shortened

    assert shortened("gap: connection lost") == "gap: connection lost"
    long = "gap: the connection was lost because the ring went away"
    assert shortened(long) == "gap: the connection was lost because..."
    assert shortened("rejected: " + "a1" * 40) == "rejected: " + "a1" * 13 + "a..."
    assert all(len(shortened(letter * 60).encode()) <= 40 for letter in "aé€😀")


def test_two_runs_are_one_file_with_a_gap(tmp_path):
    """Both were at 50 Hz, and took turns."""
    runs = [frame_of(np.arange(0, 20, 0.04), start=START + pd.Timedelta(f"{run}min"), run=run) for run in (0, 1)]
    frame = pd.concat(runs, ignore_index=True)
    halo_raw.to_edf(frame, tmp_path / "x.edf")
    edf = Edf(tmp_path / "x.edf")
    assert edf.hertz == pytest.approx(25) and len(edf.places) == 1000
    assert np.abs((edf.times - pd.DatetimeIndex(frame["time"])).total_seconds()).max() < 0.021
    (start,) = [onset for onset, _, text in edf.notes if text == "start: 40.0 s after the last record"]
    assert start == pytest.approx(60.9, abs=0.1)
    # A clock that was set back between the runs: the second one comes after the first.
    frame.loc[frame["run"] == 1, "time"] -= pd.Timedelta("1h")
    halo_raw.to_edf(frame, tmp_path / "x.edf")
    assert len(Edf(tmp_path / "x.edf").places) == 1000


def test_runs_that_do_not_fit_into_one_file_are_refused(tmp_path):
    fast = frame_of(np.arange(0, 60, 0.04))
    slow = frame_of(np.arange(0, 60, 1.0), start=START + pd.Timedelta("2min"), run=1)
    with pytest.raises(ValueError, match="an EDF file has one rate"):
        halo_raw.to_edf(pd.concat([fast, slow], ignore_index=True), tmp_path / "x.edf")
    later = fast.assign(run=1, time=fast["time"] + pd.Timedelta("5000D"))
    with pytest.raises(ValueError, match="write a file for each run"):
        halo_raw.to_edf(pd.concat([fast, later], ignore_index=True), tmp_path / "x.edf")
    assert not list(tmp_path.iterdir())


def test_a_good_file_stays_until_the_new_one_is_complete(tmp_path, monkeypatch):
    frame = frame_of(np.arange(0, 10, 0.04))
    for write, name in ((halo_raw.to_edf, "x.edf"), (halo_raw.to_parquet, "x.parquet")):
        path = tmp_path / name
        write(frame, path)
        path.chmod(0o640)
        before = path.read_bytes()
        with monkeypatch.context() as patch:
            import pyarrow.parquet

            patch.setattr(pyedflib.EdfWriter, "blockWriteDigitalShortSamples", lambda *_: -1)
            patch.setattr(pyarrow.parquet, "write_table", failing)
            with pytest.raises(OSError):
                write(frame, path)
        assert path.read_bytes() == before and [entry.name for entry in tmp_path.iterdir()] == [name]
        write(frame.head(100), path)
        assert path.read_bytes() != before and stat.S_IMODE(path.stat().st_mode) == 0o640
        path.unlink()


def failing(*_, **__):
    raise OSError("no space left on device")


@pytest.mark.parametrize("write", [halo_raw.to_edf, halo_raw.to_parquet])
def test_links_and_devices(write, tmp_path):
    frame = frame_of(np.arange(0, 10, 0.04))
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    write(frame, tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "target").stat().st_size > 1000
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    (shared / "link").symlink_to(tmp_path / "target")
    with pytest.raises(OSError, match="symbolic link"):
        write(frame, shared / "link")
    os.mkfifo(tmp_path / "pipe")
    for name in (tmp_path / "pipe", "/dev/null"):
        with pytest.raises(OSError, match="no regular file"):
            write(frame, name)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode) and stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_the_ring_may_have_any_firmware(tmp_path):
    """The header of EDF has ASCII of a limited length."""
    frame = frame_of(np.arange(0, 10, 0.04))
    frame.attrs["description"] = {"Ring": {"Firmware": "R02 é\n" * 40}}
    halo_raw.to_edf(frame, tmp_path / "x.edf")
    with pyedflib.EdfReader(str(tmp_path / "x.edf")) as file:
        assert file.getEquipment().startswith(f"halo-raw {RING} R02 ")


def test_what_a_person_has_marked_is_an_annotation_with_its_text(tmp_path):
    frame = frame_of(np.arange(0, 60, 0.04), note=None)
    marks = frame.iloc[[250, 500]].assign(
        kind=["mark", "event"], raw=np.nan, t=[10.01, 20.0], note=["drank a coffee in the kitchen", "button tap"])
    frame = pd.concat([frame, marks]).sort_values("t", kind="stable", ignore_index=True)
    halo_raw.to_edf(frame, tmp_path / "x.edf")
    notes = {text: onset for onset, _, text in Edf(tmp_path / "x.edf").notes if not text.startswith("BAD_")}
    # The file begins at the whole second before the first sample.
    assert list(notes) == ["drank a coffee in the kitchen", "event: button tap"]
    assert list(notes.values()) == pytest.approx([10.01 + 0.924, 20 + 0.924], abs=0.04)
    assert len(halo_raw.samples(frame, "ppg")) == 1500
