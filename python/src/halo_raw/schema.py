"""The columns of streams and their types, which do not depend on the values of a file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

#: Records that are no samples: what happened between them. `mark` is set by a person, and `event` is the ring's button or
#: alarm. `start` is made by `marks`: a later run of the program.
MARKS = ("gap", "pause", "measured", "dropped", "rejected", "clock", "lost", "mark", "event", "start")
#: The kinds of samples.
SAMPLES = ("ppg", "spo2", "accel")
#: What each record begins with.
BASE = ("t", "time", "ring", "seq", "kind")

_LIGHT = ("raw", "max", "min", "diff")
_AXES = ("x_g", "y_g", "z_g", "raw_x", "raw_y", "raw_z")
#: The columns of each kind: of any stream, and of a counted one.
_COLUMNS = {"ppg": _LIGHT, "spo2": _LIGHT, "accel": _AXES}
_COUNTED = {"ppg": ("heart_rate_bpm",), "spo2": ("infrared", "spo2_percent"), "accel": ()}
#: The columns of beats, which `halo-raw stream --beats` prints between the samples.
_BEAT = ("beat_s", "interval_s", "bpm", "quality")
#: The type of text: a string, or missing.
TEXT: Any = "str" if int(pd.__version__.split(".")[0]) >= 3 else "object"

_FLOATS = ("t", "packet", "count", *_BEAT)
_SMALL_FLOATS = (*_LIGHT, *_AXES, "heart_rate_bpm", "infrared", "spo2_percent")
_TEXTS = ("sent", "bytes", "note", "reason")
#: The types of columns as they are parsed. A count of 16 bits and four decimal places of g fit into 32 bits.
TYPES: dict[str, Any] = {
    **dict.fromkeys(_FLOATS, "float64"), **dict.fromkeys(_SMALL_FLOATS, "float32"), **dict.fromkeys(_TEXTS, TEXT),
    "seq": "int32", "run": "int32",
}
_STREAM = frozenset((*BASE, *_LIGHT, *_AXES, *(name for names in _COUNTED.values() for name in names), "packet", "sent",
                     "count", "note", "run"))


def is_stream(columns: Iterable[str]) -> bool:
    """Whether columns are those of `halo-raw stream`, and of no other command."""
    names = set(columns)
    return set(BASE) <= names <= _STREAM and not names.isdisjoint(("raw", "x_g"))


def columns_of(kinds: Iterable[str], *, counted: bool) -> list[str]:
    """All columns of a stream of these kinds, in their order."""
    chosen = [kind for kind in SAMPLES if kind in set(kinds)]
    names = list(BASE)
    names += _LIGHT if set(chosen) & {"ppg", "spo2"} else ()
    names += [name for kind in chosen for name in _COUNTED[kind]] if counted else ()
    names += _AXES if "accel" in chosen else ()
    names += ("packet", "sent", "count") if counted else ()
    return [*names, "note", "run"]


def columns_of_kind(kind: str, present: Iterable[str]) -> list[str] | None:
    """The columns of the samples of a kind, of those that a frame has; None for a kind that is no sample."""
    if kind not in _COLUMNS:
        return None
    names = set(present)
    wanted = (*BASE, *_COLUMNS[kind], *_COUNTED[kind], "packet", "sent", "run")
    return [name for name in wanted if name in names]


def typed(values: pd.Series[Any], name: str) -> pd.Series[Any]:
    """A column in its type; one that has no fixed type stays as it is.

    Raises ValueError for a value that does not fit.
    """
    wanted = TYPES.get(name)
    if wanted is None or values.dtype == wanted:
        return values
    try:
        if wanted == TEXT:
            return values.astype("object").where(values.notna(), np.nan).astype(TEXT)
        numbers = pd.to_numeric(values)
        if wanted == "int32" and not numbers.between(-(2**31), 2**31 - 1).all():
            raise ValueError("a number is too large, or missing")
        return numbers.astype(wanted)
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"column {name}: {error}") from None


def missing(name: str, length: int) -> pd.Series[Any]:
    """A column without values."""
    wanted = TYPES.get(name, "object")
    if name in ("ring", "kind"):
        return pd.Series(pd.Categorical.from_codes(np.full(length, -1), categories=pd.Index([], dtype=TEXT)))
    if wanted == "int32":
        return pd.Series(np.zeros(length, dtype="int32"))
    return pd.Series(np.full(length, np.nan, dtype="object" if wanted in (TEXT, "object") else wanted)).astype(wanted)


def categorical(parts: list[pd.Series[Any]], fixed: Iterable[str] = ()) -> pd.Series[Any]:
    """Texts that repeat, as categories: the fixed ones first, then others as they come."""
    names = list(fixed)
    known = set(names)
    for part in parts:
        new = [name for name in part.cat.categories if name not in known]
        names += new
        known.update(new)
    codes = [part.cat.set_categories(names).cat.codes.to_numpy() for part in parts]
    values = np.concatenate(codes) if codes else np.zeros(0, dtype=np.int8)
    return pd.Series(pd.Categorical.from_codes(values, categories=pd.Index(names, dtype=TEXT)))
