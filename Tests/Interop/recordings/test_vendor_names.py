"""The names of manufacturers' commands are those that tshark has for the same numbers."""

import re
import struct
import subprocess

import pytest

# The controller's manufacturer, as Read Local Version Information reports it.
MANUFACTURERS = {"broadcom": 0x000F, "intel": 0x0002}


def tshark_names(vendor):
    table = subprocess.run(["tshark", "-G", "values"], capture_output=True, text=True, check=True).stdout
    found = re.findall(rf"^V\tbthci_vendor\.{vendor}\.opcode\t0x([0-9a-f]+)\t(.*)$", table, re.MULTILINE)
    return {int(number, 16): name for number, name in found}


def stems(name):
    """The beginnings of the words that tell something: Tracking and Track are the same."""
    return {word[:4] for word in re.findall(r"[a-z]{2,}", name.lower())} - {"le", "set", "get", "writ", "read"}


@pytest.mark.verdict
@pytest.mark.parametrize("vendor", MANUFACTURERS)
def test_names_are_those_of_tshark(halo, tmp_path, vendor):
    names = tshark_names(vendor)
    assert len(names) > 20
    path = tmp_path / "commands.btsnoop"
    version = struct.pack("<BBBBHBBHBHH", 4, 0x0E, 12, 1, 0x1001, 0, 9, 0, 9, MANUFACTURERS[vendor], 0)
    packets = [(b"\x01\x01\x10\x00", 2), (version, 3)]
    packets += [(b"\x01" + struct.pack("<H", opcode) + b"\x00", 2) for opcode in names]
    with path.open("wb") as file:
        file.write(b"btsnoop\0" + struct.pack(">II", 1, 1002))
        for packet, flags in packets:
            file.write(struct.pack(">IIIIq", len(packet), len(packet), flags, 0, 0x00E03AB44A676000) + packet)
    records = halo.run("decode", path, "--format", "jsonl").succeeded().records()
    ours = {record["hci"]["opcode"]: record["hci"].get("vendor", "") for record in records[2:]}
    common = 0
    for opcode, name in ours.items():
        if not name or not stems(name):
            continue
        shared = {other: len(stems(name) & stems(theirs)) for other, theirs in names.items()}
        # Some names have no word in common; then there is no other number with the name.
        assert shared[opcode] or max(shared.values()) < 2, (hex(opcode), name, names[opcode])
        common += shared[opcode] > 0
    assert common > 15
