"""The program under test, and the strangers that it meets."""

import datetime
import os
import signal
import time

import pytest
from built import built
from event_lines import event_lines
from program import ROOT, Halo
from ring_process import RingProcess
from simulation import Simulation


# nohup(1) has a process ignore this signal, and all that it starts; what a program takes care of itself is not passed on.
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)


# Many tests compare days: in the evening, they live in a zone where it is noon, as no day may end meanwhile.
if (now := datetime.datetime.now().astimezone()).hour >= 22:
    offset = now.utcoffset() // datetime.timedelta(hours=1) % 24 - 12
    os.environ["TZ"] = f"NOON{-offset:+}"
    time.tzset()


# How long a test may take, in seconds; and one that builds Swift.
LONGEST, LONGEST_BUILD = 240, 20 * 60
BUILDS = {"dependents", "recipes"}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With several workers, none is left alone with slow tests at the end: who has nothing to do takes them over."""
    if config.getoption("dist") == "load":
        from xdist.scheduler import WorkStealingScheduling
        return WorkStealingScheduling(config, log)


@pytest.fixture(scope="session")
def halo(tmp_path_factory) -> Halo:
    program = Halo(built(), tmp_path_factory.mktemp("home"))
    yield program
    program.end_all()


@pytest.fixture(autouse=True)
def environment_of_one_test(request):
    """All tests of a worker share the program: what one changes in its environment is not there for the next."""
    program = request.getfixturevalue("halo") if "halo" in request.fixturenames else None
    before = program and dict(program.environment)
    yield
    if program:
        program.environment = before


@pytest.fixture(autouse=True)
def deadline(request):
    """No test waits for ever, whatever it reads from. The slowest takes ten seconds, and many more on a machine that is
    busy with builds."""
    longest = LONGEST_BUILD if BUILDS & {mark.name for mark in request.node.iter_markers()} else LONGEST

    def give_up(*_):
        pytest.fail(f"the test took more than {longest} s")

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(longest)
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
    halo.environment["XDG_STATE_HOME"] = str(tmp_path / "state")
    return tmp_path / "state" / "halo-raw"


@pytest.fixture
def from_the_repository(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.fixture
def simulation(halo):
    """Our virtual ring, which lives on between the program's runs."""
    made = Simulation(halo)
    yield made
    made.close()
