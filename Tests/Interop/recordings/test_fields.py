"""Fields by fields: what halo-raw lists in a packet is what tshark lists, in the project's captures and in packets of
kinds that these do not have."""

import json
import struct

import decode_check
import field_check
import pytest
from program import ROOT
from test_decode import CAPTURES, acl, capture_name, capture_of


@pytest.mark.parametrize("path", CAPTURES, ids=capture_name)
def test_tshark_lists_the_same(path):
    same, differences = field_check.compare(path)
    assert not differences
    assert same["bthci_evt.command_in_frame"] + same["btl2cap.cid"] > 0


def test_the_captures_have_most_kinds():
    names = ["virtual-stream", "virtual-parameters", "bumble-inspect", "bumble-subscribe", "virtual-scan"]
    kinds = set()
    for name in names:
        kinds |= set(field_check.compare(ROOT / "captures" / f"{name}.btsnoop")[0])
    for wanted in (
            "bthci_evt.connection_handle", "bthci_evt.bd_addr", "bthci_evt.rssi", "bthci_evt.le_con_interval",
            "btcommon.eir_ad.entry.type", "btcommon.eir_ad.entry.device_name", "bthci_evt.command_in_frame",
            "btatt.starting_handle", "btatt.group_end_handle", "btatt.characteristic_properties",
            "btatt.characteristic_configuration_client", "btatt.request_in_frame", "_ws.col.Source"):
        assert wanted in kinds, wanted


PEER = bytes.fromhex("efbe41383530")


def frame(is_sent, channel, payload, link=0x40):
    data = struct.pack("<HH", len(payload), channel) + payload
    return is_sent, struct.pack("<BHH", 2, link | (0 if is_sent else 0x2000), len(data)) + data


def opened(psm, ours, theirs, identifier):
    """A channel of BR/EDR: the request, and the response that opens it."""
    return [
        frame(True, 1, struct.pack("<BBHHH", 2, identifier, 4, psm, ours)),
        frame(False, 1, struct.pack("<BBHHHHH", 3, identifier, 8, theirs, ours, 0, 0)),
        frame(True, 1, struct.pack("<BBHHHBBH", 4, identifier + 1, 8, theirs, 0, 1, 2, 1013)),
        frame(False, 1, struct.pack("<BBHHHH", 5, identifier + 1, 6, ours, 0, 0))]


def classic():
    """A BR/EDR link with SDP, RFCOMM, AVDTP and AVRCP."""
    eir = bytes.fromhex("0409523033020a04")
    yield False, b"\x04\x2f\xff\x01" + PEER + bytes.fromhex("01000c025a1234c4") + eir + bytes(240 - len(eir))
    yield False, bytes.fromhex("04030b004000") + PEER + b"\x01\x00"
    yield False, bytes.fromhex("041b03400005")
    yield False, bytes.fromhex("041406004000021203")
    yield frame(True, 1, bytes.fromhex("0a0102000200"))
    yield frame(False, 1, bytes.fromhex("0b01080002000000b8020000"))
    yield from opened(0x0001, 0x41, 0x51, 2)
    yield frame(True, 0x51, bytes.fromhex("060001000f35031901000400 35050a0000ffff00".replace(" ", "")))
    yield frame(False, 0x41, bytes.fromhex("0700010017001435123510090000 0a000100000900013503 19111e00".replace(" ", "")))
    yield frame(True, 0x51, bytes.fromhex("020002000835031911010010 00".replace(" ", "")))
    yield frame(False, 0x41, bytes.fromhex("010002000200 03".replace(" ", "")))
    yield from opened(0x0003, 0x42, 0x52, 6)
    yield frame(True, 0x52, bytes.fromhex("033f011c"))
    yield frame(False, 0x42, bytes.fromhex("037301d7"))
    yield frame(True, 0x52, bytes.fromhex("03ef15831102f00700f003000770"))
    yield frame(True, 0x52, bytes.fromhex("0b3f0159"))
    yield frame(False, 0x42, bytes.fromhex("09ff0721415421 5c".replace(" ", "")))
    yield from opened(0x0019, 0x43, 0x53, 10)
    yield frame(True, 0x53, bytes.fromhex("1001"))
    yield frame(False, 0x43, bytes.fromhex("120104080a00"))
    yield frame(True, 0x53, bytes.fromhex("2003040801000706000021150235"))
    yield frame(False, 0x43, bytes.fromhex("23030729"))
    yield from opened(0x0017, 0x44, 0x54, 14)
    yield frame(True, 0x54, bytes.fromhex("10110e0348000019583100 00050d00000000".replace(" ", "")))
    yield frame(False, 0x44, bytes.fromhex("12110e0f4800001958310000020d40"))
    yield frame(True, 0x54, bytes.fromhex("20110e00487c4400"))


def test_brs_protocols_are_those_of_tshark(tmp_path):
    path = tmp_path / "classic.btsnoop"
    capture_of(path, list(classic()))
    same, differences = field_check.compare(path)
    assert not differences
    for wanted in (
            "bthci_evt.max_slots", "btcommon.eir_ad.entry.device_name", "btl2cap.psm", "btl2cap.scid", "btsdp.pdu",
            "btl2cap.option_mtu", "btsdp.pdu", "btsdp.tid", "btsdp.error_code",
            "btsdp.attribute_list_byte_count", "btrfcomm.channel", "btrfcomm.credits", "btrfcomm.max_frame_size",
            "btavdtp.transaction", "btavdtp.error_code", "btavdtp.service_category", "btavctp.transaction",
            "btavrcp.pdu_id", "btavrcp.notification.event_id"):
        assert same[wanted] > 0, wanted


