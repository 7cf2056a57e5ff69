"""Which rates an EDF file has, and how long its records are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .parts import segments
from .streams import rate

#: In seconds: the resolution of the duration of a record, and the longest that EDFlib writes.
_RESOLUTION = 1e-5
_LONGEST = 59.9
#: How far runs may differ in their rate.
_SAME_RATE = 0.01
#: In intervals: how far the last sample of the longest part may be from its place.
_DISPLACED = 0.1


@dataclass(frozen=True)
class Rates:
    """The duration of a record, and of each kind its samples in a record and in a second."""

    record_s: float
    per_record: Mapping[str, int]
    hertz: Mapping[str, float]


def chosen_rates(
    frame: pd.DataFrame, kinds: Sequence[str], elapsed: np.ndarray[Any, Any], rate_hz: float | None,
) -> Rates:
    """The rates of a file: those that were measured, or `rate_hz`. Kinds whose rates cannot be told apart have the
    same.

    Raises ValueError if runs have different rates, or if a rate is too low for a record.
    """
    if rate_hz is not None:
        if not 1 / _LONGEST <= rate_hz <= 1000:
            raise ValueError(f"a rate of {rate_hz} Hz is not between one a minute and 1000 a second")
        measured = dict.fromkeys(kinds, float(rate_hz))
        longest = float(np.ptp(elapsed))
    else:
        measured = {}
        longest = 0.0
        for kind in kinds:
            if not _is_measurable(frame, kind):
                continue
            measured[kind] = _rate(frame, kind)
            chosen = (frame["kind"] == kind).to_numpy()
            spans = pd.Series(elapsed[chosen]).groupby(segments(frame, kind).to_numpy()).agg(np.ptp)
            longest = max(longest, float(spans.max()))
        if not measured:
            raise ValueError(f"a rate needs two samples of {kinds[0]} in one uninterrupted part; or give rate_hz")
        common = next(iter(measured.values()))
        if all(abs(hertz - common) * longest < 1 for hertz in measured.values()):
            measured = dict.fromkeys(kinds, common)
        # A kind with a single sample has the rate of the others.
        measured = {kind: measured.get(kind, common) for kind in kinds}
    if min(measured.values()) < 1 / _LONGEST:
        raise ValueError("a record of EDF lasts a minute at most, and the samples are further apart")
    return _records(measured, longest)


def _is_measurable(frame: pd.DataFrame, kind: str) -> bool:
    """Whether a kind has two samples one after the other."""
    times = frame.loc[frame["kind"] == kind, "t"].to_numpy(dtype=float)
    parts = segments(frame, kind).to_numpy()
    return bool(((parts[1:] == parts[:-1]) & (times[1:] > times[:-1])).any())


def _rate(frame: pd.DataFrame, kind: str) -> float:
    measured = rate(frame, kind)
    if "run" in frame.columns and frame["run"].nunique() > 1:
        for run, part in frame.groupby("run"):
            if not _is_measurable(part, kind):
                continue
            own = rate(part, kind)
            # A short run says little: its first and its last sample may each be late by an interval or two.
            allowed = _SAME_RATE * measured + 2 / max(1e-9, float(np.ptp(part.loc[part["kind"] == kind, "t"])))
            if abs(own - measured) > allowed:
                raise ValueError(
                    f"run {run} has {own:.2f} samples of {kind} a second, all have {measured:.2f}: an EDF file has one "
                    "rate; write a file for each: for run, part in frame.groupby(\"run\"): ...")
    return measured


def _records(measured: Mapping[str, float], longest: float) -> Rates:
    """The shortest record, of about a second at least, in which each kind has nearly a whole number of samples."""
    hertz = np.array(list(measured.values()))
    first = hertz[0]
    counts = np.arange(max(1, int(np.ceil(first * 0.99))), max(2, int(first * _LONGEST) + 1))
    durations = np.round(counts / first / _RESOLUTION) * _RESOLUTION
    durations = durations[durations <= _LONGEST]
    numbers = np.maximum(1, np.rint(durations[:, None] * hertz))
    # In intervals, at the end of the longest part.
    displaced = (np.abs(numbers / durations[:, None] - hertz) * longest).max(axis=1)
    good = np.flatnonzero(displaced <= _DISPLACED)
    best = int(good[0]) if len(good) else int(np.argmin(displaced))
    record = round(float(durations[best]), 5)
    per_record = {kind: int(number) for kind, number in zip(measured, numbers[best], strict=True)}
    return Rates(record, per_record, {kind: number / record for kind, number in per_record.items()})
