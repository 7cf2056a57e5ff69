"""The errands of Tests/Interop/support/errand_list.py on an adapter of the kernel: the same results, and the same
requests at the devices, as over H4. By way of hci0, the kernel makes the links, ends them, and has its own queues.
By way of user:hci0, the stack is that of H4, and a few errands show that the kernel passes its packets on.
"""

import asyncio
import os
import signal
from argparse import Namespace

import bumble_clients
import bumble_errands
import peripherals
import pytest
from adapters import KernelAdapter
from conftest import wait_until
from errand_doors import LAMP, OTHER, CommandDoor, LibraryDoor, Peers

pytest.register_assert_rewrite("errand_list")

from errand_list import (  # noqa: E402
    END, ERRANDS, EXTRA, OPENING, check_both_roles, check_devices, check_served_value, check_values, subscribed)

WAYS = {"hci0": "", "user:hci0": "user:"}
# By which doors an errand is run, for each way: those whose result the kernel, one processor or another program on the
# adapter could change.
DOORS = {
    "hci0": {
        "find by name": ["haloraw", "corebluetooth", "halo-raw"],
        "find by service": ["haloraw"],
        "find by address": ["halo-raw"],
        "long read": ["corebluetooth"],
        "long write": ["haloraw"],
        "commands": ["haloraw"],
        "values": ["haloraw"],
        "two devices": ["halo-raw"],
        "links that end": ["haloraw", "corebluetooth"],
        "many links": ["haloraw"],
        "two users": ["corebluetooth"],
        "a link that ends at a read": ["haloraw"],
        "a change at once": ["haloraw"],
        "a change after a read": ["corebluetooth"],
        "an MTU without an answer": ["haloraw"],
        "a read without an answer": ["haloraw"],
        "cancelled scan": ["haloraw"],
        "cancelled connection": ["haloraw", "halo-raw"],
        "cancelled discovery": ["corebluetooth"],
        "cancelled read": ["haloraw", "corebluetooth"],
        "cancelled attempt": ["haloraw"],
        "cancelled reconnection": ["haloraw"],
        "serve": ["haloraw", "corebluetooth", "halo-raw"],
        "serve three": ["haloraw"],
        "both roles": ["haloraw", "corebluetooth"]},
    "user:hci0": {
        "find by name": ["haloraw", "halo-raw"],
        "links that end": ["haloraw"],
        "cancelled discovery": ["corebluetooth"],
        "serve": ["haloraw"],
        "both roles": ["corebluetooth"]}}
VERDICT = {
    ("find by name", "haloraw", "hci0"), ("long read", "corebluetooth", "hci0"),
    ("cancelled connection", "haloraw", "hci0"), ("both roles", "haloraw", "hci0")}


class SlowlyEndingAdapter(bumble_errands.Adapter):
    """Reports the end of a link some intervals after it was asked for, as controllers do."""

    END_TIME = 0.1  # s

    def on_le_disconnected(self, connection, reason):
        asyncio.get_running_loop().call_later(self.END_TIME, super().on_le_disconnected, connection, reason)


async def devices_of_a_slowly_ending_adapter(options):
    bumble_errands.Adapter = SlowlyEndingAdapter
    await bumble_errands.run(options)


class PeersOfAnAdapter(Peers):
    """The same devices and clients, in a fork, which makes an adapter of the kernel."""

    def __init__(self, errand, events, way, devices=bumble_errands.run):
        self.events_file = events
        if errand.clients:
            program, options = bumble_clients.run, {"clients": errand.clients}
        else:
            program, options = devices, {"habit": errand.habit}
        self.process = peripherals.Peripheral(program, Namespace(transport="vhci", events=events, **options))
        (name,) = self.process.names
        self.kernel_adapter = KernelAdapter(name)
        self.kernel_adapter.down() if way else self.kernel_adapter.up()
        self.adapter = way + name

    def close(self):
        """Returns when the adapter is gone, too: the next one has its name."""
        self.process.close()
        wait_until(lambda: not self.kernel_adapter.exists, "end of the adapter")


class CommandsOfOneAdapter(CommandDoor):
    """An adapter of the kernel has several programs at a time, by way of hci0."""

    def two_devices(self):
        processes = [
            self.halo.start(
                "subscribe", device, "--uuid", "A004", "--count", 10, "--format", "jsonl", adapter=self.peers.adapter)
            for device in (LAMP, OTHER)]
        for process in processes:
            values = [record["value"] for record in self.halo.wait(process).succeeded().records()]
            assert values == [f"01{number:04x}" for number in range(10)]
        return ["lamp 10 other 10"]


@pytest.fixture
def peers(rings, tmp_path, request):
    rings.remove()
    name, way, *devices = request.param
    made = PeersOfAnAdapter(ERRANDS[name], tmp_path / "events.jsonl", way, *devices)
    yield made
    made.close()
    assert made.events("breach") == []


