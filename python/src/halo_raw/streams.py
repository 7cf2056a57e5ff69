"""What `halo-raw stream` has printed, and what `events`, `measure`, `sport` and `subscribe` have."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import TextIO

import pandas as pd

#: Records that are no samples: what happened between them.
MARKS = ("gap", "dropped", "rejected", "clock", "lost")
#: In usual intervals: a longer one ends a segment. Shorter ones are jitter, as a link delivers in bursts.
PAUSE = 3.0


def read_stream(source: str | os.PathLike[str] | TextIO) -> pd.DataFrame:
    """Reads records in csv or jsonl, with or without a header, one row a record; of a folder, all that are complete.

    `time` is the receive time in UTC, `t` the same in seconds since the first record. Marks (`gap`, `rejected`, ...) are
    rows, too: see `samples` and `marks`. A last line that is not complete, of a program that was killed, is left out.
    `frame.attrs["description"]` has what the data is: the file beside the output, or the header of jsonl.

    A folder is that of `--output DIR`. Its frame has a column `run`, which counts the runs of the program from 0: `t` and
    `seq` begin anew with each. The description is that of the last file.
    """
    if isinstance(source, (str, os.PathLike)) and Path(source).is_dir():
        return _read_folder(Path(source))
    description: dict[str, object] = {}
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        text = path.read_text(encoding="utf-8")
        beside = path.with_name(path.name + ".json")
        if beside.exists():
            description = json.loads(beside.read_text(encoding="utf-8"))
    else:
        path = None
        text = source.read()
    text = text[: text.rfind("\n") + 1]
    body = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))
    if body.startswith("{"):
        records = [json.loads(line) for line in body.splitlines()]
        for record in records:
            if record.get("kind") == "header":
                description = description or record["header"]
        frame = pd.DataFrame([record for record in records if record.get("kind") != "header"])
    else:
        # Bytes and notes may look like a number.
        texts = dict.fromkeys(("sent", "bytes", "note"), "object")
        frame = pd.read_csv(io.StringIO(body), dtype=texts) if body else pd.DataFrame()
        if "packet" in frame.columns:
            # JSON has the count by itself; csv has it behind the reason.
            notes = frame["note"].astype("object").where(frame["kind"] == "lost")
            frame["count"] = pd.to_numeric(notes.str.extract(r"(-?\d+)$", expand=False))
    if not {"t", "time", "ring", "seq"} <= set(frame.columns):
        raise ValueError(f"{path or 'the input'} has no records of halo-raw: the columns t, time, ring and seq are missing")
    frame["time"] = pd.to_datetime(frame["time"], utc=True, format="ISO8601")
    frame.attrs["description"] = description
    return frame


def _read_folder(folder: Path) -> pd.DataFrame:
    files = sorted(path for path in folder.iterdir() if path.suffix in (".csv", ".jsonl"))
    frames: list[pd.DataFrame] = []
    starts: list[object] = []
    for path in files:
        frame = read_stream(path)
        # All files of a run have its start.
        start = frame.attrs["description"].get("Start", path.name)
        if start not in starts:
            starts.append(start)
        frames.append(frame.assign(run=starts.index(start)))
    if not frames:
        raise ValueError(f"{folder} has no complete csv or jsonl file")
    whole = pd.concat(frames, ignore_index=True)
    whole.attrs = dict(frames[-1].attrs)
    return whole


def samples(frame: pd.DataFrame, kind: str) -> pd.DataFrame:
    """The samples of one kind (`ppg`, `accel`, `spo2`), without columns that they do not have, and without marks."""
    chosen = frame[frame["kind"] == kind].dropna(axis="columns", how="all").reset_index(drop=True)
    chosen.attrs = dict(frame.attrs)
    return chosen


def marks(frame: pd.DataFrame) -> pd.DataFrame:
    """What happened between the samples: gaps, dropped samples, rejected frames, a clock that was set, lost packets."""
    return frame[frame["kind"].isin(MARKS)].dropna(axis="columns", how="all").reset_index(drop=True)


def lost_packets(frame: pd.DataFrame) -> int:
    """How many packets of a counted stream are lost: the sum of `count` of the records of kind `lost`.

    Raises ValueError for a stream whose packets have no number.
    """
    if "packet" not in frame.columns:
        raise ValueError("the packets of this stream have no number: how many are lost is not known")
    lost = frame[frame["kind"] == "lost"]
    return 0 if lost.empty else int(lost["count"].sum())


def rate(frame: pd.DataFrame, kind: str) -> float:
    """Samples per second of a kind, from its first sample to its last, without the gaps. Samples whose packet is known to be
    lost count.

    Raises ValueError for fewer than two samples.
    """
    chosen = frame[frame["kind"] == kind]
    parts = segments(frame, kind)
    intervals = sum(int(positions(chosen[parts == number]).max()) for number in parts.unique())
    spans = chosen.groupby(parts)["t"].agg(lambda times: times.max() - times.min())
    seconds = float(spans.sum())
    if intervals < 1 or seconds <= 0:
        raise ValueError(f"a rate needs two samples of {kind}")
    return intervals / seconds


def positions(samples: pd.DataFrame) -> pd.Series[int]:
    """The position of each sample of an uninterrupted part, from 0: by the number of its packet, so that lost ones have a
    position, too; without such a number, one after the other."""
    if "packet" in samples.columns and samples["packet"].notna().all():
        packets = samples["packet"].astype(int)
        return packets - packets.min()
    return pd.Series(range(len(samples)), index=samples.index)


def segments(frame: pd.DataFrame, kind: str) -> pd.Series[int]:
    """The number of the uninterrupted part that each sample of a kind belongs to, counted from 0, with the samples' index.

    A part ends at a gap and where samples were dropped. A rejected frame may be of another kind: it ends a part only if a
    sample is late after it. A lost packet ends none: see `positions`.
    """
    chosen = frame[frame["kind"] == kind]
    interval = chosen["t"].diff()
    usual = interval[interval > 0].median()
    rejected = frame["kind"].eq("rejected").cumsum()[chosen.index].diff() > 0
    ends = frame["kind"].isin(["gap", "dropped"]).cumsum()[chosen.index].diff() > 0
    pause = interval > PAUSE * usual
    if "packet" in chosen.columns:
        # The packets that are lost take their time.
        pause &= ~(interval <= (PAUSE + chosen["packet"].diff()) * usual)
    new = ends | pause | (rejected & (interval > 1.5 * usual))
    return new.cumsum().astype(int).rename("segment")
