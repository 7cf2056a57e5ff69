"""The program under test, and the strangers that it meets."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))

from built import built  # noqa: E402
from event_lines import event_lines  # noqa: E402


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With several workers, none is left alone with slow tests at the end: who has nothing to do takes them over."""
    if config.getoption("dist") == "load":
        from xdist.scheduler import WorkStealingScheduling
        return WorkStealingScheduling(config, log)


# The documented exit codes.
OK, USAGE, BAD_DATA, NO_FILE, NO_ADAPTER, SYSTEM, IO_ERROR = 0, 64, 65, 66, 69, 71, 74
TIMEOUT, PROTOCOL, REPLAY_DIFFERS, NOT_FOUND, CONNECTION_LOST = 75, 76, 78, 79, 80


class Result:
    """How a run of the program ended."""

    def __init__(self, arguments, code, out, err):
        self.arguments, self.code, self.out, self.err = arguments, code, out, err

    def records(self) -> list[dict]:
        """Standard output as JSON lines, of which the last one must be whole, too."""
        assert self.out == "" or self.out.endswith("\n"), f"half a line: {self.out[-80:]!r}"
        return [json.loads(line) for line in self.out.splitlines()]

    def succeeded(self) -> "Result":
        assert self.code == OK, self
        return self

    def failed(self, *codes, saying="") -> "Result":
        """One line on standard error says why, and nothing looks like a crash."""
        assert self.code in codes, self
        lines = self.err.splitlines()
        assert len(lines) == 1, self
        assert saying.lower() in lines[0].lower(), self
        for sign in ("Fatal error", "Stack dump", "Thread 0", "Backtrace", "0x00007"):
            assert sign not in self.err, self
        return self

    def __repr__(self):
        return (
            f"`halo-raw {' '.join(map(str, self.arguments))}` ended with {self.code}\n"
            f"stdout: {self.out[-500:]}\nstderr: {self.err[-2000:]}")


class Halo:
    """The program under test. `patience`: how many seconds a command may take, where a test does not say it."""

    def __init__(self, path: Path, home: Path, patience=20):
        self.path, self.patience = path, patience
        self.processes = []
        # Nothing of the user's, and nothing left there.
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith("HALO_")
        } | {"HOME": str(home), "XDG_CACHE_HOME": str(home), "XDG_CONFIG_HOME": str(home),
            # Rings of one address and different kinds: nothing is remembered, unless a test asks for it.
            "XDG_STATE_HOME": "/dev/null"}

    def start(self, *arguments, adapter=None, **options) -> subprocess.Popen:
        command = [str(self.path), *map(str, arguments)]
        if adapter:
            command += ["--adapter", adapter]
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, env=self.environment, **options)
        self.processes.append(process)
        return process

    def end_all(self):
        """Ends what a failed test left running."""
        for process in self.processes:
            if process.poll() is None:
                process.kill()
                process.wait()
        self.processes.clear()

    def run(self, *arguments, adapter=None, timeout=None, **options) -> Result:
        process = self.start(*arguments, adapter=adapter, **options)
        return self.wait(process, timeout)

    def wait(self, process, timeout=None) -> Result:
        timeout = timeout or self.patience
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            pytest.fail(f"still running after {timeout} s: "
                        f"{Result(process.args[1:], None, out or '', err or '')}")
        return Result(process.args[1:], process.returncode, out or "", err or "")


class RingProcess:
    """A running bumble_ring.py."""

    address = "D2:5C:0A:1E:34:1C"
    name = "R02_341C"

    def __init__(self, events: Path, options, transport="tcp-server:127.0.0.1:0"):
        self.events_file = events
        self.seen = 0
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "bumble_ring.py"), transport, "--events", str(events),
             *map(str, options)],
            stdout=subprocess.PIPE, text=True)
        ready, _, where = self.process.stdout.readline().strip().partition(" ")
        if ready != "ready":
            pytest.fail("bumble_ring.py did not start")
        self.where = where

    @property
    def adapter(self) -> str:
        return f"unix:{self.where}" if "/" in self.where else f"tcp:127.0.0.1:{self.where}"

    def events(self, kind=None) -> list[dict]:
        """What happened since the test began."""
        lines = event_lines(self.events_file)[self.seen:]
        happened = [json.loads(line) for line in lines]
        return [event for event in happened if kind in (None, event["event"])]

    def wait_until(self, met, what: str):
        """What `met` returns, as soon as that is something."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if result := met():
                return result
            time.sleep(0.01)
        pytest.fail(f"no {what} among {self.events()}")

    def wait_for(self, kind: str, **facts) -> dict:
        """The first event of the kind that has these facts."""
        return self.wait_until(
            lambda: next((e for e in self.events(kind) if facts.items() <= e.items()), None),
            f"{kind} {facts}")

    def commands(self) -> list[str]:
        """The first two bytes of each frame that was written to the ring."""
        return [event["frame"][:4] for event in self.events("command")]

    def check_farewell(self):
        """Every host disconnected in order: reason 'remote user terminated connection'."""
        def all_gone():
            attached = [event["attached"] for event in self.events("host")]
            # The last host of the test before may have gone since then.
            attached = attached[attached.index(True):] if True in attached else []
            return attached and attached.count(True) == attached.count(False)

        self.wait_until(all_gone, "end of the last host")
        reasons = [event["reason"] for event in self.events("disconnected")]
        assert reasons and set(reasons) == {0x13}, self.events()

    def check_conduct(self):
        """No rule of the specification was broken."""
        assert self.process.poll() is None, "bumble_ring.py died"
        assert self.events("breach") == []

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=30)


@pytest.fixture(scope="session")
def halo(tmp_path_factory) -> Halo:
    program = Halo(built(), tmp_path_factory.mktemp("home"))
    yield program
    program.end_all()


@pytest.fixture(autouse=True)
def deadline():
    """No test waits for ever, whatever it reads from."""
    def give_up(*_):
        pytest.fail("the test took more than 40 s")

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(40)
    yield
    signal.alarm(0)


@pytest.fixture(scope="session")
def shared_ring(tmp_path_factory):
    """One ring for all tests that need nothing special, one host after the other."""
    ring = RingProcess(tmp_path_factory.mktemp("ring") / "events.jsonl", ["--rate", 500])
    yield ring
    ring.close()


@pytest.fixture
def ring(shared_ring) -> RingProcess:
    shared_ring.seen = len(event_lines(shared_ring.events_file))
    yield shared_ring
    shared_ring.check_conduct()


@pytest.fixture
def ring_with(tmp_path):
    """Makes a ring with options of its own."""
    rings = []

    def make(*options, **named) -> RingProcess:
        rings.append(RingProcess(tmp_path / f"events{len(rings)}.jsonl", options, **named))
        return rings[-1]

    yield make
    for ring in rings:
        try:
            ring.check_conduct()
        finally:
            ring.close()


@pytest.fixture
def state(halo, tmp_path):
    """A place for what the program remembers."""
    before = halo.environment["XDG_STATE_HOME"]
    halo.environment["XDG_STATE_HOME"] = str(tmp_path / "state")
    yield tmp_path / "state" / "halo-raw"
    halo.environment["XDG_STATE_HOME"] = before


@pytest.fixture
def simulation(halo):
    """Our virtual ring, which lives on between the program's runs."""
    from simulation import Simulation
    made = Simulation(halo)
    yield made
    made.close()
