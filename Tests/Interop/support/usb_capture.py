"""USB captures, written record by record: HCI packets as transfers of an adapter, among those of other devices.

The header of usbmon is described in the kernel's Documentation/usb/usbmon.rst, that of USBPcap on
desowin.org/usbpcap/captureformat.html. QEMU writes the former, too (hw/usb/pcap.c), as does usbipd-win
(dorssel/usbipd-win #694).
"""

import struct
from dataclasses import dataclass, field

LINUX, LINUX_MAPPED, USBPCAP = 189, 220, 249
ISOCHRONOUS, INTERRUPT, CONTROL, BULK = range(4)
COMMAND, ACL, EVENT = 1, 2, 4
IN = 0x80

DEVICE_DESCRIPTOR = struct.pack("<BBHBBBBHHHBBBB", 18, 1, 0x0200, 0xE0, 1, 1, 64, 0x0A12, 1, 0x8891, 0, 2, 0, 1)
KEYBOARD_DESCRIPTOR = struct.pack("<BBHBBBBHHHBBBB", 18, 1, 0x0200, 0, 0, 0, 8, 0x046D, 0xC31C, 0x6402, 1, 2, 0, 1)
# One interface of class 0xE0, subclass 1, protocol 1, with the three endpoints.
CONFIGURATION = bytes.fromhex(
    "09022700010100c032" + "0904000003e0010100" + "07058103100001" + "07050202400000" + "07058202400000")
assert len(CONFIGURATION) == 0x27


@dataclass
class Device:
    bus: int
    address: int


@dataclass
class USBCapture:
    """`kind`: the link type; `order`: of the file; `is_ng`: pcapng."""
    kind: int
    order: str = "<"
    is_ng: bool = False
    records: list = field(default_factory=list)
    time: int = 1_795_377_235_000_000
    next_id: int = 0xFFFF_8800_0000_1000

    # What a transfer looks like in the capture.

    def transfer(self, device, kind, endpoint, data=b"", setup=None, length=None, status=0):
        """A transfer: its beginning and its end. `data` go the way of the endpoint."""
        self.next_id += 64
        is_in = bool(endpoint & IN)
        asked = length if length is not None else len(data)
        if is_in:
            self.record(device, kind, endpoint, False, b"", setup, asked)
            self.record(device, kind, endpoint, True, data, None, len(data), status)
        else:
            self.record(device, kind, endpoint, False, data, setup, len(data))
            self.record(device, kind, endpoint, True, b"", None, len(data), status)

    def record(self, device, kind, endpoint, is_end, data, setup, length, status=0):
        if self.kind == USBPCAP:
            self.records.append((self.time, self.usbpcap(device, kind, endpoint, is_end, data, setup, status)))
        else:
            self.records.append((self.time, self.usbmon(device, kind, endpoint, is_end, data, setup, length, status)))

    def usbmon(self, device, kind, endpoint, is_end, data, setup, length, status):
        is_in = bool(endpoint & IN)
        has_data = bool(data) or is_in == is_end
        seconds, fraction = divmod(self.time, 1_000_000)
        header = struct.pack(
            self.order + "QBBBBHBBqiiII8s", self.next_id, ord("C" if is_end else "S"), kind, endpoint, device.address,
            device.bus, 0 if setup else ord("-"), 0 if has_data else ord("<" if is_in else ">"), seconds, fraction,
            status if is_end else -115, length, len(data), setup or bytes(8))
        if self.kind == LINUX_MAPPED:
            header += struct.pack(self.order + "iiII", 0, 0, 0, 0)
        return header + data

    def usbpcap(self, device, kind, endpoint, is_end, data, setup, status):
        stage = b""
        if kind == CONTROL:
            stage = bytes([3 if is_end else 0])
            data = (setup or b"") + data
        function = 8 if kind == CONTROL else 9
        header = struct.pack(
            "<HQIHBHHBBI", 27 + len(stage), self.next_id, status & 0xFFFF_FFFF, function, int(is_end), device.bus, device.address, endpoint, kind, len(data))
        return header + stage + data

    # What devices do.

    def enumerate(self, device, descriptor, configuration=None):
        request = bytes.fromhex("8006000100001200")
        self.transfer(device, CONTROL, IN, descriptor, request, 18)
        if configuration:
            request = struct.pack("<BBHHH", 0x80, 6, 0x0200, 0, len(configuration))
            self.transfer(device, CONTROL, IN, configuration, request, len(configuration))
            self.transfer(device, CONTROL, 0, b"", bytes.fromhex("0009010000000000"))

    def hci(self, device, packet, is_sent, event_size=16, data_size=None):
        """An HCI packet with its type byte, in as many transfers as it takes."""
        kind, packet = packet[0], packet[1:]
        if kind == COMMAND:
            assert is_sent
            self.transfer(device, CONTROL, 0, packet, struct.pack("<BBHHH", 0x20, 0, 0, 0, len(packet)))
            return
        assert kind in (ACL, EVENT)
        size = (event_size if kind == EVENT else data_size) or len(packet)
        endpoint = 0x81 if kind == EVENT else 0x02 if is_sent else 0x82
        way = INTERRUPT if kind == EVENT else BULK
        for place in range(0, len(packet), size):
            self.transfer(device, way, endpoint, packet[place:place + size], length=size)

    # The file.

    def write(self, path):
        path.write_bytes(self.pcapng() if self.is_ng else self.pcap())

    def pcap(self):
        out = struct.pack(self.order + "IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, self.kind)
        for time, data in self.records:
            seconds, fraction = divmod(time, 1_000_000)
            out += struct.pack(self.order + "IIII", seconds, fraction, len(data), len(data)) + data
        return out

    def block(self, kind, body):
        body += bytes(-len(body) % 4)
        length = struct.pack(self.order + "I", len(body) + 12)
        return struct.pack(self.order + "I", kind) + length + body + length

    def pcapng(self):
        out = self.block(0x0A0D0D0A, struct.pack(self.order + "IHHq", 0x1A2B3C4D, 1, 0, -1))
        out += self.block(1, struct.pack(self.order + "HHI", self.kind, 0, 262_144))
        for time, data in self.records:
            out += self.block(6, struct.pack(
                self.order + "IIIII", 0, time >> 32, time & 0xFFFF_FFFF, len(data), len(data)) + data)
        return out
