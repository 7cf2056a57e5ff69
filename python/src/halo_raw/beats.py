"""The beats of the pulse, by way of `halo-raw beats`."""

from __future__ import annotations

import io
import os
from typing import Any

import numpy as np
import pandas as pd

from . import program as halo
from . import schema
from .timeline import one_ring, seconds

#: The columns of csv that the program prints: their names are a comment there.
_NAMES = ["t", "quality", "said", "reason", "interval_s", "bpm", "ring"]
_USED = ("ring", "kind", "raw", "x_g", "y_g", "z_g", "packet")


def beats(frame: pd.DataFrame, *, program: str | os.PathLike[str] | None = None) -> pd.DataFrame:
    """The beats of one ring in the green light of a stream: one row a beat.

    `t` is its time in seconds, on one scale for all runs, and `time` the time of day; `quality` is from 0 to 1, and a beat
    is accepted from 0.5 on; `reason` is why it is not; `interval_s` is since the beat before, and missing unless both are
    accepted; `bpm` is the rate of the last ten seconds; `said` is when it was known. `stretch` counts up where no interval
    leads across. See docs/pulse.md for how far they may be trusted.

    Raises ValueError for several rings, and ProgramError if the stream has too few samples for beats, or no green light.
    """
    ring = one_ring(frame)
    elapsed = seconds(frame)
    table = pd.DataFrame({"t": elapsed}).join(
        frame[[name for name in _USED if name in frame.columns]].reset_index(drop=True))
    text = halo.run(["beats", "--format=csv", "-"], program, table.to_csv(index=False).encode())
    rows = pd.read_csv(io.StringIO(text), comment="#", names=_NAMES, dtype={"t": str, "ring": str, "reason": str})
    is_break = rows["t"] == "break"
    found = rows[~is_break].reset_index(drop=True)
    numbers: Any = {name: pd.to_numeric(found[name]) for name in ("t", "quality", "said", "interval_s", "bpm")}
    start = pd.Timestamp(frame["time"].iloc[0]) - pd.Timedelta(seconds=float(elapsed[0]))
    result = pd.DataFrame({
        "t": numbers["t"], "time": start + pd.to_timedelta(numbers["t"], unit="s").dt.round("us"), "ring": ring,
        **{name: numbers[name] for name in ("interval_s", "bpm", "quality")},
        "reason": found["reason"].astype(schema.TEXT), "said": numbers["said"],
        "stretch": np.cumsum(is_break.to_numpy())[~is_break.to_numpy()].astype("int32")})
    result.attrs = dict(frame.attrs)
    return result
