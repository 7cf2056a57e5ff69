"""Recordings of the HCI with H4 bytes, as btsnoop files. `tshark_check.read_records` is stricter: it checks such a file."""

import struct
from dataclasses import dataclass
from pathlib import Path

# Version 1, and the link type of H4.
HEADER = b"btsnoop\0" + struct.pack(">II", 1, 1002)
# The header of a record: its lengths, flags, drops and time.
RECORD = struct.Struct(">IIIIq")
COMMAND, ACL, EVENT = 1, 2, 4


@dataclass(frozen=True)
class Record:
    """A packet with its H4 byte; `time` in microseconds, as btsnoop counts them."""
    time: int
    is_received: bool
    packet: bytes


def parsed(content: bytes) -> list[Record]:
    """The packets of a file; the first one has the number 1."""
    offset, found = len(HEADER), []
    while offset < len(content):
        length, _, flags, _, time = RECORD.unpack_from(content, offset)
        offset += RECORD.size
        found.append(Record(time, bool(flags & 1), content[offset:offset + length]))
        offset += length
    return found


def read(path: Path) -> list[Record]:
    return parsed(path.read_bytes())


def written(records: list[Record]) -> bytes:
    """The content of a file."""
    content = HEADER
    for one in records:
        flags = one.is_received | (2 if one.packet[0] in (COMMAND, EVENT) else 0)
        content += RECORD.pack(len(one.packet), len(one.packet), flags, 0, one.time) + one.packet
    return content
