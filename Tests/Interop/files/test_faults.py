"""System calls that fail in the program as it is built, and `kill -9` at each of them: strace puts the faults in."""

import json
import os
import re
import signal
import sqlite3
import subprocess

import pytest
from program import BAD_DATA, IO_ERROR, NO_ADAPTER, NO_FILE, OK, SYSTEM, TIMEOUT
from stored import VIRTUAL, contents
from system_faults import kills, needs_strace

pytestmark = [needs_strace, pytest.mark.usefixtures("from_the_repository")]
CAPTURE = "captures/virtual-stream.btsnoop"
# What the dynamic loader ends with.
NOT_STARTED = 127


def number_of(halo, words, call, saying, log):
    """Which of its thread's calls of a kind is the first that strace prints with this text."""
    command = ["strace", "-f", "-qq", "-o", log, "-e", f"trace={call}", halo.path, *map(str, words)]
    subprocess.run(command, env=halo.environment, capture_output=True, timeout=30, stdin=subprocess.DEVNULL)
    lines = [line.split(None, 1) for line in log.read_text().splitlines() if f"{call}(" in line]
    log.unlink()
    thread, place = next((thread, place) for place, (thread, text) in enumerate(lines) if saying in text)
    return sum(1 for other, _ in lines[:place + 1] if other == thread)


def most_calls(halo, words, calls, log) -> int:
    """How many calls of these kinds the thread makes that makes the most."""
    subprocess.run(
        ["strace", "-f", "-qq", "-o", log, "-e", f"trace={calls}", halo.path, *map(str, words)], env=halo.environment,
        capture_output=True, timeout=30, stdin=subprocess.DEVNULL)
    # Lines without a parenthesis tell of signals, and of the rest of a call that another has interrupted.
    threads = [line.split()[0] for line in log.read_text().splitlines() if re.match(r"\d+ +\w+\(", line)]
    log.unlink()
    return max(map(threads.count, set(threads)), default=0)


def failing(halo, words, call, error, number, path=None, log="/dev/null"):
    """Runs the program with one call of each thread failing; with `path`, only calls count that give it in full."""
    command = ["strace", "-f", "-qq", "-o", log, "-e", f"trace={call}",
               "-e", f"inject={call}:error={error}:when={number}"]
    command += ["-P", str(path)] if path else []
    return subprocess.run(
        [*command, halo.path, *map(str, words)], env=halo.environment, capture_output=True, text=True,
        timeout=30, stdin=subprocess.DEVNULL)


def check(run, *codes, naming=""):
    """It ended as documented, with one line that says why; nothing trapped."""
    assert run.returncode in codes, run
    for sign in ("Fatal error", "Stack dump", "Backtrace"):
        assert sign not in run.stderr, run
    if run.returncode != OK:
        (line,) = run.stderr.splitlines()
        assert naming in line, run


# --- on the file itself

@pytest.mark.parametrize("error, saying", [
    ("EMFILE", "ulimit -n"), ("ENFILE", "other programs"), ("EACCES", "permissions"), ("EIO", "dmesg"),
    ("ENOSPC", "free some space"), ("ENODEV", "is there")])
@pytest.mark.parametrize("words", [
    ("decode", "%"), ("replay", "%", "battery"), ("settings", "--import", "%", "--adapter", VIRTUAL),
    ("export", "steps", "--store", "%"), ("sync", "--store", "%", "--adapter", VIRTUAL),
    ("settings", "--export", "%", "--adapter", VIRTUAL), ("battery", "--record", "%", "--adapter", VIRTUAL),
    ("decode", CAPTURE, "--html", "%")],
    ids=["decode", "replay", "import", "export", "sync", "settings", "record", "html"])
def test_a_file_that_cannot_be_opened(halo, tmp_path, words, error, saying):
    """The message names the file, the reason and what to do; what was there is whole."""
    path = tmp_path / "file"
    precious = open(CAPTURE, "rb").read() if words[0] in ("decode", "replay") else b"precious"
    if words[0] in ("export", "sync"):
        halo.run("sync", "--kind", "spo2", "--store", path, adapter=VIRTUAL).succeeded()
        precious = path.read_bytes()
    path.write_bytes(precious)
    words = [str(path) if word == "%" else word for word in words]
    # Which threads have opened what before is not the same in each run.
    log = tmp_path / "log"
    for _ in range(5):
        number = number_of(halo, words, "openat", 'file"', log)
        for left in tmp_path.iterdir():
            left.unlink()
        path.write_bytes(precious)
        run = failing(halo, words, "openat", error, number, log=log)
        lines = log.read_text().splitlines()
        log.unlink()
        if any('file"' in line and "INJECTED" in line for line in lines):
            break
    check(run, NO_FILE, SYSTEM, IO_ERROR, naming=str(path))
    # SQLite has words of its own for what it opens.
    assert saying in run.stderr or words[0] == "sync", run
    assert path.read_bytes() == precious
    assert os.listdir(tmp_path) == ["file"]


def test_a_store_that_sqlite_cannot_open_for_writing(halo, tmp_path):
    """SQLite opens it for reading then, and cannot remove the files that it creates beside it."""
    path = tmp_path / "file"
    halo.run("sync", "--kind", "spo2", "--store", path, adapter=VIRTUAL).succeeded()
    precious = path.read_bytes()
    run = failing(halo, ["sync", "--store", path, "--adapter", VIRTUAL], "openat", "EMFILE", 1, path)
    check(run, IO_ERROR, naming=str(path))
    assert "cannot be opened for writing" in run.stderr
    assert path.read_bytes() == precious
    assert os.listdir(tmp_path) == ["file"]


