"""What runs on this machine, as halo-raw status shows it."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from program import NOT_FOUND, OK, cpu_seconds

JSON = ("--format", "jsonl")


@pytest.fixture
def status(halo):
    """The records of our processes that meet a condition, once all meet it."""

    def until(met, *processes):
        numbers = {process.pid for process in processes}
        deadline = time.monotonic() + 20
        while True:
            result = halo.run("status", *JSON)
            records = [record for record in result.records() if record["pid"] in numbers]
            if {record["pid"] for record in records if met(record)} == numbers:
                return records
            assert time.monotonic() < deadline, records

    return until


def stream(halo, *arguments, adapter="virtual"):
    return halo.start("stream", "--ppg", *arguments, adapter=adapter, stdout=subprocess.DEVNULL)


def test_what_runs_is_shown_with_its_records(halo, status, tmp_path):
    first = stream(halo, "--output", tmp_path / "a.csv")
    events = halo.start("events", adapter="virtual:events=0.2", stdout=subprocess.DEVNULL)
    shown, other = status(lambda record: (record["records"] or 0) > 3, first, events)
    assert shown["command"].startswith("halo-raw stream --ppg") and shown["state"] == "streaming"
    assert shown["name"] == "R02_BEEF" and shown["output"] == str(tmp_path / "a.csv")
    assert shown["since"] < shown["state_since"] < shown["last_record"]
    assert other["command"].startswith("halo-raw events")
    first.send_signal(signal.SIGINT)
    halo.wait(first).succeeded()
    assert first.pid not in [record["pid"] for record in halo.run("status", *JSON).records()]


def test_each_ring_has_a_record(halo, status):
    process = stream(halo, "--all", adapter="virtual:rings=3")
    deadline = time.monotonic() + 20
    while len(records := status(lambda record: True, process)) < 3:
        assert time.monotonic() < deadline, records
    assert len({record["ring"] for record in records}) == 3


def test_a_command_that_hangs_is_named(halo, status):
    process = stream(halo)
    status(lambda record: record["records"], process)
    process.send_signal(signal.SIGSTOP)
    (record,) = status(lambda record: True, process)
    assert record["state"] == "does not answer" and record["records"] is None
    assert f"{process.pid}  " in halo.run("status", "--format", "text").out
    process.send_signal(signal.SIGCONT)
    status(lambda record: record["records"], process)


def sockets(halo) -> Path:
    return Path(halo.environment["XDG_RUNTIME_DIR"]) / "halo-raw/status"


def test_a_command_whose_queue_is_full_is_named(halo, status):
    """It accepts nothing, and others have filled its queue."""
    process = stream(halo)
    status(lambda record: record["records"], process)
    process.send_signal(signal.SIGSTOP)
    # Until it has stopped, it accepts some.
    os.waitpid(process.pid, os.WUNTRACED)
    waiting = []
    for _ in range(200):
        question = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        question.setblocking(False)
        waiting.append(question)
        try:
            question.connect(str(sockets(halo) / str(process.pid)))
        except BlockingIOError:
            break
    else:
        pytest.fail("the queue is endless")
    (record,) = status(lambda record: True, process)
    assert record["state"] == "does not answer"
    for question in waiting:
        question.close()
    process.send_signal(signal.SIGCONT)
    status(lambda record: record["records"], process)


def test_a_socket_is_its_users_alone_and_ends_with_the_command(halo, status):
    process = stream(halo)
    status(lambda record: record["records"], process)
    folder = sockets(halo)
    assert folder.stat().st_mode & 0o777 == 0o700 and folder.stat().st_uid == os.geteuid()
    assert (folder / str(process.pid)).is_socket()
    process.send_signal(signal.SIGINT)
    halo.wait(process).succeeded()
    assert not (folder / str(process.pid)).exists()


def test_what_a_killed_command_has_left_is_removed(halo, status):
    killed = stream(halo)
    status(lambda record: record["records"], killed)
    killed.kill()
    killed.wait()
    left = sockets(halo) / str(killed.pid)
    assert left.is_socket()
    assert killed.pid not in [record["pid"] for record in halo.run("status", *JSON).records()]
    process = stream(halo)
    status(lambda record: record["records"], process)
    assert not left.exists()


def test_a_command_whose_name_is_taken_says_so(halo, tmp_path, monkeypatch):
    """A process of the same user listens under the number that the command is about to have."""
    monkeypatch.setitem(halo.environment, "XDG_RUNTIME_DIR", str(tmp_path))
    folder = sockets(halo)
    folder.mkdir(mode=0o700, parents=True)
    taken = []

    def take():
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(folder / str(os.getpid())))
        listener.listen(8)
        listener.set_inheritable(True)
        taken.append(listener)

    process = halo.start("stream", "--ppg", "--count", "3", adapter="virtual", preexec_fn=take, close_fds=False)
    result = halo.wait(process).succeeded()
    assert "halo-raw status can't show this command" in result.err and "in use" in result.err
    assert (folder / str(process.pid)).is_socket()


def test_a_folder_whose_path_is_too_long_is_not_used(halo, status, tmp_path, monkeypatch):
    """The path of a socket has room for 107 bytes. Root, and commands with other variables, find one in the next folder."""
    folder = tmp_path / ("x" * 120)
    folder.mkdir(mode=0o700)
    monkeypatch.setitem(halo.environment, "XDG_RUNTIME_DIR", str(folder))
    monkeypatch.setitem(halo.environment, "XDG_STATE_HOME", str(tmp_path))
    process = stream(halo)
    monkeypatch.setitem(halo.environment, "XDG_RUNTIME_DIR", str(tmp_path))
    assert status(lambda record: (record["records"] or 0) > 0, process)
    assert not list(folder.iterdir())


@pytest.mark.parametrize("mode", [0o720, 0o702])
def test_a_folder_that_others_can_write_to_is_not_used(halo, status, tmp_path, monkeypatch, mode):
    """The next one is: that for states, or for root /run/halo-raw."""
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(mode)
    monkeypatch.setitem(halo.environment, "XDG_RUNTIME_DIR", str(folder))
    monkeypatch.setitem(halo.environment, "XDG_STATE_HOME", str(tmp_path / "state"))
    process = stream(halo)
    assert status(lambda record: (record["records"] or 0) > 0, process)
    assert not list(folder.iterdir())


def test_commands_with_other_variables_are_found(halo, status, tmp_path, monkeypatch):
    """One of a login and one of a timer, which has none."""
    process = stream(halo)
    monkeypatch.setitem(halo.environment, "XDG_RUNTIME_DIR", str(tmp_path))
    assert status(lambda record: (record["records"] or 0) > 0, process)


@pytest.fixture
def stranger(halo, monkeypatch):
    """Runs the program as another user, whose home is a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="halo-raw-stranger-"))
    os.chown(folder, 65534, 65534)

    def start(*arguments):
        environment = {"XDG_RUNTIME_DIR": str(folder), "XDG_STATE_HOME": str(folder), "HOME": str(folder)}
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", halo.path, *arguments]
        process = subprocess.Popen(
            command, env=halo.environment | environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        halo.processes.append(process)
        return process

    start.folder = folder
    yield start
    shutil.rmtree(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="another user is needed")
def test_a_command_is_shown_to_its_user_and_to_root(halo, status, stranger):
    own, other = stream(halo), stranger("stream", "--ppg", "--adapter", "virtual")
    assert {record["user"] for record in status(lambda record: record["records"], own, other)} == {"root", "nobody"}
    asked = halo.wait(stranger("status", *JSON)).succeeded()
    assert {record["pid"] for record in asked.records()} == {other.pid}
    other.send_signal(signal.SIGINT)
    halo.wait(other).succeeded()
    asked = halo.wait(stranger("status"))
    assert asked.code == NOT_FOUND and "of this user" in asked.err and "sudo halo-raw status" in asked.err


@pytest.mark.skipif(os.geteuid() != 0, reason="another user is needed")
def test_strangers_cannot_speak_for_a_command_nor_fill_its_queue(halo, status, stranger):
    """They listen in folders of theirs, in links to ours, and under the number of our command; and try to connect to it."""
    process = stream(halo)
    status(lambda record: record["records"], process)
    attack = """
import os, socket, sys, time
ours, theirs, number = sys.argv[1:]
os.setgid(65534), os.setuid(65534)
refused = 0
for attempt in (lambda one: one.connect(f"{ours}/{number}"), lambda one: one.bind(f"{ours}/1")):
    try:
        attempt(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
    except PermissionError:
        refused += 1
os.makedirs(f"{theirs}/halo-raw/status", 0o700)
false = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
false.bind(f"{theirs}/halo-raw/status/{number}")
false.listen(100)
abstract = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
abstract.bind(f"\\0halo-raw/0/{number}")
abstract.listen(100)
print(refused, flush=True)
time.sleep(600)
"""
    attacker = subprocess.Popen(
        [sys.executable, "-c", attack, sockets(halo), stranger.folder, str(process.pid)], stdout=subprocess.PIPE, text=True)
    halo.processes.append(attacker)
    assert attacker.stdout.readline() == "2\n"
    records = [record for record in halo.run("status", *JSON).records() if record["pid"] == process.pid]
    assert {record["user"]: record["state"] for record in records} == {
        "root": "streaming", "nobody": "does not answer"}


def test_many_connections_do_not_keep_a_stream_busy(halo, status):
    """Whoever connects again and again gets an answer now and then."""
    process = stream(halo)
    status(lambda record: record["records"], process)
    name = str(sockets(halo) / str(process.pid))
    used = cpu_seconds(process)
    end = time.monotonic() + 2
    answers = 0
    while time.monotonic() < end:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as question:
            question.connect(name)
            answers += b'"stream' in question.recv(4096)
    assert 5 < answers < 150 and cpu_seconds(process) - used < 1


def test_nothing_runs(halo, tmp_path, monkeypatch):
    """Other tests may run something at the same time."""
    monkeypatch.setitem(halo.environment, "XDG_RUNTIME_DIR", str(tmp_path))
    result = halo.run("status", "--format", "text")
    assert result.code == (OK if result.out else NOT_FOUND)


def test_silent_sockets_hold_nobody_up(halo, tmp_path, monkeypatch):
    """All are asked at once. (One after the other, thirty took thirty seconds.)"""
    monkeypatch.setitem(halo.environment, "XDG_RUNTIME_DIR", str(tmp_path))
    sockets(halo).mkdir(mode=0o700, parents=True)
    listeners = []
    for number in range(100):
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(sockets(halo) / str(1_000_000 + number)))
        listener.listen(0 if number % 2 else 8)
        listeners.append(listener)
    begin = time.monotonic()
    result = halo.run("status", "--format", "jsonl")
    assert time.monotonic() - begin < 15
    assert 0 < len([record for record in result.records() if record["pid"] >= 1_000_000]) <= 64
    for listener in listeners:
        listener.close()
