"""Which device a command uses that names none: a known ring, the only one, or the one that is chosen on a terminal."""

import os
import pty
import re
import select
import signal
import subprocess
import time

import pytest
from program import NOT_FOUND, TIMEOUT

TWO = "virtual:rings=2"


class Terminal:
    """The program with a terminal for standard input and standard error."""

    def __init__(self, halo, *arguments):
        self.master, slave = pty.openpty()

        def own_terminal():
            os.setsid()
            import fcntl
            import termios
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            [str(halo.path), *map(str, arguments)], stdin=slave, stderr=slave, stdout=subprocess.PIPE, text=True,
            env=halo.environment, preexec_fn=own_terminal)
        halo.processes.append(self.process)
        os.close(slave)
        self.seen = ""

    def read_until(self, pattern):
        deadline = time.monotonic() + 15
        while not re.search(pattern, self.seen):
            assert time.monotonic() < deadline, self.seen
            if select.select([self.master], [], [], 0.1)[0]:
                self.seen += os.read(self.master, 4096).decode()
        return self.seen

    def type(self, text):
        os.write(self.master, text.encode())

    def end(self):
        out, _ = self.process.communicate(timeout=15)
        try:
            while chunk := os.read(self.master, 4096):
                self.seen += chunk.decode()
        except OSError:
            pass
        os.close(self.master)
        return self.process.returncode, out


@pytest.fixture
def terminal(halo):
    return lambda *arguments: Terminal(halo, *arguments)


def test_a_ring_is_chosen_by_its_number(terminal):
    run = terminal("battery", "--format", "jsonl", "--adapter", f"{TWO},ring=2,battery=12")
    seen = run.read_until(r"number \(1 to 2\): ")
    assert "several rings are near:" in seen
    number = re.search(r"(\d)  R02_BEF0 30:35:38:41:BE:F0  -56 dBm", seen)[1]
    run.type("7\r")
    run.read_until(r"(?s)number \(1 to 2\): .*number \(1 to 2\): ")
    run.type(f"{number}\r")
    code, out = run.end()
    assert code == 0 and '"percent":12' in out


@pytest.mark.parametrize("end, expected", [("\x04", NOT_FOUND), ("\x03", 130), (signal.SIGTERM, 130)])
def test_a_choice_that_is_not_made(terminal, end, expected):
    run = terminal("battery", "--adapter", TWO)
    run.read_until(r"number \(1 to 2\): ")
    if isinstance(end, str):
        run.type(end)
    else:
        run.process.send_signal(end)
    code, out = run.end()
    assert code in (expected, -15, 143) and out == "", run.seen


def test_without_a_terminal_the_rings_are_listed(halo):
    result = halo.run("battery", adapter=TWO).failed(NOT_FOUND, saying="R02_BEEF 30:35:38:41:BE:EF")
    assert "R02_BEF0 30:35:38:41:BE:F0" in result.err and "name" in result.err


def test_a_ring_that_is_much_nearer(halo):
    result = halo.run("battery", "--format", "jsonl", adapter=f"{TWO},ring=2,rssi=-30,battery=7").succeeded()
    assert result.records()[0]["percent"] == 7
    assert "2 rings are near; using R02_BEF0 30:35:38:41:BE:F0, which is much nearer" in result.err


def test_a_recording_uses_a_known_ring_and_is_replayed_as_it_was(halo, ring, state, tmp_path):
    path, again = tmp_path / "first.btsnoop", tmp_path / "second.btsnoop"
    command = ["stream", "--ppg", "--count", 20, "--format", "jsonl"]
    first = halo.run(*command, "--record", path, "-v", adapter=ring.adapter).succeeded()
    assert "found" in first.err and (state / "rings.json").exists()
    second = halo.run(*command, "--record", again, "-v", adapter=ring.adapter).succeeded()
    assert "without a scan" in second.err and "found" not in second.err
    decoded = halo.run("decode", again).succeeded().out
    assert "Scan Enable" not in decoded and "Read By Group Type" not in decoded
    # The replay needs no store of this machine.
    (state / "rings.json").unlink()
    for name, live in ((path, first), (again, second)):
        result = halo.run("replay", name, *command).succeeded()
        assert result.out == live.out and "all as in the recording" in result.err


@pytest.mark.parametrize("name", [[], ["R02_BEEF"]])
def test_a_ring_that_advertises_and_does_not_answer(halo, name):
    result = halo.run("battery", *name, "--wait", "5s", adapter="virtual:fast,advertising=50,ignore-connections")
    result.failed(TIMEOUT, saying="advertises, but answered no request to connect for")
    assert "did not advertise" not in result.err


def test_a_ring_that_does_not_answer_holds_no_other_up(halo):
    result = halo.run(
        "stream", "R02_BEEF", "R02_BEF0", "--ppg", "--count", 50, "--wait", "20s", "--format", "jsonl",
        adapter="virtual:fast,rings=2,ring=1,ignore-connections")
    records = result.records()
    assert [record["seq"] for record in records] == list(range(50)) and records[-1]["t"] < 5
    assert "R02_BEEF: 30:35:38:41:BE:EF" in result.err and result.code in (NOT_FOUND, TIMEOUT)
