"""HCI in captures of USB: usbmon of Linux and USBPcap of Windows, where a dongle or a computer's own adapter is one of
several devices.

People capture USB who have no other way on Windows (hbldh/bleak #653; in desowin/usbpcap #45 the adapter is one of ten
devices), who share a dongle with a virtual machine (QEMU's hw/usb/pcap.c, dorssel/usbipd-win #694), who listen to the bus
of a dongle (bluekitchen-gmbh.com, "USB Protocol Analyzer for Bluetooth Communication Logging"), and whose tool for
Bluetooth then does not read it (opendroneid/wireshark-dissector #24).
"""

import struct
import subprocess

import decode_check
import pytest
from program import BAD_DATA, ROOT
from test_decode import decode
from tshark_check import read_records
from usb_capture import (
    BULK, CONFIGURATION, CONTROL, DEVICE_DESCRIPTOR, IN, INTERRUPT, ISOCHRONOUS, KEYBOARD_DESCRIPTOR, LINUX,
    LINUX_MAPPED, USBPCAP, Device, USBCapture)

RECORDINGS = [ROOT / "captures" / f"{name}.btsnoop" for name in ("virtual-inspect", "bumble-stream", "virtual-scan")]
ADAPTER, KEYBOARD, MOUSE, DISK, MODEM = Device(1, 9), Device(1, 4), Device(2, 9), Device(1, 5), Device(3, 2)
FORMS = [
    pytest.param(kind, order, is_ng, id=f"{kind}-{'big' if order == '>' else 'little'}-{'pcapng' if is_ng else 'pcap'}")
    for kind in (LINUX, LINUX_MAPPED, USBPCAP) for order in "<>" for is_ng in (False, True)]


def others(capture):
    """What other devices do, some of it much like Bluetooth."""
    capture.transfer(KEYBOARD, INTERRUPT, 0x81, bytes.fromhex("0200040000000000"))
    capture.transfer(MOUSE, INTERRUPT, 0x81, bytes.fromhex("01020000"))
    # It looks like an Inquiry Complete event: a button, and a step.
    capture.transfer(MOUSE, INTERRUPT, 0x81, bytes.fromhex("010105"))
    capture.transfer(DISK, BULK, 0x02, b"USBC" + bytes(27))
    capture.transfer(DISK, BULK, 0x82, bytes(512))
    # A modem's class request is the same as that of a command, but for its content.
    capture.transfer(MODEM, CONTROL, 0, bytes.fromhex("0100000010000000") + bytes(8), bytes.fromhex("2100000000001000"))
    capture.transfer(MODEM, CONTROL, IN, b"", bytes.fromhex("a101000000004000"), 64, status=-32)


def usb_of(recording, kind=LINUX_MAPPED, order="<", is_ng=False, has_descriptors=True, **sizes):
    """The packets of a recording as a USB capture."""
    capture = USBCapture(kind, order, is_ng)
    capture.enumerate(KEYBOARD, KEYBOARD_DESCRIPTOR)
    if has_descriptors:
        capture.enumerate(ADAPTER, DEVICE_DESCRIPTOR, CONFIGURATION)
    for number, time, direction, packet in read_records(recording):
        capture.time = round(time * 1e6)
        if number % 7 == 1:
            others(capture)
        capture.hci(ADAPTER, packet, direction == 0, **sizes)
    return capture


def without_numbers(value):
    """Without the numbers of packets: a USB capture has more records."""
    if isinstance(value, dict):
        return {
            name: without_numbers(one) for name, one in value.items() if name not in ("frame", "start", "unanswered")}
    return [without_numbers(one) for one in value] if isinstance(value, list) else value


def packets(halo, path):
    return [one for one in decode(halo, path) if "hci" in one]


@pytest.mark.parametrize("kind, order, is_ng", FORMS)
@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.stem)
def test_the_packets_are_those_of_the_recording(halo, tmp_path, recording, kind, order, is_ng):
    path = tmp_path / "usb.pcap"
    usb_of(recording, kind, order, is_ng).write(path)
    assert without_numbers(packets(halo, path)) == without_numbers(packets(halo, recording))


@pytest.mark.parametrize("sizes", [
    {"event_size": 8, "data_size": 16}, {"event_size": 64, "data_size": 64}, {"event_size": 1, "data_size": 1},
    {"event_size": 512}], ids=str)
