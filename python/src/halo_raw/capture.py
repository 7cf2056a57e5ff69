"""Captures, by way of `halo-raw decode`."""

from __future__ import annotations

import io
import json
import os

import pandas as pd

from . import program as halo
from .streams import read_stream


def read_capture(
    path: str | os.PathLike[str], *, samples: bool = False, program: str | os.PathLike[str] | None = None,
) -> pd.DataFrame:
    """Reads a capture of Bluetooth traffic: btsnoop, pcap, pcapng or PacketLogger, of any program.

    One row a packet; a field of a layer is the column `layer.field`, such as `att.handle`. With `samples`, one row a sample
    of a ring, as `read_stream` returns them.

    Raises ProgramError if the file cannot be read.
    """
    arguments: list[str | os.PathLike[str]] = ["decode", path, "--format", "jsonl"]
    if samples:
        return read_stream(io.StringIO(halo.run([*arguments, "--samples"], program)))
    frame = pd.json_normalize([json.loads(line) for line in halo.run(arguments, program).splitlines()])
    if "time" in frame:
        frame["time"] = pd.to_datetime((frame["time"] * 1e6).round().astype("int64"), unit="us", utc=True)
    return frame
