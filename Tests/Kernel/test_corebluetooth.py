"""What programs rely on, on adapters of the kernel: all of it by way of the kernel. Without it, programs have the stack that they
have over H4 (Tests/Interop): there, what depends on the adapter.
"""

from argparse import Namespace

import bleak_bird
import bumble_peripherals
import peripherals
import pytest
import two_adapters
from adapters import KernelAdapter
from example_program import examples

pytest.register_assert_rewrite("corebluetooth_points")

from corebluetooth_points import Neighbourhood, Points, check  # noqa: E402, F401


class Room(Neighbourhood):
    """The neighbourhood of an adapter, in a fork."""

    def __init__(self, events):
        self.events_file, self.seen = events, 0
        self.peripherals = peripherals.Peripheral(
            bumble_peripherals.run, Namespace(transport="vhci", events=events), takes_commands=True)
        self.where, = self.peripherals.names

    def command(self, *words):
        self.peripherals.command(*words)

    def close(self):
        self.peripherals.close()


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    room = Room(tmp_path_factory.mktemp("around") / "events.jsonl")
    yield room
    room.close()


@pytest.fixture
def around(room, request):
    adapter = KernelAdapter(room.where)
    adapter.down() if request.cls.way else adapter.up()
    room.adapter = request.cls.way + room.where
    return room


class OfTheAdapter:
    def test_the_first_state_of_an_adapter_that_is_missing_is_unsupported(self, around, check):
        missing = around.adapter.replace(around.where, "hci99")
        assert check.run("state", adapter=missing) == ["state: unsupported", "late: state: unsupported"]

    def test_the_first_state_comes_while_the_adapter_cannot_be_used(self, around, check):
        """Down for the kernel's way, up for the other one, which needs it down."""
        adapter, needs_up = KernelAdapter(around.where), not around.adapter.startswith("user:")
        adapter.down() if needs_up else adapter.up()
        try:
            program = check.start("state", "poweredOn")
            bad = program.until("late: state: ")[0]
            assert bad == ("state: poweredOff" if needs_up else "state: resetting")
        finally:
            adapter.up() if needs_up else adapter.down()
        lines = check.finish(program)
        assert sorted(lines) == sorted([bad, f"late: {bad}", "state: poweredOn", "late: state: poweredOn"])

    def test_the_first_state_without_a_capability_is_unauthorized(self, around, check):
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
        expected = ["state: unauthorized", "late: state: unauthorized"]
        assert check.run("state", before=nobody) == expected


class TestPoints(OfTheAdapter, Points):
    way = ""

    @pytest.mark.parametrize("behaviour", ["silent", "cut"])
    def test_a_stranger_that_misbehaves_is_survived(self, around, check, behaviour):
        """All that it can do is in test_hostile.py."""
        super().test_a_stranger_that_misbehaves_is_survived(around, check, behaviour)


class TestOnTheUserChannel(OfTheAdapter):
    way = "user:"
    test_callbacks_come_in_the_order_of_the_wire = Points.test_callbacks_come_in_the_order_of_the_wire
    test_a_connection_waits_for_a_ring_out_of_reach_beside_others = (
        Points.test_a_connection_waits_for_a_ring_out_of_reach_beside_others)
    test_a_manager_that_is_gone_ends_its_own_scan_and_connection = (
        Points.test_a_manager_that_is_gone_ends_its_own_scan_and_connection)


@pytest.fixture
def two(rings):
    """Two adapters of one radio, which are up. The ring of a test before has the address of one, which bluetoothd would not take
    twice."""
    rings.remove()
    made = peripherals.Peripheral(two_adapters.run, None)
    both = [KernelAdapter(name) for name in made.names]
    for adapter in both:
        adapter.up()
    yield both
    made.close()


def test_a_bird_is_watched_by_bluetoothd(two, bluetoothd, tmp_path):
    """Its adapter and that of the watcher are those of one machine, on which bluetoothd runs."""
    with examples(tmp_path / "state") as start:
        bird = start("bird-peripheral", two[0].name)
        bird.until("advertising")
        seen = peripherals.result_of(bleak_bird.watch, two[1].name)
        assert seen["name"] == "Bird" and seen["read"] == ["Möwe", "weiß"]
        first, second = (round(4 * alpha) for alpha in seen["notified"])
        assert (first + 1) % 5 == second
        lines = bird.until("not watched")
    assert lines[1] == "colour: rot" and lines[2].startswith("watched, ")
