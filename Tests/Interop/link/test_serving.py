"""Tables and advertisements that are offered to other devices, met by the central of another stack."""

import json
import os
import re
import signal
import subprocess
import time

import pytest
from forked import adapter_at, start_peer
from program import BAD_DATA, NO_FILE, USAGE

pytestmark = pytest.mark.verdict
JSON = ("--format", "jsonl")


class Phone:
    """A central on the radio of a controller that a program uses."""

    def __init__(self, *options):
        self.process = start_peer(
            "bumble_central.py", "tcp-server:127.0.0.1:0", "--turns", "0", "--commands", *options, takes_commands=True)
        self.adapter = adapter_at(*self.process.places())

    def ask(self, command):
        self.begin(command)
        return self.answer()

    def begin(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def answer(self):
        return json.loads(self.process.stdout.readline())

    def hears(self, count=1) -> list[dict]:
        while len(heard := self.ask("advertisements")) != count:
            pass
        return heard


@pytest.fixture(params=[[], ["--extended"]], ids=["Bluetooth 4", "Bluetooth 5"])
def phone(request):
    made = Phone(*request.param)
    yield made
    made.process.terminate()
    made.process.wait(timeout=20)


def inspected(halo, adapter, tmp_path):
    table = tmp_path / "table.jsonl"
    table.write_text(halo.run("inspect", *JSON, adapter=adapter).succeeded().out)
    return table, [json.loads(line) for line in table.read_text().splitlines()]


def end(halo, process):
    process.send_signal(signal.SIGINT)
    return halo.wait(process)


def test_an_inspected_device_is_offered_again(halo, phone, tmp_path):
    """Handles, types, properties and values are those of the table; the configurations are each client's own."""
    path, rows = inspected(halo, "virtual:fast", tmp_path)
    process = halo.start("serve", path, *JSON, adapter=phone.adapter)
    seen = phone.ask("table")
    expected = []
    for row in rows:
        if row["kind"] == "service":
            expected.append([row["handle"], row["uuid"], row["end"]])
        elif row["kind"] == "characteristic" and row["handle"] < 80:
            bits = {"broadcast": 1, "read": 2, "write without response": 4, "write": 8, "notify": 16, "indicate": 32,
                    "signed write": 64, "extended": 128}
            properties = sum(bits[name] for name in row["properties"])
            expected.append([row["value_handle"], row["uuid"], properties, row["value"]])
        elif row["kind"] == "descriptor":
            expected.append([row["handle"], row["uuid"], row["value"]])
    assert seen["rows"] == expected
    # Flags; the service of 16 bits; one of the others, and a list that says that there are more. Then the name.
    assert seen["data"].startswith("020106" + "03030a18" + "1106") and seen["data"].endswith(b"R02_BEEF".hex())
    result = end(halo, process)
    kinds = [record["kind"] for record in result.succeeded().records()]
    assert kinds == ["connected", "disconnected"]
    assert "not advertised" in result.err and "DE5BF728" in result.err


def test_what_a_device_does_is_printed(halo, phone, tmp_path):
    """A table that was written by hand: a name, a temperature that is notified."""
    table = tmp_path / "hand.jsonl"
    lines = [
        {"handle": 1, "kind": "service", "uuid": "1800", "end": 3},
        {"handle": 2, "kind": "characteristic", "uuid": "2A00", "value_handle": 3, "properties": ["read"],
         "value": b"Hand".hex()},
        {"handle": 16, "kind": "service", "uuid": "181A", "end": 19},
        {"handle": 17, "kind": "characteristic", "uuid": "2A6E", "value_handle": 18, "properties": ["read", "notify"],
         "value": "d007"},
        {"handle": 19, "kind": "descriptor", "uuid": "2902"}]
    table.write_text("".join(json.dumps(line) + "\n" for line in lines))
    process = halo.start("serve", table, "--name", "Other", "--every", "200ms", *JSON, adapter=phone.adapter)
    (heard,) = phone.hears()
    assert heard == {"data": "02010603031a18", "response": "0609" + b"Other".hex(), "interval": 200}
    turn = phone.ask("meet 0")
    assert turn["read"] == "d007" and turn["refusal"] == 3
    records = end(halo, process).succeeded().records()
    assert [(record["kind"], record["handle"], record["uuid"]) for record in records] == [
        ("connected", None, None), ("subscribed", 18, "2A6E"), ("unsubscribed", 18, "2A6E"),
        ("disconnected", None, None)]
    assert {record["peer"] for record in records} == {"F0:F1:F2:F3:F4:F5"}
    assert records[-1]["reason"]


REMOTE_USER = 0x13


@pytest.fixture
def thermometer(tmp_path):
    """A table with a temperature that is notified."""
    path = tmp_path / "thermometer.jsonl"
    lines = [
        {"handle": 16, "kind": "service", "uuid": "181A", "end": 19},
        {"handle": 17, "kind": "characteristic", "uuid": "2A6E", "value_handle": 18, "properties": ["read", "notify"],
         "value": "d007"},
        {"handle": 19, "kind": "descriptor", "uuid": "2902"}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_a_silent_central_makes_room(halo, phone, thermometer):
    """It sends no ATT PDU, and would have the only place for ever."""
    process = halo.start("serve", thermometer, "--connections", 1, "--idle", "1s", *JSON, adapter=phone.adapter)
    end_of_link = phone.ask("silent")
    assert end_of_link["reason"] == REMOTE_USER and 0.8 < end_of_link["seconds"] < 15
    assert phone.ask("meet 0")["read"] == "d007"
    result = end(halo, process).succeeded()
    assert "F0:F1:F2:F3:F4:F5 has sent nothing for 1 s and has not subscribed" in result.err
    kinds = [record["kind"] for record in result.records()]
    assert kinds[:3] == ["connected", "disconnected", "connected"]


def test_who_is_not_allowed_is_disconnected_at_once(halo, phone, thermometer):
    process = halo.start("serve", thermometer, "--allow", "C0:11:22:33:44:55", *JSON, adapter=phone.adapter)
    for _ in range(2):
        assert phone.ask("silent")["reason"] == REMOTE_USER
    result = end(halo, process).succeeded()
    assert result.out == "" and result.err.count("F0:F1:F2:F3:F4:F5 may not connect (--allow)") == 1
    both = "C0:11:22:33:44:55,F0:F1:F2:F3:F4:F5"
    process = halo.start("serve", thermometer, "--allow", both, *JSON, adapter=phone.adapter)
    assert phone.ask("meet 0")["read"] == "d007"
    assert "--allow" not in end(halo, process).succeeded().err


def test_a_session_is_recorded_and_replayed(halo, phone, tmp_path):
    """The central's side answers again: each packet that is sent, and each line that is printed, is the same."""
    path, _ = inspected(halo, "virtual:fast", tmp_path)
    recording = tmp_path / "serve.btsnoop"
    process = halo.start("serve", path, *JSON, "--record", recording, adapter=phone.adapter)
    phone.ask("table")
    recorded = end(halo, process).succeeded()
    replayed = halo.run("replay", recording, "serve", path, *JSON).succeeded()
    assert replayed.out == recorded.out and "all as in the recording" in replayed.err
    summary = halo.run("decode", recording, "--summary").succeeded().out
    assert "as peripheral" in summary and "Attributes of this machine" in summary
    assert "0x0007 Device Name (2A00) (read)" in summary


@pytest.mark.parametrize("lines, saying", [
    ("", "has no attributes"), ("not json\n", "line 1"), ('{"handle":0,"kind":"service","uuid":"1800","end":3}\n', "line 1"),
    ('{"handle":9,"kind":"service","uuid":"1800","end":3}\n', "line 1")])
def test_a_file_that_is_no_table(halo, tmp_path, lines, saying):
    path = tmp_path / "wrong.jsonl"
    path.write_text(lines)
    halo.run("serve", path, adapter="virtual").failed(BAD_DATA, saying=saying)
    halo.run("serve", tmp_path / "missing.jsonl", adapter="virtual").failed(NO_FILE, saying="missing.jsonl")


@pytest.mark.parametrize("options, data, response", [
    (["--name", "Halo", "--service", "180D"], "02010603030d18", "0509" + b"Halo".hex()),
    # BTHome (https://bthome.io/format): a beacon has its name in the advertisement.
    (["--kind", "beacon", "--service-data", "FCD2:400164", "--name", "B"], "02010602094206" "16d2fc400164", ""),
    (["--kind", "scannable", "--manufacturer", "FFFF:0102"], "02010605ffffff0102", ""),
    (["--data", "02010605ff4c000215", "--scan-response", "020a04"], "02010605ff4c000215", "020a04")])
def test_what_is_advertised(halo, phone, options, data, response):
    process = halo.start("advertise", *options, adapter=phone.adapter)
    (heard,) = phone.hears()
    if "beacon" in options:
        assert heard["data"] in (data, "020106" "0616d2fc400164" "020942", "020106" "020942" "0616d2fc400164")
    else:
        assert (heard["data"], heard["response"]) == (data, response)
    end(halo, process).succeeded()


def test_it_ends_by_itself(halo, phone):
    halo.run("advertise", "--name", "T", "--duration", "500ms", adapter=phone.adapter).succeeded()
    assert phone.hears(0) == []


def test_extended_pdus(halo):
    phone = Phone("--extended")
    try:
        long = "c8ff" + "ffff" + "07" * 197
        process = halo.start("advertise", "--kind", "beacon", "--extended", "2m", "--data", long, adapter=phone.adapter)
        assert phone.hears()[0]["data"] == long
        end(halo, process).succeeded()
    finally:
        phone.process.terminate()
        phone.process.wait(timeout=20)


@pytest.mark.parametrize("options, saying", [
    (["--name", "x" * 30], "room for 31"), (["--data", "0501"], "no list of structures"),
    (["--kind", "beacon", "--data", "020106", "--scan-response", "020a04"], "not sent"),
    (["--every", "5ms"], "0.02 to 10.24 s"), (["--manufacturer", "12:00"], "--manufacturer wants"),
    (["--service-data", "FCD2"], "--service-data wants"), (["--to", "nobody"], "--to wants"),
    (["--data", "020106", "--name", "x"], "--data"), (["--scan-response", "020a04"], "--data"),
    (["--kind", "beacon", "--data", "020106" * 2], "more than one flags")])
def test_what_cannot_be_advertised(halo, options, saying):
    halo.run("advertise", *options, adapter="virtual").failed(USAGE, saying=saying)


# What the controller can do makes no difference.
one_phone = pytest.mark.parametrize("phone", [[]], ids=["Bluetooth 4"], indirect=True)


def until(process, kind):
    """Reads the records that a program prints, until one of a kind comes."""
    while (record := json.loads(process.stdout.readline()))["kind"] != kind:
        pass
    return record


def write_table(path, properties, **value):
    lines = [
        {"handle": 16, "kind": "service", "uuid": "181A", "end": 22},
        {"handle": 17, "kind": "characteristic", "uuid": "2A6E", "value_handle": 18, "properties": properties, **value},
        {"handle": 19, "kind": "descriptor", "uuid": "2902"},
        {"handle": 20, "kind": "characteristic", "uuid": "2A6F", "value_handle": 21, "properties": ["read"], "value": "10"},
        {"handle": 22, "kind": "descriptor", "uuid": "2904", "value": "06feadde270100"}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@one_phone
@pytest.mark.parametrize("way", ["notify", "indicate"])
def test_lines_give_values(halo, phone, tmp_path, way):
    """What noble/bleno 267 and kevincar/bless 102 ask for: a line that is typed changes the value, and subscribers get it."""
    table = write_table(tmp_path / "table.jsonl", ["read", way])
    process = halo.start("serve", table, *JSON, adapter=phone.adapter, stdin=subprocess.PIPE)

    def give(lines):
        process.stdin.write(lines)
        process.stdin.flush()

    def met(lines):
        phone.begin("meet 1")
        until(process, "subscribed")
        give(lines)
        turn = phone.answer()
        return turn["read"], turn["notified"]

    give("\ufeff2A6E 01\t02 \r\n")
    wrong = ["2A6E", "car 01", "2A77 01", "0x0011 01", "2A6E 1", "2A6E " + 513 * "00", 3000 * "x", "", "2902 0100"]
    assert met("\n".join(wrong) + "\n0x0012 D107\r\n") == ("0102", ["d107"])
    assert met("18 --text Pi 4\n") == ("d107", [b"Pi 4".hex()])
    # The last line has no end.
    phone.begin("meet 1")
    until(process, "subscribed")
    give("00002a6e-0000-1000-8000-00805f9b34fb 03")
    process.stdin.close()
    assert phone.answer()["notified"] == ["03"]
    assert phone.ask("meet 0")["read"] == "03"
    # communicate() would flush what is closed.
    process.stdin = None
    err = end(halo, process).succeeded().err
    said = [line for line in err.splitlines() if "standard input" in line]
    assert [line.split(": ")[1] for line in said] == [f"standard input, line {number}" for number in (2, 3, 4, 5, 6, 7, 8, 10)]
    assert "there is no value behind 2A6E" in said[0] and "no characteristic 2A77" in said[2]
    assert "513 bytes are too many" in said[5] and "longer than 2048 bytes" in said[6]


@one_phone
def test_options_give_values(halo, phone, tmp_path):
    """A value that is given, a file that changes, and the output of a program that runs again and again."""
    (file, program) = (tmp_path / "value", tmp_path / "count")
    table = write_table(tmp_path / "table.jsonl", ["read", "notify"])
    file.write_text("0001\n")
    process = halo.start(
        "serve", table, "--value", f"2A6E=@{file}", "--value", "0x0015=--text a,b", "--value-interval", "100ms", *JSON,
        adapter=phone.adapter)
    phone.begin("meet 2")
    until(process, "subscribed")
    for text in ("0002", "0002", "no value", "", "0003\n"):
        new = tmp_path / "new"
        new.write_text(text)
        new.rename(file)
        time.sleep(0.5)
    met = phone.answer()
    assert met["read"] == "0001" and met["notified"] == ["0002", "0003"]
    assert [row[3] for row in phone.ask("table")["rows"] if row[0] in (18, 21)] == ["0003", b"a,b".hex()]
    err = end(halo, process).succeeded().err
    assert err.count("is not a value") == 1 and f'{file}: "no value"' in err

    command = f"echo x >> {program}; printf '%04x\\n' $(wc -l < {program})"
    process = halo.start(
        "serve", table, "--value", f"2A6E=!{command}", "--value-interval", "100ms", *JSON, adapter=phone.adapter)
    phone.begin("meet 3")
    until(process, "subscribed")
    met = phone.answer()
    numbers = [int(value, 16) for value in met["notified"]]
    assert numbers == sorted(set(numbers))
    assert "halo-raw:" not in end(halo, process).succeeded().err


@one_phone
@pytest.mark.parametrize("option, code, said", [
    ("2A77=01", USAGE, "the table has no characteristic 2A77"), ("car=01", USAGE, "--value wants UUID=VALUE"),
    ("2A6E=1", USAGE, '"1" is not a value'), ("2A6E=" + 513 * "00", USAGE, "513 bytes are too many")])
def test_a_wrong_option_is_refused(halo, phone, thermometer, option, code, said):
    result = halo.run("serve", thermometer, "--value", option, adapter=phone.adapter)
    assert result.code == code and said in result.err


@one_phone
@pytest.mark.parametrize("command, said", [
    ("exit 7", "it has ended with status 7"), ("yes", "it has more than 4096 bytes of output"), ("echo car", '"car" is not a value')])
def test_a_program_that_fails_is_said_once(halo, phone, thermometer, command, said):
    process = halo.start(
        "serve", thermometer, "--value", f"2A6E=!{command}", "--value-interval", "100ms", *JSON, adapter=phone.adapter)
    assert phone.ask("meet 0")["read"] == "d007"
    time.sleep(0.5)
    assert end(halo, process).succeeded().err.count(said) == 1


@one_phone
def test_a_program_has_no_privileges_and_ends_with_us(halo, phone, thermometer, tmp_path):
    """It gets none of the capabilities and of the descriptors, and is killed with what it has started."""
    (seen, started) = (tmp_path / "seen", tmp_path / "started")
    command = f"grep -E 'Cap(Inh|Prm|Eff|Amb)' /proc/self/status > {seen}; ls -l /proc/$$/fd >> {seen}; echo $$ > {started}; sleep 1000"
    process = halo.start("serve", thermometer, "--value", f"2A6E=!{command}", *JSON, adapter=phone.adapter)
    assert phone.ask("meet 0")["read"] == "d007"
    while not started.exists() or not (group := started.read_text()):
        time.sleep(0.05)
    (capabilities, descriptors) = (seen.read_text().split("total")[0], seen.read_text().split("total")[1])
    assert re.findall(r"\t0*([0-9a-f]*)\n", capabilities) == [""] * 4
    assert "socket:" not in descriptors and "eventpoll" not in descriptors and str(thermometer) not in descriptors
    end(halo, process).succeeded()
    for _ in range(100):
        try:
            os.killpg(int(group), 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("it goes on")


@one_phone
def test_a_file_on_standard_input_gives_values(halo, phone, tmp_path):
    table = write_table(tmp_path / "table.jsonl", ["read", "notify"])
    values = tmp_path / "values"
    values.write_text("2A6E 0A0B\n2A6F 22")
    with values.open() as file:
        process = halo.start("serve", table, *JSON, adapter=phone.adapter, stdin=file)
    assert phone.ask("meet 0")["read"] == "0a0b"
    rows = [row for row in phone.ask("table")["rows"] if row[0] == 21]
    assert rows == [[21, "2A6F", 2, "22"]]
    assert "standard input" not in end(halo, process).succeeded().err
