"""The uninterrupted parts of a stream."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .timeline import Flags, Floats, begins_of_runs, one_ring

#: In usual intervals: a longer one may end a segment. Shorter ones are jitter, as a link delivers in bursts.
PAUSE = 3.0
#: In usual intervals: a sample that is this much too late has been taken later than the one before it.
_LATE = 1.5
#: In samples: the mean interval is that of so many.
_LAG = 50
#: In samples: how many a link and a ring can hold back, and deliver after a pause.
_HELD = 1000
#: In samples: what may come after a pause before the held ones are all there.
_SLACK = 10
#: Between two packets of a frame: more than a year at a hundred a second.
_MOST_PACKETS = 1 << 32

_Places = np.ndarray[Any, np.dtype[np.int64]]


def positions(samples: pd.DataFrame) -> pd.Series[int]:
    """The position of each sample of an uninterrupted part, from 0: by the number of its packet, so that lost ones have
    a position, too; without such a number, one after the other."""
    places = positions_in_parts(samples, np.zeros(min(1, len(samples)), dtype=np.int64))
    return pd.Series(places, index=samples.index)


def positions_in_parts(
    samples: pd.DataFrame, first: _Places,
) -> _Places:
    """The same for parts that begin at the places `first`."""
    lengths = np.diff(np.append(first, len(samples)))
    if "packet" in samples.columns and samples["packet"].notna().all() and len(samples):
        numbers = samples["packet"].to_numpy(dtype=float)
        if np.ptp(numbers) > _MOST_PACKETS:
            raise ValueError("numbers of packets are further apart than a stream can be long")
        packets = numbers.astype(np.int64)
        within: _Places = packets - np.repeat(np.minimum.reduceat(packets, first), lengths)
        return within
    return np.arange(len(samples), dtype=np.int64) - np.repeat(first, lengths)


def segments(frame: pd.DataFrame, kind: str) -> pd.Series[int]:
    """The number of the uninterrupted part that each sample of a kind belongs to, counted from 0, with the samples'
    index.

    A part ends with its run of the program, at a gap, where samples were dropped, and at a pause. It does not end where
    a link was slow: then the samples that were held back come at once, and the later ones are not late. A rejected
    frame may be of another kind: it ends a part only if a sample is late after it. A lost packet ends none: see
    `positions`.

    Raises ValueError for several rings, whose samples take turns: select one.
    """
    one_ring(frame)
    first = first_of_parts(frame, kind)
    index = frame.index[(frame["kind"] == kind).to_numpy()]
    begins = np.zeros(len(index), dtype=np.int64)
    begins[first[1:]] = 1
    return pd.Series(begins.cumsum(), index=index, name="segment")


def first_of_parts(frame: pd.DataFrame, kind: str) -> _Places:
    """The place of the first sample of each part, among the samples of the kind."""
    kinds = frame["kind"]
    places = np.flatnonzero((kinds == kind).to_numpy())
    if not len(places):
        return np.zeros(0, dtype=np.int64)
    t = frame["t"].to_numpy(dtype=float)[places]
    interval = np.diff(t, prepend=np.nan)

    def counted(flags: Flags) -> Flags:
        """Whether one is between a sample and the one before it."""
        return np.diff(flags.cumsum()[places], prepend=0) > 0

    restarts = counted(begins_of_runs(frame)) | (interval < 0)
    restarts[0] = True
    ends = restarts | counted(kinds.isin(["gap", "pause", "dropped"]).to_numpy())
    number = np.arange(len(t), dtype=float)
    if "packet" in frame.columns:
        # The packets that are lost take their time.
        packets = frame["packet"].to_numpy(dtype=float)[places]
        number = packets if np.isfinite(packets).all() else number
    run = restarts.cumsum()
    steady = np.where(restarts | ~(interval > 0), np.nan, interval)
    usual = pd.Series(steady).groupby(run).transform("median").to_numpy()
    mean = _mean_interval(t, number, run, usual)
    pause = interval > (PAUSE - 1 + np.maximum(1, np.diff(number, prepend=np.nan))) * usual
    ends |= counted((kinds == "rejected").to_numpy()) & (interval > _LATE * mean)
    for place in np.flatnonzero(pause & ~ends):
        held = min(_HELD, int(interval[place] / mean[place]) + _SLACK)
        after = slice(place, place + held)
        # A later sample that is in time shows that none is missing before it.
        behind = t[after] - t[place - 1] - (number[after] - number[place - 1]) * mean[place]
        same = np.cumsum(ends[after]) == 0
        ends[place] = not (behind[same] <= _LATE * mean[place]).any()
    return np.flatnonzero(ends)


def _mean_interval(t: Floats, number: Floats, run: _Places, usual: Floats) -> Floats:
    """The interval of each sample's run without the steps of a link, which delivers at its own times: of many
    samples."""
    if len(t) <= _LAG:
        return usual
    passed = number[_LAG:] - number[:-_LAG]
    valid = (run[_LAG:] == run[:-_LAG]) & (passed > 0)
    steps = np.where(valid, (t[_LAG:] - t[:-_LAG]) / np.where(valid, passed, 1), np.nan)
    medians = pd.Series(steps).groupby(run[_LAG:]).median().reindex(np.unique(run)).to_numpy()
    mean = medians[run - 1]
    # With a gap every few samples, there are none without one.
    return np.where((mean > 0) & (mean < _LATE * usual), mean, usual)
