"""The heart rate of a ring as that of a chest strap, on adapters of the kernel: one for both sides, or one for each."""

import signal

import pytest
from conftest import sudo
from shared_air import SharedAir
from test_privileges import CAP_NET_RAW, check_least

pytestmark = pytest.mark.usefixtures("no_kernel_fault")


@pytest.fixture
def air(rings):
    """The first adapter is that of the ring."""
    rings.remove()
    made = SharedAir(count=3)
    for adapter in made.adapters:
        adapter.up()
    yield made
    made.close()


def ring_on(halo, air):
    air.adapters[0].down()
    process = halo.start("simulate", "--options", "warm-up=1", adapter=f"user:{air.adapters[0].name}")
    assert ": advertises at " in process.stderr.readline()
    return process


def strap_on(halo, *options):
    process = halo.start("strap", *options)
    line = process.stderr.readline()
    assert ": advertises at " in line, line
    return process


def ended(halo, process):
    process.send_signal(signal.SIGTERM)
    return halo.wait(process).succeeded()


def check(seen, address):
    assert seen["address"] == address and seen["name"] == "Ring HR" and seen["location"] == "03"
    assert seen["battery"] == "57" and seen["values"][-1].startswith("06")


WAYS = {
    "hci1 and hci2": ("{1}", "{2}"), "user:hci1 and user:hci2": ("user:{1}", "user:{2}"),
    "user:hci1 and hci2": ("user:{1}", "{2}"), "hci1": ("{1}", None), "user:hci1": ("user:{1}", None)}


@pytest.mark.parametrize("way", WAYS)
def test_a_watch_gets_the_heart_rate(halo, air, way):
    """Also after the ring was away."""
    names = [adapter.name for adapter in air.adapters]
    ours, theirs = (each and each.format(*names) for each in WAYS[way])
    for adapter, spec in zip(air.adapters[1:], (ours, theirs)):
        if spec and spec.startswith("user:"):
            adapter.down()
    ring = ring_on(halo, air)
    strap = strap_on(halo, "--adapter", ours, *(["--to", theirs] if theirs else []))
    address = "00:1B:DC:0A:10:03" if theirs else "00:1B:DC:0A:10:02"
    check(air.ask("strap-until", "06"), address)
    ring.kill()
    halo.wait(ring)
    # It measures on for half a minute, and notices that there is no ring; the watch finds it without contact.
    assert air.ask("strap-until", "04")["values"][-1] == "0400"
    ring = ring_on(halo, air)
    check(air.ask("strap-until", "06"), address)
    ended(halo, strap)
    ended(halo, ring)
    assert [len(each) for each in air.ask("advertisements")] == [0, 0, 0]


def test_by_way_of_sudo(halo, air, open_folder):
    """Both adapters are opened before the rights are given up."""
    ring = ring_on(halo, air)
    with sudo(halo):
        halo.environment |= {"XDG_STATE_HOME": str(open_folder)}
        strap = strap_on(halo, "--adapter", air.adapters[1].name, "--to", air.adapters[2].name)
    check(air.ask("strap-until", "06"), "00:1B:DC:0A:10:03")
    check_least(strap, CAP_NET_RAW)
    ended(halo, strap)
    ended(halo, ring)
