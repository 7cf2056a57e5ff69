"""The same errands on every kind of ring and controller by way of the kernel, which drives them; and once without it, where they
are driven as over H4 (Tests/Interop).
"""

import bumble_ring as peer
import pytest
from bumble_ring import ppg_raw
from conftest import RINGS
from ring_frames import COMMAND_SERVICE

JSON = ("--format", "jsonl")


# Of the module, so that pytest runs all tests of one ring, one after the other.
@pytest.fixture(scope="module", params=[
    *(pytest.param((options, ""), id=f"hci0-{kind}", marks=[pytest.mark.long] if kind != "bluetooth 4.2" else [])
      for kind, options in RINGS.items()),
    pytest.param((RINGS["bluetooth 5, ACL 27"], "user:"), id="user:hci0-bluetooth 5, ACL 27")])
def kind(request):
    """What the ring and its controller are like, and the way to it."""
    return request.param


@pytest.fixture
def way(kind):
    return kind[1]


@pytest.fixture
def ring(kind, ring_with, way):
    """A ring, with its adapter as the way wants it."""
    ring = ring_with(*kind[0])
    if way:
        ring.kernel_adapter.down()
    return ring


@pytest.fixture
def command(halo, ring, way):
    """Runs a command on the ring, and checks that it left in order."""
    def run(*arguments):
        result = halo.run(*arguments, *JSON, adapter=way + ring.adapter)
        if ring.events("connected"):
            ring.wait_for("disconnected", reason=0x13)
        return result.succeeded()

    return run


@pytest.mark.verdict
@pytest.mark.both_kernels
def test_scan(command, ring):
    found = [
        record for record in command("scan", "--duration", "700ms").records()
        if record["address"] == ring.address]
    expected = "public" if "public" in ring.options else "random"
    assert found and (found[-1]["name"], found[-1]["type"]) == (ring.name, expected)
    assert [uuid.upper() for uuid in found[-1]["services"]] == [COMMAND_SERVICE], "from the scan response"


def test_inspect(command, ring):
    text = command("inspect", ring.address).out.upper()
    for uuid in (COMMAND_SERVICE, peer.TEST_SERVICE, peer.INCLUDED_VALUE, "2A26", "2902"):
        assert uuid in text
    assert peer.MODEL.encode().hex().upper() in text, "a long value"


@pytest.mark.verdict
@pytest.mark.both_kernels
def test_stream(command, ring):
    result = command("stream", "--ppg", "--count", 300)
    assert [record["raw"] for record in result.records()] == [ppg_raw(number) for number in range(300)]
    raw = [command for command in ring.commands() if command.startswith("a1")]
    assert raw == ["a104", "a105", "a102"]


def test_a_notification(command):
    (record,) = command("battery").records()
    assert (record["percent"], record["charging"]) == (87, False)


@pytest.mark.verdict
def test_indications(command, ring):
    records = command(
        "subscribe", ring.address, "--uuid", peer.INDICATED_VALUE, "--count", len(peer.INDICATIONS)).records()
    assert [bytes.fromhex(record["value"]) for record in records] == peer.INDICATIONS
    assert [event["value"].encode() for event in ring.events("confirmed")] == peer.INDICATIONS


def test_a_long_write(command, ring):
    """In several PDUs at either MTU, each in several ACL packets where those are short."""
    value = bytes(7 * number % 256 for number in range(300))
    command("write", ring.address, "--uuid", peer.LONG_VALUE, value.hex())
    assert ring.wait_for("long write")["length"] == len(value)


def test_a_write_without_response(command, ring):
    command("write", ring.address, "--uuid", peer.COMMAND_VALUE, "C0FFEE", "--without-response")
    assert ring.wait_for("command write")["value"] == "c0ffee"
