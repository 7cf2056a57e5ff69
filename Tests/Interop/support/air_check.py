#!/usr/bin/env python3
"""Compares what `halo-raw decode` sees in a capture of the air with what tshark sees, packet by packet.

    air_check.py FILE...        prints every difference for which there is no reason
"""

import argparse
import json
import subprocess
import sys
from collections import Counter

from built import built
from tshark_check import number_of

# tshark calls Ubertooth's private link type by no name of its own.
USER_TYPE = ("-o", 'uat:user_dlts:"User 0 (DLT=147)","btle","0","","0",""')
FIELDS = {
    "access_address": "btle.access_address", "type": "btle.advertising_header.pdu_type", "llid": "btle.data_header.llid",
    "sn": "btle.data_header.sequence_number", "nesn": "btle.data_header.next_expected_sequence_number",
    "md": "btle.data_header.more_data", "opcode": "btle.control_opcode", "AdvA": "btle.advertising_address",
    "ScanA": "btle.scanning_address", "InitA": "btle.initiator_address",
    "TargetA": "btle.target_address", "bad_crc": "btle.crc.incorrect", "att": "btatt.opcode", "handle": "btatt.handle",
    "cid": "btl2cap.cid", "smp": "btsmp.opcode", "signaling": "btl2cap.cmd_code", "nordic": "nordic_ble.direction",
    "role": "btle_rf.pdu_type", "retransmit": "btle.retransmit", "info": "_ws.col.Info",
    "rssi": "nordic_ble.rssi", "rf_rssi": "btle_rf.signal_dbm", "channel": "nordic_ble.channel",
    "crc_ok": "nordic_ble.crcok", "packet_id": "nordic_ble.packet_id",
}
# ATT PDUs with one handle in them; with others, tshark shows the handle of the request, or several.
WITH_HANDLE = {0x01, 0x0A, 0x0C, 0x12, 0x52, 0xD2, 0x16, 0x17, 0x1B, 0x1D}
NUMBERS = {"access_address", "type", "llid", "sn", "nesn", "md", "opcode", "att", "handle", "cid", "smp", "signaling",
           "nordic", "role", "rssi", "rf_rssi", "channel", "crc_ok", "packet_id"}
ADDRESSES = ("AdvA", "ScanA", "InitA", "TargetA")


def tshark(path) -> list[dict]:
    command = ["tshark", "-n", "-r", str(path), *USER_TYPE, "-T", "fields", "-E", "separator=/t", "-E", "occurrence=f"]
    for name in FIELDS.values():
        command += ["-e", name]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if run.returncode != 0 and "cut short" not in run.stderr:
        sys.exit(f"tshark cannot read {path}: {run.stderr.strip()}")
    rows = []
    for line in run.stdout.splitlines():
        row = dict(zip(FIELDS, line.split("\t"), strict=True))
        row = {key: number_of(text) if text and key in NUMBERS else text or None for key, text in row.items()}
        rows.append(row)
    return rows


def halo_raw(path) -> list[dict]:
    run = subprocess.run(
        [built(), "decode", str(path), "--format", "jsonl"], capture_output=True, text=True, timeout=300)
    if run.returncode not in (0, 65):
        sys.exit(f"halo-raw cannot read {path}: {run.stderr.strip()}")
    return [json.loads(line) for line in run.stdout.splitlines()]


def fields(layer) -> dict:
    """The fields of a layer by name, also of groups; the first of each name."""
    found = {}
    for field in layer.get("fields", []):
        found.setdefault(field["name"], field.get("text", field.get("number")))
        for name, value in fields(field).items():
            found.setdefault(name, value)
    return found


