#!/usr/bin/env python3
"""What tshark reads in a btsnoop file, and a small reading of our own to hold against it.

    tshark_check.py FILE        compares the two and prints what ATT said
"""

import argparse
import struct
import subprocess
import sys
from dataclasses import dataclass, field

HOST_TO_CONTROLLER, CONTROLLER_TO_HOST = 0, 1  # as in tshark's hci_h4.direction
H4_DATALINK = 1002
COMMAND, ACL, EVENT = 0x01, 0x02, 0x04
ATT_CHANNEL = 4
# Microseconds from year 0, where btsnoop starts to count, to 1970.
UNIX_EPOCH = 0x00DCDDB30F2F8000

ERROR, MTU_REQUEST, MTU_RESPONSE = 0x01, 0x02, 0x03
READ_BY_TYPE_REQUEST, READ_BY_TYPE_RESPONSE = 0x08, 0x09
READ_REQUEST, READ_BLOB_REQUEST = 0x0A, 0x0C
WRITE_REQUEST, WRITE_RESPONSE, WRITE_COMMAND, PREPARE_WRITE_REQUEST = 0x12, 0x13, 0x52, 0x16
INCLUDE = b"\x02\x28"  # an attribute type, as it stands in a request
NOTIFICATION, INDICATION, CONFIRMATION = 0x1B, 0x1D, 0x1E
# Where in the PDU the one handle stands that it is about. (tshark shows one with other opcodes, too, but
# that is its guess from the request before.)
HANDLE_OFFSET = {
    ERROR: 2, READ_REQUEST: 1, READ_BLOB_REQUEST: 1, WRITE_REQUEST: 1, WRITE_COMMAND: 1,
    PREPARE_WRITE_REQUEST: 1, 0x17: 1, NOTIFICATION: 1, INDICATION: 1, 0xD2: 1,
}


@dataclass(frozen=True)
class Packet:
    """A record of the file."""
    number: int
    time: float  # seconds since 1970
    direction: int
    kind: int
    malformed: bool


@dataclass(frozen=True)
class ATT:
    """An ATT PDU, and the record that completed it."""
    number: int
    direction: int
    opcode: int
    handle: int | None
    value: bytes = field(default=b"", compare=False)  # behind the handle; only in our own reading


class CaptureError(Exception):
    pass


def number_of(text: str) -> int:
    """A field as tshark prints it. Version 4.4, that of Debian 13, prints True and False where 4.0 prints 1 and 0."""
    return {"True": 1, "False": 0}[text] if text in ("True", "False") else int(text, 0)


def tshark(path) -> tuple[list[Packet], list[ATT]]:
    """All records and all ATT PDUs, as tshark sees them."""
    fields = [
        "frame.number", "frame.time_epoch", "hci_h4.direction", "hci_h4.type", "btatt.opcode",
        "btatt.handle", "_ws.malformed", "_ws.expert.severity"]
    # `occurrence=f`: the first of several; opcode and handle come first in a PDU.
    command = ["tshark", "-r", str(path), "-T", "fields", "-E", "separator=/t", "-E", "occurrence=f"]
    for field in fields:
        command += ["-e", field]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if run.returncode != 0 or "cut short" in run.stderr:
        raise CaptureError(f"tshark cannot read {path}: {run.stderr.strip().splitlines()[-1]}")
    packets, pdus = [], []
    for line in run.stdout.splitlines():
        number, time, direction, kind, opcode, handle, malformed, severity = line.split("\t")
        packets.append(Packet(
            int(number), float(time), int(direction, 0), int(kind, 0),
            bool(malformed) or (severity != "" and int(severity) >= 0x800000)))  # an error
        if opcode:
            code = int(opcode, 0)
            pdus.append(ATT(
                int(number), int(direction, 0), code,
                int(handle, 0) if code in HANDLE_OFFSET else None))
    return packets, pdus


