"""Whoever pauses, goes, or signals at the other ends of the program: it goes on, or it ends in time, in order."""

import fcntl
import json
import os
import re
import resource
import signal
import socket
import struct
import subprocess
import termios
import threading
import time

import pytest
from program import BAD_DATA, CONNECTION_LOST, NO_FILE, OK, SYSTEM, cpu_seconds, wait_until

INTERRUPTED = 130
# A page: the smallest pipe there is, so that it is full soon.
SET_PIPE_SIZE, PAGE = 1031, 4096


def narrow_pipe():
    reading, writing = os.pipe()
    fcntl.fcntl(writing, SET_PIPE_SIZE, PAGE)
    return reading, writing


def wait_until_full(reading, count=PAGE // 2):
    """Until the pipe has `count` bytes or more, and takes no further ones: what is written at once may be as long as the rest."""
    def waiting():
        return struct.unpack("i", fcntl.ioctl(reading, termios.FIONREAD, bytes(4)))[0]

    def is_full():
        before = waiting()
        time.sleep(0.3)
        return count <= before == waiting()

    wait_until(is_full, "a full pipe")


def ends_within(process, seconds):
    """How long the process took to its end."""
    began = time.monotonic()
    process.wait(timeout=20)
    took = time.monotonic() - began
    assert took < seconds, f"it took {took:.1f} s"
    return took


# --- a reader that pauses

@pytest.fixture
def paused(halo):
    """Starts the program with a standard output that is full soon, and that nobody reads."""
    started = []

    def make(*arguments, **options):
        reading, writing = narrow_pipe()
        process = halo.start(*arguments, stdout=writing, text=False, **options)
        os.close(writing)
        started.append((process, reading))
        return process, reading

    yield make
    for process, reading in started:
        process.kill()
        process.wait()
        os.close(reading)


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_ends_a_stream_whose_reader_pauses(paused, ring, kind):
    process, reading = paused("stream", "--format", "jsonl", adapter=ring.adapter)
    ring.wait_until(lambda: "a104" in ring.commands(), "start of the stream")
    wait_until_full(reading)
    process.send_signal(kind)
    ends_within(process, 6)
    assert process.returncode == OK
    # The ring was stopped, and the link ended, in order.
    ring.check_farewell()
    assert b"not read in time" in process.stderr.read()


def bytes_read(process) -> int:
    return int(re.search(r"rchar: (\d+)", open(f"/proc/{process.pid}/io").read())[1])


def test_the_radio_side_goes_on_while_a_reader_pauses(paused, ring_with):
    """The link lives, and what is lost is counted where it is missing."""
    ring = ring_with("--rate", 3000)
    process, reading = paused("stream", "--format", "jsonl", adapter=ring.adapter)
    ring.wait_until(lambda: "a104" in ring.commands(), "start of the stream")
    began = time.monotonic()
    # Lines are five times as long as what they are made of: this fills the output's buffer of 1 MiB twice.
    wait_until(lambda: bytes_read(process) > 500_000, "frames that are too many to keep", seconds=60)
    # The link would be lost after 4 s if it were not served.
    time.sleep(max(0, began + 5 - time.monotonic()))
    assert not ring.events("disconnected")
    seen, deadline = b"", time.monotonic() + 30
    while b'"kind":"dropped"' not in seen:
        assert time.monotonic() < deadline, "no mark of what was dropped"
        seen += os.read(reading, 1 << 16)
    process.send_signal(signal.SIGINT)
    threading.Thread(target=lambda: [None for _ in iter(lambda: os.read(reading, 1 << 16), b"")]).start()
    ends_within(process, 8)


@pytest.mark.parametrize("command", [
    ("raw", "A104", "--duration", "60s"),
    ("subscribe", "R02_BEEF", "--uuid", "6E400003-B5A3-F393-E0A9-E50E24DCCA9E", "--duration", "600s"),
    ("events", "--duration", "600s"),
])
def test_what_a_slow_reader_loses_is_said(halo, command):
    """What is not printed is counted in its place, also at the end, and in sum."""
    adapter = "virtual:fast,rate=500,events=0.02"
    process = halo.start(*command, "--format", "jsonl", adapter=adapter, stdout=subprocess.PIPE)
    line = next(line for line in process.stderr if "not read in time" in line)
    lost, count = (int(number) for number in re.search(r"(\d+) of (\d+) records dropped", line).groups())
    records = [json.loads(line) for line in process.stdout]
    assert process.wait() == OK
    marks = [record for record in records if "dropped" in record.values()]
    assert lost > 0 and len(records) - len(marks) + lost == count
    names = ("note", "value", "name")
    assert sum(int(next(mark[name] for name in names if mark.get(name))) for mark in marks) == lost
    assert records[-1] == marks[-1]


@pytest.mark.verdict
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_stream_ends_with_what_was_dropped_last(halo, form):
    """Half of ten thousand samples were missing at the end of the output, and only standard error said so."""
    process = halo.start(
        "stream", "--ppg", "--duration", "400s", "--format", form, adapter="virtual:fast,rate=500",
        stdout=subprocess.PIPE)
    line = next(line for line in process.stderr if "not read in time" in line)
    lines = process.communicate()[0].splitlines()
    assert process.returncode == OK
    marks = [line for line in lines if "dropped" in line]
    assert "dropped" in lines[-1]
    counts = [int(re.findall(r"\d+", mark)[-1]) for mark in marks]
    assert sum(counts) == int(re.search(r"(\d+) dropped", line)[1]) > 0


def has_taken(process, number) -> bool:
    """Whether a signal that was sent to a process waits no more."""
    pending = re.search(r"ShdPnd:\s*(\w+)", open(f"/proc/{process.pid}/status").read())[1]
    return not int(pending, 16) >> (number - 1) & 1


@pytest.mark.verdict
def test_a_second_signal_waits_for_nothing(paused, ring):
    """After the first one alone, it waits seven seconds for the controller, which says no more."""
    process, _ = paused("stream", "--format", "jsonl", adapter=ring.adapter)
    ring.wait_until(lambda: "a104" in ring.commands(), "start of the stream")
    ring.process.send_signal(signal.SIGSTOP)
    try:
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: has_taken(process, signal.SIGTERM), "end of the first signal's wait")
        # Sooner, it is a repetition of the first one.
        time.sleep(0.6)
        process.send_signal(signal.SIGTERM)
        ends_within(process, 1)
    finally:
        ring.process.send_signal(signal.SIGCONT)
    assert process.returncode == 128 + signal.SIGTERM
    error = process.stderr.read().decode()
    assert "second signal" in error and "left undone: the link to" in error


