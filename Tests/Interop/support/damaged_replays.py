#!/usr/bin/env python3
"""Replays damaged recordings: each run ends by itself, with a documented exit code, and says why in a few lines.

    damaged_replays.py PROGRAM COUNT [SEED]

The time of a replay is virtual, so that a wait that repeats for ever takes all of a processor and no time of its own: a run that
takes more seconds than LONGEST is a fault. What is found is kept in the folder of the temporary files, and its command printed.
"""

import os
import random
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import btsnoop
from built import ROOT

CAPTURES = ROOT / "captures"
# Of one run, in seconds of a machine that is busy: an undamaged one takes a tenth of a second.
LONGEST = 60
# Most bytes of standard error.
MOST_WORDS = 100_000
CODES = {0, 64, 65, 66, 69, 71, 74, 75, 76, 77, 78, 79, 80}

# Recordings, and the commands that they are of.
SESSIONS = [
    ("virtual-battery", "battery"), ("virtual-inspect", "inspect"), ("virtual-stream", "stream --duration 3s"),
    ("virtual-scan", "scan --duration 500ms"), ("virtual-retry", "info"), ("virtual-measure", "measure heart-rate"),
    ("virtual-events", "events --camera --count 9"), ("virtual-counted", "stream --ppg --accel --duration 3s"),
    ("bumble-inspect", "inspect"), ("bumble-subscribe", "subscribe --uuid 48414C4F-0004-4000-8000-52494E470000 --count 2"),
    ("rt/history-sleep", "history sleep"), ("rt/settings", "settings"), ("rt11cr/stream", "stream --count 9"),
]
# What the same recordings are replayed with, besides their command.
OPTIONS = [[], [], [], ["--lenient"], ["--level", "att"], ["--level", "att", "--lenient"]]
RETRIES = [[], [], ["--retry-for", "forever"], ["--retry-for", "0"]]


@dataclass(frozen=True)
class Damage:
    content: bytes
    arguments: list[str]


def offsets(content: bytes) -> list[int]:
    """Where the records begin."""
    found, offset = [], len(btsnoop.HEADER)
    while offset + btsnoop.RECORD.size <= len(content):
        found.append(offset)
        offset += btsnoop.RECORD.size + struct.unpack_from(">I", content, offset)[0]
    return found


# Damages of the file.

def length(chance: random.Random, content: bytearray) -> None:
    """A length that is too large, too small, or near the largest number."""
    at = chance.choice(offsets(content)) + chance.choice([0, 4])
    value = struct.unpack_from(">I", content, at)[0]
    value = chance.choice([value | 1 << chance.randrange(32), value + 1, value - 1, 0, 0xFFFF_FFFF, chance.randrange(64)])
    struct.pack_into(">I", content, at, value & 0xFFFF_FFFF)


def cut(chance: random.Random, content: bytearray) -> None:
    del content[chance.randrange(len(content)):]


def zeros(chance: random.Random, content: bytearray) -> None:
    """A block that the disk has lost."""
    at = chance.randrange(len(content))
    count = min(chance.choice([1, 16, 512, 4096]), len(content) - at)
    content[at:at + count] = bytes(count)


def bits(chance: random.Random, content: bytearray) -> None:
    for _ in range(chance.choice([1, 1, 4, 32])):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)


def header(chance: random.Random, content: bytearray) -> None:
    """Another version, or link type."""
    struct.pack_into(">I", content, chance.choice([8, 12]), chance.choice([0, 2, 1001, 1002, 1003, 2001, 0xFFFF_FFFF]))


# Damages of the session: the file is whole.

def lose(chance: random.Random, records: list) -> None:
    at = chance.randrange(len(records))
    del records[at:at + chance.choice([1, 1, 2, 20])]


def double(chance: random.Random, records: list) -> None:
    at = chance.randrange(len(records))
    records[at:at] = [records[at]] * chance.choice([1, 1, 50])


def exchange(chance: random.Random, records: list) -> None:
    one, other = chance.randrange(len(records)), chance.randrange(len(records))
    records[one], records[other] = records[other], records[one]


def turn(chance: random.Random, records: list) -> None:
    at = chance.randrange(len(records))
    records[at] = replace(records[at], is_received=not records[at].is_received)


