"""`read_stream`: what `halo-raw stream` has printed, and what `events`, `measure`, `sport` and `subscribe` have."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pandas as pd

from . import schema
from .folder import description_beside, files_of
from .parsing import Parsed, Selection, parse


def read_stream(
    source: str | os.PathLike[str] | TextIO, *, since: datetime | str | None = None,
    until: datetime | str | None = None, kinds: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Reads records in csv or jsonl, with or without a header, one row a record; of a folder, those of all its files.

    `time` is the receive time in UTC, `t` the same in seconds since the first record of the run. Marks (`gap`,
    `rejected`, ...) are rows, too: see `samples` and `marks`. A last line that is not complete is left out. Columns and
    their types depend on the kinds of samples alone, not on what happened: `ring` and `kind` are categories, `note` is
    text, values of sensors have 32 bits. `frame.attrs["description"]` has what the data is: the file beside the output,
    or the header of jsonl.

    `run` counts the runs of the program from 0, as `t` and `seq` begin anew with each. A folder is that of `--output
    DIR`; its file that is still being written is read as far as it is. The description is that of the last file.
    `since` and `until` choose the records from one time to before the other (in UTC, if they have no time zone): files
    of other times are not read, and numbers of runs stay the same. `kinds` chooses kinds of samples; marks are always
    kept.

    Raises ValueError for what is no output of halo-raw, and for a folder that has none.
    """
    unknown = set(kinds or ()) - set(schema.SAMPLES)
    if unknown:
        raise ValueError(f"there is no kind {', '.join(sorted(unknown))}; use {', '.join(schema.SAMPLES)}")
    selection = Selection(None if kinds is None else frozenset(kinds), _instant(since), _instant(until))
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        return _read_folder(path, selection) if path.is_dir() else _read_file(path, selection)
    text = source.read()
    parsed = parse(io.BytesIO(text.encode("utf-8", "surrogatepass")), "the input", selection)
    return _assembled([parsed], parsed.header or {}, selection, "the input")


def _instant(time: datetime | str | None) -> pd.Timestamp | None:
    if time is None:
        return None
    stamp = pd.Timestamp(time)
    return stamp.tz_localize("UTC") if stamp.tzinfo is None else stamp.tz_convert("UTC")


def _read_file(path: Path, selection: Selection) -> pd.DataFrame:
    with path.open("rb") as stream:
        parsed = parse(stream, str(path), selection)
    return _assembled([parsed], description_beside(path) or parsed.header or {}, selection, str(path))


def _read_folder(folder: Path, selection: Selection) -> pd.DataFrame:
    parsed: list[Parsed] = []
    description: dict[str, Any] = {}
    number = 0
    later = 0
    files = files_of(folder)
    for index, file in enumerate(files):
        if index and file.begins_run:
            number += later + 1
            later = 0
        description = file.description or description
        if not file.overlaps(selection.since, selection.until):
            continue
        stream = file.open()
        if stream is None:
            continue
        with stream:
            found = parse(stream, str(file.path), selection)
        for piece in found.pieces:
            piece["run"] = (piece["run"] + number).astype("int32")
        later = max(later, found.later_runs)
        parsed.append(found)
    if not files:
        raise ValueError(f"{folder} has no csv or jsonl file with records")
    return _assembled(parsed, description, selection, str(folder))


def _assembled(
    parsed: list[Parsed], description: dict[str, Any], selection: Selection, name: str,
) -> pd.DataFrame:
    """One frame of all pieces, which are given up column by column: so the memory is that of the frame."""
    pieces = [piece for found in parsed for piece in found.pieces]
    columns = _columns(parsed, description, selection)
    if not {"t", "time", "ring", "seq"} <= set(columns):
        raise ValueError(f"{name} has no records of halo-raw: the columns t, time, ring and seq are missing")
    lengths = [len(piece["t"]) for piece in pieces]
    data: dict[str, pd.Series[Any]] = {}
    for column in columns:
        if column not in (*schema.TYPES, "time", "ring", "kind"):
            data[column] = _spread([piece.pop(column, None) for piece in pieces], lengths)
            continue
        parts = [
            piece.pop(column) if column in piece else schema.missing(column, length)
            for piece, length in zip(pieces, lengths, strict=True)]
        if column in ("ring", "kind"):
            names = (*schema.SAMPLES, *schema.MARKS) if column == "kind" and schema.is_stream(columns) else ()
            data[column] = schema.categorical(parts, names)
        elif not parts:
            data[column] = pd.Series(dtype="datetime64[us, UTC]") if column == "time" else schema.missing(column, 0)
        else:
            data[column] = parts[0].reset_index(drop=True) if len(parts) == 1 else pd.concat(parts, ignore_index=True)
    frame = pd.DataFrame(data, copy=False)
    frame.attrs["description"] = description
    return frame


def _spread(parts: list[pd.Series[Any] | None], lengths: list[int]) -> pd.Series[Any]:
    """A column of another command than `stream`, whose type is that of the values, with rows that have none."""
    starts = np.cumsum([0, *lengths])
    present = [part.set_axis(range(start, start + len(part)), axis="index")
               for part, start in zip(parts, starts, strict=False) if part is not None]
    if not present:
        return pd.Series(np.full(starts[-1], np.nan))
    whole: pd.Series[Any] = pd.concat(present).reindex(range(starts[-1]))
    return whole


def _columns(parsed: list[Parsed], description: dict[str, Any], selection: Selection) -> list[str]:
    """The columns of all sources; those of a stream depend on its kinds alone."""
    found = _union(source.columns for source in parsed)
    columns = description.get("Columns")
    told = [name for name in columns if isinstance(name, str)] if isinstance(columns, list) else []
    if not schema.is_stream(found or told):
        return [*found, "run"] if found else []
    names = set(found) | set(told if schema.is_stream(told) else ())
    kinds = {str(kind) for source in parsed for piece in source.pieces if "kind" in piece
             for kind in piece["kind"].cat.categories}
    if selection.kinds is not None:
        kinds = set(selection.kinds)
    else:
        # csv names the columns of light for both of its kinds.
        kinds |= {"accel"} if "x_g" in names else set()
        kinds |= {"ppg"} if "raw" in names and not kinds & {"ppg", "spo2"} else set()
        kinds |= {"ppg"} if "heart_rate_bpm" in names else set()
        kinds |= {"spo2"} if "infrared" in names else set()
    return schema.columns_of(kinds, counted="packet" in names)


def _union(lists: Iterable[Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(name for names in lists for name in names))