def compared(record, row) -> dict:
    """What is compared: (ours, tshark's) by name."""
    ll = record.get("ll", {})
    mine = fields(ll)
    is_wrong = row["bad_crc"] is not None or row["crc_ok"] == 0
    if is_wrong or ll.get("crc") == "wrong":
        # What was received wrongly is not taken apart.
        return {"wrong CRC": (ll.get("crc") == "wrong", is_wrong)} if is_wrong != (ll.get("crc") == "wrong") else {}
    pairs = {
        key: (ll.get(key), row[key])
        for key in ("access_address", "type", "llid", "sn", "nesn", "opcode")}
    pairs["md"] = (ll.get("md"), None if row["md"] is None else bool(row["md"]))
    for key in ADDRESSES:
        theirs = row[key]
        pairs[key] = (mine.get(key), theirs.upper() if theirs else None)
    att = record.get("att", {})
    pairs["ATT"] = (att.get("opcode"), row["att"])
    if row["att"] in WITH_HANDLE:
        pairs["handle"] = (att.get("handle"), row["handle"])
    pairs["channel ID"] = (record.get("l2cap", {}).get("cid"), row["cid"])
    pairs["SMP"] = (record.get("smp", {}).get("code"), row["smp"])
    if row["nordic"] is not None or row["role"] in (2, 3):
        is_sent = row["role"] == 2 if row["nordic"] is None else bool(row["nordic"])
        pairs["direction"] = (record["direction"], "sent" if is_sent else "received")
        # Without a direction, tshark finds no retransmissions.
        pairs["retransmission"] = (ll.get("retransmission", False), row["retransmit"] is not None)
    strength = row["rssi"] if row["rssi"] is not None else row["rf_rssi"]
    if strength is not None and "rssi" in ll:
        pairs["RSSI"] = (ll["rssi"], strength)
    if row["channel"] is not None:
        pairs["channel"] = (ll.get("channel"), row["channel"])
    return {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}


def reason(what, record, row, is_after_wrong) -> str | None:
    """Why the two may differ in this; None if they may not.

    - is_after_wrong: whether the packet before from the same side had a wrong CRC
    """
    ll = record.get("ll", {})
    if what == "wrong CRC" and ll.get("kind") in ("data", "control") and row["crc_ok"] is None and row["role"] is None:
        return "tshark computes no CRC of a connection"
    if ll.get("name") in ("AUX_SYNC_IND", "AUX_CHAIN_IND") and row["llid"] is not None:
        return "tshark follows periodic advertising only where the sniffer names it"
    if what == "retransmission" and is_after_wrong:
        return "tshark takes sequence numbers from packets with a wrong CRC"
    if row["packet_id"] == 0 and what in ("channel", "retransmission"):
        return "no sniffer has filled in the header, and tshark takes its zeros for a channel and a connection event"
    if ll.get("encrypted"):
        return "it is encrypted, and tshark takes it apart nevertheless"
    if ll.get("retransmission") and what in ("ATT", "handle", "channel ID", "SMP"):
        return "a frame that is sent again is not taken apart again"
    return None


def differences(path):
    """(number, what, ours, tshark's, our record, tshark's row) of each difference without a reason."""
    ours, theirs = halo_raw(path), tshark(path)
    if len(ours) != len(theirs):
        yield min(len(ours), len(theirs)) + 1, "packets", len(ours), len(theirs), {}, {}
    wrong = {}
    for record, row in zip(ours, theirs, strict=False):
        ll = record.get("ll", {})
        side = (ll.get("access_address"), record["direction"])
        for what, (mine, other) in compared(record, row).items():
            if reason(what, record, row, wrong.get(side, False)) is None:
                yield record["frame"], what, mine, other, record, row
        wrong[side] = ll.get("crc") == "wrong"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+")
    for path in parser.parse_args().files:
        found = list(differences(path))
        print(f"{path}: {len(tshark(path))} packets, {len(found)} differences")
        print("  ", dict(Counter(what for _, what, *_ in found)))
        for number, what, mine, other, record, row in found[:400]:
            print(f"   {number}: {what}: halo-raw {mine}, tshark {other} ({row.get('info')})")


if __name__ == "__main__":
    main()
