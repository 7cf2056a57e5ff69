"""What the second chapter of Halo does (docs/halo.md), by `live-heart-rate`: with the virtual ring, and with a ring that is not
ours."""

import re

import pytest
import ring_measurement
from example_program import examples
from program import ROOT

PAGE = (ROOT / "docs/halo.md").read_text()
FAST = "virtual:fast"
BEGINNING = ["connecting", "connected", "battery 87 %", "measuring"]
# With this time between two frames, a measurement of the ring on Bumble takes little more than a second.
TICK = ("--tick", 0.02)


@pytest.fixture
def live(tmp_path):
    """Starts the program, with one place for all that it stores."""
    with examples(tmp_path / "state") as start:
        yield lambda adapter, *arguments: start("live-heart-rate", adapter, *map(str, arguments))


def rates(lines) -> list[int]:
    return [int(line.split()[2]) for line in lines if re.fullmatch(r"heart rate \d+ bpm", line)]


def requests(ring) -> list[str]:
    """The first three bytes of each frame that was written to the ring."""
    return [event["frame"][:6] for event in ring.events("command")]


@pytest.mark.parametrize("adapter", [FAST, "virtual:warm-up=1"])
def test_ten_heart_rates_of_the_virtual_ring(live, adapter):
    program = live(adapter)
    assert program.exit_code() == 0, program.lines
    assert program.lines[:4] == BEGINNING
    values = rates(program.lines[4:])
    assert len(values) == len(program.lines[4:]) == 10 and all(40 < value < 120 for value in values)


@pytest.mark.verdict
def test_the_heart_rates_of_a_stranger(live, ring_with, tmp_path):
    """It is found by the company that it advertises, chosen once, and told to stop before the link ends."""
    ring = ring_with("--battery", 64, *TICK)
    first = live(ring.adapter)
    assert first.exit_code() == 0, first.lines
    assert first.lines[:4] == ["connecting", "connected", "battery 64 %", "measuring"]
    assert rates(first.lines[4:]) == ring_measurement.HEART_RATES
    assert requests(ring) == ["030000", "690101", "6a0100"]
    ring.wait_for("measurement ended", why="stopped")
    ring.wait_for("disconnected", reason=0x13)
    assert (tmp_path / "state/halo-raw/accessories.json").exists()
    second = live(ring.adapter, 1)
    assert second.exit_code() == 0, second.lines
    assert rates(second.lines) == ring_measurement.HEART_RATES[:1]


def test_a_measurement_that_has_ended_is_continued(live, ring_with):
    """One has ten values; the ring says nothing after the last."""
    ring = ring_with(*TICK)
    program = live(ring.adapter, 12)
    program.until("heart rate")
    assert program.exit_code() == 0, program.lines
    assert rates(program.lines) == ring_measurement.HEART_RATES + ring_measurement.HEART_RATES[:2]
    assert requests(ring) == ["030000", "690101", "690103", "6a0100"]


def test_a_ring_that_is_not_worn(live, ring_with):
    ring = ring_with("--not-worn", *TICK)
    program = live(ring.adapter)
    assert program.exit_code() == 1
    assert program.lines[-1] == "no heart rate: the ring is not worn" and not rates(program.lines)
    assert requests(ring) == ["030000", "690101", "6a0100"]


@pytest.mark.parametrize(("adapter", "arguments", "last"), [
    (f"{FAST},refuse-measurements", [], "the ring does not measure heart rates"),
    ("hci77", [], "not chosen: .+"),
    (FAST, ["none"], "the argument has to be a number of heart rates"),
    (FAST, [0], "the argument has to be a number of heart rates")])
def test_an_error_is_told(live, adapter, arguments, last):
    program = live(adapter, *arguments)
    assert program.exit_code() == 1
    assert re.fullmatch(last, program.lines[-1]), program.lines


@pytest.mark.verdict
def test_the_page_shows_what_the_program_prints(live):
    shown, = re.findall(r"^```text\n(connecting\n.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    count, = re.findall(r"^ {4}swift run live-heart-rate (\d+)$", PAGE, re.MULTILINE)
    program = live(FAST, count)
    assert program.exit_code() == 0, program.lines
    assert program.lines == shown.splitlines()
