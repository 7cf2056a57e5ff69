"""What programs for Apple's CoreBluetooth rely on (docs/corebluetooth.md), by the program in Tests/CoreBluetoothCheck against
bumble_peripherals.py: over H4, and on adapters of the kernel. A test file has the fixture `around`, and a class of these.

A bird that leaves again and again, whose values are text, is in test_examples.py.
"""

import contextlib
import json
import time
from pathlib import Path

import pytest
from event_lines import event_lines
from example_program import examples
from forked import start_peer

RAW_VALUE = "48414C4F-0101-4000-8000-535452415000"
PERIPHERALS = ["Strap", "R02_0001", "R02_0002", "Sensor", "Changing", "Stranger"]
REMOTE_USER = 0x13


def identifier(name) -> str:
    """Made of the address and its type, as docs/corebluetooth.md says."""
    return f"68616C6F-7261-8077-8001-D25C0A1E50{PERIPHERALS.index(name):02X}"


class Neighbourhood:
    """A running bumble_peripherals.py. `adapter` is set by the test."""

    def __init__(self, transport, events: Path):
        self.events_file, self.seen = events, 0
        self.process = start_peer("bumble_peripherals.py", transport, "--events", events, takes_commands=True)
        self.where, = self.process.places()

    def command(self, *words):
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"

    def reach(self, *names):
        self.command("reach", *names)

    def behave(self, behaviour):
        self.command("behave", behaviour)

    def events(self, kind) -> list[dict]:
        """What happened since the test began."""
        lines = event_lines(self.events_file)[self.seen:]
        return [event for event in map(json.loads, lines) if event["event"] == kind]

    def names(self, kind, number) -> list[str]:
        """Whose events of this kind happened, as soon as there are `number`: a program may end before its peer has
        heard the last one."""
        deadline = time.monotonic() + 30
        while len(happened := self.events(kind)) < number:
            assert time.monotonic() < deadline, happened
            time.sleep(0.01)
        return [event["name"] for event in happened]

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=60)


@contextlib.contextmanager
def neighbourhood(transport, events):
    around = Neighbourhood(transport, events)
    try:
        yield around
    finally:
        around.close()


class Check:
    """Runs scenarios, which share what is stored."""

    def __init__(self, start, around):
        self.start_example, self.around = start, around

    def start(self, scenario, *arguments, adapter=None, before=()):
        return self.start_example(
            "corebluetooth-check", adapter or self.around.adapter, scenario, *arguments, before=before)

    def finish(self, program) -> list[str]:
        """The lines of a scenario that has succeeded."""
        code = program.exit_code()
        assert code == 0 and program.lines[-1] == "ok", program.lines
        return program.lines[:-1]

    def run(self, scenario, *arguments, **options) -> list[str]:
        return self.finish(self.start(scenario, *arguments, **options))


@pytest.fixture
def check(around, tmp_path):
    around.seen = len(event_lines(around.events_file))
    with examples(tmp_path / "state") as start:
        yield Check(start, around)
    assert around.events("breach") == []


class Points:
    """A test for each, in the order in which programs meet them."""

    def test_callbacks_come_in_the_order_of_the_wire(self, around, check):
        """Three values behind each Write Response; none before the first write."""
        around.reach("Strap")
        lines = check.run("order")
        begin = lines.index(f"notifying {RAW_VALUE}: true") + 1
        expected = []
        for number in range(20):
            expected.append("wrote 2A39: done")
            expected += [f"value {RAW_VALUE}: {number:02x}{part:02x}" for part in range(3)]
        assert lines[begin:-1] == expected

    def test_the_first_state_comes_for_a_delegate_set_later(self, check):
        assert check.run("state") == ["state: poweredOn", "late: state: poweredOn"]

    def test_the_first_state_of_an_unknown_adapter_is_unsupported(self, check):
        assert check.run("state", adapter="nonsense") == ["state: unsupported", "late: state: unsupported"]

    def test_what_is_restored_comes_before_the_first_state(self, around, check):
        around.reach("Strap")
        check.run("abandon")
        lines = check.run("restore")
        assert lines[:3] == ["restored: Strap connecting", "state: poweredOn", "connected Strap"]

    def test_many_requests_in_a_row_are_each_answered_once(self, around, check):
        around.reach("Sensor")
        lines = check.run("everything")
        services = next(line for line in lines if line.startswith("services of Sensor: "))
        assert len(services.split()) == 3 + 9
        assert len([line for line in lines if line.endswith(": true")]) >= 14

    def test_a_connection_waits_for_a_ring_out_of_reach_beside_others(self, around, check):
        around.reach("R02_0001", "Strap")
        program = check.start("rings", identifier("R02_0002"))
        program.until("waiting")
        around.reach("R02_0001", "R02_0002", "Strap")
        check.finish(program)
        assert around.names("connected", 2) == ["R02_0001", "R02_0002"]

    def test_a_connect_that_follows_a_cancel_is_not_lost(self, around, check):
        around.reach("Strap")
        lines = check.run("again")
        ends = [line for line in lines if line.startswith("disconnected")]
        connects = [line for line in lines if line.startswith("connected")]
        # One end for each link, and one for the attempts that were given up.
        assert (len(ends), len(connects)) == (8, 7), lines

    def test_the_manager_holds_a_peripheral_while_it_connects_and_is_connected(self, around, check):
        around.reach()
        program = check.start("hold", identifier("R02_0001"))
        program.until("waiting")
        around.reach("R02_0001")
        check.finish(program)

    def test_misuse_after_a_disconnection_is_an_error(self, around, check):
        around.reach("Strap")
        check.run("misuse")

    def test_another_process_connects_by_the_identifier_and_has_the_name(self, around, check):
        around.reach("Strap")
        assert f"identifier: {identifier('Strap')}" in check.run("meet")
        lines = check.run("meet-again", identifier("Strap"))
        assert lines[:2] == ["state: poweredOn", "connected Strap"]

    def test_a_manager_that_is_gone_ends_its_own_scan_and_connection(self, around, check):
        around.reach("Strap", "R02_0001", "R02_0002")
        check.run("managers")
        assert around.names("disconnected", 2) == ["R02_0001", "Strap"]
        assert {event["reason"] for event in around.events("disconnected")} == {REMOTE_USER}

    def test_services_that_change_are_discovered_again(self, around, check):
        around.reach("Changing")
        lines = check.run("changes")
        assert len([line for line in lines if line.startswith("modified ")]) == 1

    @pytest.mark.parametrize(
        "behaviour", ["silent", "cut", "false_lengths", "standstill", "changes", "leaves 2"])
    def test_a_stranger_that_misbehaves_is_survived(self, around, check, behaviour):
        around.reach("Stranger")
        around.behave(behaviour)
        lines = check.run("stranger", behaviour)
        answers = [line for line in lines if line.startswith("services of ")]
        assert all(": error " in line for line in answers) == (behaviour != "changes"), lines
