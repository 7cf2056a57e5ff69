"""What the help says works, word for word."""

import os
import re
import shlex
import signal
import subprocess

import pytest
from built import built
from program import NO_ADAPTER, OK, ROOT

HELP = subprocess.run([built(), "--help"], capture_output=True, text=True).stdout
COMMANDS = re.findall(r"^  ([a-z-]+) {2,}\S", HELP, re.MULTILINE)
ENDLESS = (("simulate", "strap"), "stream --ppg --adapter virtual")
# These look at the machine: what they find may be that it has no Bluetooth, that a privilege is missing, that no ring is near, that
# nothing runs.
LOOKING = {"adapters": (OK, NO_ADAPTER), "doctor": (OK, NO_ADAPTER, 77, 79), "record": (OK, NO_ADAPTER, 77), "status": (OK, 79),
           "strap": (OK, NO_ADAPTER, 77)}


def examples(halo, command):
    text = halo.run(command, "--help").succeeded().out
    text = re.sub(r" \\\n +", " ", text)
    return re.findall(r"^  (halo-raw .*)$", text, re.MULTILINE)


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
        if line.removeprefix("halo-raw ").startswith(ENDLESS[0]):
            process.stderr.readline()
            process.send_signal(signal.SIGINT)
        elif line.removeprefix("halo-raw ") == ENDLESS[1]:
            process.stdout.readline()
            process.send_signal(signal.SIGINT)
        assert halo.wait(process).code in LOOKING.get(command, (OK,)), line


@pytest.mark.verdict
def test_the_page_on_commands_has_the_exit_codes_of_the_help():
    page = (ROOT / "docs/commands.md").read_text()
    table = re.findall(r"^\| ([\d, ]+) \|", page, re.MULTILINE)
    assert {code for row in table for code in row.split(", ")} == set(
        re.findall(r"^  (\d+) ", HELP, re.MULTILINE))