@pytest.mark.parametrize("has_descriptors", [True, False])
def test_packets_in_pieces_of_any_size(halo, tmp_path, sizes, has_descriptors):
    """Without descriptors the first command shows which device it is: they are rarely in a capture."""
    path = tmp_path / "usb.pcap"
    usb_of(RECORDINGS[0], has_descriptors=has_descriptors, **sizes).write(path)
    expected = without_numbers(packets(halo, RECORDINGS[0]))
    # The note of halo-raw is before the first command, and no likely event.
    assert without_numbers(packets(halo, path)) == expected[0 if has_descriptors else 1:]


def tshark_packets(path):
    """The number of each record that completes a packet, with what it is."""
    names = ["frame.number", "bthci_cmd.opcode", "bthci_evt.code", "bthci_acl.chandle", "btatt.opcode", "btatt.value"]
    options = ["-Y", "bthci_cmd || bthci_evt || bthci_acl", "-T", "fields", "-E", "occurrence=f"]
    for name in names:
        options += ["-e", name]
    for line in decode_check.run_tshark(path, *options).splitlines():
        number, command, event, link, att, value = line.split("\t")
        yield (
            int(number), int(command, 0) if command and not event else None, int(event, 0) if event else None,
            int(link, 0) if link else None, int(att, 0) if att else None)


@pytest.mark.parametrize("kind, order, is_ng", FORMS)
def test_tshark_sees_the_same(halo, tmp_path, kind, order, is_ng):
    path = tmp_path / "usb.pcap"
    usb_of(RECORDINGS[0], kind, order, is_ng).write(path)
    ours = []
    for one in packets(halo, path):
        hci = one["hci"]
        is_command, is_data = hci["type"] == "command", hci["type"] == "acl"
        ours.append((
            one["frame"], hci["opcode"] if is_command else None, hci.get("event"), hci["link"] if is_data else None,
            one.get("att", {}).get("opcode")))
    assert ours == list(tshark_packets(path))


@pytest.mark.parametrize("kind", [LINUX, LINUX_MAPPED, USBPCAP])
def test_other_devices_are_no_bluetooth(halo, tmp_path, kind):
    path = tmp_path / "usb.pcap"
    capture = USBCapture(kind)
    capture.enumerate(KEYBOARD, KEYBOARD_DESCRIPTOR)
    others(capture)
    capture.write(path)
    result = halo.run("decode", path).failed(BAD_DATA, saying=f"link type {kind}")
    assert "halo-raw record" in result.err and "btmon -w" in result.err
    assert len(result.out.splitlines()) == len(capture.records)
    # Beside an adapter, they are shown as what they are.
    usb_of(RECORDINGS[2], kind).write(path)
    notes = [one for one in decode(halo, path) if "hci" not in one]
    assert notes and all(one["note"].startswith(f"no Bluetooth HCI: link type {kind}") for one in notes)


def test_a_capture_that_begins_in_the_middle(halo, tmp_path):
    """No descriptor and no command: an event shows which device it is. Before it, nothing is known."""
    path = tmp_path / "usb.pcap"
    capture = USBCapture(USBPCAP)
    value = bytes.fromhex("02402007000300040 01b1200".replace(" ", ""))
    capture.hci(ADAPTER, value, False)
    others(capture)
    capture.hci(ADAPTER, bytes.fromhex("0413050140000100"), False)
    capture.hci(ADAPTER, value, False)
    capture.write(path)
    assert [one["hci"]["type"] for one in packets(halo, path)] == ["event", "acl"]


def test_two_adapters_are_kept_apart(halo, tmp_path):
    path = tmp_path / "usb.pcap"
    capture = USBCapture(LINUX)
    second = Device(2, 3)
    reset, answer = bytes.fromhex("01030c00"), bytes.fromhex("040e0401030c00")
    for device in (ADAPTER, second):
        capture.hci(device, reset, True)
    for device in (second, ADAPTER):
        capture.hci(device, answer, False, event_size=4)
    capture.write(path)
    first, other, *answers = packets(halo, path)
    assert [one.get("adapter") for one in (first, other, *answers)] == [None, 1, 1, None]
    assert [one["hci"]["answers"]["frame"] for one in answers] == [other["frame"], first["frame"]]


