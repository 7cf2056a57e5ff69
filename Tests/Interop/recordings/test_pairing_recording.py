"""captures/bumble-pairing.btsnoop: a pairing whose secrets follow from what was sent, as the specification says.

What people look for in such a capture, and do not find: hbldh/bleak 504 and Mic92/hue-ble-ctl 1 (a value that needs
pairing), virtualabs/btlejack 75 and 84 (from when on all is encrypted), mikeryan/crackle 53 and nccgroup/Sniffle 73
(Secure Connections send no LTK).
"""

import asyncio
import json

import btsnoop
import bumble_pairing as made
import pytest
import tshark_check
from bumble import crypto
from program import ROOT, USAGE

pytestmark = pytest.mark.verdict

PAIRING = ROOT / "captures/bumble-pairing.btsnoop"


@pytest.fixture(scope="module")
def sent():
    """(direction, PDU of SMP, packet) of each packet of the recording; the PDU is empty where there is none."""
    packets = [(direction, packet) for _, _, direction, packet in tshark_check.read_records(PAIRING)]
    return [
        (direction, packet[9:] if packet[0] == 2 and packet[7:9] == b"\x06\x00" else b"", packet)
        for direction, packet in packets]


def of_code(sent, code):
    """The parameters of the PDUs with this code: of the central, then of the peripheral."""
    return [pdu[1:] for direction in (0, 1) for one, pdu, _ in sent if one == direction and pdu[:1] == bytes([code])]


@pytest.mark.long
def test_the_generator_says_the_same(sent):
    """Reports come as often as the machine has time for; all else is the same."""
    content, number = asyncio.run(asyncio.wait_for(made.record(), 60))
    assert number == "255676"

    def facts(data):
        return [one.packet for one in btsnoop.parsed(data) if one.packet[0] in (btsnoop.COMMAND, btsnoop.ACL)]

    assert facts(content) == facts(PAIRING.read_bytes())


def test_tshark_finds_nothing_malformed():
    packets, _ = tshark_check.tshark(PAIRING)
    assert len(packets) > 100 and not [one for one in packets if one.malformed]


def test_the_order_of_the_phases(sent):
    """Vol 3, Part H, 2.1 and C.2.2.2."""
    codes = [pdu[0] for _, pdu, _ in sent if pdu]
    assert codes == [0x01, 0x02, 0x0C, 0x0C, 0x03, 0x04, 0x04, 0x0D, 0x0D, 0x08, 0x09, 0x08, 0x09]
    encrypted = [index for index, (_, _, packet) in enumerate(sent) if packet[:2] == b"\x04\x08"]
    keys = [index for index, (_, pdu, _) in enumerate(sent) if pdu[:1] == b"\x08"]
    assert len(encrypted) == 2 and encrypted[0] < keys[0] and keys[-1] < encrypted[1]


def test_the_secrets_follow_from_what_was_sent(sent):
    """f4, g2, f5 and f6 of Vol 3, Part H, 2.2.6 to 2.2.9, with numbers in the order of the packets."""
    (of_central, of_peripheral), (confirm,) = of_code(sent, 0x0C), of_code(sent, 0x03)
    (first, second), checks = of_code(sent, 0x04), of_code(sent, 0x0D)
    assert crypto.f4(of_peripheral[:32], of_central[:32], second, bytes(1)) == confirm
    assert crypto.g2(of_central[:32], of_peripheral[:32], first, second) % 1_000_000 == 255676

    key = crypto.EccKey.from_private_key_bytes(made.private_key("central"))
    assert of_central[:32] == key.x[::-1]
    secret = key.dh(of_peripheral[31::-1], of_peripheral[:31:-1])[::-1]
    # Addresses with their type, 1 for random (2.2.7).
    addresses = [bytes.fromhex(one.replace(":", ""))[::-1] + b"\x01" for one in (made.CENTRAL, made.PERIPHERAL)]
    mac_key, ltk = crypto.f5(secret, first, second, *addresses)
    commands = [packet for _, _, packet in sent if packet[:3] == b"\x01\x19\x20"]
    assert [one[-16:] for one in commands] == [ltk, ltk]
    (request,), (response,) = of_code(sent, 0x01), of_code(sent, 0x02)
    assert checks == [
        crypto.f6(mac_key, first, second, bytes(16), request[:3], *addresses),
        crypto.f6(mac_key, second, first, bytes(16), response[:3], *addresses[::-1])]


def test_a_read_is_refused_before_and_answered_after(halo):
    lines = halo.run("decode", PAIRING, "--format", "jsonl").succeeded().out.splitlines()
    pdus = [one["att"] for one in map(json.loads, lines) if "att" in one]
    reads = [one for one in pdus if one["opcode"] in (0x0A, 0x0B) or one.get("request") == 0x0A]
    assert [one["opcode"] for one in reads] == [0x0A, 0x01, 0x0A, 0x0B, 0x0A, 0x0B]
    assert reads[1]["error"] == 0x05


def notes(halo, name, kind):
    """What the packets of a recording say about security, of this kind."""
    records = halo.run("decode", ROOT / f"captures/{name}.btsnoop", "--format", "jsonl").succeeded().records()
    return [note["text"] for record in records for note in record.get("security", []) if note["kind"] == kind]


@pytest.mark.parametrize("name, method, checks, faults", [
    ("bumble-pairing", "LE Secure Connections, numeric comparison, authenticated", 1, 0),
    ("pair-just-works", "LE Secure Connections, Just Works, not authenticated", 1, 0),
    ("pair-comparison", "LE Secure Connections, numeric comparison, authenticated", 1, 0),
    ("pair-passkey", "LE Secure Connections, passkey entry, authenticated", 40, 0),
    ("pair-legacy", "LE legacy pairing, Just Works, not authenticated", 2, 1)])
def test_each_method_is_explained(halo, name, method, checks, faults):
    (chosen,) = notes(halo, name, "method")
    assert chosen.startswith(method + ": ")
    assert len(notes(halo, name, "check")) == checks and len(notes(halo, name, "weakness")) == faults
    assert notes(halo, name, "fault") == notes(halo, name, "attack") == []
    protected = notes(halo, name, "protection")
    assert protected and all(f"({method})" in text for text in protected)


def test_the_users_number_is_that_of_the_recording(halo):
    assert notes(halo, "bumble-pairing", "progress") == ["both users have to see 255676"]


@pytest.mark.parametrize("key", ["12", "x" * 32, "00" * 17])
def test_a_key_that_is_none_is_refused(halo, key):
    halo.run("decode", PAIRING, "--ltk", key).failed(USAGE, saying="32 hexadecimal digits, the most significant first")
