"""What the program shows on a terminal of a given size."""

import json
import os
import re
import signal
import termios
import time

import pytest
from program import ROOT
from terminal import Terminal


@pytest.fixture
def terminal(halo):
    opened = []

    def make(*arguments, **options):
        opened.append(Terminal(halo, *arguments, **options))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


@pytest.fixture
def on_terminal(terminal):
    """Runs a command on a terminal; what it shows there."""
    return lambda *arguments, **options: terminal(*arguments, **options).until_the_end()


def test_a_scan_fits_the_terminal(on_terminal):
    shown = on_terminal("scan", "--duration", "1s", "--adapter", "virtual:rings=10", rows=8, columns=60)
    tables = re.split(r"\x1b\[\d+A", shown)
    lines = [re.sub(r"\x1b\[2K", "", line) for line in shown.replace("\r", "").split("\n")]
    assert max(len(re.sub(r"\x1b\[\d+A", "", line)) for line in lines) == 60
    # While it goes on, no table is higher than the terminal; at its end, all devices are there.
    assert all(table.count("\n") < 8 for table in tables[:-1]) and "more)" in tables[-2]
    assert tables[-1].count("R02_BEF") == 9 and tables[-1].endswith("10 devices\r\n")


def test_a_terminal_without_control_sequences_gets_lines(on_terminal):
    shown = on_terminal("scan", "--duration", "1s", "--adapter", "virtual", TERM="dumb")
    assert "R02_BEEF" in shown and "\x1b" not in shown
    shown = on_terminal("battery", "nobody", "--wait", "2s", "--adapter", "virtual", TERM="dumb")
    assert shown.startswith("halo-raw: no device named nobody") and "\x1b" not in shown


def test_a_wait_is_shown_and_removed(on_terminal):
    shown = on_terminal("battery", "nobody", "--wait", "3s", "--adapter", "virtual")
    assert shown.startswith("\rlooking for nobody: 1 s\x1b[K\rlooking for nobody: 2 s\x1b[K")
    assert "\r\x1b[Khalo-raw: no device" in shown
    shown = on_terminal("battery", "nobody", "--wait", "2s", "--adapter", "virtual", columns=20)
    assert shown.startswith("\rlooking for nobody…\x1b[K")
    assert "\r\x1b[Khalo-raw: no device" in shown
    assert "listening to R02_BEEF" in on_terminal("events", "--duration", "1s", "--adapter", "virtual")


# MARK: Colors

CAPTURE = str(ROOT / "captures/virtual-battery.btsnoop")


def is_colored(text):
    return "\x1b[3" in text