def test_transfers_that_fail_or_are_missing(halo, tmp_path):
    path = tmp_path / "usb.pcap"
    capture = USBCapture(LINUX_MAPPED)
    capture.enumerate(ADAPTER, DEVICE_DESCRIPTOR, CONFIGURATION)
    # An adapter that is pulled out, and voice, have no packets.
    capture.transfer(ADAPTER, INTERRUPT, 0x81, b"\x0e\x04", length=16, status=-108)
    capture.transfer(ADAPTER, INTERRUPT, 0x81, b"", length=16)
    capture.transfer(ADAPTER, ISOCHRONOUS, 0x83, bytes(24))
    # The rest of an event is missing, and a whole one follows.
    capture.transfer(ADAPTER, INTERRUPT, 0x81, bytes.fromhex("3e2b0201000001020304050607080900"), length=16)
    capture.hci(ADAPTER, bytes.fromhex("04ff1d") + bytes(29), False, event_size=64)
    capture.hci(ADAPTER, bytes.fromhex("040e0401030c00"), False)
    # The transfer has more than a packet.
    capture.hci(ADAPTER, bytes.fromhex("040e0401030c000e"), False)
    capture.write(path)
    lost, whole, long = packets(halo, path)
    assert lost["hci"]["event"] == 0xFF and lost["dropped"] == 1
    assert whole["hci"]["command"] == "Reset" and "problem" not in whole["hci"]
    assert "problem" in long["hci"]


def test_cut_records_are_shown_as_far_as_they_go(halo, tmp_path):
    path, cut = tmp_path / "usb.pcap", tmp_path / "cut.pcap"
    usb_of(RECORDINGS[0], event_size=64).write(path)
    subprocess.run(["editcap", "-F", "pcap", "-s", "84", str(path), str(cut)], check=True, capture_output=True)
    whole, cuts = packets(halo, path), packets(halo, cut)
    assert [one["frame"] for one in cuts] == [one["frame"] for one in whole]
    some = [one for one in cuts if "original_length" in one]
    assert some and all(one["original_length"] > 20 for one in some)
    assert not [one for one in cuts if "problem" in one["hci"]]


def test_firmware_of_an_adapter(halo, tmp_path):
    """Adapters of Intel take commands and send events on the bulk endpoints until they have their firmware."""
    path = tmp_path / "usb.pcap"
    capture = USBCapture(LINUX)
    capture.enumerate(ADAPTER, DEVICE_DESCRIPTOR, CONFIGURATION)
    capture.transfer(ADAPTER, BULK, 0x02, bytes.fromhex("09fc0401020304"))
    capture.transfer(ADAPTER, BULK, 0x82, bytes.fromhex("ff050600000000"), length=1028)
    capture.transfer(ADAPTER, BULK, 0x82, bytes.fromhex("40200700030004001b1200"), length=1028)
    capture.write(path)
    assert [one["hci"]["type"] for one in packets(halo, path)] == ["command", "event", "acl"]


def test_old_versions_of_usbpcap_have_the_command_apart(halo, tmp_path):
    path = tmp_path / "usb.pcap"
    capture = USBCapture(USBPCAP)
    capture.enumerate(ADAPTER, DEVICE_DESCRIPTOR, CONFIGURATION)
    setup = bytes.fromhex("2000000000000300")
    for stage, data in ((0, setup), (1, bytes.fromhex("030c00")), (2, b"")):
        header = struct.pack(
            "<HQIHBHHBBI", 28, 7, 0, 8, int(stage == 2), ADAPTER.bus, ADAPTER.address, 0, CONTROL, len(data))
        capture.records.append((capture.time, header + bytes([stage]) + data))
    capture.write(path)
    assert [one["hci"]["name"] for one in packets(halo, path)] == ["Reset"]


def test_a_record_without_its_header_is_damage(halo, tmp_path):
    for kind, length in ((LINUX, 47), (LINUX_MAPPED, 63), (USBPCAP, 26)):
        path = tmp_path / f"{kind}.pcap"
        capture = USBCapture(kind)
        capture.hci(ADAPTER, bytes.fromhex("01030c00"), True)
        capture.records.append((capture.time, b"\x1b" + bytes(length - 1)))
        capture.write(path)
        assert len(halo.run("decode", path).failed(BAD_DATA, saying="too short").out.splitlines()) == 1
