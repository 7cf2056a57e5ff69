#!/usr/bin/env python3
"""Compares the fields that `halo-raw decode` lists with those of tshark, packet by packet: parameters of commands and
events, advertising data, signalling, pairing, discovery, values, and the protocols of BR/EDR.

    field_check.py FILE...        prints every difference, and how many values of each kind were the same
"""

import argparse
import collections
import json
import subprocess
import sys

from built import built
from tshark_check import number_of

PARAMETERS, SIGNALS, PAIRING, ATT = ("hci", "parameters"), ("signaling", "fields"), ("smp", "fields"), ("att", "fields")
SDP, RFCOMM, AVDTP, AVCTP = (("sdp", "fields"), ("rfcomm", "fields"), ("avdtp", "fields"), ("avctp", "fields"))

# tshark's field: where ours are, and their names. Both list their values in the order of the packet.
KINDS = {
    "bthci_cmd.connection_handle": (PARAMETERS, {"connection handle"}),
    "bthci_cmd.reason": (PARAMETERS, {"reason"}),
    "bthci_cmd.le_scan_interval": (PARAMETERS, {"interval", "scan interval"}),
    "bthci_cmd.le_con_interval_min": (PARAMETERS, {"connection interval min"}),
    "bthci_cmd.le_con_interval_max": (PARAMETERS, {"connection interval max"}),
    "bthci_cmd.le_con_latency": (PARAMETERS, {"latency"}),
    "bthci_cmd.le_supv_timeout": (PARAMETERS, {"supervision timeout"}),
    "bthci_evt.connection_handle": (PARAMETERS, {"connection handle"}),
    "bthci_evt.reason": (PARAMETERS, {"reason"}),
    "bthci_evt.rssi": (PARAMETERS, {"RSSI"}),
    "bthci_evt.bd_addr": (PARAMETERS, {"address", "peer address"}),
    "bthci_evt.le_con_interval": (PARAMETERS, {"connection interval"}),
    "bthci_evt.le_con_latency": (PARAMETERS, {"latency"}),
    "bthci_evt.le_supv_timeout": (PARAMETERS, {"supervision timeout"}),
    "bthci_evt.max_slots": (PARAMETERS, {"max slots"}),
    "btcommon.eir_ad.entry.length": (PARAMETERS, {"AD length"}),
    "btcommon.eir_ad.entry.type": (PARAMETERS, {"type"}),
    "btl2cap.cmd_code": (SIGNALS, {"code"}),
    "btl2cap.cmd_ident": (SIGNALS, {"identifier"}),
    "btl2cap.le_psm": (SIGNALS, {"SPSM"}),
    "btl2cap.scid": (SIGNALS, {"source CID"}),
    "btl2cap.dcid": (SIGNALS, {"destination CID"}),
    "btl2cap.result": (SIGNALS, {"result"}),
    "btl2cap.min_interval": (SIGNALS, {"interval min"}),
    "btl2cap.max_interval": (SIGNALS, {"interval max"}),
    "btl2cap.slave_latency": (SIGNALS, {"latency"}),
    "btl2cap.timeout_multiplier": (SIGNALS, {"timeout"}),
    "btl2cap.option_mtu": (SIGNALS, {"MTU"}),
    "btl2cap.info_type": (SIGNALS, {"type"}),
    "btsmp.io_capability": (PAIRING, {"IO capability"}),
    "btsmp.authreq": (PAIRING, {"authentication"}),
    "btsmp.max_enc_key_size": (PAIRING, {"max key size"}),
    "btsmp.initiator_key_distribution": (PAIRING, {"initiator keys"}),
    "btsmp.responder_key_distribution": (PAIRING, {"responder keys"}),
    "btsmp.reason": (PAIRING, {"reason"}),
    "btatt.starting_handle": (ATT, {"first handle"}),
    "btatt.ending_handle": (ATT, {"last handle"}),
    "btatt.group_end_handle": (ATT, {"last handle of the group", "last handle"}),
    "btatt.characteristic_properties": (ATT, {"properties"}),
    "btatt.battery_level": (ATT, {"content"}),
    "btatt.appearance": (ATT, {"content"}),
    "btatt.characteristic_configuration_client": (ATT, {"content"}),
    "btatt.heart_rate_measurement.value.8": (ATT, {"heart rate"}),
    "btatt.pnp_id.vendor_id": (ATT, {"vendor"}),
    "btatt.pnp_id.product_id": (ATT, {"product"}),
    "btsdp.pdu": (SDP, {"PDU"}),
    "btsdp.tid": (SDP, {"transaction"}),
    "btsdp.error_code": (SDP, {"error"}),
    "btsdp.maximum_attribute_byte_count": (SDP, {"maximum bytes"}),
    "btsdp.attribute_list_byte_count": (SDP, {"attribute bytes"}),
    "btrfcomm.channel": (RFCOMM, {"channel"}),
    "btrfcomm.credits": (RFCOMM, {"credits"}),
    "btrfcomm.max_frame_size": (RFCOMM, {"maximum frame size"}),
    "btrfcomm.fcs": (RFCOMM, {"frame check sequence"}),
    "btavdtp.transaction": (AVDTP, {"label"}),
    "btavdtp.error_code": (AVDTP, {"error"}),
    "btavdtp.service_category": (AVDTP, {"service category"}),
    "btavdtp.media_codec_audio_type": (AVDTP, {"codec"}),
    "btavctp.transaction": (AVCTP, {"label"}),
    "btavrcp.opcode": (AVCTP, {"opcode"}),
    "btavrcp.pdu_id": (AVCTP, {"PDU"}),
    "btavrcp.notification.event_id": (AVCTP, {"event"}),
}
# Fields that are not in a list of fields.
OTHERS = {
    "bthci_evt.command_in_frame": lambda record: [record.get("hci", {}).get("answers", {}).get("frame")],
    "btatt.request_in_frame": lambda record: [record.get("gatt", {}).get("request", {}).get("frame")],
    "btl2cap.psm": lambda record: [record.get("l2cap", {}).get("psm")] + [
        field["number"] for field in flat(at(record, SIGNALS)) if field["name"] == "PSM"],
    "btsmp.opcode": lambda record: [record.get("smp", {}).get("code")],
    "btl2cap.cid": lambda record: [record.get("l2cap", {}).get("cid")],
    "_ws.col.Source": lambda record: peer(record, "received"),
    "_ws.col.Destination": lambda record: peer(record, "sent"),
    "btcommon.eir_ad.entry.device_name": lambda record: [
        field["text"].strip('"') for group, field in pairs(at(record, PARAMETERS))
        if group in (8, 9) and field["name"] == "value"],
}


