#!/usr/bin/env python3
"""A session on the air: advertising, a connection with all that can be on one, encryption, extended advertising.

    air_session.py captures/air-advertising.pcap        writes its advertising, each type once
"""

import sys
from dataclasses import replace
from pathlib import Path

from air_frames import (
    WITH_HEADER, Connection, Packet, address, advertising, connection_data, data, extended_header, l2cap, pcap, structure)

RING, PHONE, OTHER = "C0:11:22:33:A1:B2", "00:1A:7D:DA:71:13", "5E:11:22:33:44:55"
CONNECTION, CRC_INIT = 0x50655BDA, 0xA1B2C3
SECOND, PERIODIC, ISOCHRONOUS, UNKNOWN = 0x71764129, 0x8E3A5C11, 0x5713A8E1, 0x9A328370
NAME = structure(1, b"\x06") + structure(9, b"R02_BEEF")
ATT, SIGNALING, SMP = 4, 5, 6

# The data of each LL Control PDU, by opcode (2.4.2), as a device might send it.
CONTROL = {
    0x00: ("central", "0205002800000048005a00"), 0x01: ("central", "ffff0fff1f5a00"), 0x07: ("peripheral", "0e"),
    0x08: ("central", "ff79010000000000"), 0x09: ("peripheral", "0100000000000000"),
    0x0C: ("central", "0a0f000961"), 0x0D: ("peripheral", "1a"), 0x0E: ("peripheral", "1f00000000000000"),
    0x0F: ("peripheral", "060008000000f4010000000000ffffffffffffffffff"[:46].ljust(46, "f")),
    0x10: ("central", "060008000000f401000a000000ffffffffffffffffffff"[:46].ljust(46, "f")),
    0x11: ("central", "0f23"), 0x12: ("central", ""), 0x13: ("peripheral", ""), 0x14: ("central", "fb004808fb004808"),
    0x15: ("peripheral", "1b0048011b004801"), 0x16: ("central", "0302"), 0x17: ("peripheral", "0303"),
    0x18: ("central", "02026400"), 0x19: ("peripheral", "0103"), 0x1A: ("central", "45"), 0x1B: ("peripheral", ""),
    0x1C: ("central", "3412" + "6400500001ffffff1f115c3a8e5555550700" + "0a000b00" + "b1" + "01" + "010203040506" + "0c00"),
    0x1D: ("central", "05"), 0x1E: ("peripheral", "07"),
    0x1F: ("central", "00010202788028001027001027007800280002d00700221010080010270020300a0b00"[:70].ljust(70, "0")),
    0x20: ("peripheral", "1027002030000b00"), 0x21: ("central", "e1a81357" + "102700" + "204e00" + "204e00" + "0c00"),
    0x22: ("central", "000113"), 0x23: ("central", "01fb08"), 0x24: ("peripheral", "02fd0403"),
    0x25: ("peripheral", "0101fd04"), 0x26: ("peripheral", "0200080004000200f401"),
    0x27: ("central", "04000a0002000100f401"), 0x28: ("central", "010514"), 0x29: ("peripheral", "5555555555555555ff0f"),
}


def advertisements() -> list[Packet]:
    at = [10_000 * number for number in range(12)]
    return [
        Packet(advertising(0, address(RING) + NAME, tx_random=True), time=at[0]),
        Packet(advertising(3, address(OTHER) + address(RING), tx_random=True, rx_random=True), time=at[0] + 400),
        Packet(
            advertising(4, address(RING) + structure(0xFF, b"\x59\x00\x01\x02"), tx_random=True), time=at[0] + 700),
        Packet(advertising(1, address(RING) + address(PHONE), tx_random=True), channel=38, time=at[1]),
        Packet(advertising(2, address(OTHER) + structure(10, b"\x04"), tx_random=True), channel=39, time=at[2]),
        Packet(advertising(6, address(PHONE) + structure(3, b"\x0d\x18")), channel=39, time=at[3]),
        # Bits were received wrongly: a phantom of the ring (greatscottgadgets/ubertooth pull request 550).
        Packet(advertising(0, address("C0:11:22:33:A1:B3") + NAME, tx_random=True), time=at[4], bad_crc=True),
    ]


def extended() -> list[Packet]:
    """An extended advertisement with a chain and periodic advertising, and an auxiliary scan (2.3.4)."""
    info, own = b"\x34\x52", address(RING)
    sync = bytes.fromhex("64005000ffffffff1f") + PERIODIC.to_bytes(4, "little") + bytes.fromhex("3322110700")
    assert len(sync) == 18

    def pointer(channel):
        return bytes([channel]) + b"\x14\x00"

    def more(channel, header, rest=b"", kind=7, *, at, aux=0, where=None, **types):
        return Packet(
            advertising(kind, header + rest, **types), channel=channel, time=at, secondary=channel < 37, auxiliary=aux,
            **(where or {}))

    at = 200_000
    periodic = {"address": PERIODIC, "crc_init": 0x112233}
    return [
        more(37, extended_header(0, [(3, info), (4, pointer(12))]), at=at),
        more(12, extended_header(0, [(0, own), (3, info), (4, pointer(20)), (5, sync), (6, b"\x08")]), NAME, at=at + 700,
             tx_random=True),
        more(20, extended_header(0, [(3, info)]), structure(0xFF, b"\x59\x00" + bytes(40)), at=at + 1500, aux=1),
        more(5, extended_header(0, [(6, b"\xf4")], acad=structure(0x28, bytes(7))), structure(0x16, b"\x0d\x18\x40"),
             at=at + 3000, aux=2, where=periodic),
        # A device that can be scanned.
        more(38, extended_header(2, [(3, info), (4, pointer(9))]), at=at + 10_000),
        more(9, extended_header(2, [(0, own), (3, info)]), at=at + 10_700, tx_random=True),
        Packet(advertising(3, address(OTHER) + own, tx_random=True, rx_random=True), channel=9, time=at + 11_000,
               secondary=True),
        more(9, extended_header(0, [(0, own)]), NAME, at=at + 11_400, aux=3, tx_random=True),
        # One that can be connected to.
        more(39, extended_header(1, [(3, info), (4, pointer(30))]), at=at + 20_000),
        more(30, extended_header(1, [(0, own), (3, info)]), at=at + 20_700, tx_random=True),
        Packet(
            advertising(5, address(PHONE) + own + connection_data(SECOND, 0x010203, interval=6), rx_random=True),
            channel=30, time=at + 21_000, secondary=True),
        more(30, extended_header(0, [(0, own), (1, address(PHONE))]), kind=8, at=at + 21_500, tx_random=True),
    ]


