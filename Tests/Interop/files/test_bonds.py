"""The bonds of a user: listed, forgotten, and taken over from bluetoothd."""

import itertools
import json
import os
import re
import subprocess

import pytest
from program import NO_FILE, NO_PERMISSION, NOT_FOUND, OK, USAGE
from system_faults import kills, needs_strace
from test_files import OTHER, as_root, mode

# With Secure Connections, there is one key.
TOUCHPAD = """[General]
Name=ProtoArc T1 Plus
AddressType=static
SupportedTechnologies=LE;

[PeripheralLongTermKey]
Key=BEE4256F797B6991A531B1E52B55AEB1
Authenticated=2
EncSize=16
EDiv=0
Rand=0
"""
MOUSE = """[General]
Name=Designer Mouse
AddressType=static

[IdentityResolvingKey]
Key=D8F3A0A146FEB991BF2ECD9756C8BDFA

[LocalSignatureKey]
Key=23AB7AF05C5AC930F9322CF44114856B
Counter=3

[LongTermKey]
Key=D2681BEA8B2C177B1AB8786F22C89DBB
Authenticated=1
EncSize=16
EDiv=48309
Rand=10283782112900107958
"""
HEADSET = "[General]\nName=Headset\n\n[LinkKey]\nKey=00112233445566778899AABBCCDDEEFF\nType=4\n"
KEYS = re.findall("Key=(.*)", TOUCHPAD + MOUSE)
ADAPTER, TOUCHPAD_ADDRESS, MOUSE_ADDRESS = "8C:68:AB:80:5F:F6", "DA:2A:CE:FD:F8:0B", "D1:02:03:04:05:06"
JSON = ("--format", "jsonl")


@pytest.fixture
def bluetoothd(tmp_path):
    """A folder as bluetoothd has one."""
    folder = tmp_path / "bluetooth"
    for address, text in ((TOUCHPAD_ADDRESS, TOUCHPAD), (MOUSE_ADDRESS, MOUSE), ("00:11:22:33:44:55", HEADSET)):
        (folder / ADAPTER / address).mkdir(parents=True)
        (folder / ADAPTER / address / "info").write_text(text)
    (folder / ADAPTER / "settings").write_text("[General]\n")
    return folder


@pytest.fixture
def bonds(state, halo, bluetoothd):
    halo.run("bonds", "import", "--from", bluetoothd).succeeded()
    return state / "bonds.json"


def names(halo):
    return [bond["name"] for bond in halo.run("bonds", *JSON).succeeded().records()]


def test_devices_of_bluetoothd_are_imported(halo, state, bluetoothd):
    assert halo.run("bonds", *JSON).succeeded().records() == []
    result = halo.run("bonds", "import", "--from", bluetoothd, *JSON).succeeded()
    mouse, touchpad = result.records()
    assert mouse == {
        "name": "Designer Mouse", "address": MOUSE_ADDRESS, "type": "random", "own_address": ADAPTER,
        "own_type": "public", "authenticated": True, "secure_connections": False, "key_size_bytes": 16,
        "private_addresses": True}
    assert touchpad["secure_connections"] and not touchpad["authenticated"] and not touchpad["private_addresses"]
    assert result.err.splitlines() == ["1 device without a key for Bluetooth LE: not imported"]
    assert halo.run("bonds", *JSON).succeeded().records() == [mouse, touchpad]
    assert mode(state / "bonds.json") == 0o600 and mode(state) == 0o700


def test_what_there_is_already_is_kept(halo, bonds, bluetoothd):
    before = bonds.read_text()
    (bluetoothd / ADAPTER / MOUSE_ADDRESS / "info").write_text(MOUSE.replace("Mouse", "Rat"))
    result = halo.run("bonds", "import", "--from", bluetoothd).succeeded()
    assert result.out == "" or "imported" not in result.out
    assert sum("there is a bond already" in line for line in result.err.splitlines()) == 2
    assert bonds.read_text() == before


def test_no_format_shows_a_key(halo, bonds):
    said = [halo.run("bonds", "--format", form).succeeded() for form in ("text", "csv", "jsonl")]
    said += [halo.run("bonds", "forget", MOUSE_ADDRESS, "--format", "text").succeeded()]
    for key, result in itertools.product(KEYS, said):
        text = (result.out + result.err).lower()
        assert key.lower() not in text and bytes.fromhex(key)[::-1].hex() not in text
    assert "authenticated, legacy pairing, 16 bytes, private addresses" in said[0].out
    assert "not authenticated, Secure Connections, 16 bytes" in said[0].out
    assert "DA:2A:CE:FD:F8:0B" in said[1].out


