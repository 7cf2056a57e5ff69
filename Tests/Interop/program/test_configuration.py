"""The user's configuration file: names for rings, and options."""

import json
import os
import re

import pytest
from program import BAD_DATA, NOT_FOUND, NO_FILE, USAGE


@pytest.fixture
def configure(halo, monkeypatch, tmp_path):
    """Writes the file in the user's folder."""

    def write(text):
        file = tmp_path / "halo-raw" / "config"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        return file

    monkeypatch.setitem(halo.environment, "XDG_CONFIG_HOME", str(tmp_path))
    return write


def test_options_come_from_the_file_and_the_command_line_counts_more(halo, configure, tmp_path):
    configure("# mine\n[defaults]\nadapter = virtual:fast\nformat=csv\n\n[stream]\n  count = 2 \n  ppg = yes\n  accel = no\n")
    lines = halo.run("stream").succeeded().out.splitlines()
    assert len(lines) == 3 and {line.split(",")[4] for line in lines[1:]} == {"ppg"}
    output = tmp_path / "data.csv"
    more = halo.run("stream", "--count=5", "--format", "jsonl", "--output", output).succeeded()
    assert len(output.read_text().splitlines()) == 5 and not more.out
    described = json.loads((tmp_path / "data.csv.json").read_text())["GeneratedBy"]["Command"]
    assert described.startswith("stream ") and {"--ppg", "--count=5", "--adapter=virtual:fast"} < set(described.split())
    assert "--format=csv" not in described and "--count=2" not in described


def test_the_environment_counts_more_than_the_file(halo, configure, monkeypatch):
    configure("[defaults]\nadapter = tcp:127.0.0.1:1\n")
    monkeypatch.setitem(halo.environment, "HALO_ADAPTER", "virtual:fast")
    halo.run("battery").succeeded()


def test_rings_have_other_names(halo, configure, ring):
    configure(f"[rings]\nleft hand = {ring.address}\n[battery]\nring = left hand\n")
    named = halo.run("battery", "left hand", adapter=ring.adapter).succeeded()
    assert halo.run("battery", adapter=ring.adapter).succeeded().out == named.out
    configure("[battery]\nring = R02_NONE\n")
    halo.run("battery", "--wait", "1s", adapter=ring.adapter).failed(NOT_FOUND, saying="R02_NONE")


def test_an_option_that_does_not_go_with_the_command_line_is_left_out(halo, configure):
    """`--duration` of measure needs `--continuous`."""
    configure("[measure]\nduration = 1s\n[stream]\nduration = 1s\n")
    halo.run("measure", "heart-rate", adapter="virtual:fast").succeeded()
    halo.run("measure", "heart-rate", "--duration", "1s", adapter="virtual:fast").failed(USAGE)


@pytest.mark.parametrize("text, line, reason", [
    ("[strem]", 1, "did you mean stream"), ("[stream]\ncuont = 3", 2, "did you mean count"),
    ("\n[stream]\ncount = x", 3, "whole number"), ("ppg = yes", 1, "a section"), ("[rings]\nleft", 2, "NAME = RING"),
    ("[stream]\nppg = perhaps", 2, "yes or no"), ("[defaults]\nhelp", 2, "no command"), ("[stream", 1, "]"),
    ("[stream]\n\x1b[31m\xff = 1", 2, "no option"),
])
def test_what_is_wrong_is_said_with_its_line(halo, configure, text, line, reason):
    file = configure(text)
    result = halo.run("stream", adapter="virtual:fast").failed(BAD_DATA, saying=reason)
    assert f"{file}, line {line}: " in result.err and "\x1b" not in result.err
    halo.run("stream", "--help").succeeded()


def test_another_file_can_be_named(halo, configure, monkeypatch, tmp_path):
    configure("[stream]\nppg = perhaps\n")
    for path in ("", "/dev/null"):
        monkeypatch.setitem(halo.environment, "HALO_CONFIG", path)
        halo.run("stream", "--count", "1", adapter="virtual:fast").succeeded()
    monkeypatch.setitem(halo.environment, "HALO_CONFIG", str(tmp_path / "none"))
    halo.run("battery", adapter="virtual:fast").failed(NO_FILE, saying="configuration file")
    os.mkfifo(tmp_path / "fifo")
    monkeypatch.setitem(halo.environment, "HALO_CONFIG", str(tmp_path / "fifo"))
    halo.run("battery", adapter="virtual:fast").failed(NO_FILE, saying="no data")


@pytest.mark.skipif(os.geteuid() != 0, reason="sudo is needed")
def test_with_sudo_a_file_of_another_user_is_not_read(halo, monkeypatch):
    monkeypatch.setitem(halo.environment, "HALO_CONFIG", "/etc/shadow")
    monkeypatch.setitem(halo.environment, "SUDO_UID", "65534")
    monkeypatch.setitem(halo.environment, "SUDO_GID", "65534")
    halo.run("battery", adapter="virtual:fast").failed(NO_FILE, saying="another user")


def test_the_example_of_the_page_works(halo, configure):
    text = halo.run("help", "config").succeeded().out
    example = re.search(r"^Example\n((?:  .*\n|\n)+)", text, re.MULTILINE)[1]
    configure(example.replace("hci1", "virtual:fast").replace("ring = left\n", ""))
    lines = halo.run("stream", "--count", "3").succeeded().out.splitlines()
    assert len(lines) == 4 and all(",ppg," in line for line in lines[1:])
