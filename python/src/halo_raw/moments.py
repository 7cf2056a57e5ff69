"""Samples of several kinds side by side, and a part of one kind as evenly spaced values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from . import schema
from .parts import positions, segments
from .streams import rate, samples
from .timeline import one_ring


def moments(
    frame: pd.DataFrame, kinds: Sequence[str] | None = None, *, tolerance_s: float | None = None,
) -> pd.DataFrame:
    """One row a moment, with the values of all kinds that a ring took then: `ppg_raw`, `accel_x_g`, and so on.

    Samples belong together if their times are the nearest to each other, and no more than `tolerance_s` apart (half of
    the usual interval of the first kind, if not given); not by `seq`, which counts each kind for itself and is shifted
    by a damaged frame. A sample without a partner has a row for itself, in which the other kinds have no value. `t` and
    `time` are those of the first kind that the row has.

    Raises ValueError for several rings, or no samples.
    """
    one_ring(frame)
    present = [kind for kind in kinds or schema.SAMPLES if (frame["kind"] == kind).any()]
    if not present:
        raise ValueError("there are no samples to put side by side")
    result = _table(frame, present[0])
    if tolerance_s is None:
        gaps = np.diff(result["t"].to_numpy())
        gaps = gaps[gaps > 0]
        tolerance_s = float(np.median(gaps)) / 2 if len(gaps) else 0.0
    for kind in present[1:]:
        result = _joined(result, _table(frame, kind), tolerance_s)
    result.attrs = dict(frame.attrs)
    return result


def _table(frame: pd.DataFrame, kind: str) -> pd.DataFrame:
    chosen = samples(frame, kind)
    if "run" not in chosen:
        chosen["run"] = 0
    keys = chosen[["run", "t", "time"]]
    values = chosen.drop(columns=["ring", "seq", "kind", "run", "t", "time"])
    return pd.concat([keys, values.add_prefix(f"{kind}_")], axis="columns")


def _joined(left: pd.DataFrame, right: pd.DataFrame, tolerance: float) -> pd.DataFrame:
    """Pairs the nearest; of several samples that a link has delivered at once, in their order."""
    by_run = [_pairs(left, right, run, tolerance) for run in np.union1d(left["run"].unique(), right["run"].unique())]
    pairs = np.concatenate(by_run)
    alone = np.setdiff1d(np.arange(len(right)), pairs[:, 1])
    partner = np.full(len(left), -1)
    partner[pairs[:, 0]] = pairs[:, 1]
    values = right.drop(columns=["run", "t", "time"])
    # A place of -1 takes no row: reindex leaves it without a value.
    beside = values.reindex(partner).set_axis(left.index, axis="index")
    both = pd.concat([left, beside], axis="columns")
    return pd.concat([both, right.iloc[alone]]).sort_values(["run", "t"], kind="stable").reset_index(drop=True)


def _pairs(left: pd.DataFrame, right: pd.DataFrame, run: int, tolerance: float) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The rows of a run that belong together, as pairs of places."""
    places = [np.flatnonzero((table["run"] == run).to_numpy()) for table in (left, right)]
    if not all(len(some) for some in places):
        return np.zeros((0, 2), dtype=np.int64)
    sides = []
    for name, table, some in zip(("left", "right"), (left, right), places, strict=True):
        t = table["t"].iloc[some].reset_index(drop=True)
        # Of samples with the same time, the first belongs to the first.
        sides.append(pd.DataFrame({"t": t + t.groupby(t).cumcount() * 1e-9, name: some, f"{name}_t": t}))
    found: pd.DataFrame = pd.merge_asof(
        sides[0], sides[1], on="t", direction="nearest", tolerance=tolerance + 1e-6)  # type: ignore[arg-type]
    found = found.dropna(subset="right")
    found["distance"] = (found["left_t"] - found["right_t"]).abs()
    best = found.sort_values("distance", kind="stable").drop_duplicates("right")
    return best[["left", "right"]].to_numpy(dtype=np.int64)


def longest_part(
    frame: pd.DataFrame, kind: str, column: str | None = None,
) -> tuple[np.ndarray[Any, np.dtype[np.float64]], float]:
    """The longest uninterrupted part of a kind as evenly spaced values, and the rate of the frame in samples per
    second: what programs for heart rates want as their input.

    `column` is `raw`, or `x_g` of `accel`, if not given. A value that is missing is NaN; most programs want it
    interpolated first.

    Raises ValueError for several rings, or fewer than two samples.
    """
    hertz = rate(frame, kind)
    parts = segments(frame, kind)
    longest = (parts == parts.value_counts().idxmax()).to_numpy()
    part = frame[(frame["kind"] == kind).to_numpy()][longest]
    places = positions(part).to_numpy()
    values = np.full(int(places.max()) + 1, np.nan)
    values[places] = part[column or ("x_g" if kind == "accel" else "raw")].to_numpy(dtype=float)
    return values, hertz
