"""The lines of a file, in blocks. A line feed within the quotation marks of csv ends none."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

#: In bytes: what is parsed at a time.
_BLOCK = 1 << 24
#: In bytes. The program writes lines of some hundreds.
_LONGEST_LINE = 1 << 26


def whole_lines(stream: BinaryIO, name: str) -> Iterator[bytes]:
    """Blocks of whole lines. A line feed within quotation marks ends no line; a last line without one is left out."""
    rest = b""
    while block := stream.read(_BLOCK):
        rest += block
        end = _end_of_lines(rest)
        if end:
            yield rest[:end]
            rest = rest[end:]
        elif len(rest) > _LONGEST_LINE:
            raise ValueError(f"{name} has a line of more than {_LONGEST_LINE >> 20} MiB; it is no output of halo-raw")


def _end_of_lines(text: bytes) -> int:
    end = text.rfind(b"\n") + 1
    if text.startswith(b"{") or text.count(b'"', 0, end) % 2 == 0:
        return end
    values = np.frombuffer(text, dtype=np.uint8)
    feeds = np.flatnonzero(values == ord("\n"))
    quotes = np.flatnonzero(values == ord('"'))
    outside = feeds[np.searchsorted(quotes, feeds) % 2 == 0]
    return int(outside[-1]) + 1 if len(outside) else 0


def lines_of(text: str) -> Iterator[str]:
    """Lines with their line feeds, where those are not within quotation marks."""
    begun = ""
    for line in io.StringIO(text, newline="\n"):
        begun += line
        if begun.count('"') % 2 == 0 or begun.startswith("#"):
            yield begun
            begun = ""
    if begun:
        yield begun