def read_records(path):
    """Number, time, direction and bytes of each record of a btsnoop file with H4 packets."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:8] != b"btsnoop\0":
        raise CaptureError(f"{path} is not a btsnoop file")
    version, datalink = struct.unpack_from(">II", data, 8)
    if (version, datalink) != (1, H4_DATALINK):
        raise CaptureError(f"{path} has version {version} and datalink {datalink}")
    position, number = 16, 0
    while position < len(data):
        if position + 24 > len(data):
            raise CaptureError(f"{path} ends in a record's header")
        original, included, flags, _, time = struct.unpack_from(">IIIIq", data, position)
        position += 24
        if original != included or position + included > len(data):
            raise CaptureError(f"record {number + 1} of {path} is not whole")
        number += 1
        packet = data[position : position + included]
        is_message = packet[0] in (COMMAND, EVENT)
        if bool(flags & 2) != is_message:
            raise CaptureError(f"record {number}: flags {flags:#x} do not fit packet type {packet[0]}")
        yield number, (time - UNIX_EPOCH) / 1e6, flags & 1, packet
        position += included


def read(path) -> tuple[list[Packet], list[ATT]]:
    """The same as `tshark`, by ourselves."""
    packets, pdus = [], []
    parts = {}  # (direction, connection handle): what has come of an L2CAP frame
    for number, time, direction, packet in read_records(path):
        packets.append(Packet(number, time, direction, packet[0], False))
        if packet[0] != ACL:
            continue
        word, length = struct.unpack_from("<HH", packet, 1)
        key, is_continuation = (direction, word & 0x0FFF), (word >> 12) & 3 == 1
        part = (parts.pop(key, b"") if is_continuation else b"") + packet[5 : 5 + length]
        if len(part) < 4 or len(part) < 4 + struct.unpack_from("<H", part)[0]:
            parts[key] = part
            continue
        if struct.unpack_from("<H", part, 2)[0] == ATT_CHANNEL:
            pdu = part[4:]
            offset = HANDLE_OFFSET.get(pdu[0])
            handle = None if offset is None else struct.unpack_from("<H", pdu, offset)[0]
            value = pdu[1:] if offset is None else pdu[offset + 2 :]
            pdus.append(ATT(number, direction, pdu[0], handle, value))
    return packets, pdus


def false_alarms(pdus) -> set[int]:
    """Frames that tshark 4.0 calls malformed, though they are as the specification has them."""
    asked, alarms = None, set()
    for pdu in pdus:
        if pdu.opcode == READ_BY_TYPE_REQUEST:
            asked = pdu.value[4:]
        # An include of a service with a 128-bit UUID has no UUID in it (Vol 3, Part G, 3.2).
        if pdu.opcode == READ_BY_TYPE_RESPONSE and asked == INCLUDE:
            alarms.add(pdu.number)
    return alarms


def check(path) -> list[ATT]:
    """Asserts that tshark reads the file as we do and finds nothing amiss. The ATT PDUs, in order."""
    own_packets, own_pdus = read(path)
    packets, pdus = tshark(path)
    alarms = false_alarms(own_pdus)
    malformed = [packet.number for packet in packets if packet.malformed and packet.number not in alarms]
    assert not malformed, f"tshark finds these frames malformed: {malformed}"
    assert len(packets) == len(own_packets)
    for theirs, ours in zip(packets, own_packets):
        assert (theirs.direction, theirs.kind) == (ours.direction, ours.kind), theirs
        assert abs(theirs.time - ours.time) < 2e-6, theirs
    for packet in packets:
        if packet.kind in (COMMAND, EVENT):
            expected = HOST_TO_CONTROLLER if packet.kind == COMMAND else CONTROLLER_TO_HOST
            assert packet.direction == expected, f"frame {packet.number} goes the wrong way"
    for earlier, later in zip(packets, packets[1:]):
        assert earlier.time <= later.time, f"frame {later.number} is older than the one before"
    assert pdus == own_pdus
    return own_pdus


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("file")
    try:
        for pdu in check(parser.parse_args().file):
            arrow = "<-" if pdu.direction == CONTROLLER_TO_HOST else "->"
            handle = "" if pdu.handle is None else f" {pdu.handle:#06x}"
            print(f"{pdu.number:6} {arrow} {pdu.opcode:#04x}{handle}")
    except (AssertionError, CaptureError) as error:
        sys.exit(f"tshark_check: {error}")


if __name__ == "__main__":
    main()
