#!/usr/bin/python3
"""The stream of the benchmark's ring with Python's standard library: what `floor.c` does, in Python.

    raw_client.py PLACE COUNT

Knows the ring's address and handles (ring.h), and prints a line for each sample at once.
"""

import ctypes
import datetime
import os
import socket
import struct
import sys
import time

LINK, RX, TX, CCCD = 0x0040, 6, 8, 9
ADDRESS = bytes.fromhex("B2A1332211C0")
HEADER = struct.Struct("<BHHHHBH")  # H4 type, handle and flags, length; L2CAP length, channel; ATT opcode, handle
NOTIFICATION = HEADER.pack(2, 0x2000 | LINK, 23, 19, 4, 0x1B, TX)

LINE = (
    '{"t":%.6f,"time":"%s","ring":"C0:11:22:33:A1:B2","seq":%d,"kind":"ppg","raw":%d,"max":%d,"min":%d,"diff":%d}\n')
AHEAD = time.time() - time.monotonic()


def time_of_day(now):
    return datetime.datetime.fromtimestamp(now + AHEAD).astimezone().isoformat(timespec="microseconds")


class Link:
    """The way to the ring: PLACE is the controller's Unix socket, user:hciN, or hciN for the kernel's L2CAP."""

    def __init__(self, place):
        self.is_l2cap = place.startswith("hci")
        self.input = b""
        if self.is_l2cap:
            self.socket = socket.socket(socket.AF_BLUETOOTH, socket.SOCK_SEQPACKET, socket.BTPROTO_L2CAP)
            self.call("bind", sockaddr_l2(bytes(6)))
            self.call("connect", sockaddr_l2(ADDRESS))
            return
        if place.startswith("user:hci"):
            self.socket = socket.socket(socket.AF_BLUETOOTH, socket.SOCK_RAW, socket.BTPROTO_HCI)
            self.call("bind", struct.pack("<HHH", socket.AF_BLUETOOTH, int(place.removeprefix("user:hci")), 1))
        else:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(place)
        self.command(0x0C03)
        self.command(0x2001, bytes([0x1F]).ljust(8, b"\0"))
        self.command(
            0x200D, struct.pack("<HHBB6sBHHHHHH", 96, 48, 0, 0, ADDRESS, 0, 6, 12, 0, 200, 0, 0), answer=0x3E)

    def call(self, name, address):
        """Python's own bind and connect have no fixed channels, and no channels of HCI."""
        libc = ctypes.CDLL(None, use_errno=True)
        if getattr(libc, name)(self.socket.fileno(), address, len(address)):
            sys.exit(f"raw_client: {name}: {os.strerror(ctypes.get_errno())}")

    def packets(self):
        """The packets of one read, or the PDU of the kernel's L2CAP, and the time of it."""
        data = self.socket.recv(65536)
        if not data:
            sys.exit("raw_client: the link has ended")
        now = time.monotonic()
        if self.is_l2cap:
            return now, [data]
        data, start, packets = self.input + data, 0, []
        while len(data) - start >= 5:
            length = 5 + int.from_bytes(data[start + 3:start + 5], "little") if data[start] == 2 else 3 + data[start + 2]
            if len(data) - start < length:
                break
            packets.append(data[start:start + length])
            start += length
        self.input = data[start:]
        return now, packets

    def wait_for(self, is_it):
        while not any(is_it(packet) for packet in self.packets()[1]):
            pass

    def command(self, opcode, parameters=b"", answer=0x0E):
        self.socket.sendall(struct.pack("<BHB", 1, opcode, len(parameters)) + parameters)
        self.wait_for(lambda packet: packet[:2] == bytes([4, answer]))

    def att(self, pdu):
        header = b"" if self.is_l2cap else struct.pack("<BHHHH", 2, LINK, len(pdu) + 4, len(pdu), 4)
        self.socket.sendall(header + pdu)

    def wait_for_att(self, opcode):
        self.wait_for(lambda packet: packet[0] == opcode if self.is_l2cap else packet[0] == 2 and packet[9] == opcode)

    def control(self, what):
        frame = bytes([0xA1, what]).ljust(15, b"\0")
        self.att(struct.pack("<BH", 0x52, RX) + frame + bytes([sum(frame) & 0xFF]))


def sockaddr_l2(address):
    """PSM 0, channel 4, address of type LE public."""
    return struct.pack("<HH6sHBx", socket.AF_BLUETOOTH, 0, address, 4, 1)


def main(place, count):
    link = Link(place)
    link.att(struct.pack("<BHH", 0x12, CCCD, 1))
    link.wait_for_att(0x13)
    link.control(4)
    header = NOTIFICATION[9:] if link.is_l2cap else NOTIFICATION
    output, printed, origin = sys.stdout, 0, None
    while printed < count:
        now, packets = link.packets()
        for packet in packets:
            frame = packet[len(header):]
            if not packet.startswith(header) or frame[:2] != b"\xA1\x02" or sum(frame[:15]) & 0xFF != frame[15]:
                continue
            origin = now if origin is None else origin
            output.write(LINE % (
                now - origin, time_of_day(now), printed, *struct.unpack_from(">4H", frame, 2)))
            output.flush()
            printed += 1
    link.control(2)
    if not link.is_l2cap:
        link.command(0x0406, struct.pack("<HB", LINK, 0x13), answer=0x05)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
