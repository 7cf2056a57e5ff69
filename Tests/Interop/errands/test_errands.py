"""The errands of errand_list.py, by each door, over H4."""

import os

import pytest
from errand_doors import CommandDoor, LibraryDoor, Peers

pytest.register_assert_rewrite("errand_list")

from errand_list import (  # noqa: E402
    DOORS, ERRANDS, at_devices, check_both_roles, check_devices, check_served_value, check_values)


@pytest.fixture
def peers(tmp_path, request):
    errand = ERRANDS[request.param]
    if errand.clients:
        made = Peers("bumble_clients.py", tmp_path / "events.jsonl", "--clients", *errand.clients)
    else:
        made = Peers("bumble_errands.py", tmp_path / "events.jsonl", "--habit", errand.habit)
    yield made
    made.close()
    assert made.events("breach") == []


@pytest.fixture
def run(peers, halo, tmp_path):
    """Does an errand by a door; the lines."""
    def run(name, door, sign=None):
        errand = ERRANDS[name]
        made = (CommandDoor(halo, peers) if door == "halo-raw"
                else LibraryDoor(door, peers, tmp_path / "state", dict(os.environ)))
        lines = made.run(errand.does or name, errand.argument, sign or errand.sign)
        # A command is interrupted at once, and a library takes the time that a link needs for its end.
        assert made.seconds is None or made.seconds < 5
        return lines
    return run


def cases(chosen):
    """The errands, as parameters, with each door that can do them."""
    for name in chosen:
        for door in DOORS:
            if door == "halo-raw" and (ERRANDS[name].does or name) in CommandDoor.MISSING:
                continue
            marks = [pytest.mark.verdict]
            if door in ERRANDS[name].long:
                marks.append(pytest.mark.long)
            yield pytest.param(name, name, door, id=f"{name}-{door}", marks=marks)


def each(*chosen):
    return pytest.mark.parametrize("peers, name, door", cases(chosen), indirect=["peers"])


@each(*at_devices())
def test_an_errand_at_a_device(peers, name, door, run):
    check_devices(peers, name, door, run)


@each("serve", "a served peripheral")
def test_a_value_that_is_served_is_read_and_written(peers, name, door, run):
    check_served_value(peers, name, door, run)


@each("both roles")
def test_the_central_role_uses_the_link_that_a_client_has_made(peers, name, door, run):
    check_both_roles(peers, name, door, run)


@each("serve three", "serve many")
def test_values_come_to_all_that_take_them(peers, name, door, run):
    check_values(peers, name, door, run)


def test_commands_have_each_errand_or_a_reason():
    names = {errand.does or name for name, errand in ERRANDS.items()}
    done = {name for name in names if hasattr(CommandDoor, name.replace(" ", "_"))}
    assert done.isdisjoint(CommandDoor.MISSING) and done | set(CommandDoor.MISSING) == names
