"""Samples, and what happened between them: marks, rates, uninterrupted parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from . import schema

#: In usual intervals: a longer one ends a segment. Shorter ones are jitter, as a link delivers in bursts.
PAUSE = 3.0
#: Between two packets of a frame: more than a year at a hundred a second.
_MOST_PACKETS = 1 << 32

_Floats = np.ndarray[Any, np.dtype[np.float64]]
_Flags = np.ndarray[Any, np.dtype[np.bool_]]


def samples(frame: pd.DataFrame, kind: str) -> pd.DataFrame:
    """The samples of one kind (`ppg`, `accel`, `spo2`), with the columns that the kind has, and without marks."""
    chosen = frame[frame["kind"] == kind]
    columns = schema.columns_of_kind(kind, frame.columns)
    chosen = chosen.dropna(axis="columns", how="all") if columns is None else chosen[columns]
    chosen = chosen.reset_index(drop=True)
    chosen.attrs = dict(frame.attrs)
    return chosen


def marks(frame: pd.DataFrame) -> pd.DataFrame:
    """What happened between the samples: gaps, dropped samples, rejected frames, a clock that was set, lost packets;
    and a mark of kind `start` where a later run of the program begins."""
    marked = frame["kind"].isin(schema.MARKS).to_numpy()
    columns = [name for name in (*schema.BASE, "packet", "count", "note", "run") if name in frame.columns]
    found = frame[marked]
    if "note" in frame.columns:
        found = found[columns]
    starts = np.flatnonzero(_begins(frame))[1:]
    if not len(starts):
        return found.reset_index(drop=True)
    if "note" not in found.columns:
        found = found.assign(note=schema.missing("note", len(found)).to_numpy())
    elapsed = seconds(frame)
    passed = elapsed[starts] - elapsed[starts - 1]
    begun = frame.iloc[starts][[name for name in columns if name not in ("packet", "count", "note")]].assign(
        seq=np.arange(len(starts), dtype="int32"),
        note=pd.Series([f"{time:.1f} s after the last record" for time in passed], dtype=schema.TEXT,
                       index=frame.index[starts]))
    categories = _with_start(frame["kind"])
    begun["kind"] = pd.Categorical(["start"] * len(begun), categories=categories)
    found = found.assign(kind=found["kind"].astype("category").cat.set_categories(categories))
    # A start stands before what its first record marks.
    order = np.argsort(np.concatenate([starts, np.flatnonzero(marked)]), kind="stable")
    return pd.concat([begun, found], ignore_index=True)[found.columns].iloc[order].reset_index(drop=True)


def _with_start(kinds: pd.Series[Any]) -> list[str]:
    names = list(kinds.astype("category").cat.categories)
    return names if "start" in names else [*names, "start"]


def lost_packets(frame: pd.DataFrame) -> int:
    """How many packets of a counted stream are lost: the sum of `count` of the records of kind `lost`.

    Raises ValueError for a stream whose packets have no number.
    """
    if "packet" not in frame.columns:
        raise ValueError("the packets of this stream have no number: how many are lost is not known")
    return int(frame.loc[frame["kind"] == "lost", "count"].sum())


def rate(frame: pd.DataFrame, kind: str) -> float:
    """Samples per second of a kind of one ring, over all runs and without the gaps. Samples whose packet is known to be
    lost count.

    Raises ValueError for fewer than two samples, and for several rings.
    """
    one_ring(frame)
    chosen = frame[frame["kind"] == kind]
    first = _first_of_parts(frame, kind)
    if len(chosen) < 2:
        raise ValueError(f"a rate needs two samples of {kind}")
    places = positions_in_parts(chosen, first)
    last = np.append(first[1:], len(chosen)) - 1
    t = chosen["t"].to_numpy(dtype=float)
    intervals = int(np.maximum.reduceat(places, first).sum())
    span = float((t[last] - t[first]).sum())
    if intervals < 1 or span <= 0:
        raise ValueError(f"a rate needs two samples of {kind} in one uninterrupted part")
    return intervals / span


def positions(samples: pd.DataFrame) -> pd.Series[int]:
    """The position of each sample of an uninterrupted part, from 0: by the number of its packet, so that lost ones have
    a position, too; without such a number, one after the other."""
    places = positions_in_parts(samples, np.zeros(min(1, len(samples)), dtype=np.int64))
    return pd.Series(places, index=samples.index)


def positions_in_parts(
    samples: pd.DataFrame, first: np.ndarray[Any, np.dtype[np.int64]],
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The same for parts that begin at the places `first`."""
    lengths = np.diff(np.append(first, len(samples)))
    if "packet" in samples.columns and samples["packet"].notna().all() and len(samples):
        numbers = samples["packet"].to_numpy(dtype=float)
        if np.ptp(numbers) > _MOST_PACKETS:
            raise ValueError("numbers of packets are further apart than a stream can be long")
        packets = numbers.astype(np.int64)
        within: np.ndarray[Any, np.dtype[np.int64]] = packets - np.repeat(np.minimum.reduceat(packets, first), lengths)
        return within
    return np.arange(len(samples), dtype=np.int64) - np.repeat(first, lengths)


