"""The annotations of an EDF+ file."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .notes import label_of
from .streams import marks
from .timeline import seconds

#: In bytes of UTF-8: what EDFlib writes of a text.
_LONGEST = 40
_CUT = "..."


class Note(NamedTuple):
    """What an annotation says, from a time of the file on."""

    onset_s: float
    duration_s: float
    text: str


def holes(taken: np.ndarray[Any, np.dtype[np.bool_]], hertz: float, kind: str) -> list[Note]:
    """An annotation for each run of places without a sample."""
    edges = np.flatnonzero(np.diff(np.concatenate([[True], taken, [True]]).astype(np.int8)))
    return [
        Note(float(first) / hertz, float(last - first) / hertz, f"BAD_no {kind}")
        for first, last in zip(edges[::2], edges[1::2], strict=True)]


def of_marks(frame: pd.DataFrame, elapsed: np.ndarray[Any, Any], origin: float, length_s: float) -> list[Note]:
    """An annotation for each mark, within the file."""
    found = marks(frame)
    if found.empty:
        return []
    onsets = _elapsed(frame, found, elapsed)
    notes = []
    for onset, kind, note in zip(onsets, found["kind"], found.get("note", [None] * len(found)), strict=True):
        text = shortened(label_of(str(kind), note))
        notes.append(Note(min(max(float(onset) - origin, 0.0), length_s), 0.0, text))
    return notes


def _elapsed(frame: pd.DataFrame, found: pd.DataFrame, elapsed: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The times of marks on the scale of all runs."""
    if "run" not in frame.columns:
        return seconds(found)
    runs = frame["run"].to_numpy()
    first = np.flatnonzero(np.diff(runs, prepend=runs[0] - 1))
    offsets = dict(zip(runs[first].tolist(), (elapsed - frame["t"].to_numpy(dtype=float))[first].tolist(), strict=True))
    onsets: np.ndarray[Any, Any] = found["t"].to_numpy(dtype=float) + found["run"].map(offsets).to_numpy(dtype=float)
    return onsets


def shortened(text: str) -> str:
    """A text that is too long ends after a word, with "..."."""
    text = " ".join(text.split())
    if len(text.encode()) <= _LONGEST:
        return text
    cut = text.encode()[: _LONGEST - len(_CUT)].decode("utf-8", "ignore")
    words = cut.rsplit(" ", 1)[0]
    # A single long word, such as bytes, is cut within it.
    return (words if len(words) > _LONGEST // 2 else cut) + _CUT