def delay(chance: random.Random, records: list) -> None:
    """The clock jumps, by a moment or by centuries, forwards or back."""
    at = chance.randrange(len(records))
    jump = chance.choice([1, -1]) * chance.choice([1, 10**3, 10**6, 60 * 10**6, 86_400 * 10**6, 10**16])
    for index in range(at, len(records)):
        time = records[index].time + jump
        records[index] = replace(records[index], time=max(-2**63, min(2**63 - 1, time)))


def change(chance: random.Random, records: list) -> None:
    """A packet with another byte, without its end, or with more."""
    at = chance.randrange(len(records))
    packet = bytearray(records[at].packet)
    match chance.randrange(4):
        case 0 if packet: packet[chance.randrange(len(packet))] = chance.randrange(256)
        case 1: del packet[chance.randrange(len(packet) + 1):]
        case 2: packet += chance.randbytes(chance.choice([1, 20, 300]))
        case _ if packet: packet[chance.randrange(len(packet))] ^= 1 << chance.randrange(8)
    records[at] = replace(records[at], packet=bytes(packet))


def insert(chance: random.Random, records: list) -> None:
    """Events that end things: Hardware Error, Disconnection Complete, a command that is refused."""
    at = chance.randrange(len(records))
    event = chance.choice(["04100142", "0405040040001f", "0405040040003e", "040f040c010d20", "040e0401030c0c"])
    count = chance.choice([1, 3, 40])
    records[at:at] = [btsnoop.Record(records[at].time, True, bytes.fromhex(event))] * count


OF_FILES = [length, length, cut, zeros, bits, header]
OF_SESSIONS = [lose, double, exchange, turn, delay, change, change, insert]


def damaged(seed: int) -> Damage:
    """A recording with one to three damages; the same for the same number."""
    chance = random.Random(seed)
    name, command = chance.choice(SESSIONS)
    records = btsnoop.read(CAPTURES / f"{name}.btsnoop")
    for _ in range(chance.choice([0, 1, 1, 2])):
        if records:
            chance.choice(OF_SESSIONS)(chance, records)
    content = bytearray(written(records))
    for _ in range(chance.choice([0, 1, 1]) or content == (CAPTURES / f"{name}.btsnoop").read_bytes()):
        if len(offsets(content)) > 0:
            chance.choice(OF_FILES)(chance, content)
    words = command.split()
    if words[0] in ("stream", "events", "subscribe"):
        words += chance.choice(RETRIES)
    return Damage(bytes(content), words + chance.choice(OPTIONS))


def written(records: list) -> bytes:
    """As `btsnoop.written`, also of packets that are empty."""
    content = btsnoop.HEADER
    for one in records:
        flags = one.is_received | (2 if one.packet[:1] in (b"\x01", b"\x04") else 0)
        content += btsnoop.RECORD.pack(len(one.packet), len(one.packet), flags, 0, one.time) + one.packet
    return content


def fault(program: Path, seed: int, folder: Path) -> str | None:
    """What is wrong with the replay of a damaged recording; nil if nothing is."""
    damage = damaged(seed)
    path = folder / f"damaged-{seed}.btsnoop"
    path.write_bytes(damage.content)
    command = [program, "replay", path, *damage.arguments]
    environment = os.environ | {"HOME": str(folder), "XDG_STATE_HOME": "/dev/null"}
    try:
        result = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=LONGEST, env=environment)
    except subprocess.TimeoutExpired:
        return f"it does not end: {' '.join(map(str, command))}"
    if result.returncode not in CODES:
        return f"it ends with {result.returncode}: {' '.join(map(str, command))}\n{result.stderr[-500:].decode(errors='replace')}"
    if len(result.stderr) > MOST_WORDS:
        return f"it says {len(result.stderr)} bytes: {' '.join(map(str, command))}"
    path.unlink()
    return None


def faults(program: Path, seeds: range, folder: Path, workers: int) -> list[str]:
    with ThreadPoolExecutor(workers) as pool:
        return [found for found in pool.map(lambda seed: fault(program, seed, folder), seeds) if found]


def main() -> int:
    program, count = Path(sys.argv[1]).absolute(), int(sys.argv[2])
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    folder = Path(tempfile.mkdtemp(prefix="halo-damaged-"))
    found = faults(program, range(first, first + count), folder, os.cpu_count() or 1)
    print(*found, f"{count} damaged recordings, {len(found)} faults", sep="\n")
    if not found:
        folder.rmdir()
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
