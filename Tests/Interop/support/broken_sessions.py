#!/usr/bin/env python3
"""Makes captures/exercises: three sessions that do not work, for readers who look for the reason.

    broken_sessions.py FOLDER

Each begins with packets of a recording of this program; what its host does wrong is put in here, and what the
controller and the ring do about it. Nothing depends on luck: the same recordings give the same files.
"""

import struct
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

import btsnoop
from btsnoop import ACL, COMMAND, EVENT, Record
from built import ROOT

ATT, SIGNALING = 4, 5
LINK = 0x0040
INTERVAL = 15_000


def recorded(name: str) -> list[Record]:
    return btsnoop.read(ROOT / f"captures/{name}.btsnoop")


def event(code: int, parameters: bytes) -> bytes:
    return struct.pack("BBB", EVENT, code, len(parameters)) + parameters


@dataclass
class Session:
    """A recording that grows; times are in microseconds after its first packet."""
    start: int
    records: list[Record] = field(default_factory=list)

    def take(self, source: list[Record], first: int, last: int, shift: int = 0) -> None:
        """The packets with these numbers, that many microseconds later than they were."""
        self.records += [
            replace(one, time=one.time - source[0].time + self.start + shift) for one in source[first - 1:last]]

    def add(self, time: int, packet: bytes, *, is_received: bool) -> None:
        self.records.append(Record(self.start + time, is_received, packet))

    def command(self, time: int, opcode: int, parameters: bytes, status: int, *, is_pending=False) -> None:
        """A command, and its answer 200 us later."""
        self.add(time, struct.pack("<BHB", COMMAND, opcode, len(parameters)) + parameters, is_received=False)
        answer = struct.pack("<BBH", status, 1, opcode) if is_pending else struct.pack("<BHB", 1, opcode, status)
        self.add(time + 200, event(0x0F if is_pending else 0x0E, answer), is_received=True)

    def send(self, time: int, pdu: bytes, channel: int = ATT) -> None:
        """A frame of the host, and its credit at the next connection event."""
        self.frame(time, pdu, channel, is_received=False)
        self.add(time + INTERVAL, event(0x13, struct.pack("<BHH", 1, LINK, 1)), is_received=True)

    def receive(self, time: int, pdu: bytes, channel: int = ATT) -> None:
        self.frame(time, pdu, channel, is_received=True)

    def frame(self, time: int, pdu: bytes, channel: int, *, is_received: bool) -> None:
        flags = 0x2000 if is_received else 0
        content = struct.pack("<HH", len(pdu), channel) + pdu
        self.add(time, struct.pack("<BHH", ACL, LINK | flags, len(content)) + content, is_received=is_received)

    def disconnected(self, time: int, reason: int) -> None:
        self.add(time, event(0x05, struct.pack("<BHB", 0, LINK, reason)), is_received=True)

    def disconnect(self, time: int) -> None:
        self.command(time, 0x0406, struct.pack("<HB", LINK, 0x13), 0, is_pending=True)
        self.disconnected(time + 50_000, 0x16)

    def content(self) -> bytes:
        return btsnoop.written(self.records)


def begun(source: list[Record]) -> Session:
    """A session that begins with the note of a recording, which has no time of its own."""
    session = Session(source[0].time)
    session.take(source, 1, 1)
    return session


def never_connected() -> bytes:
    """The LE event mask has bit 10 in place of bit 9: no event tells the host that it has a link."""
    source = recorded("virtual-battery")
    session = begun(source)
    session.take(source, 2, 40)
    masks = [
        replace(one, packet=one.packet[:4] + struct.pack("<Q", 0x1C6E)) if one.packet[:3] == b"\x01\x01\x20" else one
        for one in session.records]
    assert masks != session.records
    session.records = masks
    # The ring's first request. The host does not know the link, and drops it.
    session.take(source, 49, 49)
    # The host gives up, and tries once more.
    session.command(10_493_710, 0x200E, b"", 0x0C)
    create = source[38].packet
    assert create[1:3] == b"\x43\x20"
    session.command(10_494_110, 0x2043, create[4:], 0x0B, is_pending=True)
    # The ring has waited for 30 s for the answer to its request.
    session.disconnected(30_549_110, 0x13)
    return session.content()


def silent_since_the_update() -> bytes:
    """The host keeps the handles of the old firmware: it writes to a declaration instead of to the descriptor."""
    source = recorded("virtual-stream")
    session = begun(source)
    # The last good session: discovery, the subscription, five sets of samples.
    session.take(source, 2, 104)
    stop = source[329].packet[9:]
    assert stop[:5] == bytes.fromhex("12 1000 a102")
    session.send(954_110, stop)
    session.receive(984_110, b"\x13")
    session.disconnect(984_110)
    # Two minutes later, with the new firmware: search, link, features, MTU.
    later = 120_000_000
    session.take(source, 20, 53, shift=later)
    session.send(later + 564_110, bytes.fromhex("08 0100 ffff 262a"))
    firmware = b"RT02R_3.12.00_251103"
    session.receive(later + 594_110, struct.pack("<BBH", 0x09, 2 + len(firmware), 0x0022) + firmware)
    session.send(later + 594_110, bytes.fromhex("12 1300 0100"))
    session.receive(later + 624_110, bytes.fromhex("01 12 1300 03"))
    session.send(later + 624_110, bytes.fromhex("52 1000 a1040000000000000000000000 0000a5"))
    session.disconnect(later + 10_639_110)
    return session.content()


def ends_after_half_a_minute() -> bytes:
    """The host does not answer on the signaling channel: the ring ends the link 30 s after its request."""
    source = recorded("virtual-stream-1hz")
    session = begun(source)
    session.take(source, 2, 98)
    request = source[98]
    assert request.packet[5:10] == bytes.fromhex("0c00 0500 12")
    session.take(source, 99, 99)
    asked = request.time - source[0].time
    # The stream goes on; its sets are those that were recorded, one after the other.
    sets = [source[75:78], source[92:95], source[95:98], source[104:107]]
    for second in range(3, 33):
        for one in sets[second % len(sets)]:
            # At the first connection event from then on.
            wait = -(-1_000_000 * second // INTERVAL) * INTERVAL
            session.add(774_110 + wait, one.packet, is_received=True)
    session.disconnected(asked + 30_000_000, 0x13)
    return session.content()


SESSIONS = {
    "never-connected": never_connected,
    "silent-since-the-update": silent_since_the_update,
    "ends-after-half-a-minute": ends_after_half_a_minute,
}


if __name__ == "__main__":
    for name, made in SESSIONS.items():
        (Path(sys.argv[1]) / f"{name}.btsnoop").write_bytes(made())
