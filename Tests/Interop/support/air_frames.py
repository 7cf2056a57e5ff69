"""Packets of the air, written by hand from the Core Specification (Vol 6, Part B), and the files that sniffers make."""

import struct
from dataclasses import dataclass, replace

ADVERTISING = 0x8E89BED6
ADVERTISING_CRC = 0x555555
LINK_LAYER, WITH_HEADER, NORDIC, PPI = 251, 256, 272, 192
LE_1M, LE_2M, LE_CODED = 0, 1, 2
START = 1_704_067_200_000_000  # 2024-01-01, in microseconds


def crc(pdu: bytes, initial: int) -> bytes:
    """3.1.1: a shift register of 24 positions, which is fed with the bits of the PDU and sent from position 23."""
    register = initial
    for byte in pdu:
        for index in range(8):
            feedback = (byte >> index & 1) ^ (register >> 23)
            register = register << 1 & 0xFFFFFF
            if feedback:
                register ^= 0x00065B
    bits = [register >> 23 - index & 1 for index in range(24)]
    return bytes(sum(bits[8 * byte + index] << index for index in range(8)) for byte in range(3))


@dataclass(frozen=True)
class Packet:
    """What is sent, and what a sniffer says of it."""
    pdu: bytes
    address: int = ADVERTISING
    crc_init: int = ADVERTISING_CRC
    channel: int = 37
    sender: str | None = None  # "central", "peripheral"
    event: int = 0
    time: int = 0  # microseconds
    encrypted: bool = False
    decrypted: bool = False
    bad_crc: bool = False
    phy: int = LE_1M
    rssi: int = -50
    secondary: bool = False
    auxiliary: int = 0  # as the nRF Sniffer counts them
    crc: bytes | None = None  # if it is not that of the PDU

    @property
    def bytes(self) -> bytes:
        check = self.crc or crc(self.pdu, self.crc_init)
        if self.bad_crc:
            check = bytes([check[0] ^ 1]) + check[1:]
        coding = b"\x00" if self.phy == LE_CODED else b""
        return struct.pack("<I", self.address) + coding + self.pdu + check


def address(text: str) -> bytes:
    return bytes.fromhex(text.replace(":", ""))[::-1]


# MARK: PDUs

def advertising(kind: int, payload: bytes, *, tx_random=False, rx_random=False) -> bytes:
    return bytes([kind | tx_random << 6 | rx_random << 7, len(payload)]) + payload


def structure(kind: int, data: bytes) -> bytes:
    return bytes([1 + len(data), kind]) + data


# The data channels of `connection_data`: it leaves out those on which a Wi-Fi network is heard.
USED_CHANNELS = [*range(16), *range(24, 37)]
CHANNEL_MAP = sum(1 << channel for channel in USED_CHANNELS).to_bytes(5, "little")


def connection_data(
        access_address, crc_init, *, window=(2, 3), interval=24, latency=0, timeout=72, hop=7, sca=5) -> bytes:
    return (
        struct.pack("<I", access_address) + crc_init.to_bytes(3, "little")
        + struct.pack("<BHHHH", *window, interval, latency, timeout) + CHANNEL_MAP + bytes([hop | sca << 5]))


def extended_header(mode: int, fields: list[tuple[int, bytes]], acad=b"") -> bytes:
    """The flags' bits and the fields, in their order."""
    content = bytes([sum(1 << bit for bit, _ in fields)]) + b"".join(data for _, data in fields) + acad
    return bytes([len(content) | mode << 6]) + content


def data(llid: int, payload=b"", *, sn=0, nesn=0, md=0) -> bytes:
    return bytes([llid | nesn << 2 | sn << 3 | md << 4, len(payload)]) + payload


def l2cap(channel: int, payload: bytes) -> bytes:
    return struct.pack("<HH", len(payload), channel) + payload


