"""`events --exec`: a command at a gesture, a key, a button and an alarm. What people want of gestures: tahnok/colmi_r02_client 5; to
turn pages, Puxtril/colmi-docs 2; to switch what is at home, atc1441/ATC_RF03_Ring 23."""

import importlib.machinery
import importlib.util
import os
import re
import signal
import struct
import subprocess
import time

import pytest
from program import NO_FILE, OK, ROOT, USAGE

FAST = "virtual:fast"
JSON = ("--format", "jsonl")
EVENTS = ("events", "--count", 11, "--adapter", "virtual:fast,events=1", *JSON)
# Of the eleven events that the virtual ring sends, those that are an action or an alarm.
ACTIONS = [["key", "next"], ["find-phone", "begins"], ["button", "tap"], ["heart-rate-alarm", "too-high", "131"]]


@pytest.fixture
def program(tmp_path):
    """A program that notes its arguments, each ended by a zero byte, and does what its text says."""
    def make(text="", name="act"):
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{{ printf '%s\\0' \"$@\"; echo; }} >> {tmp_path}/log\n{text}\n")
        path.chmod(0o755)
        return path
    return make


def runs(tmp_path):
    log = tmp_path / "log"
    return [line.split("\0")[:-1] for line in log.read_text().splitlines()] if log.exists() else []


@pytest.mark.verdict
def test_actions_and_alarms_run_it(halo, tmp_path, program):
    result = halo.run(*EVENTS, "--exec", program("echo done; echo to-stderr >&2")).succeeded()
    assert runs(tmp_path) == ACTIONS
    # The records are as without it; what the command prints is no part of them.
    assert len(result.records()) == 11 and "done" not in result.out
    assert result.err.count("done") == result.err.count("to-stderr") == 4


@pytest.mark.verdict
def test_the_hand_is_shaken(halo, tmp_path, program):
    halo.run("events", "--camera", "--count", 4, "--exec", program(), adapter=FAST).succeeded()
    assert runs(tmp_path) == [["camera", "shake"]] * 3


@pytest.mark.verdict
def test_no_shell_reads_it(halo, tmp_path, program):
    """Its words are arguments, whatever they have; those of the event follow."""
    path = program(name="a b")
    words = f"'{path}' 'x  y' $HOME `id` ; rm -rf * \"it's\" '' a\\ b"
    halo.run("events", "--camera", "--count", 2, "--exec", words, adapter=FAST).succeeded()
    assert runs(tmp_path) == [["x  y", "$HOME", "`id`", ";", "rm", "-rf", "*", "it's", "", "a b", "camera", "shake"]]
    # A name is looked for in PATH.
    halo.environment["PATH"] = f"{tmp_path}:{os.environ['PATH']}"
    program(name="from-path")
    halo.run("events", "--camera", "--count", 2, "--exec", "from-path 1", adapter=FAST).succeeded()
    assert runs(tmp_path)[-1] == ["1", "camera", "shake"]


def test_one_runs_at_a_time_and_all_before_the_end(halo, tmp_path, program):
    path = program(f"mkdir {tmp_path}/lock || echo two >> {tmp_path}/twice; sleep 0.3; rmdir {tmp_path}/lock; echo over >> {tmp_path}/over")
    halo.run(*EVENTS, "--exec", path).succeeded()
    assert runs(tmp_path) == ACTIONS and not (tmp_path / "twice").exists()
    assert (tmp_path / "over").read_text() == "over\n" * 4


def test_a_slow_command_leaves_events_out(halo, tmp_path, program):
    """In real time, fifty events a second: eight actions wait, and the others are counted. All that wait are run at the end."""
    result = halo.run("events", "--count", 88, *JSON, "--exec", program("sleep 0.2"), adapter="virtual:events=0.02").succeeded()
    actions = sum(record["event"] in ("key", "find-phone", "button", "heart-rate-alarm") for record in result.records())
    left_out = sum(int(count) for count in re.findall(r"--exec left out (\d+) event", result.err))
    assert actions >= 28 and left_out > 5 and len(runs(tmp_path)) + left_out == actions
    assert runs(tmp_path)[:2] == ACTIONS[:2]


def test_a_command_that_fails_ends_nothing(halo, tmp_path, program):
    result = halo.run(*EVENTS, "--exec", program("exit 3")).succeeded()
    assert len(result.records()) == 11 and runs(tmp_path) == ACTIONS
    assert result.err.count("it has ended with status 3") == 4 and "--exec at button tap: " in result.err
    # It has bytes for a terminal that would obey them: they are shown, and not obeyed.
    result = halo.run("events", "--camera", "--count", 2, "--exec", program("printf '\\033[31mred\\n'"), adapter=FAST).succeeded()
    assert "\033" not in result.err and "red" in result.err
    result = halo.run("events", "--camera", "--count", 2, "--exec", program("yes"), adapter=FAST).succeeded()
    assert "bytes of output, and was killed" in result.err


@pytest.mark.parametrize("again", [False, True])
def test_ctrl_c_ends_it(halo, tmp_path, program, again):
    """With what it has started, also if it takes no notice of the signal itself."""
    path = program(f"trap '' INT TERM; sleep 100 & echo $! > {tmp_path}/child.new; mv {tmp_path}/child.new {tmp_path}/child; sleep 100; sleep 100")
    process = halo.start("events", "--camera", "--exec", path, adapter=FAST)
    deadline = time.monotonic() + 60
    while not (tmp_path / "child").exists():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.02)
    child = int((tmp_path / "child").read_text())
    begin = time.monotonic()
    for _ in range(2 if again else 1):
        process.send_signal(signal.SIGINT)
    halo.wait(process)
    assert time.monotonic() - begin < 10
    for _ in range(500):
        try:
            if open(f"/proc/{child}/stat").read().split(") ")[1].startswith("Z"):
                break
        except FileNotFoundError:
            break
        time.sleep(0.01)
    else:
        pytest.fail("what it has started still runs")


