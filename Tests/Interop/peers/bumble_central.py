#!/usr/bin/env python3
"""A central on Bumble: it searches for a device, reads, writes and subscribes, and prints what it got as lines of JSON.

    bumble_central.py tcp-server:127.0.0.1:0 [--extended] [--turns N] [--commands]

A free port is printed as `ready PORT`.

The peripheral's host uses the controller there. Each turn is a new link.
"""

import asyncio
import json
import sys

from bumble import att, hci
from bumble.device import Device, DeviceConfiguration, Peer
from bumble.gatt import Characteristic
from bumble.host import Host

from bumble_device import Journal
from transports import command_line, server, start
from virtual_radio import Radio, VirtualController

ADDRESS = "F0:F1:F2:F3:F4:F5"


async def heard(device: Device):
    """The first advertisement with data, and its scan response."""
    found = asyncio.get_running_loop().create_future()

    def on_advertisement(advertisement):
        if bytes(advertisement.data) and not found.done():
            found.set_result(advertisement)

    device.on("advertisement", on_advertisement)
    await device.start_scanning(active=True)
    advertisement = await found
    await device.stop_scanning()
    device.remove_listener("advertisement", on_advertisement)
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


async def table(device: Device) -> dict:
    """All attributes of the device that is heard first: handle, type, properties and value, which is null if it is refused."""
    advertisement = await heard(device)
    connection = await device.connect(advertisement.address)
    peer = Peer(connection)
    await peer.request_mtu(517)
    rows = []
    await peer.discover_services()
    for service in peer.services:
        rows.append([service.handle, service.uuid.to_hex_str("-"), service.end_group_handle])
        for characteristic in await service.discover_characteristics():
            value = None
            if Characteristic.Properties.READ in characteristic.properties:
                try:
                    value = (await characteristic.read_value()).hex()
                except att.ATT_Error:
                    pass
            rows.append(
                [characteristic.handle, characteristic.uuid.to_hex_str("-"), int(characteristic.properties), value])
            for descriptor in await characteristic.discover_descriptors():
                rows.append([descriptor.handle, descriptor.type.to_hex_str("-"), (await descriptor.read_value()).hex()])
    await connection.disconnect()
    return {"data": bytes(advertisement.data).hex(), "rows": rows}


async def silent(device: Device) -> dict:
    """Connects to the device that is heard first, sends nothing, and waits until that ends the link."""
    loop = asyncio.get_running_loop()
    advertisement = await heard(device)
    connection = await device.connect(advertisement.address)
    (begin, end) = (loop.time(), loop.create_future())
    connection.on("disconnection", end.set_result)
    return {"reason": await end, "seconds": loop.time() - begin}


def advertisements(controller) -> list[dict]:
    """What a controller sends: data, scan response, and the shortest interval in milliseconds."""
    legacy = controller.le_legacy_advertiser
    sent = [(legacy.advertising_data, legacy.scan_response_data, legacy.advertising_interval_min)] if legacy.enabled else []
    sent += [(each.data, each.scan_response_data, each.parameters.primary_advertising_interval_min)
             for each in controller.advertising_sets.values() if each.enabled]
    return [{"data": bytes(data).hex(), "response": bytes(response).hex(), "interval": units * 0.625}
            for data, response, units in sent]


async def lines(file):
    while line := await asyncio.get_running_loop().run_in_executor(None, file.readline):
        yield line.strip()


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
    if not options.commands:
        return
    async for command in lines(sys.stdin):
        verb, _, count = command.partition(" ")
        if verb == "advertisements":
            answer = advertisements(offered.controller)
        elif verb == "table":
            answer = await table(device)
        elif verb == "silent":
            answer = await silent(device)
        else:
            answer = await meet(device, int(count or options.notifications))
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("--extended", action="store_true", help="the controller has the commands of Bluetooth 5")
    parser.add_argument("--turns", type=int, default=1, help="how often it connects")
    parser.add_argument(
        "--commands", action="store_true", help="it then reads commands, one in a line: meet [N], with N notifications; table, which prints all "
        "attributes; silent, which prints how a link ends on which it sends nothing; advertisements, which prints what the controller of the peripheral sends")
    parser.add_argument("--notifications", type=int, default=2, help="how many to wait for each time")
    start(run(parser.parse_args()))