def segments(frame: pd.DataFrame, kind: str) -> pd.Series[int]:
    """The number of the uninterrupted part that each sample of a kind belongs to, counted from 0, with the samples'
    index.

    A part ends with its run of the program, at a gap, and where samples were dropped. A rejected frame may be of
    another kind: it ends a part only if a sample is late after it. A lost packet ends none: see `positions`.

    Raises ValueError for several rings, whose samples take turns: select one.
    """
    one_ring(frame)
    first = _first_of_parts(frame, kind)
    index = frame.index[(frame["kind"] == kind).to_numpy()]
    begins = np.zeros(len(index), dtype=np.int64)
    begins[first[1:]] = 1
    return pd.Series(begins.cumsum(), index=index, name="segment")


def _first_of_parts(frame: pd.DataFrame, kind: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The place of the first sample of each part, among the samples of the kind."""
    kinds = frame["kind"]
    places = np.flatnonzero((kinds == kind).to_numpy())
    if not len(places):
        return np.zeros(0, dtype=np.int64)
    t = frame["t"].to_numpy(dtype=float)[places]
    interval = np.diff(t, prepend=np.nan)

    def counted(flags: _Flags) -> _Flags:
        """Whether one is between a sample and the one before it."""
        return np.diff(flags.cumsum()[places], prepend=0) > 0

    restarts = counted(_begins(frame)) | (interval < 0)
    restarts[0] = True
    run = restarts.cumsum()
    steady = np.where(restarts | ~(interval > 0), np.nan, interval)
    usual = pd.Series(steady).groupby(run).transform("median").to_numpy()
    pause = interval > PAUSE * usual
    if "packet" in frame.columns:
        # The packets that are lost take their time.
        packets = np.diff(frame["packet"].to_numpy(dtype=float)[places], prepend=np.nan)
        pause &= ~(interval <= (PAUSE + packets) * usual)
    ends = counted(kinds.isin(["gap", "dropped"]).to_numpy())
    late = counted((kinds == "rejected").to_numpy()) & (interval > 1.5 * usual)
    return np.flatnonzero(restarts | pause | ends | late)


def one_ring(frame: pd.DataFrame) -> str:
    """The address of the ring.

    Raises ValueError if there are several, or none.
    """
    rings = frame["ring"].dropna().unique()
    if len(rings) != 1:
        raise ValueError(f"this needs the records of one ring, not {len(rings)}; select one: frame[frame.ring == ...]")
    return str(rings[0])


def _begins(frame: pd.DataFrame) -> _Flags:
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


def seconds(frame: pd.DataFrame) -> _Floats:
    """Seconds of each record on one scale for all runs: `t`, and between two runs the time that passed by the time of
    day. A clock that was set back between two runs counts as no time: a run never begins before the last one has
    ended."""
    t = frame["t"].to_numpy(dtype=float)
    begins = np.flatnonzero(_begins(frame))
    utc = frame["time"].dt.tz_convert("UTC").dt.tz_localize(None)
    time = utc.to_numpy(dtype="datetime64[us]").astype(np.int64) / 1e6
    offsets = np.zeros(len(t))
    offset = 0.0
    for place, end in zip(begins[1:], np.append(begins, len(t))[2:], strict=True):
        offset += t[place - 1] + max(0.0, float(time[place] - time[place - 1])) - t[place]
        offsets[place:end] = offset
    return t + offsets
