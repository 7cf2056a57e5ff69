#!/usr/bin/env python3
"""Makes the seeds in Corpus/ of the recordings in captures/: a few packets of each kind for each target; captures of the
air are written by hand.

    Tests/Fuzzing/seeds.py
"""

import hashlib
import sqlite3
import struct
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "Interop" / "support"))

import air_frames  # noqa: E402
import air_session  # noqa: E402

CAPTURES = HERE.parent.parent / "captures"
LIMIT = 8


def records(path):
    data = path.read_bytes()
    offset = 16
    while offset + 24 <= len(data):
        original, included, flags, _, _ = struct.unpack_from(">IIIIq", data, offset)
        yield flags, data[offset + 24:offset + 24 + included]
        offset += 24 + included


class Corpus:
    def __init__(self, name):
        self.folder = HERE / "Corpus" / name
        self.folder.mkdir(parents=True, exist_ok=True)
        # Findings have names of their own, and stay.
        for old in self.folder.glob("seed-*"):
            old.unlink()
        self.kinds = {}

    def add(self, data, kind=None, most=2):
        """Keeps the first ones of each kind."""
        kind = kind if kind is not None else hashlib.sha1(data).hexdigest()
        if len(self.kinds) >= LIMIT and kind not in self.kinds or self.kinds.get(kind, 0) >= most:
            return
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        self.keep(data)

    def keep(self, data):
        (self.folder / f"seed-{hashlib.sha1(data).hexdigest()[:12]}").write_bytes(data)


def piece(data):
    return bytes([len(data)]) + data if len(data) < 256 else b""


def pairings():
    """Whole pairings in each role and by each method: what both sides can do and want, then what comes."""
    methods = [(3, 3, 0x09, 0, 9), (3, 3, 0x01, 4, 9), (1, 1, 0x0D, 0, 9), (2, 0, 0x0D, 0, 10), (0, 2, 0x0D, 0, 10),
               (2, 2, 0x0D, 0, 10), (2, 2, 0x05, 0, 10), (3, 3, 0x05, 16, 9)]
    for role in 0, 1:
        for own, other, wish, flags, answer in methods:
            sides = bytes([own, wish, 7, 7, flags, other, wish, 7, 7, flags])
            # A passkey is asked for once: after the first PDU, or after the public keys.
            steps = bytes(2 if wish & 8 else 1) + b"\x0A" + bytes(70) if answer == 10 else b"\x00\x09" * 20
            yield bytes([role]) + sides + steps + b"\x0D\x01" + bytes(10)


