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
COMMANDS = re.findall(r"^  ([a-z-]+) {2,}\S", HELP.split("\nTopics ")[0], re.MULTILINE)
# These run until they are interrupted.
ENDLESS = ("simulate", "strap", "serve", "advertise", "stream --ppg --adapter virtual")
# All that these show takes a radio.
ON_A_RADIO = ("serve", "advertise")
# These look at the machine: what they find may be that it has no Bluetooth, that a privilege is missing, that no ring is near, that
# nothing runs; and that may be said in the moment of the interruption.
LOOKING = {"adapters": (OK, NO_ADAPTER), "doctor": (OK, NO_ADAPTER, 77, 79), "record": (OK, NO_ADAPTER, 77), "status": (OK, 79), "pair": (76,),
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


# A mark is for all that runs, other tests among it: files/test_mark.py has streams of its own.
@pytest.mark.parametrize("command", [c for c in COMMANDS if c not in ("virtual", "mark")])
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
def test_the_version_has_three_spellings(halo):
    texts = {halo.run(*line).succeeded().out for line in (["--version"], ["-V"], ["version"], ["-v", "--version"])}
    assert len(texts) == 1 and re.fullmatch(r"halo-raw \d+\.\d+\.\d+\n", texts.pop())


@pytest.mark.verdict
@pytest.mark.parametrize("line", [
    ["--adapter", "virtual:fast", "battery"], ["-v", "-i", "virtual:fast", "battery", "R02_BEEF"],
    ["--adapter=virtual:fast", "--format", "csv", "battery"],
    ["-v", "replay", str(ROOT / "captures/virtual-battery.btsnoop"), "battery"]])
def test_options_may_stand_before_the_command(halo, line):
    assert halo.run(*line).succeeded().out == "percent,charging\n87,false\n"


def test_an_option_of_no_command_is_named(halo):
    halo.run("--adaptor", "virtual", "battery").failed(64, saying="did you mean --adapter?")
    halo.run("--adapter", "virtual", "status").failed(64, saying="status has no option --adapter")
    halo.run("--adapter", "virtual").failed(64, saying="missing command")


@pytest.mark.verdict
@pytest.mark.parametrize("command", ["stream", "decode", "scan", "measure", "serve"])
def test_usage_and_options_come_first(halo, command):
    lines = halo.run(command, "--help").succeeded().out.splitlines()
    usage = lines.index(next(line for line in lines if line.startswith("Usage: ")))
    assert usage <= 2 and lines[usage + 1:].index("Options") <= 2
    assert lines.index("Options") < lines.index("Examples") < len(lines) - 1
    assert max(map(len, lines)) <= 80


@pytest.mark.verdict
def test_the_options_of_links_have_a_page_of_their_own(halo):
    topic = halo.run("help", "link").succeeded().out
    for option in ("--adapter", "--interval", "--mtu", "--phy", "--data-length", "--record", "--explain"):
        assert re.search(rf"^  (-\w, )?{option}\b", topic, re.MULTILINE)
        assert not re.search(rf"^  (-\w, )?{option}\b", halo.run("stream", "--help").out, re.MULTILINE)
    assert "halo-raw help link" in halo.run("stream", "--help").out
    assert re.search(r"^  link .*\n(?:.*\n)?  config ", halo.run("help").succeeded().out, re.MULTILINE)
    halo.run("help", "lnik").failed(64, saying="did you mean link?")


@pytest.mark.parametrize("command", [["scan"], ["serve", "table.jsonl"], ["advertise"]])
def test_a_command_without_a_link_has_no_options_of_links(halo, command):
    for option in (["--interval", "15"], ["--mtu", "100"], ["--latency", "1"]):
        halo.run(*command, *option).failed(64, saying=f"has no option {option[0]}")
    assert "--interval" not in halo.run(command[0], "--help").succeeded().out


def test_the_examples_of_the_topic_work(halo, tmp_path):
    text = re.sub(r" \\\n +", " ", halo.run("help", "link").succeeded().out)
    lines = re.findall(r"^  halo-raw (.*)$", text, re.MULTILINE)
    assert len(lines) == 3
    for line in lines:
        process = subprocess.run([halo.path, *shlex.split(line)], cwd=tmp_path, env=halo.environment, timeout=60)
        assert process.returncode == OK, line


@pytest.mark.verdict
def test_the_page_on_commands_has_the_exit_codes_of_the_help():
    page = (ROOT / "docs/commands.md").read_text()
    table = re.findall(r"^\| ([\d, ]+) \|", page, re.MULTILINE)
    assert {code for row in table for code in row.split(", ")} == set(
        re.findall(r"^  (\d+) ", HELP, re.MULTILINE))
