"""The one ring of a frame, its runs of the program, and one scale of time for all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

Floats = np.ndarray[Any, np.dtype[np.float64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]


def one_ring(frame: pd.DataFrame) -> str:
    """The address of the ring.

    Raises ValueError if there are several, or none.
    """
    rings = frame["ring"].dropna().unique()
    if len(rings) != 1:
        raise ValueError(f"this needs the records of one ring, not {len(rings)}; select one: frame[frame.ring == ...]")
    return str(rings[0])


def begins_of_runs(frame: pd.DataFrame) -> Flags:
    """Whether a run of the program begins with a record."""
    if "run" in frame.columns:
        runs = frame["run"].to_numpy()
        begins = np.ones(len(runs), dtype=np.bool_)
        begins[1:] = runs[1:] != runs[:-1]
        return begins
    # A frame of another program, or of an older version: `t` never goes back within a run.
    begins = np.zeros(len(frame), dtype=np.bool_)
    begins[:1] = True
    return begins | (np.diff(frame["t"].to_numpy(dtype=float), prepend=-np.inf) < -1)


def seconds(frame: pd.DataFrame) -> Floats:
    """Seconds of each record on one scale for all runs: `t`, and between two runs the time that passed by the time of
    day. A clock that was set back between two runs counts as no time: a run never begins before the last one has
    ended."""
    t = frame["t"].to_numpy(dtype=float)
    begins = np.flatnonzero(begins_of_runs(frame))
    utc = frame["time"].dt.tz_convert("UTC").dt.tz_localize(None)
    time = utc.to_numpy(dtype="datetime64[us]").astype(np.int64) / 1e6
    offsets = np.zeros(len(t))
    offset = 0.0
    for place, end in zip(begins[1:], np.append(begins, len(t))[2:], strict=True):
        offset += t[place - 1] + max(0.0, float(time[place] - time[place - 1])) - t[place]
        offsets[place:end] = offset
    return t + offsets
