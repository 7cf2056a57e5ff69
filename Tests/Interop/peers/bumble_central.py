#!/usr/bin/env python3
"""A central on Bumble: it searches for a device, reads, writes and subscribes, and prints what it got as lines of JSON.

    bumble_central.py tcp-server:127.0.0.1:0 [--extended] [--turns N]      a free port, printed as `ready PORT`

The peripheral's host uses the controller there. Each turn is a new link.
"""

import asyncio
import json

from bumble import att, hci
from bumble.device import Device, DeviceConfiguration, Peer
from bumble.host import Host

from bumble_device import Journal
from transports import command_line, server, start
from virtual_radio import Radio, VirtualController

ADDRESS = "F0:F1:F2:F3:F4:F5"


async def heard(device: Device):
    """The first advertisement with its scan response."""
    found = asyncio.get_running_loop().create_future()
    device.once("advertisement", lambda advertisement: found.done() or found.set_result(advertisement))
    await device.start_scanning(active=True)
    advertisement = await found
    await device.stop_scanning()
    return advertisement


async def meet(device: Device, notifications: int) -> dict:
    advertisement = await heard(device)
    connection = await device.connect(advertisement.address)
    peer = Peer(connection)
    mtu = await peer.request_mtu(247)
    await peer.discover_services()
    values = {}
    for service in peer.services:
        for characteristic in await service.discover_characteristics():
            values[characteristic.uuid.to_hex_str("")] = characteristic
    value = values["2A6E"]
    await value.discover_descriptors()
    read = await value.read_value()
    try:
        await value.write_value(b"\x00\x00", with_response=True)
        refusal = None
    except att.ATT_Error as error:
        refusal = error.error_code
    pushed = asyncio.Queue()
    await value.subscribe(pushed.put_nowait)
    heard_values = [(await pushed.get()).hex() for _ in range(notifications)]
    await connection.disconnect()
    return {
        "address": str(advertisement.address).removesuffix("/P"), "data": bytes(advertisement.data).hex(), "mtu": mtu,
        "services": [service.uuid.to_hex_str("") for service in peer.services], "read": read.hex(),
        "refusal": refusal, "notified": heard_values}


async def run(options):
    journal = Journal(None)
    radio = Radio()
    offered = server(
        options.transport,
        VirtualController("halo-raw", radio, public_address="00:1B:DC:0A:10:01", extended=options.extended,
                          breach=journal.breach), journal)
    print("ready", await offered.listen(options.transport), flush=True)
    own = VirtualController("phone", radio, acl_length=251)
    device = Device(
        config=DeviceConfiguration(name="phone", address=hci.Address(ADDRESS, hci.Address.RANDOM_DEVICE_ADDRESS)),
        host=Host(own, own))
    await device.power_on()
    for _ in range(options.turns):
        print(json.dumps(await meet(device, options.notifications)), flush=True)


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("--extended", action="store_true", help="the controller has the commands of Bluetooth 5")
    parser.add_argument("--turns", type=int, default=1, help="how often it connects")
    parser.add_argument("--notifications", type=int, default=2, help="how many to wait for each time")
    start(run(parser.parse_args()))
