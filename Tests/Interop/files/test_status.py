"""What runs on this machine, as halo-raw status shows it."""

import json
import os
import signal
import socket
import subprocess
import time

import pytest
from program import NOT_FOUND, OK

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


@pytest.mark.skipif(os.geteuid() != 0, reason="another user is needed")
def test_other_users_see_that_it_runs(halo, status):
    process = stream(halo)
    status(lambda record: record["records"], process)
    command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", halo.path, "status", *JSON]
    output = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    (record,) = [record for record in map(json.loads, output.splitlines()) if record["pid"] == process.pid]
    assert record["state"] == "answers only its user and root" and record["command"] is None


def test_many_connections_do_not_keep_a_stream_busy(halo, status):
    """Whoever connects again and again gets an answer now and then."""
    process = stream(halo)
    status(lambda record: record["records"], process)
    name = f"\0halo-raw/{os.geteuid()}/{process.pid}"
    used = cpu_time(process)
    end = time.monotonic() + 2
    answers = 0
    while time.monotonic() < end:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as question:
            question.connect(name)
            answers += b'"stream' in question.recv(4096)
    assert 5 < answers < 150 and cpu_time(process) - used < 1


def cpu_time(process) -> float:
    """In seconds."""
    fields = open(f"/proc/{process.pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_nothing_runs(halo):
    """Other tests may run something at the same time."""
    result = halo.run("status", "--format", "text")
    assert result.code == (OK if result.out else NOT_FOUND)


def test_silent_sockets_hold_nobody_up(halo):
    """Any user can listen under such names, and say nothing: all are asked at once, and those that lie about their user not at
    all. (One after the other, thirty took thirty seconds.)"""
    listeners = []
    for number in range(200):
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        user = os.geteuid() if number < 100 else os.geteuid() + 1
        listener.bind(f"\0halo-raw/{user}/{1_000_000 + number}")
        listener.listen(0 if number % 2 else 8)
        listeners.append(listener)
    begin = time.monotonic()
    result = halo.run("status", "--format", "jsonl")
    assert time.monotonic() - begin < 15
    assert len([record for record in result.records() if record["pid"] >= 1_000_000]) <= 64
    for listener in listeners:
        listener.close()