@pytest.fixture
def run(peers, halo, tmp_path, monkeypatch):
    """Does an errand by a door; the lines."""
    state = tmp_path / "state"
    monkeypatch.setitem(halo.environment, "XDG_STATE_HOME", str(state))

    def run(name, door, sign=None):
        errand = ERRANDS[name]
        made = (CommandsOfOneAdapter(halo, peers) if door == "halo-raw"
                else LibraryDoor(door, peers, state, dict(os.environ)))
        lines = made.run(errand.does or name, errand.argument, sign or errand.sign)
        assert made.seconds is None or made.seconds < 5
        return lines
    return run


def case(name, door, way, *devices):
    """An errand as parameters. devices: what makes the adapter and the devices, if it is another program."""
    key = (name, door, way)
    marks = [pytest.mark.verdict] if key in VERDICT else []
    return pytest.param((name, WAYS[way], *devices), name, door, id=f"{name}-{door}-{way}", marks=marks)


def each(is_meant):
    """The errands of a kind, with the doors and the ways."""
    def cases():
        for way, errands in DOORS.items():
            for name, doors in errands.items():
                for door in doors if is_meant(name) else ():
                    yield case(name, door, way)

    return pytest.mark.parametrize("peers, name, door", cases(), indirect=["peers"])


@each(lambda name: not ERRANDS[name].clients)
def test_an_errand_at_a_device(peers, name, door, run):
    check_devices(peers, name, door, run)


@each(lambda name: name == "serve")
def test_a_value_that_is_served_is_read_and_written(peers, name, door, run):
    check_served_value(peers, name, door, run)


@each(lambda name: name == "both roles")
def test_the_central_role_uses_the_link_that_a_client_has_made(peers, name, door, run):
    check_both_roles(peers, name, door, run)


@each(lambda name: name == "serve three")
def test_values_come_to_all_that_take_them(peers, name, door, run):
    check_values(peers, name, door, run)


# The second manager of CoreBluetooth opens the adapter anew while the first one's link ends. On hci0, the kernel would give it
# that link when the device advertises before the controller has reported the end.
@pytest.mark.parametrize("peers, name, door", [
    pytest.param(
        *case("a user that is released", door, way, devices_of_a_slowly_ending_adapter).values, id=f"{door}-{way}")
    for door in ("haloraw", "corebluetooth") for way in WAYS], indirect=["peers"])
def test_a_link_that_is_being_ended_is_not_given_to_the_next_user(peers, name, door, run):
    check_devices(peers, name, door, run)


@pytest.mark.parametrize("peers", [("two users", "")], indirect=True, ids=["hci0"])
def test_a_device_that_another_program_uses_is_found_when_that_has_ended(peers, halo):
    """Two users in one program share a link. Two programs do not: the kernel has one ATT channel to a device."""
    def scans():
        return len([event for event in peers.events("scan") if event["on"]])

    user = halo.start("subscribe", LAMP, "--uuid", "A004", adapter=peers.adapter)
    next(line for line in user.stdout if line.startswith("0.0"))
    # One that does not wait for so long learns why the device is not heard: elsewhere it "was not found" (hbldh/bleak 367, 1525).
    short = halo.run("read", LAMP, "--uuid", "2A19", "--wait", "2s", adapter=peers.adapter)
    assert short.code == 80 and "another program of this machine is connected to it already" in short.err
    before = scans()
    reader = halo.start("read", LAMP, "--uuid", "2A19", "--wait", "60s", "--format", "jsonl", adapter=peers.adapter)
    wait_until(lambda: scans() > before, "scan of the second program")
    user.send_signal(signal.SIGINT)
    halo.wait(user).succeeded()
    (record,) = halo.wait(reader).succeeded().records()
    assert record["value"] == "64"
    peers.all_links_end()
    seen = [text for text in peers.seen_by("Lamp") if text not in EXTRA["halo-raw"]]
    assert seen == [*OPENING, *subscribed("A004"), END, "connected", "mtu", "read 2A19", END]


@pytest.mark.parametrize("peers", [("two users", "")], indirect=True, ids=["hci0"])
def test_a_program_learns_that_another_one_uses_the_device(peers, halo, tmp_path):
    """Elsewhere the device "was not found", or is asked whether a phone holds it (hbldh/bleak 367, 1525)."""
    user = halo.start("subscribe", LAMP, "--uuid", "A004", adapter=peers.adapter)
    next(line for line in user.stdout if line.startswith("0.0"))
    library = LibraryDoor("haloraw", peers, tmp_path, dict(os.environ))
    # Two attempts at Lamp; the other device is nobody's.
    assert library.run("a limit", "2") == ["error refused", "error refused", "battery 64"]
    user.send_signal(signal.SIGINT)
    halo.wait(user).succeeded()
    peers.all_links_end()
    seen = [text for text in peers.seen_by("Lamp") if text not in EXTRA["halo-raw"]]
    assert seen == [*OPENING, *subscribed("A004"), END]