# --- on any call

@pytest.mark.parametrize("words", [
    ("battery", "--adapter", VIRTUAL), ("decode", CAPTURE), ("export", "steps", "--store", "%"),
    ("settings", "--export", "%x", "--adapter", VIRTUAL), ("time", "--set", "--adapter", "simulation")],
    ids=lambda words: words[0])
@pytest.mark.parametrize("call, error, step", [
    ("openat", "EMFILE", 2), ("socket", "ENFILE", 1), ("epoll_create1,eventfd2,timerfd_create", "EMFILE", 1),
    ("fsync,fdatasync,renameat,rename", "EIO", 1), ("ftruncate,pwrite64", "ENOSPC", 3)])
def test_whatever_fails_it_ends_in_order(halo, tmp_path, state, simulation, words, call, error, step):
    store, export = tmp_path / "store", tmp_path / "store" "x"
    halo.run("sync", "--kind", "steps", "--store", store, adapter=VIRTUAL).succeeded()
    export.write_text("precious")
    words = [word.replace("%", str(store)).replace("simulation", simulation.adapter) for word in words]
    outcomes = set()
    # What comes later is not there to fail; threads differ by a few calls from run to run.
    last = min(most_calls(halo, words, call, tmp_path / "log") + 3, 58)
    export.write_text("precious")
    for number in range(1, last + 1, step):
        run = failing(halo, words, call, error, number)
        if run.returncode == NOT_STARTED:
            continue
        assert 0 <= run.returncode < 128 and "Fatal error" not in run.stderr, (number, run)
        assert run.returncode == OK or len(run.stderr.splitlines()) >= 1, (number, run)
        outcomes.add(run.returncode)
        assert export.read_text() == "precious" or json.loads(export.read_text())
        for path in state.glob("rings.json"):
            assert json.loads(path.read_text()) is not None
    assert outcomes <= {OK, SYSTEM, NO_FILE, IO_ERROR, NO_ADAPTER, BAD_DATA, TIMEOUT}, outcomes
    # It leaves nothing that is in the way of the next.
    halo.run(*words).succeeded()


# --- the way to the controller

@pytest.mark.parametrize("error, saying", [
    ("ECONNREFUSED", "refused"), ("ENETDOWN", "up"), ("EACCES", "permission"), ("ENOBUFS", "buffer")])
def test_a_stream_socket_that_cannot_connect(halo, simulation, error, saying):
    run = failing(halo, ("battery", "--adapter", simulation.adapter), "connect", error, 1)
    check(run, NO_ADAPTER, naming=simulation.adapter)
    assert saying in run.stderr, run


# --- kill -9 at each moment

def test_a_recording_killed_at_every_write(halo, tmp_path, simulation):
    """What is there is whole records, and the ring is free for the next."""
    path, lengths = tmp_path / "killed.btsnoop", set()
    words = ("stream", "--ppg", "--duration", "500ms", "--record", path, "--adapter", simulation.adapter)
    for call, number in kills(halo, words, changes=("write", "ftruncate"), step=4):
        if path.exists() and path.stat().st_size:
            result = halo.run("decode", path, "--format", "jsonl")
            assert result.code in (OK, BAD_DATA), (call, number, result)
            assert result.code == OK or re.search("in the middle of a record|header", result.err), (number, result)
            lengths.add(len(result.records()))
            path.unlink()
    assert len(lengths) > 3, lengths
    halo.run("battery", adapter=simulation.adapter).succeeded()


def test_a_sync_with_a_recording_is_killed(halo, tmp_path):
    """The store is sound, the recording is whole records, and the next sync completes what the ring has."""
    store, path = tmp_path / "rings.sqlite", tmp_path / "killed.btsnoop"
    words = ("sync", "--kind", "spo2", "--store", store, "--record", path, "--replace", "--adapter", VIRTUAL)
    count = 0
    for call, number in kills(halo, words, changes=("pwrite64", "fdatasync", "write"), step=9):
        if store.exists():
            assert sqlite3.connect(store).execute("PRAGMA integrity_check").fetchall() == [("ok",)], (call, number)
        result = halo.run("decode", path, "--format", "jsonl") if path.exists() else None
        assert result is None or result.code in (OK, BAD_DATA), (call, number, result)
        count += 1
    assert count > 5, "hardly ever killed"
    halo.run("sync", "--kind", "spo2", "--store", store, adapter=VIRTUAL).succeeded()
    halo.run("sync", "--kind", "spo2", "--store", tmp_path / "whole.sqlite", adapter=VIRTUAL).succeeded()
    assert contents(store) == contents(tmp_path / "whole.sqlite")


@pytest.mark.parametrize("words", [("sync", "--kind", "steps"), ("stream",)], ids=lambda words: words[0])
def test_the_other_stacks_ring_after_kill_9(halo, ring, tmp_path, words):
    """The ring sees that its host has gone, and takes the next."""
    path = tmp_path / "killed.btsnoop"
    process = halo.start(
        *words, *(["--store", tmp_path / "s"] if words[0] == "sync" else []), "--record", path,
        adapter=ring.adapter, stdout=subprocess.DEVNULL)
    ring.wait_until(ring.commands, "first command")
    process.send_signal(signal.SIGKILL)
    process.wait()
    result = halo.run("decode", path, "--format", "jsonl")
    assert result.code in (OK, BAD_DATA) and result.records(), result
    halo.run("battery", adapter=ring.adapter).succeeded()
