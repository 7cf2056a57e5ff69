"""Samples, and what happened between them: marks, lost packets, rates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from . import schema
from .parts import first_of_parts, positions_in_parts
from .timeline import begins_of_runs, one_ring, seconds


def samples(frame: pd.DataFrame, kind: str) -> pd.DataFrame:
    """The samples of one kind (`ppg`, `accel`, `spo2`), with the columns that the kind has, and without marks."""
    chosen = frame[frame["kind"] == kind]
    columns = schema.columns_of_kind(kind, frame.columns)
    chosen = chosen.dropna(axis="columns", how="all") if columns is None else chosen[columns]
    chosen = chosen.reset_index(drop=True)
    chosen.attrs = dict(frame.attrs)
    return chosen


def marks(frame: pd.DataFrame) -> pd.DataFrame:
    """What happened between the samples: gaps, dropped samples, rejected frames, a clock that was set, lost packets; what
    a person has marked with `halo-raw mark` (`mark`), the ring's button and alarm (`event`); and a mark of kind `start`
    where a later run of the program begins."""
    marked = frame["kind"].isin(schema.MARKS).to_numpy()
    columns = [name for name in (*schema.BASE, "packet", "count", "note", "run") if name in frame.columns]
    found = frame[marked]
    if "note" in frame.columns:
        found = found[columns]
    starts = np.flatnonzero(begins_of_runs(frame))[1:]
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
    first = first_of_parts(frame, kind)
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
