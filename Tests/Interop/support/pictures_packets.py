"""Pictures of packets, from the recordings: a sample as nested boxes, a session as a sequence, attributes as a tree."""

import json
import re
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import btsnoop
from built import ROOT, built
from sequence import Sequence
from svg import Picture

BULK = ROOT / "captures/rt/history-spo2.btsnoop"
STREAM = ROOT / "captures/virtual-stream.btsnoop"
SET_UP = "commands of the set-up"
COLOURS = {"hci": "plain", "l2cap": "yellow", "att": "blue", "ring": "green"}


@cache
def decoded(path: Path, *options: str) -> list[dict]:
    run = subprocess.run(
        [built(), "decode", str(path), "--format", "jsonl", *options], capture_output=True, text=True, timeout=30, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def packet(path: Path, number: int) -> bytes:
    return btsnoop.read(path)[number - 1].packet


def fields(path: Path, number: int) -> list[tuple[str, str, int, int, str]]:
    """(layer, name, depth, bytes, what it says) of each field that has bytes, as `decode -v` lists them."""
    run = subprocess.run(
        [built(), "decode", str(path), "--filter", f"packet={number}", "-v"], capture_output=True, text=True, timeout=30,
        check=True)
    found, layer = [], ""
    for line in run.stdout.splitlines():
        if match := re.match(r"  (\w+)  ", line):
            layer = match[1]
        elif match := re.match(r"    ( *)(.+?)  +((?:[0-9a-f]{2} ?)+(?:\.\.)?)  +(.+?)  +\S", line):
            shown = match[3].split()
            found.append((layer, match[2], len(match[1]) // 2, len(shown) - (shown[-1] == ".."), match[4]))
    return found


def sample() -> Picture:
    """The packet of chapter 7: one PPG sample, and what each of its 28 bytes belongs to."""
    number = 77
    content = packet(STREAM, number)
    picture = Picture(760, "The 28 bytes of a sample: HCI contains L2CAP, L2CAP contains ATT, ATT contains the ring's frame")
    picture.heading("One sample, 28 bytes", f"packet {number} of captures/virtual-stream.btsnoop")
    cell, left, top = 24.6, 34, 96
    ends = len(content)

    def x(index: int) -> float:
        return left + cell * index

    # Each layer is a box from its first byte to the end of the packet.
    for layer, start, title, inset in (
            ("hci", 0, "HCI: ACL data", 0), ("l2cap", 5, "L2CAP: basic frame", 1), ("att", 9, "ATT: notification", 2),
            ("ring", 12, "the ring's frame", 3)):
        y = top - 52 + 15 * inset
        picture.box(x(start), y, x(ends) - x(start) + 4 + 5 * (3 - inset), 122 - 21 * inset, COLOURS[layer])
        picture.text(x(start) + 4, y + 12, title, "small", f"{COLOURS[layer]}-text")
    for index, byte in enumerate(content):
        picture.text(x(index) + cell / 2, top + 30, f"{byte:02x}", "mono", anchor="middle")

    # What each field says, from the left to the right.
    rows, offset = [], 0
    for layer, name, depth, count, says in fields(STREAM, number):
        if layer not in COLOURS or layer == "att" and name == "value":
            continue
        if layer == "ring" and name == "form":
            rows.append((layer, offset, 1, name, says))
            offset += 1
            continue
        rows.append((layer, offset, count, name, says))
        offset += count
        if layer == "ring" and depth and name == "valid":
            rows.append((layer, offset, ends - 1 - offset, "not used", "0"))
            offset = ends - 1
    assert offset == ends, f"the fields have {offset} bytes"
    for row, (layer, start, count, name, says) in enumerate(rows):
        y = 200 + 21 * row
        picture.box(34, y - 11, 12, 14, COLOURS[layer], round=2)
        picture.text(56, y, start if count == 1 else f"{start} to {start + count - 1}", "small", "dim")
        picture.text(120, y, content[start:start + count].hex(" "), "small", "mono")
        picture.text(230, y, name, "small")
        picture.text(420, y, says, "small")
    return picture


def session() -> Picture:
    """The whole session of captures/virtual-stream.btsnoop, with what repeats drawn once."""
    picture = Sequence(
        "A session from the first command to the last: what the host, its controller and the ring send", "A whole session",
        "captures/virtual-stream.btsnoop; seconds on the left", {"host": 185, "controller": 435, "ring": 690}, width=110)
    part = None
    for one in session_steps(decoded(STREAM)):
        if one.part != part:
            part = one.part
            picture.part(part)
        ends = ("host", "controller" if one.colour == "plain" else "ring")
        text = one.text if one.count == 1 else f"{one.text}, {one.count} times"
        if one.text == SET_UP:
            text = f"Reset, and {one.count - 1} more commands"
        picture.arrow(*(ends if one.is_sent else reversed(ends)), text, one.colour, time=one.time)
    return picture


@dataclass
class Step:
    """An arrow: its part of the session, the colour of its layer, seconds, and how often it was repeated."""
    part: str
    colour: str
    time: float
    is_sent: bool
    text: str
    count: int = 1


def session_steps(records: list[dict]) -> list[Step]:
    """The steps of a session: answers to commands of the set-up and credits are left out, repeated packets are one."""
    start, steps, part = records[0]["time"], [], "set up"
    for record in records:
        if (found := step(record, part)) is None:
            continue
        part, colour, text = found
        one = Step(part, colour, record["time"] - start, record["direction"] == "sent", text)
        same = [
            other for other in steps
            if (other.part, other.is_sent, other.text) == (part, one.is_sent, text)
            and (other.part in ("set up", "find", "discover and subscribe") or text.startswith("Handle Value"))]
        if same:
            same[0].count += 1
        else:
            steps.append(one)
    return steps


def step(record: dict, part: str) -> tuple[str, str, str] | None:
    """The part of the session that a packet is of, the colour of its layer and its text; nil for what is left out."""
    hci = record["hci"]
    if "ring" in record and record["direction"] == "sent" or part == "stream" and "att" in record:
        part = "stream"
    elif "att" in record:
        part = "discover and subscribe"
    if "att" in record:
        name = record["att"]["name"]
        if record["att"]["opcode"] == 0x1B:
            return part, "green", name
        if "ring" in record:
            return part, "green", f"{name}: raw stream, control {record['ring']['fields']['control']}"
        return part, "blue", name + attribute(record)
    name = hci.get("name", "")
    if name in ("Command Complete", "Command Status", "Number of Completed Packets") or hci["type"] == "acl":
        return None
    if "Scan" in name or "Advertising Report" in name:
        return "find", "plain", name
    if "Create Connection" in name or "Connection Complete" in name:
        return "connect", "plain", name
    if name.startswith("Disconnect"):
        return "end", "plain", name
    if part == "set up":
        return (part, "plain", SET_UP) if hci["type"] == "command" else None
    return part, "plain", name


def attribute(record: dict) -> str:
    name = record.get("gatt", {}).get("attribute")
    return f": {name}" if name else ""


def table() -> Picture:
    """The ring's services of captures/virtual-inspect.jsonl: attributes by handle, and the tree that they are."""
    rows = [json.loads(line) for line in (ROOT / "captures/virtual-inspect.jsonl").read_text().splitlines()]
    rows = [one for one in rows if one["handle"] <= 19]
    picture = Picture(760, "The attribute table of the ring on the left, the tree of services that it stands for on the right")
    picture.text(20, 26, "What is on the wire: a table", "strong")
    picture.text(430, 26, "What it means: a tree", "strong")
    for x, text in ((20, "handle"), (75, "type"), (200, "value")):
        picture.text(x, 50, text, "small", "dim")
    y, bottoms = 58, {}
    for one in rows:
        for handle, kind, value, name, depth, colour in attributes(one):
            picture.box(16, y, 394, 20, colour)
            picture.text(20, y + 14, f"0x{handle:04x}", "small", "mono")
            picture.text(75, y + 14, kind, "small")
            picture.text(200, y + 14, value, "small", "mono")
            if name:
                at = 430 + 26 * depth
                bottoms[depth] = y + 20
                picture.labelled(at, y, 320 - 26 * depth, 20, name, colour, "small")
                if depth:
                    picture.path(f"M{at - 14} {bottoms[depth - 1]}L{at - 14} {y + 10}L{at} {y + 10}")
                    bottoms[depth - 1] = y + 10
            y += 24
    picture.text(20, y + 14, "A characteristic takes two rows: its declaration, and its value right behind it.", "small", "dim")
    return picture


def attributes(one: dict):
    """(handle, type, value, name in the tree, depth, colour) of the attributes of a row of `inspect`."""
    uuid = one["uuid"] if len(one["uuid"]) == 4 else f"{one['uuid'][:8]}-..."
    name = one["name"] or {"6E40FFF0": "ring commands", "6E400002": "ring command write", "6E400003": "ring command notify"}[
        one["uuid"][:8]]
    if one["kind"] == "service":
        yield one["handle"], "2800 service", uuid, f"service {name}", 0, "blue"
    elif one["kind"] == "characteristic":
        properties = ", ".join(one["properties"])
        yield (one["handle"], "2803 characteristic", f"0x{one['value_handle']:04x} {uuid}", f"{name} ({properties})", 1, "green")
        value = one["value"] or ""
        is_text = one["text"] and "\\" not in one["text"]
        yield one["value_handle"], uuid, one["text"] if is_text else value, None, 1, "plain"
    else:
        yield one["handle"], f"{uuid} descriptor", one["value"] or "", name, 2, "yellow"


def bulk() -> Picture:
    """The oxygen saturations of captures/rt/history-spo2.btsnoop: one bulk frame, which two notifications carry."""
    numbers = (89, 90)
    records = {one["frame"]: one for one in decoded(BULK)}
    values = [bytes.fromhex(records[number]["att"]["value"]) for number in numbers]
    frame = b"".join(values)
    head, count = frame[:6], int.from_bytes(frame[2:4], "little")
    assert len(frame) == len(head) + count
    picture = Picture(760, "A bulk frame with its header of six bytes, and the two notifications that carry it")
    picture.heading("A bulk frame", f"packets {numbers[0]} and {numbers[1]} of captures/rt/history-spo2.btsnoop")
    left, cell, right = 30, 40, 730
    head_width = cell * len(head)
    scale = (right - left - head_width) / count
    ends = [left + head_width + scale * (len(values[0]) - len(head)), right]
    for at, size, text in ((0, 1, "mark"), (1, 1, "kind"), (2, 2, "length"), (4, 2, "CRC")):
        picture.labelled(left + cell * at, 70, cell * size, 30, head[at:at + size].hex(" "), "green", "mono")
        picture.text(left + cell * (at + size / 2), 62, text, "small", "dim", anchor="middle")
    picture.labelled(left + head_width, 70, right - left - head_width, 30, f"{count} bytes of payload (0x{count:04x})", "green")
    picture.span(left, left + head_width, 122, f"header, {len(head)} bytes")
    start = left
    for number, value, end in zip(numbers, values, ends):
        att = records[number]["att"]
        y = 178
        for x in (start, end):
            picture.line(x, 102, x, y - 2, dashed=True)
        picture.text(start + 4, y - 8, f"packet {number}", "small", "dim", "over")
        picture.labelled(start, y, 80, 30, f"{att['opcode']:02x} {att['handle']:02x} 00", "blue", "mono")
        picture.labelled(start + 80, y, end - start - 80, 30, f"value, {len(value)} bytes", "green")
        start = end
    picture.text(
        20, 240, f"The second value has no header. The receiver counts: {len(values[0])} - {len(head)} + "
        f"{len(values[1])} = {count}, so the frame is complete.", "dim")
    return picture
