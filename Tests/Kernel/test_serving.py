"""A program that serves, on adapters of the kernel in both ways, met by the central of another stack on the same radio."""

import json
import os
import signal
import subprocess
import time
from argparse import Namespace

import bumble_central
import peripherals
import management
import pytest
from adapters import KernelAdapter
from conftest import wait_until
from example_program import examples
from program import NO_PERMISSION
from virtual_radio import VirtualController

pytestmark = [pytest.mark.usefixtures("no_kernel_fault"), pytest.mark.both_kernels]
# Flags, the service in two bytes, and the name of the scan response.
DATA, NAME = "02010603031a18", "0c09" + b"Thermometer".hex()


@pytest.fixture
def example(tmp_path):
    with examples(tmp_path / "state") as start:
        yield start


class Phone:
    """A central on the radio of an adapter, which meets the device that it hears first."""

    def __init__(self, extended=False, program=bumble_central.run):
        self.extended = extended
        self.fork = peripherals.Peripheral(
            program,
            Namespace(transport="vhci", turns=0, notifications=2, extended=extended, commands=True),
            takes_commands=True)
        self.adapter = KernelAdapter(*self.fork.names)

    def ask(self, command):
        print(command, file=self.fork.stdin, flush=True)
        return json.loads(self.fork.stdout.readline())

    def meets(self):
        turn = self.ask("meet")
        assert turn["services"] == ["1800", "1801", "181A"] and turn["data"] == DATA + NAME and turn["mtu"] == 247
        assert turn["refusal"] == 3
        degrees = [int.from_bytes(bytes.fromhex(value), "little") for value in (turn["read"], *turn["notified"])]
        assert all(2000 <= each <= 2490 for each in degrees) and degrees[2] == degrees[1] + 10

    def hears(self) -> list[dict]:
        return self.ask("advertisements")

    def waits_for(self, count):
        wait_until(lambda: len(self.hears()) == count, f"{count} advertisements")


@pytest.fixture
def phone(rings, request):
    rings.remove()
    made = Phone(getattr(request, "param", False))
    made.adapter.up()
    yield made
    made.fork.close()


both_kinds = pytest.mark.parametrize("phone", [False, True], ids=["bluetooth 4", "bluetooth 5"], indirect=True)


@pytest.fixture
def thermometer(example, phone):
    """Starts the program, and waits until it advertises."""
    def start(way=""):
        started = example("thermometer", "", way + phone.adapter.name)
        phone.waits_for(1)
        return started

    return start


@both_kinds
@pytest.mark.parametrize("way", ["", "user:"], ids=["hci0", "user:hci0"])
def test_a_phone_finds_reads_and_subscribes(phone, thermometer, way):
    """And comes again after it has gone."""
    if way:
        phone.adapter.down()
    program = thermometer(way)
    assert phone.hears() == [{"data": DATA, "response": NAME, "interval": 100}]
    for _ in range(2):
        phone.meets()
    program.close()
    assert program.process.returncode == -signal.SIGTERM
    if not way:
        # The program was killed by the signal; the kernel is told all the same that it advertises no longer.
        phone.waits_for(0)


def test_a_program_that_was_killed_does_not_advertise(phone, thermometer):
    """What it has set would go on otherwise, with nobody who answers."""
    program = thermometer()
    program.process.kill()
    phone.waits_for(0)
    thermometer()
    phone.meets()


@both_kinds
def test_another_program_ends_all_advertisements(phone, thermometer):
    thermometer()
    management.end_advertisements(phone.adapter)
    phone.meets()


@both_kinds
def test_the_advertisements_of_other_programs_stay(phone, example):
    """All numbers are in use until one of them is given up (weliem/bluez_inc 8)."""
    for number in range(1, 6):
        management.advertise(phone.adapter, number)
    if not phone.extended:  # an adapter of Bluetooth 5 has more
        refused = example("thermometer", "", phone.adapter.name)
        assert refused.exit_code() == 1 and refused.lines == []
    assert sorted(management.advertisements(phone.adapter)) == [1, 2, 3, 4, 5]
    program = example("thermometer", "", phone.adapter.name)
    # It is asked again for five seconds.
    management.command(phone.adapter, management.REMOVE_ADVERTISING, bytes([5]))
    program.until(":")
    phone.meets()
    program.close()
    wait_until(lambda: sorted(management.advertisements(phone.adapter)) == [1, 2, 3, 4], "end of the advertisement")


def test_two_programs_advertise(phone, thermometer, example):
    """Each has a number of its own, though the kernel lists neither."""
    first = thermometer()
    example("thermometer", "", phone.adapter.name).until(":")
    first.process.kill()
    phone.meets()


