"""decode --values: the values of a capture as a table, as people make it of btsnoop files with tshark or scripts.

They list number, opcode, handle and value (ashishmathew0297/Bluetooth-Snoop-Log-Tracker, TeamRocketIst/
ctf-usb-keyboard-parser #3), with time and direction (egold555/Govee-Reverse-Engineering #24, izivkov/
CasioGShockSmartSync notes/parse_btsnoop.py), and look for the answer of each command (Olen/solar-monitor #7,
Freeyourgadget/Gadgetbridge #1021).
"""

import csv
import io
import json
from datetime import UTC, datetime

import decode_check
import pandas
import pytest
from program import NO_FILE, ROOT, USAGE
from test_decode import CAPTURES, STREAM, capture_name

INSPECT = ROOT / "captures" / "virtual-inspect.btsnoop"
BATTERY = ROOT / "captures" / "virtual-battery.btsnoop"
# Where the value begins in a PDU, of those that have one and a handle; and of those without a handle.
WITH_HANDLE = {0x12: 3, 0x52: 3, 0x1B: 3, 0x1D: 3, 0x16: 5}
WITHOUT_HANDLE = {0x0B, 0x0D}
OPCODES = {
    "Write Request": 0x12, "Write Command": 0x52, "Prepare Write Request": 0x16, "Handle Value Notification": 0x1B,
    "Handle Value Indication": 0x1D, "Read Response": 0x0B, "Read Blob Response": 0x0D, "Read By Type Response": 0x09,
}
DECLARATIONS = {0x2802, 0x2803}


def rows(halo, path, *options):
    out = halo.run("decode", path, "--values", "--format", "csv", *options).succeeded().out
    return list(csv.DictReader(io.StringIO(out)))


def number(text):
    return int(text, 0) if text else None


def tshark_values(path):
    """Number, opcode, handle and value of each, as tshark has them."""
    names = ["frame.number", "btatt.opcode", "btatt.handle", "btatt.value", "btatt.uuid16", "btatt.starting_handle"]
    options = ["-T", "fields", "-E", "separator=/t", "-E", "occurrence=a"]
    for name in names:
        options += ["-e", name]
    fields = [line.split("\t") for line in decode_check.run_tshark(path, *options).splitlines()]
    # btatt.value is only there for values whose meaning tshark does not know; the PDU has them all.
    pdus = json.loads(decode_check.run_tshark(path, "-T", "jsonraw", "--no-duplicate-keys", "-j", "btatt"))
    by_type = None
    for (frame, opcode, handles, value, uuid, start), packet in zip(fields, pdus, strict=True):
        raw = packet["_source"]["layers"].get("btatt_raw")
        if not raw:
            continue
        pdu = bytes.fromhex(raw[0] if isinstance(raw[0], str) else raw[0][0])
        code, handle = number(opcode), number(handles.split(",")[0])
        if code == 0x08:
            by_type = number(uuid) if start else None
        if code in WITH_HANDLE or code in WITHOUT_HANDLE:
            payload = pdu[WITH_HANDLE.get(code, 1):].hex()
            assert value in ("", payload)
            yield int(frame), code, handle, payload
        elif code == 0x09 and by_type not in DECLARATIONS:
            size = pdu[1]
            for place in range(2, len(pdu), size):
                entry = pdu[place:place + size]
                yield int(frame), code, int.from_bytes(entry[:2], "little"), entry[2:].hex()


@pytest.mark.parametrize("path", CAPTURES, ids=capture_name)
def test_tshark_has_the_same_values(halo, path):
    ours = [
        (int(row["frame"]), OPCODES[row["operation"]], number(row["handle"]), row["value"]) for row in rows(halo, path)]
    assert ours == list(tshark_values(path))


@pytest.mark.parametrize("path", CAPTURES[:4], ids=capture_name)
def test_offsets_and_requests_are_those_of_tshark(halo, path):
    """tshark says which request a response answers."""
    options = ["-Y", "btatt.request_in_frame", "-T", "fields", "-e", "frame.number", "-e", "btatt.request_in_frame"]
    requests = dict(line.split("\t")[:2] for line in decode_check.run_tshark(path, *options).splitlines())
    for row in rows(halo, path):
        if row["operation"].endswith("Response"):
            assert row["answers"] == requests[row["frame"]]


