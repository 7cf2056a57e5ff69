"""`connect`: reads, writes and listens over one connection, on a terminal and from a script."""

import json
import os
import re
import signal
import subprocess

import pytest
from forked import adapter_at, start_peer
from program import CONNECTION_LOST, OK, PROTOCOL, TIMEOUT, USAGE
from simulation import Simulation
from terminal import Terminal

TO_DEVICE, FROM_DEVICE = (f"6E40000{number}-B5A3-F393-E0A9-E50E24DCCA9E" for number in (2, 3))
JSON = ("--format", "jsonl")
INTERRUPTED = 130


@pytest.fixture(scope="module")
def workshop():
    """A device on Bumble that answers a write by a notification, as most gadgets do."""
    process = start_peer("bumble_workshop.py", "tcp-server:127.0.0.1:0", takes_commands=True)
    yield adapter_at(*process.places())
    process.send_signal(signal.SIGTERM)
    process.wait(timeout=30)


@pytest.fixture
def script(halo):
    """Runs lines over a pipe; how the session ended."""
    def run(adapter, *lines, arguments=("Workshop", *JSON)):
        process = halo.start("connect", *arguments, adapter=adapter, stdin=subprocess.PIPE)
        process.stdin.write("\n".join(lines))
        process.stdin.close()
        process.stdin = None
        return halo.wait(process)
    return run


@pytest.mark.verdict
def test_a_gadget_answers_a_write(script, workshop):
    """The value that a write is answered with: IanHarvey/bluepy 20, aritchie/bluetoothle 18, ukBaz/python-bluezero 407,
    hbldh/bleak 1501."""
    table = script(workshop, "services").succeeded().records()
    handle = next(f"{record['handle']:#06x}" for record in table if record["uuid"] == FROM_DEVICE)
    # A subscription has the name of its handle, too.
    result = script(
        workshop, "# a comment", f"subscribe {FROM_DEVICE}", f"write {TO_DEVICE} --text hello  there", f"wait {FROM_DEVICE}",
        f"command {TO_DEVICE} 61 62", f"wait {handle} 5s", "read 2A29", "mtu", "quit", "read 2A29").succeeded()
    records = [record for record in result.records() if record["kind"] not in ("link",)]
    assert [(record["kind"], bytes.fromhex(record["value"])) for record in records] == [
        ("write", b"hello  there"), ("value", b"HELLO  THERE"), ("write", b"ab"), ("value", b"AB"), ("read", b"Bumble")]
    assert records[1]["uuid"] == FROM_DEVICE and records[1]["text"] == "HELLO  THERE" and records[-1]["name"]
    assert [record["t"] for record in records] == sorted(record["t"] for record in records)
    links = [record["note"] for record in result.records() if record["kind"] == "link"]
    assert links[0].startswith("subscribed to 0x") and links[1].startswith("MTU ")


def test_a_failed_line_ends_a_script_with_its_code(script, workshop):
    for line, code, reason in [
        ("read 2A19", PROTOCOL, "2A19"), ("read 0x00ff", PROTOCOL, "Invalid Handle"), ("reed 2A29", USAGE, 'mean read'),
        (f"wait {FROM_DEVICE}", USAGE, "not subscribed"), ("send battery", USAGE, "for rings"), ("write 2A29 00", PROTOCOL, "written"),
    ]:
        result = script(workshop, line, "read 2A26")
        assert result.code == code and f"line 1: " in result.err and reason in result.err, result
        assert [record["kind"] for record in result.records()] == ["error"]
    result = script(workshop, "read 2A19", "read 2A26", arguments=("Workshop", "--keep-going", *JSON)).succeeded()
    assert [record["kind"] for record in result.records()] == ["error", "read"]
    result = script(workshop, f"subscribe {FROM_DEVICE}", f"wait {FROM_DEVICE} 300ms")
    assert result.code == TIMEOUT and "no value" in result.err


def test_bad_lines_end_nothing_badly(script, workshop):
    lines = ["x" * 5000, "write", "write 0x1", "read 0x0", "subscribe", "wait", "\x00\x1b[2J", "é" * 100]
    result = script(workshop, *lines, arguments=("Workshop", "--keep-going", *JSON)).succeeded()
    assert [record["kind"] for record in result.records()] == ["error"] * len(lines)
    assert "\x1b" not in result.err


def test_a_script_may_be_a_file_and_the_records_too(halo, workshop, tmp_path):
    lines = tmp_path / "script"
    lines.write_text(f"subscribe {FROM_DEVICE}\nwrite {TO_DEVICE} 7a\nwait {FROM_DEVICE}\n")
    with open(lines) as script:
        result = halo.run("connect", "Workshop", "--output", tmp_path / "out.csv", adapter=workshop, stdin=script).succeeded()
    assert result.out == "" and ",5a," in (tmp_path / "out.csv").read_text()


def test_what_a_written_descriptor_enables_is_printed(script, workshop):
    """gatttool's way: char-write-req HANDLE 0100, and notifications come (eclipse-kura/kura 1991)."""
    table = script(workshop, "services").succeeded().records()
    handle = next(record["handle"] for record in table if record["uuid"] == FROM_DEVICE)
    result = script(workshop, f"write {handle + 1:#06x} 0100", f"write {TO_DEVICE} 7a", "wait 300ms").succeeded()
    assert [record["value"] for record in result.records() if record["kind"] == "value"] == ["5a"]