def test_the_adapter_is_switched_off_and_on(phone, thermometer):
    thermometer()
    phone.meets()
    phone.adapter.down()
    phone.adapter.up()
    phone.meets()


def test_bluetoothd_runs_already(phone, bluetoothd, thermometer):
    """It listens for the links of centrals, too (noble/bleno 24)."""
    thermometer()
    phone.meets()


def test_bluetoothd_is_started_later(phone, thermometer, request):
    """The link of a central goes to the program that has listened last."""
    thermometer()
    request.getfixturevalue("bluetoothd")
    # The program listens again when it sees that another one does, which shows nowhere. In the machine, waiting takes no time.
    time.sleep(1)
    for _ in range(2):
        phone.meets()


# --- the commands

JSON = ("--format", "jsonl")


def test_an_inspected_ring_is_offered_again(halo, phone, tmp_path):
    """The phone finds the table of our virtual ring, with its handles."""
    table = tmp_path / "ring.jsonl"
    table.write_text(halo.run("inspect", *JSON, adapter="virtual:fast").succeeded().out)
    rows = [json.loads(line) for line in table.read_text().splitlines()]
    process = halo.start("serve", table, *JSON, adapter=phone.adapter.name)
    seen = phone.ask("table")["rows"]
    assert [row[:2] for row in seen if len(row) == 4] == [
        [row["value_handle"], row["uuid"]] for row in rows if row["kind"] == "characteristic" and row["handle"] < 80]
    process.send_signal(signal.SIGTERM)
    records = halo.wait(process).succeeded().records()
    assert [record["kind"] for record in records] == ["connected", "disconnected"]
    phone.waits_for(0)


class ForgetfulController(VirtualController):
    """Loses its first Disconnection Complete."""

    losses = 1

    def deliver(self, packet, host_number):
        if self.name == "halo-raw" and packet[:2] == b"\x04\x05" and self.losses:
            self.losses -= 1
        else:
            super().deliver(packet, host_number)


async def phone_beside_a_forgetful_controller(options):
    bumble_central.VirtualController = ForgetfulController
    await bumble_central.run(options)


def test_the_event_of_the_end_of_a_link_is_lost(halo, rings, tmp_path):
    """On a serial line (raspberrypi/linux#5460): the kernel keeps the link for ever."""
    rings.remove()
    table = tmp_path / "table.jsonl"
    table.write_text(halo.run("inspect", *JSON, adapter="virtual:fast").succeeded().out)
    phone = Phone(program=phone_beside_a_forgetful_controller)
    try:
        phone.adapter.up()
        process = halo.start("serve", table, *JSON, adapter=phone.adapter.name)
        assert phone.ask("table")["rows"]
        connected, disconnected = (json.loads(process.stdout.readline()) for _ in range(2))
        assert (connected["kind"], disconnected["kind"]) == ("connected", "disconnected")
        assert "supervision timeout" in disconnected["reason"], disconnected
        # Asked each 30 s, unless it was heard since the last time.
        assert 25 < disconnected["t"] - connected["t"] < 65
        phone.waits_for(1)
        assert phone.ask("table")["rows"]
        process.send_signal(signal.SIGTERM)
        records = halo.wait(process).succeeded().records()
    finally:
        phone.fork.close()
    assert [record["kind"] for record in records] == ["connected", "disconnected"]


@pytest.mark.parametrize("phone", [True], ids=["bluetooth 5"], indirect=True)
def test_a_beacon_with_extended_pdus(halo, phone):
    data = "c8ff" + "ffff" + "07" * 197
    # The kernel puts Flags in front, which say BR/EDR Not Supported.
    sent = {"data": "020104" + data, "response": "", "interval": 200}
    options = ("--kind", "beacon", "--extended", "2m", "--data", data, "--every", "200ms")
    process = halo.start("advertise", *options, adapter=phone.adapter.name)
    phone.waits_for(1)
    assert phone.hears() == [sent]
    process.send_signal(signal.SIGHUP)
    halo.wait(process).succeeded()
    phone.waits_for(0)


def test_advertising_needs_its_capability(halo, phone):
    """The scan of the same program does without it."""
    drop = ["setpriv", "--bounding-set", "-net_admin", "--inh-caps", "-net_admin"]
    program = [*drop, str(halo.path), "advertise", "--name", "T", "--adapter", phone.adapter.name]
    result = subprocess.run(program, env=halo.environment, capture_output=True, text=True, timeout=60)
    assert result.returncode == NO_PERMISSION and "CAP_NET_ADMIN" in result.stderr, result
