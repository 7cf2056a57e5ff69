"""Controllers that are stricter than most, lines that lose bytes, and peers with habits of their own, as public reports describe
them: whole errands on Bumble, with what strict_radio.py adds to it.
"""

import json
import signal
import time

import pytest
from bumble_ring import ppg_raw
from example_program import examples
from program import CONNECTION_LOST, NOT_FOUND, TIMEOUT
from ring_process import RingProcess

JSON = ("--format", "jsonl")
ADDRESS, NAME = RingProcess.address, RingProcess.name
# Error codes (Vol 1, Part F, 1.3).
DISALLOWED, NO_RESOURCES, INVALID = 0x0C, 0x0D, 0x12


@pytest.fixture
def strict(ring_with):
    """A ring with options of strict_radio.py."""
    return lambda *options: ring_with("--rate", 200, *options, script="strict_radio.py")


def commands(ring, opcode) -> list[str]:
    """The parameters of each command of this kind."""
    return [event["parameters"] for event in ring.events("hci") if event["opcode"] == opcode]


def timed(halo, *arguments, **options):
    start = time.monotonic()
    result = halo.run(*arguments, **options)
    return result, time.monotonic() - start


# --- the set-up of a controller

class TestEventMask:
    """Three events cannot be masked, and their bits are reserved (Vol 4, Part E, 7.3.1)."""

    @pytest.mark.parametrize(("command", "lines"), [
        pytest.param(("battery",), 2, marks=pytest.mark.verdict),
        (("inspect", ADDRESS), 30),
        (("stream", "--ppg", "--count", 200), 201),
    ])
    def test_a_controller_that_masks_what_cannot_be_masked(self, halo, strict, command, lines):
        """Number Of Completed Packets: with bit 18 clear, nothing is sent after the buffers are full (google/bumble#946)."""
        ring = strict("--obeys-event-mask", "--acl-packets", 3)
        result = halo.run(*command, adapter=ring.adapter).succeeded()
        assert len(result.out.splitlines()) == lines
        ring.check_farewell()

    def test_a_controller_that_refuses_reserved_bits(self, halo, strict):
        """7.3.1 does not say that they are ignored; apache/mynewt-core#307 lists them as reserved."""
        ring = strict("--refuses-reserved-events")
        halo.run("battery", adapter=ring.adapter).succeeded()
        first, second = (
            int.from_bytes(bytes.fromhex(parameters), "little") for parameters in commands(ring, "0C01"))
        reserved = 1 << 13 | 1 << 14 | 1 << 18
        assert first & reserved == reserved and second == first & ~reserved


@pytest.mark.parametrize("support", ["needed", "refused"])
def test_a_controller_of_both_kinds(halo, strict, support):
    """Zephyr and Linux send Write LE Host Support (7.3.79) to each, after the first LE commands: before, the others may be
    refused. A controller that does not have it for a host of LE alone refuses it, and works."""
    ring = strict("--host-support", support)
    assert halo.run("battery", *JSON, adapter=ring.adapter).succeeded().records()[0]["percent"] == 87
    assert commands(ring, "0C6D") == ["0100"]
    refused = [(event["opcode"], event["error"]) for event in ring.events("refused")]
    assert refused == ([] if support == "needed" else [("0C6D", DISALLOWED)])


# --- states that exclude each other

STORY = {
    "0C03": lambda _: "reset", "200D": lambda _: "create", "2043": lambda _: "create",
    "200A": lambda parameters: "on" if parameters[:2] == "01" else "off",
    "2039": lambda parameters: "on" if parameters[:2] == "01" else "off"}


def story(ring) -> list[str]:
    """What the controller was asked for, and what it refused."""
    told = []
    for event in ring.events():
        if event["event"] == "connected":
            told.append("connected")
        elif event.get("opcode") in STORY:
            if event["event"] == "hci":
                told.append(STORY[event["opcode"]](event["parameters"]))
            else:
                told[-1] += " refused"
    return told


