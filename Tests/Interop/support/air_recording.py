#!/usr/bin/env python3
"""Makes from a recording of the HCI what a sniffer would have captured of the air at the same time.

    air_recording.py captures/virtual-battery.btsnoop captures/air-battery.pcap

A recording has what the host and its controller exchange. What the two controllers exchange is computed here, by the rules
of the link layer (Core Specification Vol 6, Part B): advertising events, the connection request, and each connection event
with its channel, sequence numbers, acknowledgements and empty PDUs. One PDU is damaged, so that a retransmission can be
seen. Nothing depends on luck: the same recording gives the same file.
"""

import struct
import sys
from dataclasses import dataclass, field
from pathlib import Path

import air_frames as air
import btsnoop
from air_frames import LE_1M, WITH_HEADER, Packet, advertising, data
from built import ROOT

# The session that the pages of docs/ follow.
RECORDING = ROOT / "captures/virtual-battery.btsnoop"

# Both are arbitrary. The access address follows 2.1.2: test_air_recording.py checks the rules.
ACCESS_ADDRESS, CRC_INIT = 0x50656A9E, 0x1E5D3A
# How far the channel moves with each connection event (4.5.8.2), and the accuracy of the central's clock: 31 to 50 ppm.
HOP, SLEEP_CLOCK_ACCURACY = 9, 5
# A controller reports to its host what it has received this long before.
REPORTED_AFTER = 2_000
# Between two PDUs of one event (4.1.1), and from one advertising channel to the next.
INTER_FRAME_SPACE, BETWEEN_CHANNELS = 150, 600
# In this connection event the central has an empty PDU, and it is damaged.
DAMAGED_EVENT = 5
START, CONTINUE, CONTROL = 2, 1, 3


@dataclass
class Recorded:
    """A packet of the recording: microseconds since the first, its H4 type, and what follows."""
    time: int
    is_sent: bool
    kind: int
    content: bytes


def recording(path: Path) -> list[Recorded]:
    """The commands, events and data of a recording."""
    records = btsnoop.read(path)
    return [
        Recorded(one.time - records[0].time, not one.is_received, one.packet[0], one.packet[1:]) for one in records
        if one.packet[0] in (btsnoop.COMMAND, btsnoop.ACL, btsnoop.EVENT)]


def duration(pdu: bytes) -> int:
    """Microseconds on LE 1M: preamble, access address, PDU and CRC are 8 bits a byte (2.1)."""
    return 8 * (1 + 4 + len(pdu) + 3)


@dataclass
class Side:
    """One end of the connection: what it has to send, and its two bits (4.5.9)."""
    name: str
    queue: list[tuple[int, bytes]] = field(default_factory=list)
    sn: int = 0
    nesn: int = 0
    # What was sent and is not acknowledged.
    pending: tuple[int, bytes] | None = None

    def pdu(self) -> bytes:
        if self.pending is None:
            self.pending = self.queue.pop(0) if self.queue else (CONTINUE, b"")
        kind, content = self.pending
        return data(kind, content, sn=self.sn, nesn=self.nesn, md=bool(self.queue))

    def receive(self, pdu: bytes) -> None:
        """Takes a PDU of the other side whose CRC is right."""
        if pdu[0] >> 2 & 1 != self.sn:
            self.sn ^= 1
            self.pending = None
        if pdu[0] >> 3 & 1 == self.nesn:
            self.nesn ^= 1


class AirConnection:
    """The events of a connection, with the first channel selection algorithm (4.5.8.2)."""

    def __init__(self, interval: int, anchor: int):
        self.interval, self.anchor = interval, anchor
        self.central, self.peripheral = Side("central"), Side("peripheral")
        self.event, self.unmapped = -1, 0
        self.packets: list[Packet] = []

    def next_event(self) -> None:
        """Both sides take turns until neither has more."""
        self.event += 1
        self.unmapped = (self.unmapped + HOP) % 37
        time = self.anchor + self.event * self.interval
        is_damaged, has_more = self.event == DAMAGED_EVENT, True
        while has_more:
            sent, time = self.send(self.central, self.peripheral, time, is_damaged=is_damaged)
            answer, time = self.send(self.peripheral, self.central, time)
            is_damaged, has_more = False, bool((sent[0] | answer[0]) & 0x10)

    @property
    def channel(self) -> int:
        used = air.USED_CHANNELS
        return self.unmapped if self.unmapped in used else used[self.unmapped % len(used)]

    def send(self, sender: Side, receiver: Side, time: int, *, is_damaged=False) -> tuple[bytes, int]:
        pdu = sender.pdu()
        if not is_damaged:
            receiver.receive(pdu)
        self.packets.append(
            Packet(
                pdu, ACCESS_ADDRESS, CRC_INIT, channel=self.channel, sender=sender.name, event=self.event, time=time,
                bad_crc=is_damaged, phy=LE_1M, rssi=-48 if sender.name == "central" else -57))
        return pdu, time + duration(pdu) + INTER_FRAME_SPACE