def peer(record, direction):
    """The peer's address and name as tshark writes them, if the packet comes from it or goes to it."""
    hci = record.get("hci", {})
    if hci.get("type") != "acl" or record["direction"] != direction or "peer" not in hci:
        return []
    return [f"{hci['peer'].lower()} ({hci.get('peer_name', '')})"]


def at(record, path):
    for key in path:
        record = record.get(key, {})
    return record or []


def flat(fields):
    for field in fields:
        yield field
        yield from flat(field.get("fields", []))


def pairs(fields):
    """Each field, after the number of the field before."""
    before = None
    for field in flat(fields):
        yield before, field
        before = field.get("number")


def ours(name, record):
    if name in OTHERS:
        return [value for value in OTHERS[name](record) if value not in (None, "")]
    path, names = KINDS[name]
    return [
        field.get("number", field.get("text", "").lower()) for field in flat(at(record, path)) if field["name"] in names]


def parsed(name, text):
    if not text:
        return []
    if name == "btcommon.eir_ad.entry.device_name":
        return [text]
    if name.startswith("_ws.col"):
        # Others are "host", "controller" and "remote ()".
        return [text] if text.count(":") == 5 else []
    values = text.split(",")
    return [value if ":" in value else number_of(value) for value in values]


def run_tshark(path):
    names = [*KINDS, *OTHERS]
    command = ["tshark", "-n", "-r", str(path), "-T", "fields", "-E", "separator=/t", "-E", "occurrence=a",
               "-E", "aggregator=,"]
    for name in names:
        command += ["-e", name]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if run.returncode != 0 and "cut short" not in run.stderr:
        sys.exit(f"tshark cannot read {path}: {run.stderr.strip()}")
    for line in run.stdout.splitlines():
        yield {name: parsed(name, text) for name, text in zip(names, line.split("\t"), strict=True)}


def halo_raw(path):
    run = subprocess.run(
        [built(), "decode", str(path), "--format", "jsonl"], capture_output=True, text=True, timeout=300)
    return [json.loads(line) for line in run.stdout.splitlines()]


def is_same(name, mine, theirs, record, directions):
    if name.startswith("_ws.col"):
        # tshark gives each direction a peer; a name that it learns later is in our earlier lines, too.
        return not mine or mine == theirs or theirs[0].endswith("()") and theirs[0][:17] == mine[0][:17]
    if name == "btcommon.eir_ad.entry.length":
        # Zeros after the structures are padding; tshark does not count them.
        return [value for value in mine if value] == [value for value in theirs if value]
    if name == "btrfcomm.channel" and theirs == [0]:
        # The multiplexer has no channel.
        return not mine
    if name == "bthci_evt.command_in_frame":
        return mine == theirs[:1]
    if name == "btatt.request_in_frame":
        # tshark finds the first request of a handle again, although it was answered; and, where both sides ask at once, the
        # last request, although it is of the side that answers.
        is_of_answerer = directions[theirs[0]] == record["direction"]
        return mine == theirs[:1] or bool(mine) and (
            mine[0] > theirs[0] or is_of_answerer and directions[mine[0]] != record["direction"])
    if name in ("btatt.group_end_handle", "btatt.battery_level", "btatt.appearance"):
        # Of a list, tshark has only some.
        return all(value in mine for value in theirs)
    if name.startswith("bthci_evt.rssi"):
        return [value & 0xFF for value in mine if isinstance(value, int)] == [value & 0xFF for value in theirs]
    return mine == theirs


def compare(path):
    """Counts of the values that are the same by kind, and what is not."""
    same, differences = collections.Counter(), []
    records = halo_raw(path)
    rows = list(run_tshark(path))
    assert len(records) == len(rows), f"{len(records)} packets, tshark {len(rows)}"
    directions = {record["frame"]: record["direction"] for record in records}
    for record, row in zip(records, rows, strict=True):
        for name, theirs in row.items():
            if not theirs:
                continue
            mine = ours(name, record)
            if is_same(name, mine, theirs, record, directions):
                same[name] += len(theirs) if mine else 0
            else:
                differences.append(f"packet {record['frame']}: {name}: halo-raw {mine}, tshark {theirs}")
    return same, differences


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("files", nargs="+", metavar="FILE")
    failed = False
    for path in parser.parse_args().files:
        same, differences = compare(path)
        for difference in differences:
            print(f"{path}: {difference}")
        print(f"{path}: " + ", ".join(f"{count} {name}" for name, count in sorted(same.items())))
        failed = failed or bool(differences)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