@pytest.mark.parametrize("environment, choice, colored", [
    ({}, None, True), ({"NO_COLOR": "1"}, None, False), ({"NO_COLOR": ""}, None, True), ({"TERM": "dumb"}, None, False),
    ({"CLICOLOR": "0"}, None, False), ({"CLICOLOR": "1"}, None, True),
    ({"TERM": "dumb", "CLICOLOR_FORCE": "1"}, None, True), ({"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, None, False),
    ({"NO_COLOR": "1"}, "always", True), ({}, "never", False), ({"CLICOLOR_FORCE": "1"}, "never", False),
    ({}, "auto", True), ({"NO_COLOR": "1"}, "auto", False),
])
def test_colors_on_a_terminal_are_chosen(on_terminal, environment, choice, colored):
    option = [f"--color={choice}"] if choice else []
    assert is_colored(on_terminal("decode", CAPTURE, *option, columns=200, **environment)) == colored


@pytest.mark.parametrize("variables, option, colored", [
    ({}, [], False), ({"CLICOLOR_FORCE": "1"}, [], True), ({"CLICOLOR_FORCE": "0"}, [], False), ({"CLICOLOR": "1"}, [], False),
    ({}, ["--color"], True), ({}, ["--color=always"], True), ({"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, [], False),
])
def test_a_pipe_has_colors_only_on_request(halo, monkeypatch, variables, option, colored):
    for name, value in variables.items():
        monkeypatch.setitem(halo.environment, name, value)
    assert is_colored(halo.run("decode", CAPTURE, *option).succeeded().out) == colored
    assert is_colored(halo.run("--color=never", "decode", CAPTURE).succeeded().out) is False
    explained = halo.run("battery", "--explain", *option, adapter="virtual:fast").succeeded()
    assert is_colored(explained.err) == colored and not is_colored(explained.out)


def test_records_have_no_colors(on_terminal):
    shown = on_terminal("stream", "--ppg", "--count", "3", "--color=always", "--adapter", "virtual:fast")
    assert not is_colored(shown)


# MARK: Pipes


@pytest.mark.parametrize("command", [["inspect"], ["info"], ["time"]])
def test_a_pipe_changes_no_page(halo, on_terminal, command):
    page = halo.run(*command, adapter="virtual:fast,clock=2026-11-21T13:45:00").succeeded().out
    shown = on_terminal(*command, "--adapter", "virtual:fast,clock=2026-11-21T13:45:00", columns=300)
    assert page and shown.replace("\r\n", "\n").endswith(page)
    assert page != halo.run(*command, "--format", "csv", adapter="virtual:fast").succeeded().out


def test_info_is_short(halo):
    lines = halo.run("info", adapter="virtual:fast").succeeded().out.splitlines()
    assert len(lines) > 6 and max(map(len, lines)) <= 80
    software = halo.run("info", "--format", "jsonl", adapter="virtual:fast").succeeded().out
    assert len(json.loads(software)["software"]) == 300


def test_records_are_csv_in_a_pipe(halo):
    assert halo.run("battery", adapter="virtual:fast").succeeded().out.startswith("percent,charging\n")


def test_virtual_time_is_not_measured(halo):
    halo.run("bench", "--duration", "1s", adapter="virtual:fast").failed(64, saying="this adapter has virtual time")


def test_no_other_ring_is_awaited_where_there_is_one(halo):
    """The time of the simulation: two advertisements of 100 ms, and nine requests of two connection events each."""
    explained = halo.run("battery", "--explain", adapter="virtual:fast").succeeded().err
    assert 0.4 < float(explained.splitlines()[-1].split()[1]) < 0.55
    halo.run("battery", adapter="virtual:fast,rings=2").failed(79, saying="several rings are near")


# MARK: Waveforms


def is_drawn(display):
    return re.match(r"R02_BEEF  (\d\d|-) bpm  25\.\d/s  ", display[0]) and "battery 87 %" in display[0]


def test_waveforms_fill_the_terminal_and_follow_its_size(terminal):
    shown = terminal("stream", "--plot", "--adapter", "virtual:rate=25")
    shown.wait_for(lambda display: is_drawn(display) and re.search(r" \d\d bpm", display[0]))
    display = shown.screen.display
    titles = [index for index, line in enumerate(display) if ", counts" in line or line.startswith("acceleration")]
    assert titles == [1, 8, 15] and display[23].strip() == ""
    assert re.fullmatch(r" +-10 s +-5 s +now *", display[22])
    assert all(re.match(r" +[\d.-]+ ", display[index + 1]) for index in titles)
    dots = [sum("\u2800" < character <= "\u28ff" for character in line) for line in display]
    assert sum(dots[2:8]) > 50, "\n".join(display)
    shown.resize(12, 50)
    shown.wait_for(lambda display: is_drawn(display) and sum(", counts" in line for line in display) == 1)
    # What is narrow lacks the link, and has the heart rate.
    assert "interval" not in shown.screen.display[0]
    assert "red" not in "".join(shown.screen.display) and len(shown.screen.display) == 12
    shown.process.send_signal(signal.SIGINT)
    shown.wait_for(lambda display: "link: interval" in "".join(display))


def test_a_slow_ring_shows_its_own_heart_rate_and_says_why_there_is_no_wave(terminal, tmp_path):
    """A stock ring sends one set a second (edgeimpulse/example-data-collection-colmi-r02 2, atc1441/ATC_RF03_Ring 35 and 42)."""
    slow = "virtual:model=r02,warm-up=2"
    shown = terminal("stream", "--ppg", "--plot", "--adapter", slow)
    shown.wait_for(lambda display: re.search(r"measuring, [12] s, keep still", display[0]))
    shown.wait_for(lambda display: re.match(r"R02_BEEF  \d\d bpm  1\.\d/s ", display[0]) and " 0 gaps" in display[0])
    assert re.match(r"1\.\d a second: a trend, no wave; the heart rate is what the ring itself measures", shown.screen.display[1])
    shown.process.send_signal(signal.SIGINT)
    shown.until_the_end()
    # Records that somebody wants are not interrupted.
    shown = terminal("stream", "--ppg", "--plot", "--output", str(tmp_path / "a.csv"), "--adapter", slow)
    shown.wait_for(lambda display: "no wave; --measure heart-rate adds the ring's own rate" in display[1])
    shown.process.send_signal(signal.SIGINT)
    shown.until_the_end()
    assert "gap" not in (tmp_path / "a.csv").read_text()


@pytest.mark.parametrize("end", ["q", signal.SIGTERM, signal.SIGHUP, "Ctrl-C", "background"])
def test_a_terminal_is_left_as_it_was(terminal, end):
    """A key is read without Enter meanwhile. A terminal that does not belong to the program is not changed at all."""
    shown = terminal("stream", "--ppg", "--plot", "--adapter", "virtual:rate=25", columns=100, is_its_own=end != "background")
    shown.wait_for(is_drawn)
    assert ("q quits" in shown.screen.display[0]) == (end != "background")
    assert (shown.attributes()[3] & termios.ICANON == 0) == (end != "background")
    if end == "background":
        shown.process.kill()
    elif isinstance(end, str):
        os.write(shown.end, b"xyz" + (b"q" if end == "q" else b"\x03"))
    else:
        shown.process.send_signal(end)
    # A program that is killed may have written a part of a character.
    (shown.wait_for_the_end if end == "background" else shown.until_the_end)()
    assert shown.attributes() == shown.before and not shown.screen.cursor.hidden
    if end == "q":
        assert shown.process.returncode == 0 and "link: interval" in "".join(shown.screen.display)


def test_without_utf_8_there_is_ascii(terminal):
    shown = terminal("stream", "--ppg", "--plot", "--adapter", "virtual:rate=25", LC_ALL="C")
    shown.wait_for(lambda display: is_drawn(display) and sum(":" in line for line in display[2:]) > 5)
    assert "".join(shown.screen.display).isascii()


def test_records_go_to_the_file(terminal, tmp_path):
    shown = terminal(
        "stream", "--ppg", "--plot", "--count", "50", "--output", str(tmp_path / "a.csv"), "--adapter", "virtual:rate=25")
    shown.wait_for(lambda display: "link: interval" in "".join(display))
    assert shown.process.wait(timeout=20) == 0
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 51


def test_waveforms_need_a_terminal_and_one_ring(halo, on_terminal):
    halo.run("stream", "--plot", adapter="virtual").failed(64, saying="needs a terminal")
    assert "needs a terminal" in on_terminal("stream", "--plot", "--adapter", "virtual", TERM="dumb")
    assert "one ring" in on_terminal("stream", "--plot", "--all", "--adapter", "virtual")


def test_lines_for_another_program_cost_nothing(halo, tmp_path):
    """What waits on a terminal that is not ours to read woke the loop again and again."""
    table = tmp_path / "table.jsonl"
    table.write_text('{"handle":16,"kind":"service","uuid":"181A","end":18}\n')
    terminal = Terminal(halo, "serve", str(table), "--listen", "tcp:127.0.0.1:0")
    terminal.wait_for(lambda lines: "advertising" in "".join(lines))
    os.write(terminal.end, b"2A6E 01\n")

    def ticks():
        with open(f"/proc/{terminal.process.pid}/stat") as file:
            return sum(map(int, file.read().rsplit(")")[1].split()[11:13]))

    before = ticks()
    time.sleep(2)
    assert ticks() - before < os.sysconf("SC_CLK_TCK") / 2
    terminal.close()