def advertising_event(report: Recorded, response: Recorded | None, scanner: bytes, listened: int) -> list[Packet]:
    """An advertisement on all three channels; the scanner hears one of them, and may ask for more."""
    # The fields of an LE Extended Advertising Report: of legacy PDUs (Vol 4, Part E, 7.7.65.13).
    advertiser, content = report.content[7:13], report.content[28:]
    packets, time = [], report.time - REPORTED_AFTER

    def send(pdu: bytes, channel: int, rssi: int) -> None:
        nonlocal time
        packets.append(Packet(pdu, channel=channel, time=time, rssi=rssi))
        time += duration(pdu) + INTER_FRAME_SPACE

    for channel in (37, 38, 39):
        start = time
        send(advertising(0, advertiser + content), channel, -57)
        if response and channel == listened:
            send(advertising(3, scanner + advertiser), channel, -48)
            send(advertising(4, advertiser + response.content[28:]), channel, -57)
        time = max(time, start + BETWEEN_CHANNELS)
    return packets


def connection_request(complete: Recorded, scanner: bytes, found: Recorded) -> list[Packet]:
    """The advertisement that the central answers, and its CONNECT_IND."""
    peer = complete.content[8:14]
    interval, latency, timeout = struct.unpack_from("<HHH", complete.content, 26)
    advertisement = advertising(0, found.content[7:13] + found.content[28:])
    time = complete.time - REPORTED_AFTER
    parameters = air.connection_data(
        ACCESS_ADDRESS, CRC_INIT, window=(2, window_offset(interval)), interval=interval, latency=latency, timeout=timeout,
        hop=HOP, sca=SLEEP_CLOCK_ACCURACY)
    return [
        Packet(advertisement, channel=37, time=time - duration(advertisement) - INTER_FRAME_SPACE, rssi=-57),
        Packet(advertising(5, scanner + peer + parameters), channel=37, time=time, rssi=-48)]


def window_offset(interval: int) -> int:
    """The first connection event is one interval after the request: the window of 2.5 ms is about it (4.5.3)."""
    return interval - 2


def pieces(acl: bytes) -> tuple[int, bytes]:
    """An ACL packet as the payload of a PDU; those of the recording are no longer than one."""
    flags = int.from_bytes(acl[:2], "little") >> 12 & 3
    return (CONTINUE if flags == 1 else START), acl[4:]


def session(packets: list[Recorded]) -> list[Packet]:
    events = [one for one in packets if one.kind == 4]

    def of(subevent: int) -> list[Recorded]:
        return [one for one in events if one.content[0] == 0x3E and one.content[2] == subevent]

    reports, complete = of(0x0D), of(0x0A)[0]
    read_address = next(one for one in events if one.content[2:5] == b"\x01\x09\x10")
    scanner = read_address.content[6:12]

    out: list[Packet] = []
    advertised = [one for one in reports if one.content[4] & 0x08 == 0]
    for number, report in enumerate(advertised):
        responses = [one for one in reports if one.time == report.time and one is not report]
        out += advertising_event(report, next(iter(responses), None), scanner, 37 + number % 3)
    out += connection_request(complete, scanner, advertised[-1])

    step = struct.unpack_from("<H", complete.content, 26)[0]
    interval = 1250 * step
    link = AirConnection(interval, complete.time - REPORTED_AFTER + interval)
    # What each side hands to its link layer, and when it must be sent; the peripheral's was received by the host.
    down = [(one.time, pieces(one.content)) for one in packets if one.kind == 2 and one.is_sent]
    up = [(one.time, pieces(one.content)) for one in packets if one.kind == 2 and not one.is_sent]
    features = of(0x04)[0]
    asked = next(one.time for one in packets if one.kind == 1 and one.content[:2] == b"\x16\x20")
    down.append((asked, (CONTROL, b"\x08" + bytes.fromhex("7f11000000000000"))))
    up.append((features.time, (CONTROL, b"\x09" + features.content[6:14])))
    length = of(0x07)[0]
    asked = next(one.time for one in packets if one.kind == 1 and one.content[:2] == b"\x22\x20")
    down.append((asked, (CONTROL, b"\x14" + struct.pack("<HHHH", 251, 2120, 251, 2120))))
    up.append((length.time, (CONTROL, b"\x15" + length.content[5:13])))
    ended = next(one for one in packets if one.kind == 1 and one.content[:2] == b"\x06\x04")
    down.append((ended.time, (CONTROL, b"\x02" + ended.content[5:6])))
    down.sort(key=lambda one: one[0])
    up.sort(key=lambda one: one[0])

    last = next(one.time for one in events if one.content[0] == 0x05)
    while (at := link.anchor + (link.event + 1) * interval) <= last:
        while down and down[0][0] <= at:
            link.central.queue.append(down.pop(0)[1])
        while up and up[0][0] <= at + REPORTED_AFTER:
            link.peripheral.queue.append(up.pop(0)[1])
        link.next_event()
    assert not down and not up, "the recording has packets after its last connection event"
    return out + link.packets


if __name__ == "__main__":
    source, target = sys.argv[1:]
    air.pcap(Path(target), WITH_HEADER, session(recording(Path(source))))
