#!/usr/bin/env python3
"""Compares what `halo-raw decode` sees in a capture with what tshark sees, packet by packet.

    decode_check.py FILE...        prints every difference, and why it is there, if that is known
"""

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass

from built import built
from tshark_check import number_of

FIELDS = {
    "command": "bthci_cmd.opcode", "event": "bthci_evt.code", "subevent": "bthci_evt.le_meta_subevent",
    "answered": "bthci_evt.opcode", "status": "bthci_evt.status", "cid": "btl2cap.cid",
    "length": "btl2cap.length", "opcode": "btatt.opcode", "handle": "btatt.handle",
    "error": "btatt.error_code", "request": "btatt.req_opcode_in_error",
}
# ATT PDUs with one handle in them; with others, tshark shows the handle of the request, or several.
WITH_HANDLE = {0x01, 0x0A, 0x0C, 0x12, 0x52, 0xD2, 0x16, 0x17, 0x1B, 0x1D}
# Bytes between the handle, or the opcode, and the value.
BEFORE_VALUE = {0x16: 2, 0x17: 2, 0x06: 6}
COMMAND_COMPLETE = 0x0E
CONTROLLER_DEBUG = 0x0EDC


@dataclass(frozen=True)
class Seen:
    """What one of the two sees in a packet; None where it sees nothing of the kind."""
    command: int | None = None
    event: int | None = None
    subevent: int | None = None
    answered: int | None = None
    status: int | None = None
    cid: int | None = None
    length: int | None = None
    opcode: int | None = None
    handle: int | None = None
    error: int | None = None
    request: int | None = None
    pdu: str | None = None  # the whole ATT PDU, in hexadecimal digits


@dataclass(frozen=True)
class Difference:
    frame: int
    what: str
    ours: object
    tshark: object
    reason: str | None  # None: nobody knows

    def __str__(self):
        line = f"packet {self.frame}: {self.what}: halo-raw {self.ours}, tshark {self.tshark}"
        return f"{line} ({self.reason})" if self.reason else line


def run_tshark(path, *options):
    run = subprocess.run(
        ["tshark", "-n", "-r", str(path), *options], capture_output=True, text=True, timeout=300)
    if run.returncode != 0 and "cut short" not in run.stderr:
        sys.exit(f"tshark cannot read {path}: {run.stderr.strip()}")
    return run.stdout


def tshark(path) -> list[Seen]:
    options = ["-T", "fields", "-E", "separator=/t", "-E", "occurrence=f"]
    for name in FIELDS.values():
        options += ["-e", name]
    rows = []
    for line in run_tshark(path, *options).splitlines():
        numbers = [number_of(text) if text else None for text in line.split("\t")]
        rows.append(dict(zip(FIELDS, numbers, strict=True)))
    raw = json.loads(run_tshark(path, "-T", "jsonraw", "--no-duplicate-keys", "-j", "btatt"))
    assert len(raw) == len(rows)
    for row, packet in zip(rows, raw, strict=True):
        pdu = packet["_source"]["layers"].get("btatt_raw")
        row["pdu"] = (pdu[0] if isinstance(pdu[0], str) else pdu[0][0]) if pdu else None
        if row["opcode"] not in WITH_HANDLE:
            row["handle"] = None
    return [Seen(**row) for row in rows]


def att_pdu(att) -> str:
    """The PDU as halo-raw tells it, put together again."""
    digits = f"{att['opcode']:02x}"
    if "parameters" in att:
        if "value" in att:
            # The value stands where it should in the parameters.
            start = 2 * ((2 if "handle" in att else 0) + BEFORE_VALUE.get(att["opcode"], 0))
            assert att["parameters"][start:].startswith(att["value"]), att
        return digits + att["parameters"]
    if "handle" in att:
        digits += att["handle"].to_bytes(2, "little").hex()
    return digits + att.get("value", "")


def halo_raw(path) -> tuple[list[Seen], list[dict]]:
    run = subprocess.run(
        [built(), "decode", str(path), "--format", "jsonl"], capture_output=True, text=True, timeout=300)
    if run.returncode not in (0, 65):
        sys.exit(f"halo-raw cannot read {path}: {run.stderr.strip()}")
    records = [json.loads(line) for line in run.stdout.splitlines()]
    seen = []
    for number, record in enumerate(records, 1):
        assert record["frame"] == number
        hci, l2cap, att = (record.get(layer, {}) for layer in ("hci", "l2cap", "att"))
        is_command = hci.get("type") == "command"
        if "error" in att:
            # An Error Response has no value; its bytes are the three fields.
            assert att["parameters"] == (
                bytes([att["request"]]) + att["handle"].to_bytes(2, "little") + bytes([att["error"]])).hex()
        seen.append(Seen(
            command=hci.get("opcode") if is_command else None, event=hci.get("event"),
            subevent=hci.get("subevent"), answered=None if is_command else hci.get("opcode"),
            status=hci.get("status"), cid=l2cap.get("cid"), length=l2cap.get("length"),
            opcode=att.get("opcode"), handle=att.get("handle"), error=att.get("error"),
            request=att.get("request"), pdu=att_pdu(att) if att else None))
    return seen, records


def reason(what, ours: Seen, theirs: Seen, record) -> str | None:
    """Why the two may differ in this; None if they may not."""
    if what == "status" and ours.event == COMMAND_COMPLETE and theirs.status is None:
        return "tshark 4.0 does not know what this command answers"
    if what == "status" and ours.subevent is not None and theirs.status is None:
        return "tshark 4.0 does not know this LE event"
    if record.get("hci", {}).get("link") == CONTROLLER_DEBUG and ours.cid is None:
        return "tshark takes the debug output of a controller for a link"
    return None


def differences(path) -> list[Difference]:
    ours, records = halo_raw(path)
    theirs = tshark(path)
    found = []
    if len(ours) != len(theirs):
        found.append(Difference(min(len(ours), len(theirs)) + 1, "packets", len(ours), len(theirs), None))
    for number, (mine, other, record) in enumerate(zip(ours, theirs, records, strict=False), 1):
        for what in Seen.__dataclass_fields__:
            pair = getattr(mine, what), getattr(other, what)
            if pair[0] != pair[1]:
                found.append(Difference(number, what, *pair, reason(what, mine, other, record)))
    return found


def counts(path) -> dict[str, int]:
    """How many of each kind halo-raw sees."""
    seen, _ = halo_raw(path)
    return {
        "packets": len(seen),
        **{name: sum(getattr(one, field) is not None for one in seen) for name, field in [
            ("commands", "command"), ("events", "event"), ("L2CAP frames", "cid"), ("ATT PDUs", "opcode")]}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("files", nargs="+", metavar="FILE")
    unexplained = 0
    for path in parser.parse_args().files:
        found = differences(path)
        for difference in found:
            print(f"{path}: {difference}")
        unexplained += sum(one.reason is None for one in found)
        told = ", ".join(f"{count} {name}" for name, count in counts(path).items())
        print(f"{path}: {told}; {len(found)} differences, {sum(one.reason is None for one in found)} unexplained")
    sys.exit(1 if unexplained else 0)


if __name__ == "__main__":
    main()
