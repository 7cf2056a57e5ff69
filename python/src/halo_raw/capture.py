"""Captures, by way of `halo-raw decode`."""

from __future__ import annotations

import io
import json
import os

import pandas as pd

from . import program as halo
from .reading import read_stream


def read_capture(
    path: str | os.PathLike[str], *, samples: bool = False, program: str | os.PathLike[str] | None = None,
) -> pd.DataFrame:
    """Reads a capture of Bluetooth traffic: btsnoop, pcap, pcapng or PacketLogger, of any program.

    One row a packet; a field of a layer is the column `layer.field`, such as `att.handle`. With `samples`, one row a
    sample of a ring, as `read_stream` returns them.

    Raises ProgramError if the file cannot be read.
    """
    # A path that begins with a dash is no option.
    arguments = ["decode", "--format=jsonl", *(["--samples"] if samples else []), "--", path]
    text = halo.run(arguments, program)
    if samples:
        return read_stream(io.StringIO(text))
    # A name may have U+2028 and other ends of lines of Unicode; a line of JSON ends with a line feed alone.
    frame = pd.json_normalize([json.loads(line) for line in text.split("\n") if line])
    if "time" in frame:
        frame["time"] = pd.to_datetime((frame["time"] * 1e6).round().astype("int64"), unit="us", utc=True)
    return frame
