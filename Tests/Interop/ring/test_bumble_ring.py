"""The ring itself, before others are measured by it: Bumble's own host as its client."""

import asyncio
from argparse import Namespace

import bumble_host
import bumble_ring
import pytest
from bumble import att
from bumble.core import UUID
from bumble.device import Device, Peer
from bumble.hci import Address
from bumble.transport import open_transport
from event_lines import event_lines

pytestmark = pytest.mark.verdict


def visit(ring, count: int):
    """Bumble's host streams from the ring; a coroutine of what it saw."""
    transport = ring.adapter.replace(":", "-client:", 1)
    return bumble_host.run(Namespace(transport=transport, count=count, timeout=10))


def stream(ring, count: int) -> dict:
    return asyncio.run(visit(ring, count))


def expected_ppg(count: int) -> list[int]:
    return [bumble_ring.ppg_raw(number) for number in range(count)]


def test_one_host_after_another_streams(ring):
    for _ in range(2):
        seen = stream(ring, 100)
        assert (seen["name"], seen["address"], seen["address_type"]) == (ring.name, ring.address, 1)
        assert (seen["mtu"], seen["battery"], seen["invalid"]) == (247, 87, 0)
        assert seen["ppg"] == expected_ppg(100)
        # The three come together; more may be under way when the hundredth has been seen.
        assert seen["accelerations"] >= 99 and seen["spo2"] >= 99
        ring.check_farewell()
    assert ring.commands() == ["0300", "a104", "a105", "a102"] * 2


@pytest.mark.parametrize("options", [
    ["--extended", "--acl-length", 251],
    ["--address-type", "public", "--mtu", 23],
    ["--mtu-request", "--parameter-request"],
], ids=lambda options: " ".join(map(str, options)))
def test_variants(ring_with, options):
    ring = ring_with("--rate", 500, *options)
    seen = stream(ring, 100)
    assert seen["ppg"] == expected_ppg(100)
    assert seen["mtu"] == (23 if 23 in options else 247)
    assert seen["address_type"] == (0 if "public" in options else 1)
    if "--mtu-request" in options:
        assert [event["request"] for event in ring.events("asked")] == [0x06, 0x02, 0x08, 0x04, 0x10]
        assert ring.wait_for("parameter request")["result"] == 0


def test_unix_socket(ring_with, tmp_path):
    ring = ring_with("--rate", 500, transport=f"unix-server:{tmp_path}/hci")
    assert stream(ring, 20)["ppg"] == expected_ppg(20)


def test_counter_skips_zero():
    """A ring sends zero for want of a value, so the counter must not."""
    numbers = [bumble_ring.ppg_raw(65535 - 10000 + offset) for offset in range(3)]
    assert numbers == [65535, 1, 2]


def test_what_generic_commands_find(ring_with):
    ring = ring_with()

    async def look_around():
        async with await open_transport(f"tcp-client:127.0.0.1:{ring.where}") as transport:
            device = Device.with_hci(
                "client", Address("F3:27:5A:11:90:03"), transport.source, transport.sink)
            await device.power_on()
            connection = await device.connect(Address(ring.address))
            peer = Peer(connection)
            await peer.discover_services()
            await peer.discover_characteristics()

            def find(uuid):
                return peer.get_characteristics_by_uuid(UUID(uuid))[0]

            model = await find("2A24").read_value()
            assert bytes(model).decode() == bumble_ring.MODEL and len(model) > 60
            long_value = find(bumble_ring.LONG_VALUE)
            assert len(await long_value.read_value()) == 512
            command_value = find(bumble_ring.COMMAND_VALUE)
            await command_value.write_value(b"written")
            assert bytes(await command_value.read_value()) == b"written"
            with pytest.raises(att.ATT_Error):
                await find(bumble_ring.PROTECTED_VALUE).read_value()
            indications = asyncio.Queue()
            await find(bumble_ring.INDICATED_VALUE).subscribe(
                indications.put_nowait, prefer_notify=False)
            got = [bytes(await asyncio.wait_for(indications.get(), 5)) for _ in range(3)]
            assert got == bumble_ring.INDICATIONS
            await connection.disconnect()

    asyncio.run(look_around())
    expected = [value.decode() for value in bumble_ring.INDICATIONS]
    ring.wait_until(lambda: len(ring.events("confirmed")) >= len(expected), "confirmations")
    assert [event["value"] for event in ring.events("confirmed")] == expected


@pytest.mark.long
def test_disconnects_when_told(ring_with):
    ring = ring_with("--rate", 500, "--disconnect-after", 20)
    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(visit(ring, 1000), 2))
    assert ring.wait_for("leaving")
    assert ring.wait_for("disconnected")["reason"] == 0x16  # by its own host


def test_breaches_are_noted(ring_with):
    """The tests rely on the ring to notice a host that breaks the rules."""
    ring = ring_with()

    async def misbehave():
        reader, writer = await asyncio.open_connection("127.0.0.1", int(ring.where))
        reset = bytes.fromhex("01 03 0c 00")
        version = bytes.fromhex("01 01 10 00")
        writer.write(reset + version + version)  # no waiting for completion
        await reader.readexactly(7)
        writer.write(b"\x77")
        await reader.read()
        writer.close()

    asyncio.run(misbehave())
    ring.wait_for("host", attached=False)
    breaches = [event["text"] for event in ring.events("breach")]
    assert len(breaches) == 3 and "while another command was open" in breaches[0], breaches
    ring.seen = len(event_lines(ring.events_file))
