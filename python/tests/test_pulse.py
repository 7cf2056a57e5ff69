"""Beats of the pulse, by way of the program."""

import numpy as np
import pandas as pd
import pytest
from conftest import CLOCK, RING

import halo_raw


@pytest.fixture(scope="session")
def light(program, tmp_path_factory):
    """A minute of light, with the beats that the stream has found."""
    path = tmp_path_factory.mktemp("light") / "light.csv"
    program("stream", "--beats", "--ppg", "--accel", "--duration", "60s", "--output", path, "--adapter", CLOCK)
    return path


@pytest.mark.verdict
def test_beats_are_those_of_the_stream(light):
    frame = halo_raw.read_stream(light)
    beats = halo_raw.beats(frame)
    assert set(beats["ring"]) == {RING} and len(beats) > 55 and beats["t"].is_monotonic_increasing
    printed = halo_raw.samples(frame, "beat")
    np.testing.assert_allclose(beats["t"][:len(printed)], printed["beat_s"], atol=0.002)
    accepted = beats[beats["quality"] >= 0.5]
    assert accepted["bpm"].dropna().between(64, 74).all() and accepted["interval_s"].dropna().between(0.8, 0.93).all()
    assert beats[beats["quality"] < 0.5][["interval_s", "bpm"]].isna().all(axis=None)
    assert set(beats["reason"]) >= {"good", "motion", "settling"}
    # The hand of the built-in ring moves every 20 seconds: no interval leads across.
    assert (beats["time"] - frame["time"].iloc[0] - pd.to_timedelta(beats["t"], unit="s")).abs().max() < pd.Timedelta("1ms")


def test_no_interval_leads_across_a_lost_link(session):
    frame = halo_raw.read_stream(session / "session.csv")
    beats = halo_raw.beats(frame)
    gap = halo_raw.marks(frame).query("kind == 'gap'")["t"].iloc[0]
    before, after = beats[beats["t"] < gap], beats[beats["t"] > gap]
    assert before["stretch"].max() < after["stretch"].min() and np.isnan(after["interval_s"].iloc[0])


def test_too_few_samples_are_an_error(program, tmp_path):
    path = tmp_path / "slow.csv"
    program("stream", "--ppg", "--duration", "60s", "--output", path, "--adapter", f"{CLOCK},rate=1")
    with pytest.raises(halo_raw.ProgramError, match="no beats"):
        halo_raw.beats(halo_raw.read_stream(path))