@pytest.mark.parametrize(("error", "options"), [
    (DISALLOWED, []), (NO_RESOURCES, []), (INVALID, []), (NO_RESOURCES, ["--extended"]),
    (DISALLOWED, ["--says-states"]),
])
def test_a_controller_that_makes_no_link_while_it_advertises(halo, strict, error, options):
    """Linux stops advertising for a creation, since most controllers refuse it otherwise (hci_le_create_conn_sync). Which error
    they choose is theirs. LE Read Supported States (7.8.27) may say so, or not."""
    ring = strict("--refuses-creation", f"{error:02X}", *options)
    strap = halo.start("strap", adapter=ring.adapter)
    ring.wait_for("command", frame="03" + "00" * 14 + "03")
    creation = ["off", "create"] if "--says-states" in options else ["create refused", "off", "create"]
    expected = ["reset", "on", *creation, "connected", "on"]
    ring.wait_until(lambda: story(ring)[:len(expected)] == expected, "advertisement")
    assert story(ring) == expected
    assert {event["error"] for event in ring.events("refused")} <= {error}
    strap.send_signal(signal.SIGINT)
    result = halo.wait(strap).succeeded()
    assert "event about a link was lost" not in result.err and "reset" not in result.err, result
    assert story(ring).count("reset") == 1
    ring.check_farewell()


@pytest.mark.parametrize("options", [[], ["--extended"]], ids=["Bluetooth 4", "Bluetooth 5"])
@pytest.mark.parametrize("command", ["serve", "advertise", "strap", "simulate"])
def test_nothing_is_said_to_be_advertised_that_is_refused(halo, strict, tmp_path, command, options):
    """Controllers that refuse to advertise (abandonware/bleno#20), until the user gives up."""
    table = tmp_path / "table.jsonl"
    table.write_text(json.dumps(
        {"handle": 1, "kind": "service", "uuid": "180F", "end": 3}) + "\n" + json.dumps(
        {"handle": 2, "kind": "characteristic", "uuid": "2A19", "value_handle": 3, "properties": ["read"],
         "value": "32"}) + "\n")
    ring = strict("--refuses-advertising", "0C", *options)
    arguments = {
        "serve": [table, "--adapter", ring.adapter], "advertise": ["--name", "Halo", "--adapter", ring.adapter],
        "strap": ["--to", ring.adapter, "--adapter", "virtual"], "simulate": ["--adapter", ring.adapter]}
    process = halo.start(command, *arguments[command])
    first = process.stderr.readline()
    ring.wait_until(lambda: len(ring.events("refused")) >= 3, "further attempt")
    process.send_signal(signal.SIGINT)
    errors = first + halo.wait(process).err
    assert "Advertising Enable" in errors and "Command Disallowed (0x0c)" in errors, errors
    for claim in ("advertising at", "advertises at", "advertises now", "advertises again"):
        assert claim not in errors, errors


class TestProgramsOnAControllerThatRefusesToAdvertise:
    """They are told, and say nothing else before."""

    def test_of_corebluetooth(self, strict, tmp_path):
        ring = strict("--refuses-advertising", "0C")
        with examples(tmp_path) as start:
            lines = start("bird-peripheral", ring.adapter).until("not advertising")
        # As Apple's systems say it: the reason is in the error's user information.
        assert lines == ["not advertising: Unknown error."]
        assert len(ring.events("refused")) >= 3

    def test_of_the_library(self, strict, tmp_path):
        ring = strict("--refuses-advertising", "0C")
        with examples(tmp_path) as start:
            thermometer = start("thermometer", ring.adapter, ring.adapter)
            assert thermometer.exit_code() == 1
        assert thermometer.lines == []
        assert len(ring.events("refused")) >= 3


def test_an_adapter_that_receives_no_scan_response(halo, strict):
    """BCM43438, after a while (home-assistant/operating-system#4022): who has the name there has none."""
    ring = strict("--name-in-scan-response", "--no-scan-responses")
    result = halo.run("battery", NAME, "--wait", "4s", adapter=ring.adapter)
    result.failed(NOT_FOUND, saying="The adapter received no scan response")
    # The scan was active.
    assert commands(ring, "200B")[0].startswith("01")
    other = strict("--name-in-scan-response")
    assert halo.run("battery", NAME, "--wait", "4s", adapter=other.adapter).succeeded().err == ""


# --- a line that loses bytes

@pytest.mark.parametrize("losses", [
    pytest.param(["60:10:3"], marks=pytest.mark.verdict),
    # A type, a part of the header, of the L2CAP frame, and the end of a sample.
    ["60:0:1", "200:2:5", "350:8:3", "500:20:3", "650:25:3"],
])
def test_bytes_that_are_lost_on_the_line(halo, strict, losses):
    """A UART without flow control, or one whose driver loses bytes: "Frame reassembly failed" (raspberrypi/linux#5460,
    bluekitchen/btstack#690)."""
    ring = strict(*(word for loss in losses for word in ("--lose-bytes", loss)))
    result = halo.run("stream", "--ppg", "--count", 300, *JSON, adapter=ring.adapter).succeeded()
    assert len(ring.events("lost bytes")) == len(losses)
    records = result.records()
    raws = [record["raw"] for record in records if record["kind"] == "ppg"]
    # Each loss costs the packet that it is in, and the next one.
    last = ppg_raw(300 + 2 * len(losses))
    assert len(raws) == 300 and raws == sorted(set(raws)) and raws[0] == ppg_raw(0) and raws[-1] < last
    reasons = [record["reason"] for record in records if record["kind"] == "rejected"]
    assert sum("belong to no packet" in reason for reason in reasons) >= len(losses), reasons
    summary = [line for line in result.err.splitlines() if "from the controller belong to no packet" in line]
    assert len(summary) == 1, result


