"""Large captures for the benchmark of decode, made of the project's recorded sessions."""

import itertools
import struct
from pathlib import Path

RECORD = struct.Struct(">IIIIq")  # original length, length, flags, drops, time
HEADER = b"btsnoop\0" + struct.pack(">II", 1, 1002)
START = 0x00DCDDB30F2F8000 + 1_700_000_000_000_000  # microseconds since the year 0
RECEIVED = 1
VALUE_LENGTH = 152
HANDLE, LINK, ATT_CHANNEL, NOTIFICATION = 0x0012, 0x2040, 4, 0x1B


def records(path: Path):
    """The records of a btsnoop file of H4 packets: flags, time, packet."""
    data = path.read_bytes()
    offset = len(HEADER)
    while offset + RECORD.size <= len(data):
        _, length, flags, _, time = RECORD.unpack_from(data, offset)
        offset += RECORD.size
        yield flags, time, data[offset:offset + length]
        offset += length


def notifications():
    """Long values, of an attribute that was not discovered: what another maker's device sends at full speed."""
    for number in range(1000):
        value = bytes((number * 7 + index) & 0xFF for index in range(VALUE_LENGTH))
        pdu = struct.pack("<BH", NOTIFICATION, HANDLE) + value
        frame = struct.pack("<HH", len(pdu), ATT_CHANNEL) + pdu
        yield RECEIVED, START + number * 10_000, struct.pack("<BHH", 2, LINK, len(frame)) + frame


def workloads(root: Path) -> dict:
    """What is decoded: a name, what it is, and the records to repeat."""
    sessions = itertools.chain.from_iterable(
        records(path) for path in sorted((root / "captures").glob("**/*.btsnoop")))
    return {
        "ring": ("a ring's stream: frames of 16 bytes", list(records(root / "captures/virtual-stream.btsnoop"))),
        "values": (f"notifications of {VALUE_LENGTH} bytes", list(notifications())),
        "sessions": ("all sessions of `captures/`: HCI, discovery, ring", list(sessions)),
    }


def write(path: Path, source: list, count: int = 0, size: int = 0):
    """Repeats the records, with times that go on, up to `count` records or `size` bytes."""
    first, last = source[0][1], max(time for _, time, _ in source)
    written, total, shift = 0, len(HEADER), 0
    with path.open("wb") as file:
        file.write(HEADER)
        while True:
            for flags, time, packet in source:
                if (count and written >= count) or (size and total >= size):
                    return
                file.write(RECORD.pack(len(packet), len(packet), flags, 0, time + shift) + packet)
                written += 1
                total += RECORD.size + len(packet)
            shift += last - first + 1000
