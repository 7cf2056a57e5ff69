"""What the program shows on a terminal of a given size."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

import pytest


@pytest.fixture
def on_terminal(halo):
    """Runs a command on a terminal; what it shows there."""

    def run(*arguments, rows=24, columns=80, term="xterm"):
        ours, theirs = pty.openpty()
        fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        environment = halo.environment | {"TERM": term}
        process = subprocess.Popen([halo.path, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
        halo.processes.append(process)
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:
            pass
        os.close(ours)
        process.wait(timeout=20)
        return shown.decode()

    return run


def test_a_scan_fits_the_terminal(on_terminal):
    shown = on_terminal("scan", "--duration", "1s", "--adapter", "virtual:rings=10", rows=8, columns=60)
    tables = re.split(r"\x1b\[\d+A", shown)
    lines = [re.sub(r"\x1b\[2K", "", line) for line in shown.replace("\r", "").split("\n")]
    assert max(len(re.sub(r"\x1b\[\d+A", "", line)) for line in lines) == 60
    # While it goes on, no table is higher than the terminal; at its end, all devices are there.
    assert all(table.count("\n") < 8 for table in tables[:-1]) and "more)" in tables[-2]
    assert tables[-1].count("R02_BEF") == 9 and tables[-1].endswith("10 devices\r\n")


def test_a_terminal_without_control_sequences_gets_lines(on_terminal):
    shown = on_terminal("scan", "--duration", "1s", "--adapter", "virtual", term="dumb")
    assert "R02_BEEF" in shown and "\x1b" not in shown
    shown = on_terminal("battery", "nobody", "--wait", "2s", "--adapter", "virtual", term="dumb")
    assert shown.startswith("halo-raw: no device named nobody") and "\x1b" not in shown


def test_a_wait_is_shown_and_removed(on_terminal):
    shown = on_terminal("battery", "nobody", "--wait", "3s", "--adapter", "virtual", columns=20)
    assert "\rlooking for nobody\x1b[K" in shown or "\rlooking for nobody:…\x1b[K" in shown
    assert "\r\x1b[Khalo-raw: no device" in shown
    assert "listening to R02_BEEF" in on_terminal("events", "--duration", "1s", "--adapter", "virtual")
