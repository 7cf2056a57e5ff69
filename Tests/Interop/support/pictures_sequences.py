"""Sequences from the recordings: the flow control of HCI, the kinds of PDUs of ATT, a subscription after a lost link."""

import subprocess
import tempfile
from pathlib import Path

from built import ROOT, built
from pictures_packets import decoded
from sequence import Sequence

CAPTURES = ROOT / "captures"
# Where the numbers of the flow control stand.
COUNTS = {620: ("commands", "allowed"), 705: ("free", "buffers")}


def parameter(record: dict, name: str) -> int | None:
    """A number among the parameters of an event."""
    return next((one["number"] for one in record["hci"].get("parameters", []) if one["name"] == name), None)


def flow_control() -> Sequence:
    """What the host may send after each packet of captures/virtual-battery.btsnoop; some of the packets are drawn."""
    parts = {2: "answered at once", 16: "buffers for data", 39: "answered later", 45: "data and a command"}
    shown = {*parts, 3, 17, 40, 41, 46, 47, 48}
    picture = Sequence(
        "Commands, events and data between host and controller, and what the host may send after each of them",
        "Flow control", "captures/virtual-battery.btsnoop; seconds on the left", {"host": 180, "controller": 490})
    for x, texts in COUNTS.items():
        for line, text in enumerate(texts):
            picture.text(x, 54 + 14 * line, text, "small", "strong", anchor="middle")
    records = decoded(CAPTURES / "virtual-battery.btsnoop")
    commands, buffers = 1, None
    for record in records:
        hci, is_sent, number = record["hci"], record["direction"] == "sent", record["frame"]
        if is_sent and hci["type"] == "command":
            commands -= 1
        elif is_sent and hci["type"] == "acl":
            buffers -= 1
        elif hci.get("name") == "Number of Completed Packets":
            buffers += parameter(record, "packets completed")
        if (allowed := parameter(record, "commands allowed")) is not None:
            commands = allowed
        if (size := parameter(record, "LE ACL packets")) is not None:
            buffers = size
        if number not in shown:
            continue
        if number in parts:
            picture.part(parts[number])
        name = hci.get("name") or f"ACL data: {record['att']['name']}"
        if hci.get("command"):
            name += f": {hci['command']}"
        picture.arrow(
            *(("host", "controller") if is_sent else ("controller", "host")), name, "blue" if hci["type"] == "acl" else "",
            time=record["time"] - records[0]["time"])
        for x, value in zip(COUNTS, (commands, buffers)):
            picture.state(x, "" if value is None else value)
    return picture


# The kinds of PDUs of ATT (Vol 3, Part F, 3.3): a recording, and the packets of one exchange in it.
KINDS = [
    ("request, response", "virtual-battery", (63, 65), "the client may send its next request now"),
    ("", "virtual-battery", (69, 71), "an Error Response is a response, too"),
    ("command", "exercises/silent-since-the-update", (151,), "nothing answers it"),
    ("notification", "virtual-battery", (75,), "nothing answers it"),
    ("indication, confirmation", "bumble-subscribe", (128, 129), "the server may send its next indication now"),
]


def pdu_kinds() -> Sequence:
    picture = Sequence(
        "The kinds of PDUs of ATT as arrows between client and server: request, response, command, notification, indication",
        "The kinds of PDUs", "with their opcodes", {"client": 230, "server": 620})
    for title, name, numbers, note in KINDS:
        if title:
            picture.part(title)
        records = {one["frame"]: one for one in decoded(CAPTURES / f"{name}.btsnoop")}
        # The host of the recordings is the client.
        for number in numbers:
            att, is_sent = records[number]["att"], records[number]["direction"] == "sent"
            picture.arrow(
                *(("client", "server") if is_sent else ("server", "client")), f"{att['name']} ({att['opcode']:02x})",
                "blue" if is_sent else "green")
        picture.note(note)
    return picture


def subscription() -> Sequence:
    """The stream of chapter 5, whose first link is lost."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "again.btsnoop"
        subprocess.run(
            [built(), "stream", "--ppg", "--count", "60", "--adapter", "virtual:fast,drop-after=30", "--record", file],
            env={"HOME": folder, "XDG_STATE_HOME": "/dev/null"}, capture_output=True, timeout=30, check=True)
        records = decoded(file)
    picture = Sequence(
        "A subscription that is lost with its link: after the reconnection, the client writes the descriptor again",
        "Subscribe again", "the stream of this chapter; seconds on the left", {"client": 190, "ring": 600})
    on, link, notifications = "", 0, []

    def flush() -> None:
        if notifications:
            count = len(notifications)
            picture.arrow("ring", "client", f"Handle Value Notification, {count} times", "green", time=notifications[0])
            notifications.clear()

    for record in records:
        time, hci, att = record["time"] - records[0]["time"], record["hci"], record.get("att", {})
        descriptor = record.get("gatt", {}).get("attribute") == "Client Characteristic Configuration of ring command notify"
        if att.get("opcode") == 0x1B:
            notifications.append(time)
        elif "Connection Complete" in hci.get("name", ""):
            link, on = link + 1, "0000"
            picture.part("the first link" if link == 1 else "the second link")
            picture.note("connected" if link == 1 else "connected again: the value of the descriptor is 0 again")
        elif att.get("opcode") == 0x12 and descriptor:
            on = att["value"]
            picture.arrow("client", "ring", f"{att['name']}, 2902: {on[:2]} {on[2:]}", "blue", time=time)
        elif att.get("opcode") == 0x13 and descriptor:
            picture.arrow("ring", "client", att["name"], "blue", time=time)
        elif hci.get("name") == "Disconnection Complete":
            flush()
            on = ""
            picture.note(f"the link ends: {reason(hci)}")
        else:
            continue
        if on and not notifications:
            picture.state(690, f"{on[:2]} {on[2:]}")
    flush()
    picture.text(690, 60, "2902", "small", "strong", anchor="middle")
    return picture


def reason(hci: dict) -> str:
    return next(one["text"] for one in hci["parameters"] if one["name"] == "reason")