def request(parameters: bytes) -> Packet:
    return Packet(
        advertising(5, address(PHONE) + address(RING) + parameters, rx_random=True), channel=37, time=300_000)


def att(text: str) -> tuple[int, bytes]:
    return 2, l2cap(ATT, bytes.fromhex(text))


def discovery(link: Connection):
    link.exchange()
    link.exchange(att("02f700"), (1, b""))
    link.exchange((1, b""), att("03f700"))
    link.exchange(att("100100ffff0028"), (1, b""))
    # The response in three PDUs.
    whole = l2cap(ATT, bytes.fromhex("110601000500" + "0018" + "06000900" + "0118" + "0a000f00" + "0d18"))
    link.exchange((1, b""), (2, whole[:9]))
    link.exchange((1, b""), (1, whole[9:15]))
    link.exchange((1, b""), (1, whole[15:]))
    link.exchange(att("100f00ffff0028"), att("01100f000a"))
    link.exchange(att("080a000f000328"), att("09070b00100c00372a"))
    link.exchange(att("0a0300"), att("0b5230325f42454546"))
    link.exchange(att("120d000100"), att("13"))
    for value in range(4):
        link.exchange((1, b""), att(f"1b0c00004{value}"))
    # The same PDUs twice more: their acknowledgement was lost.
    link.exchange((1, b""), att("1b0c000055"))
    link.repeat(2)
    # Wrong CRC of a notification, which is sent again.
    good = link.packets[-1]
    link.exchange((1, b""), att("1b0c000056"))
    lost = link.packets[-1]
    link.packets[-1] = replace(lost, bad_crc=True, pdu=lost.pdu[:-1] + b"\x57")
    link.event += 1
    link.time += link.interval
    link.packets.append(replace(link.packets[-2], time=link.time, event=link.event, channel=3))
    link.packets.append(replace(lost, time=link.time + good.time % 1000 + 230, event=link.event, channel=3))


def controls(link: Connection):
    for opcode, (side, digits) in CONTROL.items():
        pdu = bytes([opcode]) + bytes.fromhex(digits)
        if side == "central":
            link.exchange((3, pdu), (1, b""))
        else:
            link.exchange((1, b""), (3, pdu))
    link.exchange((2, l2cap(SIGNALING, bytes.fromhex("12010800060006000000c800"))), (1, b""))
    link.exchange((2, l2cap(SMP, bytes.fromhex("01030001100303"))), (2, l2cap(SMP, bytes.fromhex("02030001100202"))))


def start_encryption(link: Connection):
    link.exchange((3, b"\x03" + bytes(range(22))), (1, b""))
    link.exchange((1, b""), (3, b"\x04" + bytes(range(12))))
    link.exchange((1, b""), (3, b"\x05"))


def encrypted(link: Connection):
    """What has no meaning without the key."""
    start_encryption(link)
    secret = bytes(range(0xA0, 0xC0))
    link.exchange((3, secret[:5]), (1, b""), encrypted=True)
    link.exchange((1, b""), (3, secret[5:10]), encrypted=True)
    link.exchange((2, secret[:17]), (2, secret[3:14]), encrypted=True)
    link.exchange()


def pause(link: Connection):
    """The central's LL_PAUSE_ENC_RSP is not encrypted; then encryption may start anew."""
    link.exchange((3, bytes(5)), (3, bytes(range(5))), encrypted=True)
    link.exchange((3, b"\x0b"), (1, b""))
    link.exchange(att("0a0300"), att("0b41"))


def session() -> list[Packet]:
    link = Connection(CONNECTION, CRC_INIT, start=310_000)
    discovery(link)
    controls(link)
    encrypted(link)
    pause(link)
    link.exchange((3, b"\x02\x13"), (1, b""))
    second = Connection(SECOND, 0x010203, start=link.time + 100_000, interval=7_500)
    second.exchange(att("0a0300"), att("0b42"))
    # The sniffer has come too late to see how this one began.
    third = Connection(UNKNOWN, 0x998877, start=second.time + 100_000, interval=50_000)
    third.exchange(att("520e0001"), att("1b0c000042"))
    third.exchange()
    return (
        advertisements() + extended() + [request(connection_data(CONNECTION, CRC_INIT))] + link.packets + second.packets
        + third.packets)


if __name__ == "__main__":
    pcap(Path(sys.argv[1]), WITH_HEADER, advertisements() + extended())