# --- ATT

@pytest.mark.parametrize("command", [("battery",), ("inspect", ADDRESS)])
def test_a_peer_that_never_answers_the_request_for_the_mtu(halo, strict, command):
    """h2zero/NimBLE-Arduino#125, embassy-rs/trouble#619. The exchange is optional (Vol 3, Part F, 3.4.2.1)."""
    expected = halo.run(*command, adapter=strict().adapter).succeeded()
    ring = strict("--att", "no_mtu_answer")
    result, seconds = timed(halo, *command, adapter=ring.adapter, timeout=40)
    assert result.succeeded().out.splitlines() == expected.out.splitlines()
    assert result.err.count("ended the link at the exchange of the MTU") == 1, result
    assert seconds < 15


def test_a_peer_that_answers_nothing(halo, strict):
    """The same, and the time that the user gives is no transaction's 30 s (3.3.3)."""
    ring = strict("--att", "silent")
    result, seconds = timed(halo, "inspect", ADDRESS, "--wait", "8s", adapter=ring.adapter, timeout=40)
    assert result.code in (TIMEOUT, CONNECTION_LOST), result
    assert seconds < 15


@pytest.mark.verdict
def test_an_error_response_that_comes_late(halo, strict):
    """For the request before, which was answered: it would end the discovery (Danielhiversen/pySwitchbot#565,
    home-assistant/core#181222)."""
    expected = halo.run("inspect", ADDRESS, adapter=strict().adapter).succeeded()
    ring = strict("--att", "late_error")
    result = halo.run("inspect", ADDRESS, adapter=ring.adapter).succeeded()
    assert {event["request"] for event in ring.events("late error")} == {0x08, 0x10}
    assert result.out.splitlines() == expected.out.splitlines()


# --- what peers ask for

def test_a_peer_that_wants_to_pair(halo, strict):
    """It does nothing until it is paired, and ends the link (stoprocent/noble#142)."""
    ring = strict("--wants-to-pair")
    result = halo.run("battery", "--wait", "5s", adapter=ring.adapter)
    assert result.code == CONNECTION_LOST, result
    assert len(ring.events("connected")) > 1
    assert result.err.count("add --bond") == 1, result


class TestParameters:
    """Connection Parameter Update Request (Vol 3, Part A, 4.20), for 30 to 50 ms."""

    def stream(self, halo, ring, interval):
        result = halo.run(
            "stream", "--ppg", "--interval", interval, "--count", 50, *JSON, adapter=ring.adapter).succeeded()
        assert sum(record["kind"] == "ppg" for record in result.records()) == 50
        return result

    def test_an_interval_in_the_range_is_granted(self, halo, strict):
        ring = strict("--wants-interval", 30, 50)
        self.stream(halo, ring, "15..125")
        assert [event["result"] for event in ring.events("parameter request")] == [0]
        (update,) = commands(ring, "2013")
        assert update[4:12] == "18002800"
        assert [event["interval"] for event in ring.events("parameters")] == [50]

    def test_another_is_not(self, halo, strict):
        ring = strict("--wants-interval", 30, 50)
        self.stream(halo, ring, "15")
        assert [event["result"] for event in ring.events("parameter request")] == [1]
        assert commands(ring, "2013") == []

    # With 27, the controller has nothing to say about the data length.
    @pytest.mark.parametrize("length", [251, 27])
    def test_a_peer_that_ends_the_link_without_it(self, halo, strict, length):
        """Some do so after 40 s (tinygo-org/bluetooth#456, h2zero/NimBLE-Arduino#1161)."""
        ring = strict("--wants-interval", 30, 50, "--insists", "--acl-length", length)
        result = self.stream(halo, ring, "15")
        assert [event["result"] for event in ring.events("parameter request")] == [1, 1, 0]
        assert result.err.count("ended the link at the refusal of its connection parameters") == 1, result
