"""The examples against CoreBluetooth and AccessorySetupKit, as they are, against peripherals over H4."""

import subprocess
import sys
import time

import pytest
from example_program import examples
from program import PEERS


@pytest.fixture
def example(tmp_path):
    with examples(tmp_path / "state") as start:
        yield start


@pytest.fixture
def peripheral():
    """Starts a peripheral, and gives the adapter that leads to it."""
    started = []

    def start(script, *options) -> str:
        process = subprocess.Popen(
            [sys.executable, PEERS / script, "tcp-server:127.0.0.1:0", *options], stdout=subprocess.PIPE, text=True)
        started.append(process)
        return f"tcp:127.0.0.1:{process.stdout.readline().split()[1]}"

    yield start
    for process in started:
        process.terminate()
        process.wait(timeout=20)


@pytest.fixture
def bird(peripheral):
    """A bird that leaves after a second."""
    return peripheral("bumble_bird.py", "--visit", "1")


@pytest.fixture
def strap(peripheral):
    return peripheral("bumble_heart_rate.py")


def test_the_bird_is_read_each_time_that_it_comes(example, bird):
    watcher = example("bird", bird)
    for _ in range(3):
        lines = watcher.until("left: The specified device has disconnected from us.")
        visit, watcher.lines = lines, []
        assert visit[0].startswith("found Bird, -50 dBm")
        assert visit[1] == "Möwe: weiß, alpha 0.75"


@pytest.mark.verdict
def test_a_ring_is_chosen_once_and_forgotten(example, ring_with, tmp_path):
    ring = ring_with("--battery", "64")
    first = example("ring-session", ring.adapter)
    lines = first.until("battery 64 %")
    assert lines[:3] == ["saved Smart ring", "connecting to R02_341C", "connected"]
    first.close()
    mode = (tmp_path / "state/halo-raw/accessories.json").stat().st_mode
    assert mode & 0o777 == 0o600
    second = example("ring-session", ring.adapter)
    assert second.until("battery 64 %")[:2] == ["connecting to R02_341C", "connected"]
    second.close()
    forgetting = example("ring-session", ring.adapter, "forget")
    assert forgetting.exit_code() == 0 and "forgot Smart ring" in forgetting.lines
    assert example("ring-session", ring.adapter, "forget").exit_code() == 1


def test_a_ring_that_is_away_is_connected_to_when_it_comes_back(example, ring_with, strap):
    """The second run starts while the adapter's radio hears nothing of the ring."""
    ring = ring_with()
    first = example("ring-session", ring.adapter)
    first.until("connected")
    first.close()
    elsewhere = example("ring-session", strap)
    elsewhere.until("connecting to R02_341C")
    time.sleep(1)
    assert elsewhere.process.poll() is None
    second = example("ring-session", ring.adapter)
    second.until("battery")


def test_a_heart_rate_is_received(example, strap):
    lines = example("heart-rate-central", strap).until(" bpm")
    assert any(line.startswith("found ") for line in lines)


def test_everything_of_a_device_is_read(example, ring_with):
    explorer = example("explore", ring_with().adapter, "R02_")
    assert explorer.exit_code() == 0
    assert "service Device Information" in explorer.lines
    assert any(line.endswith(": R02_3.00.06_BUMBLE") for line in explorer.lines)
