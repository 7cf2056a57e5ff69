"""Every command, event and subevent that tshark or Bumble names has a name, and the bits of Supported Commands are
those of Bumble.

Numbers without a name mislead: Wireshark showed LE commands since 5.2 as "Unknown" for years (wireshark/wireshark, the
table of packet-bthci_cmd.c ends at 0x205E in 4.0), and btmon those of 6.0 as numbers until bluez/bluez 1624.
"""

import re
import struct
import subprocess

import pytest
from bumble import hci

SENT, RECEIVED = 2, 3
# tshark also has numbers that no specification ever had: names of its own for groups, and reserved ones.
VENDOR = 0xFC00


@pytest.fixture(scope="module")
def tshark_values():
    table = subprocess.run(["tshark", "-G", "values"], capture_output=True, text=True, check=True).stdout

    def values(field):
        found = re.findall(rf"^V\t{re.escape(field)}\t(0x[0-9a-f]+|\d+)\t(.*)$", table, re.MULTILINE)
        return {int(number, 0): name for number, name in found
                if not re.search("unknown|reserved|no operation", name, re.I)}

    return values


def summaries(halo, path, packets):
    with path.open("wb") as file:
        file.write(b"btsnoop\0" + struct.pack(">II", 1, 1002))
        for packet, flags in packets:
            file.write(struct.pack(">IIIIq", len(packet), len(packet), flags, 0, 0x00E03AB44A676000) + packet)
    return [line.split("hci", 1)[1].strip() for line in halo.run("decode", path).succeeded().out.splitlines()]


def unnamed(halo, path, packets):
    """The numbers whose packet has no name but a number in its summary."""
    numbers = sorted(packets)
    lines = summaries(halo, path, [packets[number] for number in numbers])
    return {hex(number): line for number, line in zip(numbers, lines) if re.match(r"(command|event|LE event) 0x", line)}


def bumble_numbers(pattern):
    return {value for name, value in vars(hci).items() if re.fullmatch(pattern, name) and isinstance(value, int)}


@pytest.mark.verdict
def test_every_command_has_a_name(halo, tmp_path, tshark_values):
    theirs = {number for number in tshark_values("bthci_cmd.opcode") if number & 0x3FF and number < VENDOR}
    assert len(theirs) > 300
    theirs |= {number for number in bumble_numbers("HCI_.*_COMMAND") if number and number < VENDOR}
    packets = {number: (b"\x01" + struct.pack("<H", number) + b"\x00", SENT) for number in theirs}
    assert unnamed(halo, tmp_path / "commands.btsnoop", packets) == {}


@pytest.mark.verdict
def test_every_event_has_a_name(halo, tmp_path, tshark_values):
    theirs = set(tshark_values("bthci_evt.code"))
    assert len(theirs) > 60
    packets = {number: (bytes((4, number, 0)), RECEIVED) for number in theirs}
    assert unnamed(halo, tmp_path / "events.btsnoop", packets) == {}


@pytest.mark.verdict
def test_every_subevent_has_a_name(halo, tmp_path, tshark_values):
    theirs = set(tshark_values("bthci_evt.le_meta_subevent"))
    assert len(theirs) > 30
    theirs |= bumble_numbers("HCI_LE_.*_EVENT") - {hci.HCI_LE_META_EVENT}
    packets = {number: (bytes((4, 0x3E, 1, number)), RECEIVED) for number in theirs}
    assert unnamed(halo, tmp_path / "subevents.btsnoop", packets) == {}


def words(name):
    # What is the same in other words: the specification changed them, or one of the two abbreviates.
    same = {"slave": "peripheral", "master": "central", "device": "implementation"}
    found = {same.get(word, word) for word in re.findall(r"[a-z0-9]+", name.lower())}
    return found - {"command", "hci", "page", "0", "v1"}


@pytest.mark.verdict
def test_the_bits_of_supported_commands_are_those_of_bumble(halo, tmp_path):
    event = bytes((4, 0x0E, 68, 1, 2, 0x10, 0)) + b"\xff" * 64
    path = tmp_path / "supported.btsnoop"
    with path.open("wb") as file:
        file.write(b"btsnoop\0" + struct.pack(">II", 1, 1002))
        file.write(struct.pack(">IIIIq", len(event), len(event), RECEIVED, 0, 0x00E03AB44A676000) + event)
    text = halo.run("decode", "-v", path).succeeded().out
    ours = {(int(octet), int(bit)): name.strip()
            for octet, bit, name in re.findall(r"octet (\d+), bit (\d) +ff +(.*?)  +\S", text)}
    assert len(ours) == 512
    different = {}
    for opcode, mask in hci.HCI_SUPPORTED_COMMANDS_MASKS.items():
        bit = mask.bit_length() - 1
        theirs = hci.HCI_Command.command_name(opcode)
        if words(ours[bit // 8, bit % 8]) != words(theirs):
            different[bit // 8, bit % 8] = (ours[bit // 8, bit % 8], theirs)
    assert different == {}
