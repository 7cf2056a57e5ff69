"""Radios that fail again as soon as they were recovered. Each failure passes time, and a radio that is well is used.

Reports: controllers that report Hardware Error again and again, eleven seconds after the last one (raspberrypi/linux 3330, 2229;
bluez/bluez 1170); a line behind ser2net that is closed as soon as it is opened, as its device is missing, and comes back later
(cminyard/ser2net 35, 67); programs that repeat without a pause (bluez/bluez 784, perezjuanj/OpenCircuit 35), and why they should
not (Bluetooth-Devices/bleak-retry-connector 67).
"""

import signal
import time

import pytest
from broken_line import BrokenLine
from program import cpu_seconds, wait_until
from simulation import Simulation

ADVERTISE, SCAN, CREATE = {0x200A, 0x2039}, {0x200C, 0x2042}, {0x200D, 0x2043}


@pytest.fixture
def simulation(halo):
    ring = Simulation(halo)
    yield ring
    ring.close()


@pytest.fixture
def broken(simulation):
    lines = []

    def line(way, fails):
        lines.append(BrokenLine(simulation.adapter, way, fails))
        return lines[-1]

    yield line
    for one in lines:
        one.close()


def times(count):
    """Whether a command is one of the first ones of its kind."""
    left = [count]

    def is_one():
        left[0] -= 1
        return left[0] >= 0

    return is_one


@pytest.fixture
def table(halo, tmp_path):
    path = tmp_path / "ring.jsonl"
    path.write_text(halo.run("inspect", "--format", "jsonl", adapter="virtual:fast").succeeded().out)
    return path


@pytest.mark.verdict
@pytest.mark.parametrize("way", ["reports", "closes"])
def test_a_server_outlives_each_failure(halo, broken, table, way):
    """Seven hardware errors ended it, with `--retry-for forever`, and a line that closes at once was opened 45 times a second."""
    is_one = times(7)
    line = broken(way, lambda opcode: opcode in ADVERTISE and is_one())
    process = halo.start("serve", table, "--retry-for", "forever", adapter=line.adapter)
    wait_until(lambda: len(line.failures) == 7, "seven failures", seconds=60)
    begin = line.failures[0]
    if way == "closes":
        # After 0, 0.25, 0.5, 1, 2 and 4 seconds.
        assert line.failures[-1] - begin > 7.5
    for text in process.stderr:
        if time.monotonic() > line.failures[-1] and text.startswith("advertising at"):
            break
    assert process.poll() is None and cpu_seconds(process) < 3
    process.send_signal(signal.SIGINT)
    halo.wait(process).succeeded()


@pytest.mark.parametrize("command", [("stream", "--ppg", "--format", "jsonl"), ("subscribe", "R02_BEEF", "--uuid", "2A19")])
def test_a_controller_that_is_well_again_is_used(halo, broken, command):
    """It fails for five seconds, at each attempt to scan or connect. Its recovery was not tried again for a minute, at the full
    speed of the processor; `-v` wrote ten megabytes a second meanwhile."""
    begin = time.monotonic()
    line = broken("reports", lambda opcode: opcode in SCAN | CREATE and time.monotonic() < begin + 5)
    process = halo.start(*command, "--retry-for", "forever", "-v", adapter=line.adapter)
    connected = next(text for text in process.stderr if text.startswith("connected:"))
    assert connected and 5 < time.monotonic() - begin < 25
    assert cpu_seconds(process) < 3
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    # Interrupted before or after the first value.
    assert process.returncode in (0, 130) and len(err) < 10_000


def test_the_rest_of_the_minute_is_said(halo, broken):
    """Until it is over, the radio is not switched off and on again."""
    line = broken("reports", lambda opcode: opcode in SCAN | CREATE)
    process = halo.start("stream", "--ppg", "--wait", "20s", "-v", adapter=line.adapter)
    _, err = process.communicate(timeout=60)
    notes = [text for text in err.splitlines() if "it is not switched off and on again in the next" in text]
    # What a loop without a pause says is long.
    assert 1 <= len(notes) < 12 and len(err) < 20_000, err
