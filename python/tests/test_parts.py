"""Uninterrupted parts, rates and moments, of streams as links deliver them.

A link that is slow for a while delivers what was held back at once: the rate of the whole must not rise by that, and
nothing is missing. Time stamps of a radio in steps: sccn/labstreaminglayer 125, xdf-modules/pyxdf 80 and 92.
"""

import io

import numpy as np
import pandas as pd
import pytest
from conftest import CLOCK
from test_edf import Edf, frame_of

import halo_raw

pytestmark = pytest.mark.verdict

EVENT = 0.015


def held(times, places, length=1.0):
    """When samples arrive, at events of a link that is slow at some places."""
    arrival = np.ceil(times / EVENT) * EVENT
    for place in places:
        late = (times >= times[place]) & (times < times[place] + length)
        arrival[late] = np.maximum(arrival[late], times[place] + length)
    return np.maximum.accumulate(arrival)


def test_a_slow_link_is_no_gap_and_no_other_rate(tmp_path):
    taken = np.arange(0.5, 600, 0.04)
    frame = frame_of(held(taken, range(500, 14000, 700)))
    assert halo_raw.segments(frame, "ppg").max() == 0
    # 25.6 if each pause were a gap.
    assert halo_raw.rate(frame, "ppg") == pytest.approx(25, abs=0.002)
    halo_raw.to_edf(frame, tmp_path / "x.edf")
    edf = Edf(tmp_path / "x.edf")
    passed = (edf.times - edf.times[0]).total_seconds()
    assert np.abs(passed - (taken - taken[0])).max() < 0.02 and (np.diff(edf.places) == 1).all()


@pytest.mark.parametrize("missing", [4, 40, 4000])
def test_samples_that_never_come_are_a_gap(missing):
    """Though no mark says so: those after them are late, and stay late."""
    taken = np.delete(np.arange(0.5, 600, 0.04), slice(1000, 1000 + missing))
    frame = frame_of(held(taken, [200, 900, 5000]))
    assert (halo_raw.segments(frame, "ppg").diff() == 1).to_numpy().nonzero()[0].tolist() == [1000]
    assert halo_raw.rate(frame, "ppg") == pytest.approx(25, abs=0.01)


def test_numbers_of_packets_say_what_a_pause_was():
    taken = np.arange(0.5, 120, 0.04)
    number = np.arange(len(taken), dtype=float)
    kept = np.ones(len(taken), dtype=bool)
    kept[1000:1040] = False
    kept[::7] = False
    frame = frame_of(held(taken, [500])[kept], packet=number[kept])
    assert halo_raw.segments(frame, "ppg").max() == 0
    assert halo_raw.rate(frame, "ppg") == pytest.approx(25, abs=0.02)
    # The ring counted on, and took no samples for ten seconds.
    later = frame_of(np.where(number < 1500, taken, taken + 10)[kept], packet=number[kept])
    assert halo_raw.segments(later, "ppg").max() == 1


def test_a_rate_is_of_one_ring(program):
    text = program("stream", "--all", "--ppg", "--duration", "5s", "--adapter", "virtual:fast,rings=2")
    frame = halo_raw.read_stream(io.StringIO(text))
    assert set(frame["run"]) == {0} and frame["ring"].nunique() == 2
    for work in (halo_raw.rate, halo_raw.segments, lambda both, _: halo_raw.moments(both)):
        with pytest.raises(ValueError, match="one ring, not 2"):
            work(frame, "ppg")
    for _, own in frame.groupby("ring"):
        assert halo_raw.rate(own, "ppg") == pytest.approx(25, abs=0.2)


def test_moments_are_joined_by_time_after_a_damaged_frame(program):
    """By `seq`, the sensors were 45 ms apart after the first one, and more after each."""
    text = program("stream", "--duration", "20s", "--adapter", f"{CLOCK},bad-checksum-every=7")
    frame = halo_raw.read_stream(io.StringIO(text))
    wide = halo_raw.moments(frame)
    for kind, column in (("ppg", "ppg_max"), ("spo2", "spo2_max"), ("accel", "accel_x_g")):
        assert wide[column].notna().sum() == len(halo_raw.samples(frame, kind))
    both = wide[wide["ppg_max"].notna() & wide["accel_x_g"].notna()]
    assert len(both) > 0.6 * len(wide) and wide["t"].is_monotonic_increasing
    motion = halo_raw.samples(frame, "accel").set_index("t")["raw_x"]
    same = both[both["t"].isin(motion.index)]
    assert len(same) > 300 and same["accel_raw_x"].tolist() == motion.loc[same["t"]].tolist()


def test_moments_keep_the_order_of_samples_that_come_at_once():
    t = np.repeat(np.arange(0, 10, 0.2), 5)
    pulse, motion = frame_of(t), frame_of(t, "accel")
    frame = pd.concat([pulse, motion], ignore_index=True).sort_values("t", kind="stable", ignore_index=True)
    wide = halo_raw.moments(frame)
    assert len(wide) == len(t)
    assert np.allclose((wide["ppg_raw"] - 1000) / 1000, wide["accel_x_g"], atol=1e-6)


def test_moments_of_different_rates_leave_nothing_out():
    frame = pd.concat([frame_of(np.arange(0, 10, 0.04)), frame_of(np.arange(0, 10, 1.01), "accel")], ignore_index=True)
    wide = halo_raw.moments(frame.sort_values("t", kind="stable", ignore_index=True))
    assert len(wide) == 250 and wide["accel_x_g"].notna().sum() == 10
    apart = halo_raw.moments(frame.sort_values("t", kind="stable", ignore_index=True), tolerance_s=0.001)
    assert apart["accel_x_g"].notna().sum() == 10 and len(apart) > 250


def test_the_longest_part_is_evenly_spaced():
    frame = frame_of(np.concatenate([np.arange(0, 5, 0.04), np.arange(60, 70, 0.04)]))
    frame.loc[200, "raw"] = np.nan
    values, hertz = halo_raw.longest_part(frame, "ppg")
    assert len(values) == 250 and hertz == pytest.approx(25) and np.isnan(values).nonzero()[0].tolist() == [75]
    counted = frame_of(np.delete(np.arange(0, 10, 0.04), 100), packet=np.delete(np.arange(250.0), 100))
    values, _ = halo_raw.longest_part(counted, "ppg")
    assert len(values) == 250 and np.isnan(values).nonzero()[0].tolist() == [100]
    wild = counted.assign(packet=np.linspace(0, 1e15, len(counted)))
    for work in (halo_raw.rate, halo_raw.longest_part):
        with pytest.raises(ValueError, match="further apart"):
            work(wild, "ppg")
