"""The examples against CoreBluetooth and AccessorySetupKit, as they are, against peripherals over H4."""

import os
import subprocess
import sys
import time


import pytest
from conftest import HERE, ROOT


class Example:
    """A running example, whose lines are read as they are printed."""

    def __init__(self, name, adapter, state, *arguments):
        found = [ROOT / ".build" / kind / name for kind in ("release", "debug")]
        path = next((path for path in found if path.exists()), None)
        if path is None:
            pytest.fail(f"{name} is missing; build it with `swift build -c release --product {name}`")
        self.process = subprocess.Popen(
            ["stdbuf", "-oL", path, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
            env=os.environ | {"HALO_ADAPTER": adapter, "XDG_STATE_HOME": str(state), "HOME": str(state)})
        self.lines = []

    def until(self, text) -> list[str]:
        """The lines up to the first one that contains a text."""
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            if text in line:
                return self.lines
        pytest.fail(f"no {text!r} in {self.lines}; {self.process.stderr.read()}")

    def exit_code(self) -> int:
        out, _ = self.process.communicate(timeout=20)
        self.lines += out.splitlines()
        return self.process.returncode

    def close(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.communicate(timeout=20)


@pytest.fixture
def example(tmp_path):
    """Starts an example; all runs of a test have one place for what is stored."""
    started = []

    def start(name, adapter, *arguments) -> Example:
        started.append(Example(name, adapter, tmp_path / "state", *arguments))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.fixture
def bird():
    """A bird that leaves after a second."""
    process = subprocess.Popen(
        [sys.executable, HERE / "bumble_bird.py", "tcp-server:127.0.0.1:0", "--visit", "1"],
        stdout=subprocess.PIPE, text=True)
    yield f"tcp:127.0.0.1:{process.stdout.readline().split()[1]}"
    process.terminate()
    process.wait(timeout=20)


def test_the_bird_is_read_each_time_that_it_comes(example, bird):
    watcher = example("bird", bird)
    for _ in range(3):
        lines = watcher.until("left: the peer ended the connection")
        visit, watcher.lines = lines, []
        assert visit[0].startswith("found Bird, -50 dBm")
        assert visit[1] == "Möwe: weiß, alpha 0.75"


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


def test_a_ring_that_is_away_is_connected_to_when_it_comes_back(example, ring_with):
    """The second run starts while the adapter's radio hears nothing of the ring."""
    ring = ring_with()
    first = example("ring-session", ring.adapter)
    first.until("connected")
    first.close()
    strap = subprocess.Popen(
        [sys.executable, HERE / "bumble_heart_rate.py", "tcp-server:127.0.0.1:0"],
        stdout=subprocess.PIPE, text=True)
    try:
        elsewhere = example("ring-session", f"tcp:127.0.0.1:{strap.stdout.readline().split()[1]}")
        elsewhere.until("connecting to R02_341C")
        time.sleep(1)
        assert elsewhere.process.poll() is None
    finally:
        strap.terminate()
        strap.wait(timeout=20)
    second = example("ring-session", ring.adapter)
    second.until("battery")