def test_the_data_of_rfcomm_are_those_of_tshark(halo, tmp_path):
    path = tmp_path / "classic.btsnoop"
    capture_of(path, list(classic()))
    options = ["-Y", "btrfcomm.len > 0 && btrfcomm.dlci > 0", "-T", "fields", "-e", "frame.number", "-e", "data.data"]
    theirs = [line.split("\t") for line in decode_check.run_tshark(path, *options).splitlines()]
    records = halo.run("decode", path, "--layer", "rfcomm", "--format", "jsonl").succeeded().records()
    ours = [[str(one["frame"]), one["rfcomm"]["data"]] for one in records if "data" in one["rfcomm"]]
    assert ours == theirs == [[theirs[0][0], "415421"]]
    lines = halo.run("decode", path, "--layer", "rfcomm").succeeded().out
    assert 'RFCOMM UIH, channel 1, credits 33: 415421 "AT!"  [0x0040' in lines


def lowenergy():
    """An LE link: pairing, a parameter update, a credit-based channel, and values of the SIG."""
    yield False, bytes.fromhex("043e1301004000000 0".replace(" ", "")) + PEER + bytes.fromhex("18000000480000")
    yield frame(True, 6, bytes.fromhex("0103000d100107"))
    yield frame(False, 6, bytes.fromhex("02040005100202"))
    yield frame(False, 6, bytes.fromhex("0505"))
    yield frame(False, 5, bytes.fromhex("1201080006000c000000c800"))
    yield frame(True, 5, bytes.fromhex("1301020000 00".replace(" ", "")))
    yield frame(True, 5, bytes.fromhex("14020a0080004000f700f7000500"))
    yield frame(False, 5, bytes.fromhex("15020a005000f700f70005000000"))
    yield frame(True, 0x50, bytes.fromhex("0400a1a2a3a4"))
    for number, (handle, uuid, value) in enumerate([
            (3, 0x2A37, "0048"), (6, 0x2A19, "63"), (9, 0x2A01, "c000"), (12, 0x2A50, "01590001001001")]):
        yield acl(struct.pack("<BHHH", 8, handle - 1, handle, 0x2803), True)
        yield acl(struct.pack("<BBHBHH", 9, 7, handle - 1, 0x12, handle, uuid), False)
        if number % 2 == 0:
            yield acl(struct.pack("<BH", 0x1B, handle) + bytes.fromhex(value), False)
        else:
            yield acl(struct.pack("<BH", 0x0A, handle), True)
            yield acl(b"\x0b" + bytes.fromhex(value), False)


def test_pairing_signalling_and_values_are_those_of_tshark(tmp_path):
    path = tmp_path / "le.btsnoop"
    capture_of(path, list(lowenergy()))
    same, differences = field_check.compare(path)
    assert not differences
    for wanted in (
            "btsmp.authreq", "btsmp.io_capability", "btsmp.initiator_key_distribution", "btsmp.reason",
            "btl2cap.min_interval", "btl2cap.timeout_multiplier", "btl2cap.le_psm", "btatt.battery_level",
            "btatt.heart_rate_measurement.value.8", "btatt.appearance", "btatt.pnp_id.vendor_id"):
        assert same[wanted] > 0, wanted


def test_every_line_says_where(halo, tmp_path):
    path = tmp_path / "le.btsnoop"
    capture_of(path, list(lowenergy()))
    lines = halo.run("decode", path).succeeded().out.splitlines()
    assert all(line.endswith("  [0x0040 30:35:38:41:BE:EF]") for line in lines)
    records = halo.run("decode", path, "--format", "jsonl", "--filter", "peer=30:35:38:41:BE:EF").succeeded().records()
    assert len(records) == len(lines)
    assert halo.run("decode", path, "--filter", "peer=R02").succeeded().out == ""


def test_a_summary_is_json_lines(halo):
    out = halo.run("decode", ROOT / "captures" / "virtual-stream.btsnoop", "--summary", "--format", "jsonl")
    records = out.succeeded().records()
    kinds = [record["kind"] for record in records]
    count = len(halo.run("decode", ROOT / "captures" / "virtual-stream.btsnoop").out.splitlines())
    assert kinds[0] == "capture" and records[0]["packets"] == count
    link = next(record for record in records if record["kind"] == "connection")
    assert link["peer"] == "30:35:38:41:BE:EF" and link["peer_name"] == "R02_BEEF" and link["mtu"] == 247
    assert {"device", "attribute", "procedure", "values", "ring"} <= set(kinds)
    values = next(record for record in records if record["kind"] == "values")
    assert values["handle"] == 0x12 and values["rate"] > 1


def test_samples_are_numbers(halo):
    """Acceleration in the lines of packets is that of `--samples`."""
    path = ROOT / "captures" / "virtual-stream.btsnoop"
    records = halo.run("decode", path, "--format", "jsonl", "--layer", "ring").succeeded().records()
    packets = [record["ring"]["fields"] for record in records if record["ring"].get("form") == "acceleration"]
    printed = [json.loads(line) for line in path.with_suffix(".jsonl").read_text().splitlines()]
    samples = [record for record in printed if record["kind"] == "accel"]
    assert samples
    for packet, sample in zip(packets, samples, strict=False):
        assert all(packet[key] == sample[key] for key in ("x_g", "y_g", "z_g", "raw_x", "raw_y", "raw_z"))