@pytest.mark.parametrize("words,code,saying", [
    ("", USAGE, "--exec wants a command"), ("a 'b", USAGE, "each quote closed"), ("halo-raw-has-none", NO_FILE, "there is no program halo-raw-has-none"),
    ("/etc/passwd x", NO_FILE, "no program /etc/passwd"), ("/tmp", NO_FILE, "no program /tmp")])
def test_what_cannot_be_run_fails_before_the_ring_is_looked_for(halo, words, code, saying):
    result = halo.run("events", "--count", 1, "--exec", words, adapter=FAST)
    assert result.code == code and saying in result.err and result.out == ""


# --- the example


@pytest.fixture
def turn_page():
    path = str(ROOT / "Examples/TurnPages/turn-page")
    loader = importlib.machinery.SourceFileLoader("turn_page", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("turn_page", loader))
    loader.exec_module(module)
    return module


@pytest.mark.verdict
def test_the_example_presses_the_key(turn_page, tmp_path, monkeypatch):
    """The requests are those of linux/uinput.h, in its order, and the events those of a key that goes down and up."""
    requests = []
    monkeypatch.setattr(turn_page.fcntl, "ioctl", lambda device, request, argument=0: requests.append((request, argument)))
    monkeypatch.setattr(turn_page.time, "sleep", lambda _: None)
    device = tmp_path / "uinput"
    device.touch()
    turn_page.press(turn_page.KEYS["camera", "shake"], device)
    def number(size, command, direction=1):
        return direction << 30 | size << 16 | ord("U") << 8 | command
    setup = struct.calcsize("4H80sI")
    assert setup == 92 and [request for request, _ in requests] == [
        number(4, 100), number(4, 101), number(4, 101), number(setup, 3), number(0, 1, 0), number(0, 2, 0)]
    codes = {"KEY_PAGEUP": 104, "KEY_PAGEDOWN": 109}
    header = "/usr/include/linux/input-event-codes.h"
    if os.path.exists(header):
        found = dict(re.findall(r"#define (KEY_PAGE\w+)\s+(\d+)", open(header).read()))
        assert {name: int(code) for name, code in found.items()} == codes
    assert {argument for request, argument in requests if request == number(4, 101)} == set(codes.values())
    size = struct.calcsize("@llHHi")
    data = device.read_bytes()
    events = [struct.unpack("@llHHi", data[place:place + size])[2:] for place in range(0, len(data), size)]
    assert events == [(1, 109, 1), (0, 0, 0), (1, 109, 0), (0, 0, 0)]


def test_the_example_runs_at_a_gesture(halo):
    """Where there is no /dev/uinput, or it is not ours, it says so; other events turn no page."""
    script = ROOT / "Examples/TurnPages/turn-page"
    assert subprocess.run([script, "heart-rate-alarm", "too-high", "131"], capture_output=True).returncode == 0
    result = halo.run("events", "--camera", "--count", 2, "--exec", script, adapter=FAST).succeeded()
    assert os.access("/dev/uinput", os.W_OK) or "/dev/uinput" in result.err
