"""The commands for any peripheral."""

import resource

import bumble_ring as peer
import pytest
from program import PROTOCOL
from ring_frames import COMMAND_RX

pytestmark = pytest.mark.verdict

JSON = ("--format", "jsonl")


@pytest.fixture
def command(halo, ring):
    """Runs a command on the ring, and checks that it left in order."""
    def run(name, *arguments):
        result = halo.run(name, ring.address, *arguments, *JSON, adapter=ring.adapter)
        if ring.events("host"):
            ring.check_farewell()
        return result

    return run


def read(command, uuid) -> bytes:
    (record,) = command("read", "--uuid", uuid).succeeded().records()
    assert record["uuid"].upper() == uuid
    return bytes.fromhex(record["value"])


def test_inspect_shows_the_whole_table(command):
    result = command("inspect").succeeded()
    text = result.out.upper()
    for uuid in (
        "6E40FFF0-B5A3-F393-E0A9-E50E24DCCA9E", "6E400002-B5A3-F393-E0A9-E50E24DCCA9E",
        "6E400003-B5A3-F393-E0A9-E50E24DCCA9E", "DE5BF728-D711-4E47-AF26-65E3012A5DC7",
        peer.TEST_SERVICE, peer.INCLUDED_SERVICE, peer.LONG_VALUE, peer.INDICATED_VALUE,
        peer.COMMAND_VALUE, peer.PROTECTED_VALUE, peer.INCLUDED_VALUE,
    ):
        assert uuid in text, f"{uuid} is missing"
    for short in ("180A", "2A24", "2A26", "2A27", "2901", "2902"):
        assert short in text, f"{short} is missing"
    assert b"R02_3.00.06_BUMBLE".hex().upper() in text, "a value that can be read"
    assert result.records()


def test_inspect_as_text(halo, ring):
    result = halo.run("inspect", ring.name, "--format", "text", adapter=ring.adapter).succeeded()
    assert "R02_3.00.06_BUMBLE" in result.out and "Up to 512 bytes" in result.out


def test_read(command):
    assert read(command, "2A26") == b"R02_3.00.06_BUMBLE"


def test_read_by_handle(command):
    (by_uuid,) = command("read", "--uuid", "2A27").succeeded().records()
    (by_handle,) = command("read", "--handle", by_uuid["handle"]).succeeded().records()
    assert by_handle["value"] == by_uuid["value"] == b"R02_V3.0".hex()


def test_long_read_at_the_smallest_mtu(halo, ring_with):
    ring = ring_with("--mtu", 23)
    for uuid, expected in (
        ("2A24", peer.MODEL.encode()),
        (peer.LONG_VALUE, bytes(number % 256 for number in range(512))),
    ):
        (record,) = halo.run(
            "read", ring.address, "--uuid", uuid, *JSON, adapter=ring.adapter).succeeded().records()
        assert bytes.fromhex(record["value"]) == expected


# 22 is the longest value in one PDU at the smallest MTU, 244 at the ring's; these are around both.
@pytest.mark.parametrize("length", [0, 1, 19, 22, 23, 243, 244, 245, 488, 511, 512])
def test_write_with_response(command, ring, length):
    value = bytes((7 * number + length) % 256 for number in range(length))
    command("write", "--uuid", peer.LONG_VALUE, value.hex()).succeeded()
    assert ring.wait_for("long write")["length"] == length
    assert read(command, peer.LONG_VALUE) == value


def test_write_text(command):
    command("write", "--uuid", peer.LONG_VALUE, "--text", "Grüße").succeeded()
    assert read(command, peer.LONG_VALUE) == "Grüße".encode()


def test_write_without_response(command, ring):
    command("write", "--uuid", peer.COMMAND_VALUE, "C0FFEE", "--without-response").succeeded()
    assert ring.wait_for("command write")["value"] == "c0ffee"
    assert read(command, peer.COMMAND_VALUE) == b"\xc0\xff\xee"


def test_indications_are_confirmed(command, ring):
    records = command(
        "subscribe", "--uuid", peer.INDICATED_VALUE, "--count", len(peer.INDICATIONS),
    ).succeeded().records()
    assert [bytes.fromhex(record["value"]) for record in records] == peer.INDICATIONS
    confirmed = [event["value"].encode() for event in ring.events("confirmed")]
    assert confirmed == peer.INDICATIONS


def test_a_refused_read_says_why(command):
    command("read", "--uuid", peer.PROTECTED_VALUE).failed(PROTOCOL, saying="authentication")


def test_a_read_that_is_not_permitted(command):
    command("read", "--uuid", COMMAND_RX).failed(PROTOCOL)


def test_a_write_that_is_not_permitted(command):
    command("write", "--uuid", "2A26", "00").failed(PROTOCOL)


def test_a_uuid_that_the_peer_does_not_have(command):
    command("read", "--uuid", "FE42").failed(PROTOCOL, saying="FE42")


def test_subscribing_to_what_cannot_notify(command):
    command("subscribe", "--uuid", "2A26", "--count", 1).failed(PROTOCOL, saying="2A26")


def test_a_value_that_is_too_long(command):
    assert command("write", "--uuid", peer.LONG_VALUE, "00" * 513).code not in (0, None)


@pytest.mark.long
def test_an_idle_session_costs_nothing(command):
    """Nothing polls: three seconds of waiting take next to no CPU time."""
    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = spent()
    command("subscribe", "--uuid", "2A05", "--duration", "3s").succeeded()
    assert spent() - before < 0.15


@pytest.mark.parametrize("when", ["move", "at-once"])
def test_a_subscription_moves_with_its_characteristic(halo, ring_with, when):
    ring = ring_with("--change-services", when)
    rounds = 1 if when == "at-once" else 2
    result = halo.run(
        "subscribe", ring.address, "--uuid", peer.INDICATED_VALUE, "--count", rounds * len(peer.INDICATIONS), *JSON,
        adapter=ring.adapter).succeeded()
    records = result.records()
    assert [bytes.fromhex(record["value"]) for record in records] == list(peer.INDICATIONS) * rounds
    assert (records[0]["handle"] == records[-1]["handle"]) == (when == "at-once")
    (*_, last) = [event for event in ring.events("subscription") if event["uuid"] == peer.INDICATED_VALUE]
    assert not last["notify"] and not last["indicate"], "it was disabled in its new place"


def test_a_subscription_whose_characteristic_is_gone_says_so(halo, ring_with):
    ring = ring_with("--change-services", "remove")
    halo.run(
        "subscribe", ring.address, "--uuid", peer.INDICATED_VALUE, *JSON, adapter=ring.adapter,
    ).failed(PROTOCOL, saying="gone")