class Connection:
    """Both sides of a connection, with their sequence numbers, one exchange for each connection event."""

    def __init__(self, access_address, crc_init, *, start, interval=30_000):
        self.access_address, self.crc_init, self.interval = access_address, crc_init, interval
        self.time, self.event = start, -1
        self.sn = {"central": 0, "peripheral": 0}
        self.packets: list[Packet] = []

    def send(self, side, llid=1, payload=b"", **how):
        other = "peripheral" if side == "central" else "central"
        if side == "central":
            self.event += 1
            self.time += self.interval
        offset = 0 if side == "central" else 8 * (10 + len(self.packets[-1].pdu)) + 150
        pdu = data(llid, payload, sn=self.sn[side], nesn=self.sn[other] ^ (side == "peripheral"))
        packet = Packet(
            pdu, self.access_address, self.crc_init, channel=(7 * (self.event + 1)) % 37, sender=side,
            event=self.event, time=self.time + offset)
        self.packets.append(replace(packet, **how))
        if side == "peripheral":
            self.sn = {"central": self.sn["central"] ^ 1, "peripheral": self.sn["peripheral"] ^ 1}

    def exchange(self, central=(1, b""), peripheral=(1, b""), **how):
        self.send("central", *central, **how)
        self.send("peripheral", *peripheral, **how)

    def repeat(self, count=1):
        """The last two packets again, in an event of their own, as if their acknowledgement was lost."""
        central, peripheral = self.packets[-2:]
        for _ in range(count):
            self.event += 1
            self.time += self.interval
            offset = peripheral.time - central.time
            channel = (7 * (self.event + 1)) % 37
            self.packets.append(replace(central, time=self.time, event=self.event, channel=channel))
            self.packets.append(replace(peripheral, time=self.time + offset, event=self.event, channel=channel))


# MARK: Files

def rf_channel(index: int) -> int:
    return {37: 0, 38: 12, 39: 39}.get(index, index + 1 if index < 11 else index + 2)


def header_256(packet: Packet) -> bytes:
    role = {"central": 2, "peripheral": 3}.get(packet.sender, 1 if packet.secondary else 0)
    flags = 0x0001 | 0x0002 | role << 7 | 0x0400 | (0 if packet.bad_crc else 0x0800) | packet.phy << 14
    if packet.decrypted:
        flags |= 0x0008
    return struct.pack("<BbbBIH", rf_channel(packet.channel), packet.rssi, 0, 0, 0, flags)


def header_nordic(packet: Packet, counter: int, version=3, is_of_sniffer=True) -> bytes:
    flags = (not packet.bad_crc) | packet.phy << 4
    if packet.sender:
        flags |= (packet.sender == "central") << 1 | (packet.encrypted or packet.decrypted) << 2 | packet.decrypted << 3
    elif packet.secondary:
        flags |= packet.auxiliary << 1
    size = 10 + len(packet.bytes)
    if not is_of_sniffer:
        # Programs that have no sniffer fill in the flags alone (the SweynTooth captures, with a scapy of their own).
        return struct.pack("<BHBHB", 75, size & 0xFF, version, 0, 0) + struct.pack("<BBBBHI", 10, flags, 0, 0, 0, 0)
    kind = 2 if version == 3 and not packet.sender else 6
    last = struct.pack("<BBBHI", flags, packet.channel, -packet.rssi, packet.event, packet.time & 0xFFFFFFFF)
    if version == 0:
        return b"\xbe\xef" + struct.pack("<BHHB", kind, counter & 0xFFFF, 0, size) + last
    start = struct.pack("<BB", 6, size) if version == 1 else struct.pack("<H", size)
    return b"\x00" + start + struct.pack("<BHBB", version, counter & 0xFFFF, kind, 10) + last


def header_ppi(packet: Packet, kind=147) -> bytes:
    field = struct.pack(
        "<HHBHBIbbbB", 30006, 12, 0, 2402 + 2 * rf_channel(packet.channel), 0, 10 * packet.time & 0xFFFFFFFF,
        packet.rssi, packet.rssi, packet.rssi, 1)
    return struct.pack("<BBHI", 0, 0, 8 + len(field), kind) + field


def record(packet: Packet, kind: int, number=0, **how) -> bytes:
    if kind == WITH_HEADER:
        return header_256(packet) + packet.bytes
    if kind == NORDIC:
        return header_nordic(packet, number, **how) + packet.bytes
    return (header_ppi(packet) if kind == PPI else b"") + packet.bytes


def pcap(path, kind: int, packets: list[Packet], *, snap=None, **how):
    out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, kind)
    for number, packet in enumerate(packets):
        whole = record(packet, kind, number, **how)
        kept = whole[:snap]
        seconds, fraction = divmod(START + packet.time, 1_000_000)
        out += struct.pack("<IIII", seconds, fraction, len(kept), len(whole)) + kept
    path.write_bytes(out)
    return path


def pcapng(path, kind: int, packets: list[Packet], *, snap=None, **how):
    def block(number, body):
        body += b"\x00" * (-len(body) % 4)
        return struct.pack("<II", number, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

    out = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)) + block(1, struct.pack("<HHI", kind, 0, 0))
    for number, packet in enumerate(packets):
        whole = record(packet, kind, number, **how)
        kept = whole[:snap]
        time = START + packet.time
        out += block(6, struct.pack("<IIIII", 0, time >> 32, time & 0xFFFFFFFF, len(kept), len(whole)) + kept)
    path.write_bytes(out)
    return path
