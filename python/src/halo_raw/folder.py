"""The files of `--output DIR`: which run of the program each is of, and which time it has."""

from __future__ import annotations

import csv
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd

#: In bytes: a line of the program has some hundreds.
_PROBE = 1 << 16
#: In seconds, of `t`.
_LONGEST = 1e10
#: The clock was set within a file whose time of day went on by another time than `t`.
_STEP = pd.Timedelta("1s")


@dataclass(frozen=True)
class _Stamp:
    """The times of a record."""

    t: float
    time: pd.Timestamp


@dataclass
class RunFile:
    """A file of records, as far as its first and its last record tell."""

    path: Path
    first: _Stamp
    last: _Stamp
    description: dict[str, Any] = field(default_factory=dict)
    begins_run: bool = False

    @property
    def start(self) -> str | None:
        """The start of its run, which all files of the run have; None without a description."""
        start = self.description.get("Start")
        return start if isinstance(start, str) else None

    def overlaps(self, since: pd.Timestamp | None, until: pd.Timestamp | None) -> bool:
        """Whether the file may have records from `since` to before `until`."""
        passed = self.last.time - self.first.time
        if abs(passed - pd.Timedelta(self.last.t - self.first.t, unit="s")) > _STEP:
            return True
        return (since is None or self.last.time >= since) and (until is None or self.first.time < until)

    def open(self) -> BinaryIO | None:
        """Opens the file, which may have been completed in the meantime; None if it is gone."""
        return _open(self.path)


def _open(path: Path) -> BinaryIO | None:
    for name in (path, path.with_name(path.name.removesuffix(".part"))):
        try:
            return name.open("rb")
        except FileNotFoundError:
            continue
    return None


def files_of(folder: Path) -> list[RunFile]:
    """The files with records, run after run, in the order of their records.

    All files of a run name its start in their description. Without one, a run goes on as long as `t` does.
    """
    names = sorted({
        path.name for path in folder.iterdir()
        if path.name.removesuffix(".part").endswith((".csv", ".jsonl")) and not path.name.startswith(".")})
    runs: dict[object, list[RunFile]] = {}
    begun: dict[str, int] = {}
    previous: RunFile | None = None
    key: object = None
    for name in names:
        # A file that was listed before it was completed, and after.
        if name.endswith(".part") and name.removesuffix(".part") in names:
            continue
        file = _probed(folder / name)
        if file is None:
            continue
        if file.start is not None:
            # Virtual rings may have the same time in each run: the first file of a run has the first record.
            begun[file.start] = begun.get(file.start, 0) + (file.first.t == 0)
            key = (file.start, max(1, begun[file.start]))
        elif previous is None or previous.start is not None or file.first.t == 0 or file.first.t < previous.last.t:
            key = len(runs)
        runs.setdefault(key, []).append(file)
        previous = file
    for files in runs.values():
        files.sort(key=lambda file: file.first.t)
        files[0].begins_run = True
    return [file for files in sorted(runs.values(), key=lambda files: files[0].first.time) for file in files]


def _probed(path: Path) -> RunFile | None:
    """Reads the begin and the end of a file; None if it has no record, or is gone.

    Raises ValueError for what is no output of halo-raw.
    """
    stream = _open(path)
    if stream is None:
        return None
    with stream:
        head = stream.read(_PROBE)
        length = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, length - _PROBE))
        tail = stream.read(_PROBE)
    lines = [line for line in _whole_lines(head) if not line.startswith("#")]
    if not lines:
        return None
    columns = None if lines[0].startswith("{") else lines.pop(0).split(",")
    if columns is not None and not {"t", "time", "ring", "seq"} <= set(columns):
        raise ValueError(f"{path} has no records of halo-raw: the columns t, time, ring and seq are missing")
    last = _whole_lines(tail)[0 if length <= _PROBE else 1:]
    first_stamp = next((stamp for line in lines if (stamp := _stamp(line, columns))), None)
    last_stamp = next((stamp for line in reversed(last) if (stamp := _stamp(line, columns))), None)
    if first_stamp is None:
        return None
    return RunFile(path, first_stamp, last_stamp or first_stamp, description_beside(path))


def _whole_lines(data: bytes) -> list[str]:
    return data[: data.rfind(b"\n") + 1].decode("utf-8", "replace").split("\n")[:-1]


def _stamp(line: str, columns: list[str] | None) -> _Stamp | None:
    """The times of a line; None if it is no record."""
    try:
        fields = json.loads(line) if columns is None else dict(zip(columns, next(csv.reader([line])), strict=False))
        if fields.get("kind") == "header":
            return None
        time, t = pd.Timestamp(fields["time"]), float(fields["t"])
        if not abs(t) < _LONGEST:
            return None
        return _Stamp(t, time.tz_localize("UTC") if time.tzinfo is None else time.tz_convert("UTC"))
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration, csv.Error, RecursionError):
        return None


def description_beside(path: Path) -> dict[str, Any]:
    """What is beside a file; empty without that."""
    try:
        text = path.with_name(path.name.removesuffix(".part") + ".json").read_text(encoding="utf-8")
        description = json.loads(text)
    except (OSError, ValueError):
        return {}
    return description if isinstance(description, dict) else {}
