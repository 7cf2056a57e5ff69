"""What the help says works, word for word."""

import os
import re
import select
import shlex
import signal
import subprocess

import pytest
from built import built
from program import NO_ADAPTER, OK, ROOT

HELP = subprocess.run([built(), "--help"], capture_output=True, text=True).stdout
COMMANDS = re.findall(r"^  ([a-z-]+) {2,}\S", HELP, re.MULTILINE)
# These run until they are interrupted.
ENDLESS = ("simulate", "strap", "serve", "advertise", "stream --ppg --adapter virtual")
# All that these show takes a radio.
ON_A_RADIO = ("serve", "advertise")
# These look at the machine: what they find may be that it has no Bluetooth, that a privilege is missing, that no ring is near, that
# nothing runs; and that may be said in the moment of the interruption.
LOOKING = {"adapters": (OK, NO_ADAPTER), "doctor": (OK, NO_ADAPTER, 77, 79), "record": (OK, NO_ADAPTER, 77), "status": (OK, 79),
           "strap": (OK, NO_ADAPTER, 77, 130)} | dict.fromkeys(ON_A_RADIO, (OK, NO_ADAPTER, 77, 130))


def examples(halo, command):
    text = halo.run(command, "--help").succeeded().out
    text = re.sub(r" \\\n +", " ", text)
    found = re.findall(r"^  (sudo )?(halo-raw .*)$", text, re.MULTILINE)
    return [line for sudo, line in found if not sudo or command in ON_A_RADIO]


@pytest.mark.verdict
def test_the_help_names_the_commands():
    assert {"scan", "stream", "info", "battery", "inspect", "read", "write", "subscribe", "replay",
            "simulate"} <= set(COMMANDS)


@pytest.mark.parametrize("command", [c for c in COMMANDS if c != "virtual"])
def test_its_examples_work(halo, tmp_path, command):
    (tmp_path / "captures").symlink_to(ROOT / "captures")
    (tmp_path / "halo-raw").symlink_to(halo.path)
    lines = examples(halo, command)
    # Another command may have to come first; the last example is of this one.
    assert shlex.split(lines[-1])[1] == command
    for line in lines:
        process = subprocess.Popen(
            ["bash", "-c", f"exec {line}"], cwd=tmp_path, stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=halo.environment | {"PATH": f"{tmp_path}:{os.environ['PATH']}"})
        halo.processes.append(process)
        words = line.removeprefix("halo-raw ")
        if words == ENDLESS[-1] or words.startswith(ENDLESS[:-1]) or "--listen" in words:
            assert select.select([process.stdout, process.stderr], [], [], 60)[0], line
            process.send_signal(signal.SIGINT)
        assert halo.wait(process).code in LOOKING.get(command, (OK,)), line


@pytest.mark.verdict
def test_the_page_on_commands_has_the_exit_codes_of_the_help():
    page = (ROOT / "docs/commands.md").read_text()
    table = re.findall(r"^\| ([\d, ]+) \|", page, re.MULTILINE)
    assert {code for row in table for code in row.split(", ")} == set(
        re.findall(r"^  (\d+) ", HELP, re.MULTILINE))
