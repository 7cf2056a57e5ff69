"""btmon, and what is in its recordings."""

import struct
import subprocess
import time

MONITOR_DATALINK = 2001
COMMAND, EVENT, ACL_SENT, ACL_RECEIVED = 2, 3, 4, 5  # opcodes of the monitor channel
ATT_CHANNEL = 4


class Monitor:
    """Runs btmon around a block; then its recording can be read."""

    def __init__(self, path, adapter):
        self.path, self.adapter = path, adapter

    def __enter__(self):
        self.process = subprocess.Popen(
            ["btmon", "--write", str(self.path)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # It writes what adapters there are as soon as it listens.
        deadline = time.monotonic() + 30
        while not (self.path.exists() and self.path.stat().st_size > 16):
            assert self.process.poll() is None and time.monotonic() < deadline, "btmon does not start"
            time.sleep(0.02)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def records(self):
        """Opcode and packet of each record of this adapter."""
        data = self.path.read_bytes()
        assert data[:8] == b"btsnoop\0"
        assert struct.unpack_from(">II", data, 8) == (1, MONITOR_DATALINK)
        position = 16
        while position < len(data):
            _, length, flags, _, _ = struct.unpack_from(">IIIIq", data, position)
            position += 24
            if flags >> 16 == self.adapter.index:
                yield flags & 0xFFFF, data[position : position + length]
            position += length

    def att_pdus(self) -> tuple[list[bytes], list[bytes]]:
        """What was sent and what was received on the ATT channel of all connections."""
        pdus, parts = {ACL_SENT: [], ACL_RECEIVED: []}, {}
        for opcode, packet in self.records():
            if opcode not in pdus:
                continue
            word, length = struct.unpack_from("<HH", packet)
            key, continues = (opcode, word & 0x0FFF), word >> 12 & 3 == 1
            part = (parts.pop(key, b"") if continues else b"") + packet[4 : 4 + length]
            size, channel = struct.unpack_from("<HH", part) if len(part) >= 4 else (0, None)
            if channel is None or len(part) < 4 + size:
                parts[key] = part
            elif channel == ATT_CHANNEL:
                pdus[opcode].append(part[4:])
        return pdus[ACL_SENT], pdus[ACL_RECEIVED]

    def commands(self, opcode: int) -> list[bytes]:
        """The parameters of each command with this opcode."""
        return [
            packet[3:] for kind, packet in self.records()
            if kind == COMMAND and struct.unpack_from("<H", packet)[0] == opcode]
