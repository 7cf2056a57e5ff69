"""That the ring, its adapter and the daemons are right: others' programs get on with them."""

import subprocess
from argparse import Namespace

import bleak_battery
import bumble_host
import peripherals
import pytest
from bumble_ring import ppg_raw
from conftest import RINGS, wait_until
from monitor import Monitor
from ring_frames import COMMAND_SERVICE

every_ring = pytest.mark.parametrize("options", RINGS.values(), ids=RINGS.keys())


def run(*command, timeout=60) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_adapter_goes_down_and_up(ring):
    adapter = ring.kernel_adapter
    for _ in range(3):
        adapter.down()
        assert not adapter.is_up
        adapter.up()
        assert adapter.is_up


@every_ring
def test_the_kernels_connection(ring_with, options):
    """gatttool has a socket of the kernel's L2CAP carry ATT."""
    ring = ring_with(*options)
    address_type = "public" if "public" in options else "random"
    services = run("gatttool", "-i", ring.adapter, "-b", ring.address, "-t", address_type, "--primary")
    assert COMMAND_SERVICE.lower() in services
    ring.wait_for("connected", peer="00:1B:DC:0A:10:01/P")


def test_the_user_channel(ring):
    """Bumble's host drives the adapter by itself."""
    ring.kernel_adapter.down()
    found = peripherals.result_of(
        bumble_host.run, Namespace(transport=f"hci-socket:{ring.kernel_adapter.index}", count=100, timeout=20))
    assert (found["name"], found["address"], found["battery"]) == (ring.name, ring.address, 87)
    assert found["ppg"] == [ppg_raw(number) for number in range(100)]


def test_bluetoothd(ring, bluetoothd):
    found = peripherals.result_of(bleak_battery.read, ring.name)
    assert (found["address"], found["percent"], found["charging"]) == (ring.address, 87, False)
    assert COMMAND_SERVICE in found["services"]


def test_the_monitor(ring, tmp_path):
    """btmon's recording has what gatttool said and heard."""
    with Monitor(tmp_path / "monitor.btsnoop", ring.kernel_adapter) as monitor:
        run("gatttool", "-i", ring.adapter, "-b", ring.address, "-t", "random", "--char-read", "--uuid=2a26")
    sent, received = monitor.att_pdus()
    assert [pdu[0] for pdu in sent] == [0x08]  # Read By Type
    assert [pdu[0] for pdu in received] == [0x09]
    assert received[0].endswith(b"R02_3.00.06_BUMBLE")


def test_an_adapter_that_is_pulled_out_is_gone(ring_with, rings):
    ring = ring_with("--rate", 501)  # not that of the other tests
    rings.remove()
    assert not ring.kernel_adapter.exists
    wait_until(lambda: not ring.fork.is_alive(), "end of the ring")