def main():
    names = ["hci-event", "advertising", "h4", "l2cap", "signaling", "att-pdu", "att-bearer", "att-server",
             "ring-frame", "ring-bulk", "capture", "dissector", "store", "pulse", "web", "client", "replay", "smp"]
    corpus = {name: Corpus(name) for name in names}
    for path in sorted(CAPTURES.rglob("*.btsnoop")):
        stream, bearer, server, bulk = b"", b"", b"", b""
        for flags, packet in records(path):
            kind, body = packet[0], packet[1:]
            stream += piece(packet) if len(stream) < 600 else b""
            if kind == 4:
                corpus["hci-event"].add(body, (body[0], body[2] if body[0] == 0x3E else 0))
                if body[0] == 0x3E and body[2] in (2, 13):
                    corpus["advertising"].add(piece(body), len(body))
                    corpus["advertising"].add(piece(body[13:-1]), -len(body))
            if kind == 2:
                corpus["l2cap"].add(bytes([0]) + piece(body[4:]), len(body))
                channel, frame = struct.unpack_from("<H", body, 6)[0], body[8:]
                if channel == 5:
                    corpus["signaling"].add(frame, frame[0])
                if channel == 4:
                    corpus["att-pdu"].add(frame, frame[0])
                    bearer += bytes([0, 3, 2]) + piece(frame) if len(bearer) < 600 else b""
                    if flags & 1 == 0:
                        server += bytes([3]) + piece(frame) if len(server) < 600 else b""
                    if frame[0] in (0x1B, 0x12):
                        value = frame[3:]
                        if len(value) == 16:
                            corpus["ring-frame"].add(value, value[0])
                        bulk += bytes([0 if value[:1] == b"\xbc" else 1]) + piece(value) + b"\x05" \
                            if len(bulk) < 900 else b""
        corpus["h4"].add(stream)
        corpus["att-bearer"].add(bearer)
        corpus["att-server"].add(server)
        corpus["ring-bulk"].add(bulk)
        if path.stat().st_size < 16384:
            for name in ("capture", "dissector", "replay"):
                corpus[name].add(path.read_bytes())
    with tempfile.TemporaryDirectory() as folder:
        for kind in (air_frames.LINK_LAYER, air_frames.WITH_HEADER, air_frames.NORDIC, air_frames.PPI):
            path = air_frames.pcap(Path(folder) / "air.pcap", kind, air_session.session())
            corpus["dissector"].keep(path.read_bytes())
    for number in range(6):
        corpus["client"].add(bytes((index * 37 + number * 91) % 256 for index in range(64 * (number + 1))))
    corpus["client"].add(b"")
    for text in light():
        corpus["pulse"].add(text.encode())
    for host in ("localhost:8642", "[fe80::1%eth0]:80", "raspberrypi.", "192.168.1.20"):
        corpus["web"].add(f"/abcdefghijkmnpqrstuvwxyz/events\n{host}\nhttp://{host}\n".encode())
    corpus["web"].add(day().encode())
    for text in pairings():
        corpus["smp"].keep(text)
    corpus["store"].add(store())
    corpus["store"].add(b"SQLite format 3\0" + bytes(100))


def light():
    """Light of a ring, in each of the formats that are read."""
    sys.path.insert(0, str(CAPTURES.parent / "Benchmarks/pulse"))
    import light as simulated

    record = simulated.record("light", "link", 3, rate=12.5, seconds=28, heart=72, **simulated.LINK)
    samples = list(zip(record.t.tolist(), record.ppg.tolist(), strict=True))
    yield record.csv()
    yield "".join(
        f'{{"t":{t:.6f},"ring":"A","kind":"ppg","raw":{ppg},"packet":{index}}}\n'
        for index, (t, ppg) in enumerate(samples)) + '{"t":28.0,"ring":"A","kind":"gap","reason":"lost"}\n'
    yield "".join(f"{t:.6f} s  ppg       {ppg:5}\n" for t, ppg in samples)


def day():
    """Some seconds of a stream, in csv."""
    start = "t,time,ring,seq,kind,raw,max,min,diff,x_g,y_g,z_g,raw_x,raw_y,raw_z,note\n"
    return start + "".join(
        f"{number / 4},2026-11-30T12:59:{number // 4:02}.{number % 4 * 250:03}+01:00,A,{number},ppg,{11500 + number},,,,,,,,,,\n"
        f"{number / 4},2026-11-30T11:59:{number // 4:02}.{number % 4 * 250:03}Z,A,{number},accel,,,,,0.1,-0.9,0.{number},1,2,3,\n"
        for number in range(24)) + "6,2026-11-30T11:59:06Z,A,0,measured,,,,,,,,,,,heart_rate_bpm=66\n"


def store():
    """A data base with other tables: the program's own ones are made by it."""
    with tempfile.NamedTemporaryFile(suffix=".sqlite") as file:
        base = sqlite3.connect(file.name)
        base.execute("CREATE TABLE rings (id INTEGER PRIMARY KEY, address TEXT)")
        base.execute("INSERT INTO rings VALUES (1, 'C0:11:22:33:A1:B2')")
        base.commit()
        base.close()
        return Path(file.name).read_bytes()


if __name__ == "__main__":
    main()
