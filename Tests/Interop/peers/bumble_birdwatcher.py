#!/usr/bin/env python3
"""A central on Bumble that watches a bird (Examples/CoreBluetooth/BirdPeripheral), and prints what it got as a line of JSON.

    bumble_birdwatcher.py tcp-server:127.0.0.1:0 [--turns N]

A free port is printed as `ready PORT`. The bird's host uses the controller there. Each turn is a new link.
"""

import asyncio
import json

from bumble import hci
from bumble.device import Device, DeviceConfiguration, Peer
from bumble.host import Host

from bumble_central import ADDRESS, heard
from bumble_device import Journal
from transports import command_line, server, start
from virtual_radio import Radio, VirtualController

SERVICE = "B12D0000-5C8E-4E0B-9D55-6F2A7C31E804"
NAME, COLOUR, ALPHA = (SERVICE.replace("B12D0000", f"B12D000{number}") for number in (1, 2, 3))


async def refusal(work):
    """The error code of a request; None if it succeeds."""
    try:
        await work
    except Exception as error:  # Bumble's own, and what it raises for a bad state
        return getattr(error, "error_code", repr(error))


async def watch(device: Device) -> dict:
    advertisement = await heard(device)
    connection = await device.connect(advertisement.address)
    peer = Peer(connection)
    mtu = await peer.request_mtu(185)
    await peer.discover_services()
    values = {}
    for service in peer.services:
        for characteristic in await service.discover_characteristics():
            values[characteristic.uuid.to_hex_str("-").upper()] = characteristic
    name, colour, alpha = values[NAME], values[COLOUR], values[ALPHA]
    await alpha.discover_descriptors()
    read = [(await one.read_value()).decode() for one in (name, colour, alpha)]
    refusals = [await refusal(one.write_value(b"\xff", with_response=True)) for one in (name, colour)]
    await colour.write_value("rot".encode(), with_response=True)
    pushed = asyncio.Queue()
    await alpha.subscribe(pushed.put_nowait)
    notified = [float((await pushed.get()).decode()) for _ in range(3)]
    changed = (await colour.read_value()).decode()
    await connection.disconnect()
    return {
        "data": bytes(advertisement.data).hex(), "mtu": mtu, "read": read, "refusals": refusals,
        "changed": changed, "notified": notified,
        "services": [service.uuid.to_hex_str("-").upper() for service in peer.services]}


async def run(options):
    journal = Journal(None)
    radio = Radio()
    offered = server(
        options.transport,
        VirtualController("bird", radio, public_address="00:1B:DC:0A:10:01", breach=journal.breach), journal)
    print("ready", await offered.listen(options.transport), flush=True)
    own = VirtualController("watcher", radio, acl_length=251)
    device = Device(
        config=DeviceConfiguration(name="watcher", address=hci.Address(ADDRESS, hci.Address.RANDOM_DEVICE_ADDRESS)),
        host=Host(own, own))
    await device.power_on()
    for _ in range(options.turns):
        print(json.dumps(await watch(device)), flush=True)


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("--turns", type=int, default=1, help="how often it connects")
    start(run(parser.parse_args()))