@pytest.mark.verdict
def test_every_program_reads_the_table(halo, tmp_path):
    out = halo.run("decode", STREAM, "--values", "--format", "csv").succeeded().out
    records = halo.run("decode", STREAM, "--values", "--format", "jsonl").succeeded().records()
    packets = {one["frame"]: one for one in halo.run("decode", STREAM, "--format", "jsonl").succeeded().records()}
    table = pandas.read_csv(io.StringIO(out), dtype={"value": str, "uuid": str})
    assert list(table.columns) == list(records[0]) and len(table) == len(records) > 100
    first = min(one["time"] for one in packets.values())
    for record, row in zip(records, csv.DictReader(io.StringIO(out)), strict=True):
        packet = packets[record["frame"]]
        assert row["value"] == record["value"] and row["decoded"] == (record["decoded"] or "")
        assert record["direction"] == packet["direction"] and record["operation"] == packet["att"]["name"]
        assert record["link"] == packet["hci"]["link"] and record["peer"] == packet["hci"]["peer"]
        time = datetime.fromisoformat(record["time"])
        assert time.tzinfo == UTC and time.timestamp() == pytest.approx(packet["time"], abs=1e-6)
        assert record["t"] == pytest.approx(packet["time"] - first, abs=2e-6)
    # What people then do: the time course of a characteristic.
    ppg = table[table["decoded"].fillna("").str.startswith("raw stream, PPG")]
    assert len(ppg) > 30 and set(ppg["name"]) == {"ring command notify"} and set(ppg["value"].str.len()) == {32}


def test_long_values_are_in_parts(halo):
    parts = rows(halo, INSPECT, "--handle", "0x0022")
    assert [row["operation"] for row in parts] == ["Read Response", "Read Blob Response"]
    first, second = (bytes.fromhex(row["value"]) for row in parts)
    assert [int(row["offset"]) for row in parts] == [0, len(first)]
    assert (first + second).startswith(b"part 00.. part 01..")
    assert parts[0]["text"] == first.decode() and parts[1]["text"] == second.decode()


def test_a_ring_answers_by_its_command(halo):
    write, value = rows(halo, BATTERY, "--handle", "16,0x0012")
    assert (write["direction"], value["direction"]) == ("sent", "received")
    assert value["answers"] == write["frame"] and write["answers"] == ""
    assert value["decoded"] == "battery, from the ring: percent 87 %, charging no"
    # The write itself need not be shown.
    assert rows(halo, BATTERY, "--filter", "opcode=0x1b") == [value]
    for row in rows(halo, STREAM, "--uuid", "6E400003-B5A3-F393-E0A9-E50E24DCCA9E"):
        if row["operation"] == "Handle Value Notification":
            command = next(one for one in rows(halo, STREAM) if one["frame"] == row["answers"])
            assert command["value"][:2] == row["value"][:2]
        if row["decoded"].startswith("raw stream"):
            break


def test_attributes_are_chosen(halo):
    everything = rows(halo, INSPECT)
    assert rows(halo, INSPECT, "--uuid", "2a19") == [row for row in everything if row["uuid"] == "2A19"] != []
    both = rows(halo, INSPECT, "--uuid", "2A19,2A00", "--handle", "0x0034", "--handle", "9")
    assert both == [
        row for row in everything if row["uuid"] in ("2A19", "2A00") or row["handle"] in ("52", "9")]
    assert rows(halo, INSPECT, "--layer", "ring") == []
    assert rows(halo, INSPECT, "--filter", "packet=1..140") == [
        row for row in everything if int(row["frame"]) <= 140]


def test_as_text_it_is_a_table(halo):
    lines = halo.run("decode", BATTERY, "--values", "--format", "text").succeeded().out.splitlines()
    assert lines[0].split() == ["frame", "t", "action", "handle", "value", "answers"]
    assert "      0x0020 of 0x0040 30:35:38:41:BE:EF R02_BEEF: Firmware Revision String (2A26)" in lines
    values = [line for line in lines[1:] if " of " not in line[:20]]
    assert values[1].split() == ["68", "0.714", "<-", "read", "0x0020", '"RT02R_3.11.00_250611"', "66"]
    assert len(values) == len(rows(halo, BATTERY)) and max(map(len, values)) <= 80


def test_options_that_do_not_go_together(halo, tmp_path):
    for option in ("--summary", "--samples", "-v"):
        halo.run("decode", BATTERY, "--values", option).failed(USAGE, saying="--values")
    halo.run("decode", BATTERY, "--values", "--html", tmp_path / "x.html").failed(USAGE, saying="--html")
    halo.run("decode", BATTERY, "--uuid", "2A19").failed(USAGE, saying="--values")
    halo.run("decode", BATTERY, "--values", "--handle", "0").failed(USAGE, saying="handle")
    missing = halo.run("decode", tmp_path / "none", "--values").failed(NO_FILE)
    assert missing.out == ""