@pytest.mark.parametrize("count, arguments", [
    (PAGE // 2, "ring-commands"), (PAGE // 2, "decode captures/virtual-stream.btsnoop -v"),
    (1, "inspect --adapter virtual:fast"), (1, "scan --duration 0 --adapter virtual"),
], ids=lambda value: str(value).split()[0])
def test_a_signal_ends_any_command_whose_reader_pauses(paused, count, arguments):
    process, reading = paused(*arguments.split())
    wait_until_full(reading, count)
    process.send_signal(signal.SIGINT)
    ends_within(process, 4)
    assert process.returncode in (OK, INTERRUPTED, 128 + signal.SIGINT)


def test_output_that_has_an_end_waits_for_its_reader(paused):
    """A pager at its first page: nothing is lost, however long it takes."""
    process, reading = paused("ring-commands")
    wait_until_full(reading)
    assert process.poll() is None
    text = b"".join(iter(lambda: os.read(reading, 1 << 16), b""))
    assert process.wait(timeout=30) == OK
    assert text.decode() == open("docs/ring-commands.md").read()


# --- standard error

@pytest.mark.parametrize("blocks", [True, False])
def test_a_full_standard_error_stops_nothing(halo, blocks):
    reading, writing = narrow_pipe()
    os.set_blocking(writing, False)
    try:
        while True:
            os.write(writing, b"x" * 512)
    except BlockingIOError:
        pass
    os.set_blocking(writing, blocks)
    process = halo.start(
        "stream", "--adapter", "virtual:rate=100", "--explain", "-v", "--format", "jsonl",
        stdout=subprocess.DEVNULL, stderr=writing, text=False)
    os.close(writing)
    time.sleep(4)
    assert cpu_seconds(process) < 2.5
    process.send_signal(signal.SIGTERM)
    ends_within(process, 5)
    assert process.returncode == OK
    os.close(reading)


# --- waits at the start

def test_a_signal_ends_the_wait_for_a_controller_that_says_nothing(halo):
    server = socket.create_server(("127.0.0.1", 0))
    process = halo.start("battery", adapter=f"tcp:127.0.0.1:{server.getsockname()[1]}")
    client, _ = server.accept()
    assert client.recv(16) == bytes.fromhex("01030c00")
    process.send_signal(signal.SIGINT)
    ends_within(process, 1)
    assert process.returncode == INTERRUPTED
    client.close()
    server.close()


@pytest.mark.parametrize("command, code", [("decode", INTERRUPTED), ("replay", NO_FILE)])
def test_a_pipe_that_nobody_writes_to(halo, tmp_path, command, code):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    process = halo.start(command, path)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    ends_within(process, 1)
    assert process.returncode in (code, OK)


def test_a_pipe_whose_writer_comes_late_is_decoded(halo, tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    process = halo.start("decode", path)
    time.sleep(0.5)
    path.write_bytes(open("captures/virtual-stream.btsnoop", "rb").read())
    late = halo.wait(process).succeeded()
    assert late.out == halo.run("decode", "captures/virtual-stream.btsnoop").succeeded().out


# --- trying again

def test_trying_again_has_an_end(halo):
    """Each new link is made, and lost at once."""
    result = halo.run("stream", "--count", 3, "--retry-for", "1s", adapter="virtual:fast,drop-after=0")
    assert result.code == CONNECTION_LOST, result


def test_trying_again_forever_ends_with_a_signal(halo):
    process = halo.start(
        "stream", "--count", 3, "--retry-for", "forever", "-v", adapter="virtual:drop-after=0", stdout=subprocess.PIPE)
    for line in process.stderr:
        if "trying again until Ctrl-C" in line:
            break
    process.send_signal(signal.SIGINT)
    ends_within(process, 8)
    assert process.returncode == OK


def test_nohup_is_respected(halo):
    process = halo.start(
        "stream", "--count", 20, adapter="virtual:rate=10", stdout=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    time.sleep(0.5)
    process.send_signal(signal.SIGHUP)
    result = halo.wait(process).succeeded()
    assert len(result.out.splitlines()) == 21


def test_no_descriptors_is_an_error_that_says_so(halo):
    result = halo.run(
        "stream", adapter="virtual", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4)))
    result.failed(SYSTEM, saying="ulimit")


# --- a recording and kill -9

@pytest.mark.verdict
@pytest.mark.parametrize("moment", [0.2, 0.35, 0.5, 0.8, 1.3])
def test_a_recording_is_whole_records_after_kill_9(halo, tmp_path, moment):
    path = tmp_path / "killed.btsnoop"
    process = halo.start(
        "stream", "--record", path, adapter="virtual:rate=500", stdout=subprocess.DEVNULL, text=False)
    # Records reach the disk together: the first ones are there.
    wait_until(lambda: path.exists() and path.stat().st_size > 4096, "recording")
    time.sleep(moment)
    process.kill()
    process.wait()
    result = halo.run("decode", path, "--format", "jsonl")
    assert result.code in (OK, BAD_DATA), result
    assert result.code == OK or "in the middle of a record" in result.err, result
    numbers = [record["frame"] for record in result.records()]
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) > 10
