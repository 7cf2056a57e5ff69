"""Pairing by the kernel, as a central and as a peripheral, with a device on Bumble; with bluetoothd, and without it."""

import json
from argparse import Namespace

import bumble_bonder
import management
import peripherals
import pytest
from adapters import KernelAdapter
from conftest import asked, wait_until
from pairing_program import ENDED, Program, end, lines_until, pair_by_bluetoothctl

pytestmark = pytest.mark.usefixtures("no_kernel_fault")
PEER = bumble_bonder.ADDRESS
VALUE = bumble_bonder.TEMPERATURE.hex()
JSON = ("--format", "jsonl")
# What the user can see and type (Core Specification Vol 3, Part H, 2.3.2).
YES_OR_NO, KEYBOARD, BOTH = 1, 2, 4


class Device:
    """The device, and the adapter on the same radio."""

    def __init__(self):
        self.fork = peripherals.Peripheral(bumble_bonder.run, Namespace(transport="vhci"), takes_commands=True)
        self.adapter = KernelAdapter(*self.fork.names)
        self.adapter.up()

    def manage(self):
        """A program manages the adapter before it is switched on, as bluetoothd and btmgmt do."""
        management.set_bondable(self.adapter, False)
        self.adapter.down()
        self.adapter.up()

    def ask(self, command):
        print(command, file=self.fork.stdin, flush=True)
        return json.loads(self.fork.stdout.readline())

    @property
    def state(self):
        return self.ask("state")


@pytest.fixture
def new_device(rings):
    rings.remove()
    made = Device()
    yield made
    made.fork.close()


@pytest.fixture
def device(new_device):
    new_device.manage()
    new_device.ask("advertise")
    return new_device


@pytest.fixture
def program(new_device, tmp_path):
    made = Program(new_device.adapter, tmp_path)
    yield made
    made.close()


REFUSED = ["connected clear", "read Insufficient Encryption (0x0f)"]


# --- as a central

@pytest.mark.both_kernels
@pytest.mark.parametrize("method", ["just-works", "legacy"])
def test_a_value_that_needs_encryption(device, program, method):
    """The next run encrypts with the key, and does not pair again (noble 669: keys were not kept)."""
    device.ask(f"method {method}")
    read = ["changed link: encrypted", "secured 2: not authenticated, 16 bytes", f"read {VALUE}", ENDED]
    assert program.read("just-works", 2) == REFUSED + read
    assert program.read("encrypt", 2) == REFUSED + read
    assert device.state["pairings"] == 1


@pytest.mark.both_kernels
def test_the_user_compares_and_types(device, program):
    """A bond that is too weak is replaced, over the link that it encrypts; a stronger one serves for less."""
    assert program.read("just-works", 2)[-2] == f"read {VALUE}"
    device.ask("method compare")
    lines = program.read(f"ask:{YES_OR_NO}:yes", 4)
    (question,) = [line for line in lines if line.startswith("asked")]
    assert question == f"asked compare({device.state['shown']})"
    assert lines[-4:] == ["pairing ended well", "secured 4: authenticated, 16 bytes", f"read {VALUE}", ENDED]
    assert program.read("encrypt", 2)[-3:] == ["secured 2: authenticated, 16 bytes", f"read {VALUE}", ENDED]
    program.bonds.unlink()
    device.ask("forget")
    device.ask("method passkey")
    process = program.start(f"ask:{KEYBOARD}:stdin", "read", PEER, 3)
    lines_until(process, "asked enterPasskey")
    print(device.state["shown"], file=process.stdin, flush=True)
    assert end(process)[-3:] == ["secured 3: authenticated, 16 bytes", f"read {VALUE}", ENDED]
    assert device.state["pairings"] == 3


@pytest.mark.both_kernels
def test_a_pairing_is_refused(device, program):
    """On either side; and a link on which nobody was to pair stays as it is."""
    lines = program.read("encrypt", 2)
    assert lines[2].startswith("refused pairingFailed") and "not told to pair" in lines[2]
    assert lines[3:] == ["read Insufficient Encryption (0x0f)", ENDED]
    lines = program.read(f"ask:{BOTH}:no", 2)
    assert lines[2:5] == ["asked allow", "pairing ended pairingFailed", "ended Authentication Failure (0x05)"]
    assert "was refused here" in lines[5] and len(lines) == 6
    device.ask("method refuse")
    lines = program.read("just-works", 2)
    assert lines[2] == "ended Authentication Failure (0x05)"
    assert lines[3].startswith("refused pairingFailed") and len(lines) == 4
    state = device.state
    # Numeric Comparison Failed, and Pairing Not Supported.
    assert state["pairings"] == 0 and state["failures"] == [12, 5] and not program.bonds.exists()
    device.ask("method just-works")
    assert program.read("just-works", 2)[-2] == f"read {VALUE}"


@pytest.mark.both_kernels
def test_the_peer_has_lost_its_key(device, program):
    """It is told, and not paired with again (bluez 2475: an endless loop; alexmoon/bluest 44)."""
    assert program.read("just-works", 2)[-2] == f"read {VALUE}"
    device.ask("forget")
    for policy in ("encrypt", "just-works"):
        lines = sorted(program.read(policy, 2)[2:])
        assert lines[0] == "ended PIN or Key Missing (0x06)"
        assert lines[-1].startswith(f"refused keyMissing: {PEER} does not have the key of its bond")
    # Forgotten here, too: the kernel forgets its key with the bond.
    program.bonds.unlink()
    assert program.read("just-works", 2)[-2] == f"read {VALUE}"
    assert device.state["pairings"] == 2