@pytest.mark.parametrize("device", [MOUSE_ADDRESS, MOUSE_ADDRESS.lower() + "/random", "designer mouse"])
def test_one_is_forgotten(halo, bonds, device):
    result = halo.run("bonds", "forget", device, *JSON).succeeded()
    assert [bond["address"] for bond in result.records()] == [MOUSE_ADDRESS]
    assert "let the device forget this machine, too" in result.err
    assert names(halo) == ["ProtoArc T1 Plus"]
    assert KEYS[1] not in bonds.read_text().upper()
    halo.run("bonds", "forget", device).failed(NOT_FOUND, saying="halo-raw bonds lists them")


def test_devices_with_one_name_are_told_apart(halo, state, bluetoothd):
    (bluetoothd / ADAPTER / MOUSE_ADDRESS / "info").write_text(TOUCHPAD)
    halo.run("bonds", "import", "--from", bluetoothd).succeeded()
    halo.run("bonds", "forget", "ProtoArc T1 Plus").failed(NOT_FOUND, saying=f"{MOUSE_ADDRESS}/random")
    assert len(names(halo)) == 2
    halo.run("bonds", "forget", f"{MOUSE_ADDRESS}/public").failed(NOT_FOUND)


@pytest.mark.parametrize("words", [
    ("forget",), ("forget", "a", "b"), ("import", "x"), ("pair",), ("--from", "/tmp"), ("forget", "x", "--from", "/tmp")])
def test_a_wrong_command_line(halo, state, words):
    halo.run("bonds", *words).failed(USAGE)


def test_a_folder_that_is_not_there(halo, state, tmp_path):
    halo.run("bonds", "import", "--from", tmp_path / "nowhere").failed(NO_FILE, saying="nowhere")
    (tmp_path / "empty").mkdir()
    halo.run("bonds", "import", "--from", tmp_path / "empty").failed(NOT_FOUND, saying="no paired devices")
    assert not (state / "bonds.json").exists()


@as_root
def test_the_folder_of_root(halo, state, bluetoothd, tmp_path):
    """A user who is not root hears what to do."""
    bluetoothd.chmod(0o700)
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(folder.stat().st_mode | 0o011)
    result = subprocess.run(
        [halo.path, "bonds", "import", "--from", bluetoothd], env=halo.environment, capture_output=True, text=True,
        timeout=30, user=OTHER, group=OTHER, extra_groups=[])
    assert result.returncode == NO_PERMISSION, result
    (line,) = result.stderr.splitlines()
    assert str(bluetoothd) in line and "sudo" in line, line


@as_root
def test_sudo_imports_for_the_user(halo, state, bluetoothd, tmp_path):
    bluetoothd.chmod(0o700)
    home = tmp_path / "home"
    home.mkdir()
    os.chown(home, OTHER, OTHER)
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(folder.stat().st_mode | 0o011)
    halo.environment |= {"SUDO_UID": str(OTHER), "SUDO_GID": str(OTHER), "XDG_STATE_HOME": str(home)}
    halo.run("bonds", "import", "--from", bluetoothd).succeeded()
    made = home / "halo-raw/bonds.json"
    assert made.stat().st_uid == OTHER and mode(made) == 0o600
    assert len(json.loads(made.read_text())["bonds"]) == 2


def test_twelve_at_once_import_twelve_devices(halo, state, tmp_path):
    for number in range(12):
        place = tmp_path / str(number) / ADAPTER / f"C0:00:00:00:01:{number:02X}"
        place.mkdir(parents=True)
        (place / "info").write_text(TOUCHPAD.replace("ProtoArc", f"{number}"))
    processes = [halo.start("bonds", "import", "--from", tmp_path / str(number)) for number in range(12)]
    for process in processes:
        assert halo.wait(process).succeeded().err == ""
    assert len(names(halo)) == 12


@needs_strace
def test_kill_9_leaves_the_old_bonds_or_the_new_ones(halo, bonds):
    before, count = bonds.read_bytes(), 0
    for call, number in kills(halo, ("bonds", "forget", MOUSE_ADDRESS)):
        left = names(halo)
        assert left in (["ProtoArc T1 Plus"], ["Designer Mouse", "ProtoArc T1 Plus"]), (call, number)
        bonds.write_bytes(before)
        count += 1
    assert count > 5, "hardly ever killed"
    assert not list(bonds.parent.glob("*.damaged"))
    assert halo.run("bonds", "forget", MOUSE_ADDRESS).code == OK
