"""Lines of csv and of JSON, as columns with the types of `schema`. Files of any length are read in blocks."""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from . import schema
from .lines import lines_of, whole_lines
from .notes import note_of

#: In seconds: a clock that never goes back is this much earlier only in another run.
_BACK = 60.0

Columns = dict[str, "pd.Series[Any]"]


@dataclass(frozen=True)
class Selection:
    """Which records are kept: the kinds of samples, and the times from `since` to before `until`."""

    kinds: frozenset[str] | None = None
    since: pd.Timestamp | None = None
    until: pd.Timestamp | None = None


@dataclass
class Parsed:
    """The records of a source in pieces, and what its header says."""

    pieces: list[Columns] = field(default_factory=list)
    header: dict[str, Any] | None = None
    #: All columns that the source has, also those without a value.
    columns: list[str] = field(default_factory=list)
    #: How many runs of the program begin within the source, after its first one.
    later_runs: int = 0
    is_json: bool | None = None


def parse(stream: BinaryIO, name: str, selection: Selection) -> Parsed:
    """Reads the selected records of all complete lines; the column `run` counts the runs of the program within the
    source.

    Raises ValueError for what is no output of halo-raw.
    """
    result = Parsed()
    previous = -np.inf
    for block in whole_lines(stream, name):
        for piece in _frames(block, name, result):
            if piece.empty:
                continue
            t = piece["t"].to_numpy()
            if not np.isfinite(t).all():
                raise ValueError(f"{name} has a record without a time")
            before = np.concatenate([[previous], t[:-1]])
            begins = (t < before) & ((t == 0) | (before - t > _BACK))
            piece["run"] = (result.later_runs + np.cumsum(begins)).astype("int32")
            result.later_runs = int(piece["run"].iloc[-1])
            previous = float(t[-1])
            chosen = _selected(piece, name, selection)
            if len(chosen):
                result.pieces.append({column: chosen[column].copy() for column in chosen.columns})
    return result


def _selected(frame: pd.DataFrame, name: str, selection: Selection) -> pd.DataFrame:
    """The selected records, with `time` in UTC."""
    if selection.kinds is not None and "kind" in frame:
        frame = frame[frame["kind"].isin([*selection.kinds, *schema.MARKS])]
    try:
        times = pd.to_datetime(frame["time"], utc=True, format="ISO8601").astype("datetime64[us, UTC]")
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"{name}: column time: {error}") from None
    if times.isna().any():
        raise ValueError(f"{name} has a record without a time")
    frame = frame.assign(time=times)
    if selection.since is not None:
        frame = frame[frame["time"] >= selection.since]
    if selection.until is not None:
        frame = frame[frame["time"] < selection.until]
    return frame


def _frames(block: bytes, name: str, result: Parsed) -> Iterator[pd.DataFrame]:
    """The pieces of a block that have the same columns."""
    try:
        text = block.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} is no text: {error}") from None
    if result.is_json is None:
        result.is_json = text.startswith("{")
    try:
        if result.is_json:
            yield _json(text, name, result)
        elif result.columns and not text.startswith(("#", "t,time,")) and "\n#" not in text and "\nt,time," not in text:
            yield _csv(text, result)
        else:
            yield from _csv_with_headers(text, name, result)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise ValueError(str(error) if name in str(error) else f"{name}: {error}") from None


def _csv_with_headers(text: str, name: str, result: Parsed) -> Iterator[pd.DataFrame]:
    """csv with remarks, and with the names of columns where a run of the program begins."""
    begun: list[str] = []
    for line in lines_of(text):
        if line.startswith("#"):
            continue
        if result.columns and not line.startswith("t,time,"):
            begun.append(line)
            continue
        if begun:
            yield _csv("".join(begun), result)
            begun = []
        result.columns = line.rstrip("\r\n").split(",")
        _refuse_others(result.columns, name)
    if begun:
        yield _csv("".join(begun), result)


def _refuse_others(columns: list[str], name: str) -> None:
    absent = [column for column in ("t", "time", "ring", "seq") if column not in columns]
    if absent:
        raise ValueError(f"{name} has no records of halo-raw: the columns t, time, ring and seq are missing")


def _csv(text: str, result: Parsed) -> pd.DataFrame:
    columns = result.columns
    # What is empty is missing: a note "NA" is a text.
    types = {column: schema.TYPES[column] for column in columns if column in schema.TYPES}
    types |= {column: "object" for column in types if types[column] == schema.TEXT}
    types |= {column: "category" for column in ("ring", "kind") if column in columns}
    types |= {column: "int64" for column in types if types[column] == "int32"}
    with warnings.catch_warnings():
        # Of a line that is too long, it would leave out the rest.
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            frame = pd.read_csv(
                io.StringIO(text), header=None, names=columns, dtype=types, index_col=False, keep_default_na=False,
                na_values=[""], low_memory=False)
        except pd.errors.ParserWarning as warning:
            raise ValueError(str(warning)) from None
    if "packet" in columns:
        # JSON has the count by itself; csv has it behind the reason.
        frame["count"] = np.nan
        rows = frame["kind"].isin(["lost", "dropped"]).to_numpy()
        frame.loc[rows, "count"] = pd.to_numeric(frame.loc[rows, "note"].str.extract(r"(-?\d+)$", expand=False))
    return pd.DataFrame({column: schema.typed(frame[column], column) for column in frame.columns})


def _json(text: str, name: str, result: Parsed) -> pd.DataFrame:
    records: list[dict[str, Any]] = []
    # A name may have U+2028 and other ends of lines of Unicode; a line of JSON ends with a line feed alone.
    for line in text.split("\n"):
        if not line or line.startswith("#"):
            continue
        record = json.loads(line)
        if not isinstance(record, dict):
            raise ValueError(f"a line is no JSON object: {line[:60]}")
        if record.get("kind") == "header":
            header = record.get("header")
            result.header = result.header or (header if isinstance(header, dict) else None)
        else:
            records.append(_with_note(record))
    if not records:
        return pd.DataFrame()
    frame = pd.DataFrame(records)
    _refuse_others(list(frame.columns), name)
    result.columns += [column for column in frame.columns if column not in result.columns]
    for column in ("ring", "kind"):
        if column in frame:
            frame[column] = frame[column].astype("str").astype("category")
    return pd.DataFrame({column: schema.typed(frame[column], column) for column in frame.columns})


def _with_note(record: dict[str, Any]) -> dict[str, Any]:
    """A mark as csv has it: with a note, and of its other members the count alone."""
    kind = record.get("kind")
    if kind not in schema.MARKS or "note" in record:
        return record
    note = note_of(str(kind), record)
    kept = {name: value for name, value in record.items() if name not in ("reason", "bytes", "step_s", "text")}
    return kept | {"note": note}
