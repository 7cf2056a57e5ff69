"""captures/exercises: sessions that do not work. Each has the fault that people report, and no other one.

Where the faults come from:
- an event of a link that is masked, or another one than the host waits for: espressif/esp-idf 6698,
  raspberrypi/pico-examples 772, bluez/bluetooth-next 189, zephyrproject-rtos/zephyr 103;
- handles of the old firmware: hbldh/bleak 882, h2zero/NimBLE-Arduino 502, apache/mynewt-nimble 1456,
  nordicsemi/Android-BLE-Library 481, bluekitchen/btstack 385, arduino/ArduinoCore-arc32 96;
- a request for parameters that is not answered: noble/noble 269, embassy-rs/trouble 478, tinygo-org/bluetooth 456,
  bettercap/gatt 21, troystribling/BlueCap 93.
"""

import json
import re
import subprocess

import broken_sessions as made
import decode_check
import pytest
import tshark_check
from program import ROOT

pytestmark = pytest.mark.verdict

FOLDER = ROOT / "captures/exercises"
PAGE = (ROOT / "docs/exercises.md").read_text()


def decoded(halo, name, *options):
    out = halo.run("decode", FOLDER / f"{name}.btsnoop", "--format", "jsonl", *options).succeeded().out
    return [json.loads(line) for line in out.splitlines()]


def texts(halo, name, *options):
    return halo.run("decode", FOLDER / f"{name}.btsnoop", *options).succeeded().out.splitlines()


def requests(halo, name):
    """Requests of each side on ATT and on the signaling channel, and responses: (direction, layer) of each."""
    found = {"sent": [], "received": []}
    for one in decoded(halo, name):
        if "att" in one:
            found[one["direction"]].append(one["att"]["opcode"])
        elif "signaling" in one:
            found[one["direction"]].append(0x100 + one["signaling"]["code"])
    return found


@pytest.mark.parametrize("name", made.SESSIONS)
def test_the_file_is_what_the_generator_makes(name):
    assert (FOLDER / f"{name}.btsnoop").read_bytes() == made.SESSIONS[name](), "run scripts/captures exercises"


def selected(name, display):
    """The numbers of the packets that tshark selects, and what its experts say of them."""
    run = subprocess.run(
        ["tshark", "-r", FOLDER / f"{name}.btsnoop", "-Y", display, "-T", "fields", "-e", "frame.number", "-e",
         "_ws.expert.message"], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    return dict(line.split("\t") for line in run.stdout.splitlines())


@pytest.mark.long
@pytest.mark.parametrize("name", made.SESSIONS)
def test_tshark_and_decode_find_nothing_malformed(halo, name):
    assert not selected(name, "_ws.malformed")
    # Severity 8388608 is that of errors. One of the faults is one in the eyes of tshark, too.
    errors = selected(name, "_ws.expert.severity == 8388608")
    assert errors == ({"41": 'Frame is out of any "connection handle" session'} if name == "never-connected" else {})
    assert "problem" not in json.dumps(decoded(halo, name))
    packets, pdus = tshark_check.tshark(FOLDER / f"{name}.btsnoop")
    own_packets, own_pdus = tshark_check.read(FOLDER / f"{name}.btsnoop")
    assert len(packets) == len(own_packets) and pdus == own_pdus
    assert not list(decode_check.differences(FOLDER / f"{name}.btsnoop"))


@pytest.mark.parametrize("name", made.SESSIONS)
def test_time_does_not_go_back(name):
    times = [one.time for one in made.recorded(f"exercises/{name}")]
    assert times == sorted(times)


@pytest.mark.parametrize("name", made.SESSIONS)
def test_our_own_host_does_not_do_it(halo, name):
    """None of the three can be played again: what this host did, ours does not."""
    result = halo.run("replay", FOLDER / f"{name}.btsnoop", "stream", "--count", "9", "--timeout", "5s")
    assert result.code != 0


def test_the_link_is_there_and_no_event_says_so(halo):
    name = "never-connected"
    lines = texts(halo, name)
    assert not [one for one in lines if "Connection Complete" in one]
    # All events that the masks let through are those of their bits: bit 9 is LE Enhanced Connection Complete.
    mask = int(re.search(r"LE Set Event Mask: LE events (0x\w+)", "\n".join(lines))[1], 16)
    assert not mask & (1 << 0 | 1 << 9) and mask & 1 << 10
    assert [one["direction"] for one in decoded(halo, name) if one["hci"]["type"] == "acl"] == ["received"]
    assert "Command Disallowed (0x0c)" in lines[42] and "Connection Already Exists (0x0b)" in lines[44]
    assert "reason Remote User Terminated Connection (0x13)" in lines[-1]


def test_the_descriptor_of_the_old_firmware_is_written(halo):
    lines = texts(halo, "silent-since-the-update", "--layer", "att,ring")
    (accepted, refused) = [index for index, one in enumerate(lines) if "notifications on" in one]
    assert "Write Response" in lines[accepted + 1]
    assert "Write Not Permitted (0x03) for Write Request, 0x0013" in lines[refused + 1]
    # Data before the update; none after it. The ring's service is discovered once.
    streams = [index for index, one in enumerate(lines) if "raw stream, PPG" in one]
    assert len(streams) == 5 and max(streams) < refused
    assert len([one for one in lines if "Read By Type Request, Characteristic, 0x000e" in one]) == 1
    handles = re.findall(r'Read By Type Response, (0x\w+) "RT02R', "\n".join(lines))
    assert handles == ["0x0020", "0x0022"]


def test_the_request_for_parameters_has_no_answer(halo):
    name = "ends-after-half-a-minute"
    found = requests(halo, name)
    assert found["received"].count(0x112) == 1 and 0x113 not in found["sent"]
    # The ring's requests on ATT are answered: Find By Type Value, Exchange MTU.
    assert [code for code in found["received"] if code in (0x02, 0x06)] == [0x06, 0x02]
    assert 0x01 in found["sent"] and 0x03 in found["sent"]
    records = decoded(halo, name)
    (asked,) = [one["time"] for one in records if "signaling" in one]
    assert records[-1]["time"] - asked == pytest.approx(30)
    # The stream goes on to the end, so the radio is well.
    assert records[-1]["time"] - records[-2]["time"] < 1.1


def test_the_page_has_a_section_for_each_with_questions_and_a_folded_answer():
    sections = PAGE.split("\n## ")[1:]
    assert len(sections) == len(made.SESSIONS)
    for section, name in zip(sections, made.SESSIONS, strict=True):
        question, answer = section.split("<details>\n<summary>Answer</summary>\n\n")
        assert f"captures/exercises/{name}.btsnoop" in question and "\n> " in question
        assert len(re.findall(r"^\d\. ", question, re.MULTILINE)) >= 3
        assert "```console" not in question and f"captures/exercises/{name}.btsnoop" in answer
        assert "*In the specification:*" in answer and re.search(r"Vol \d, Part \w, [\dA]", answer)
        assert answer.split("</details>")[0].endswith("\n\n")