def test_the_frames_of_a_ring_have_names(halo, ring, script):
    result = script(
        ring.adapter, "subscribe 6E400003-B5A3-F393-E0A9-E50E24DCCA9E", "send battery",
        "wait 6E400003-B5A3-F393-E0A9-E50E24DCCA9E", arguments=(ring.address, *JSON)).succeeded()
    sent, received = (record for record in result.records() if record["kind"] in ("write", "value"))
    assert sent["decoded"].startswith("battery") and received["decoded"].startswith("battery") and "%" in received["decoded"]
    assert ring.commands()[-1].startswith("03")
    # Nothing that switches it off is sent without a word.
    result = script(ring.adapter, "send power-off", arguments=(ring.address, *JSON))
    assert result.code == USAGE and "--yes" in result.err
    ring.check_farewell()


def test_what_was_subscribed_to_is_subscribed_to_after_a_loss(halo, script):
    adapter = "virtual:drop-after=10,rate=25"
    uuid = "6E400003-B5A3-F393-E0A9-E50E24DCCA9E"
    result = script(adapter, f"subscribe {uuid}", "write 0x0010 A10400000000000000000000000000A5", "wait 2s", "read 2A26",
                    arguments=("R02_BEEF", "--keep-going", *JSON))
    kinds = [record["kind"] for record in result.records()]
    assert "gap" in kinds and kinds.index("gap") > kinds.index("value"), result
    assert kinds[-1] == "read" and result.code == OK, result


def test_a_wait_that_a_loss_ends_has_failed(script):
    lost = script("virtual:drop-after=10,rate=25", "subscribe 6E400003-B5A3-F393-E0A9-E50E24DCCA9E",
                  "write 0x0010 A10400000000000000000000000000A5", "wait 30s", arguments=("R02_BEEF", *JSON))
    assert lost.code == CONNECTION_LOST and "line 3: the connection was lost" in lost.err
    lost = script("virtual", "subscribe 6E400003-B5A3-F393-E0A9-E50E24DCCA9E", "send reboot --yes",
                  "wait 6E400003-B5A3-F393-E0A9-E50E24DCCA9E 30s", arguments=("R02_BEEF", *JSON))
    assert lost.code == CONNECTION_LOST, lost


def test_a_reader_that_leaves_ends_a_session(halo, workshop):
    lines = subprocess.Popen(["yes", "read 2A29"], stdout=subprocess.PIPE)
    process = halo.start("connect", "Workshop", adapter=workshop, stdin=lines.stdout)
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=10) is not None
    lines.kill()
    lines.wait()


def test_ctrl_c_and_the_end_of_the_input_end_a_session_in_order(halo, ring):
    for end in (signal.SIGINT, None):
        process = halo.start("connect", ring.address, adapter=ring.adapter, stdin=subprocess.PIPE)
        process.stdin.write("subscribe 6E400003-B5A3-F393-E0A9-E50E24DCCA9E\n")
        process.stdin.flush()
        assert "subscribed" in process.stdout.readline() + process.stdout.readline()
        if end:
            process.send_signal(end)
            assert halo.wait(process).code in (OK, INTERRUPTED)
        else:
            process.stdin.close()
            process.stdin = None
            halo.wait(process).succeeded()
    ring.check_farewell()


@pytest.fixture
def terminal(halo):
    opened = []

    def make(*arguments, **options):
        opened.append(Terminal(halo, *arguments, is_its_own=True, **options))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


def shows(text):
    return lambda display: text in "\n".join(line.rstrip() for line in display)


@pytest.mark.verdict
def test_a_session_is_typed_with_history_and_completion(terminal, workshop):
    """A value that comes while a line is typed stands above it."""
    shown = terminal("connect", "Workshop", "--adapter", workshop, columns=100)
    shown.wait_for(shows("Workshop>"))
    # libedit's handler of SIGCONT crashed a session that was stopped and continued.
    caught = int(re.search(r"SigCgt:\s*(\w+)", open(f"/proc/{shown.process.pid}/status").read())[1], 16)
    assert not caught >> (signal.SIGCONT - 1) & 1
    os.write(shown.end, b"subscribe 6E400003\t")
    shown.wait_for(shows(f"subscribe {FROM_DEVICE}"))
    os.write(shown.end, b"\n")
    shown.wait_for(shows("subscribed to"))
    os.write(shown.end, f"write {TO_DEVICE} 6869\n".encode())
    shown.wait_for(shows('48 49'))
    # The line before, from the history.
    os.write(shown.end, b"\x1b[A")
    shown.wait_for(lambda display: display[shown.screen.cursor.y].startswith(f"Workshop> write {TO_DEVICE} 6869"))
    os.write(shown.end, b"\n")
    shown.wait_for(lambda display: sum("48 49" in line for line in display) == 2)
    os.write(shown.end, b"read xyz\n")
    shown.wait_for(shows("no handle and no UUID"))
    os.write(shown.end, b"\x04")
    shown.until_the_end()
    assert shown.process.returncode == OK and shown.attributes() == shown.before


def test_a_link_that_is_lost_for_good_leaves_the_terminal_as_it_was(terminal, halo):
    made = Simulation(halo)
    shown = terminal("connect", "R02_BEEF", "--adapter", made.adapter, "--retry-for", "1s")
    shown.wait_for(shows("R02_BEEF>"))
    made.close()
    shown.wait_for_the_end()
    assert shown.process.returncode != OK and shown.attributes() == shown.before


def test_a_terminal_without_control_sequences_takes_lines(terminal, workshop):
    shown = terminal("connect", "Workshop", "--adapter", workshop, TERM="dumb")
    shown.wait_for(shows("connected"))
    os.write(shown.end, b"read 2A29\n")
    shown.wait_for(shows('"Bumble"'))
    os.write(shown.end, b"quit\n")
    shown.until_the_end()
    assert shown.process.returncode == OK