def test_an_adapter_that_was_on_before_a_program_managed_it(new_device, program):
    """The kernel has no Security Manager for it (noble/bleno 31: pairing worked only after bluetoothd had run)."""
    new_device.ask("advertise")
    new_device.adapter.down()
    new_device.adapter.up()
    lines = program.read("just-works", 2)
    assert any(line.startswith("refused notReady") and "switched off and on: try again" in line for line in lines)
    new_device.adapter.wait_until(True)
    assert program.read("just-works", 2)[-2] == f"read {VALUE}"


def test_the_adapter_is_bondable_only_meanwhile(device, program):
    """Also after the program was killed."""
    process = program.serve("just-works")
    assert management.is_bondable(device.adapter)
    end(process)
    assert not management.is_bondable(device.adapter)
    process = program.serve("just-works")
    process.kill()
    wait_until(lambda: not management.is_bondable(device.adapter), "end of bonding")
    process = program.serve("encrypt")
    assert not management.is_bondable(device.adapter)
    end(process)


@pytest.mark.both_kernels
def test_a_bond_outlives_the_power_of_the_adapter(device, program):
    """Its keys are loaded again for the first link (bluez 1826: paired again after each restart)."""
    assert program.read("just-works", 2)[-2] == f"read {VALUE}"
    for _ in range(2):
        device.adapter.down()
        device.adapter.up()
        assert program.read("encrypt", 2)[-2] == f"read {VALUE}"
    assert device.state["pairings"] == 1


# --- by the command

@pytest.fixture
def commands(halo, device, tmp_path, monkeypatch):
    """Commands with bonds of their own."""
    monkeypatch.setitem(halo.environment, "XDG_STATE_HOME", str(tmp_path / "state"))

    def run(*arguments):
        return halo.run(*arguments, *JSON, adapter=device.adapter.name)

    return run


@pytest.mark.both_kernels
def test_a_device_that_changes_its_address_is_paired_once(halo, device, commands):
    """The kernel asks for its identity only after Load IRKs, and is asked for a link to that; the device is heard at another
    address each time (bleak 1778, Moon-Firmware 6: bonded devices that were strangers when their address had changed)."""
    hidden = device.ask("hide")
    [paired] = commands("pair", hidden).succeeded().records()
    assert paired["kept"] and paired["address"] == hidden and paired["method"] == "Just Works"
    [bond] = halo.run("bonds", *JSON).succeeded().records()
    assert bond["address"] == PEER and bond["private_addresses"]
    # Also by the address that it had when it was paired with.
    for name in (PEER, hidden):
        assert device.ask("hide") != hidden
        [value] = commands("read", name, "--uuid", "2A1C").succeeded().records()
        assert value["value"] == VALUE
    found = commands("scan", "--duration", "3s").succeeded().records()
    assert PEER in {record["address"] for record in found}
    assert device.state["pairings"] == 1


def test_the_doctor_says_who_pairs(halo, device):
    assert "halo-raw pairs" in halo.run("doctor").out


def test_the_doctor_says_that_bluetoothd_pairs(halo, device, bluetoothd):
    assert "bluetoothd pairs" in halo.run("doctor").out


# --- as a peripheral

@pytest.mark.both_kernels
def test_a_central_pairs(device, program):
    """And encrypts the link the next time, when the program has been started again."""
    process = program.serve("just-works")
    seen = device.ask("meet")
    assert seen["reads"] == [5, "07"] and seen["encrypted"]
    lines = lines_until(process, "ended")
    assert "changed link: encrypted: not authenticated, 16 bytes" in lines
    end(process)
    process = program.serve("encrypt")
    seen = device.ask("again")
    assert seen["reads"] == ["07"], seen
    end(process)
    assert device.state["pairings"] == 1


@pytest.mark.both_kernels
def test_a_central_is_asked_to_pair(device, program):
    """By Security Request, which is what the kernel makes of BT_SECURITY in this role."""
    device.ask("method compare")
    process = program.serve(f"ask:{YES_OR_NO}:yes", 3)
    assert device.ask("wait")["authenticated"]
    lines = lines_until(process, "secured 3")
    assert lines[-1] == "secured 3: authenticated, 16 bytes"
    assert f"asked compare({device.state['shown']})" in lines
    end(process)


def test_a_central_is_not_paired_with(device, program):
    """What the policy refuses, and a bonded central that pairs anew (raspberrypi/linux 4139)."""
    process = program.serve("encrypt")
    seen = device.ask("meet")
    assert seen["reads"] == [5] and ("error" in seen or "ended" in seen), seen
    end(process)
    process = program.serve("just-works")
    assert device.ask("meet")["reads"] == [5, "07"]
    device.ask("forget")
    seen = device.ask("meet")
    # Insufficient Encryption: this side has a key.
    assert seen["reads"] == [15] and not seen.get("encrypted"), seen
    assert any("asks to pair anew" in line for line in end(process))
    assert device.state["pairings"] == 1


# --- beside bluetoothd

def test_bluetoothd_pairs(device, program, bluetoothd):
    """Without an agent it says no to all (ukBaz/python-bluezero 362), so we do at once; its keys encrypt our links."""
    lines = program.read("just-works", 2)
    assert any(
        line.startswith("refused notOffered") and f"bluetoothctl pair {PEER}" in line for line in lines), lines
    assert device.state["pairings"] == 0 and not program.bonds.exists()

    pair_by_bluetoothctl(PEER)
    assert program.read("encrypt", 2)[-3:] == [
        "secured 2: not authenticated, 16 bytes", f"read {VALUE}", ENDED]
    assert device.state["pairings"] == 1 and not program.bonds.exists()
    assert "boolean true" in asked(
        "org.bluez", f"/org/bluez/{device.adapter.name}/dev_{PEER.replace(':', '_')}", "Properties.Get",
        "org.bluez.Device1", "Paired")
