#!/usr/bin/env python3
"""Bumble's host stack as a client of whatever is in reach of a controller that somebody else offers.

    bumble_visitor.py tcp-client:127.0.0.1:9105 [--subscribe UUID --count N] [--read UUID ...]

It connects to the first device that it can, discovers, reads, subscribes, and prints one line of JSON.
"""

import argparse
import asyncio
import json
import logging

from bumble import att
from bumble.core import UUID, AdvertisingData
from bumble.device import Device, Peer
from bumble.hci import Address
from bumble.transport import open_transport

import quiet_bumble  # noqa: F401


async def find(device):
    """The first device that is connectable, with its advertisement and its scan response."""
    found = asyncio.get_running_loop().create_future()

    def on_advertisement(advertisement):
        if advertisement.is_connectable and bytes(advertisement.data) and not found.done():
            found.set_result(advertisement)

    device.on("advertisement", on_advertisement)
    await device.start_scanning(active=True)
    advertisement = await asyncio.wait_for(found, 20)
    await device.stop_scanning()
    return advertisement


async def read(peer, uuid):
    try:
        return [bytes(await each.read_value()).hex() for each in peer.get_characteristics_by_uuid(UUID(uuid))]
    except att.ATT_Error as error:
        return error.error_code


async def run(options) -> dict:
    async with await open_transport(options.transport) as transport:
        device = Device.with_hci("visitor", Address("F3:27:5A:11:90:03"), transport.source, transport.sink)
        await device.power_on()
        advertisement = await find(device)
        connection = await device.connect(advertisement.address)
        peer = Peer(connection)
        await peer.request_mtu(247)
        await peer.discover_services()
        for service in peer.services:
            await service.discover_characteristics()
        seen = {
            "address": str(advertisement.address), "name": advertisement.data.get(AdvertisingData.COMPLETE_LOCAL_NAME),
            "services": [service.uuid.to_hex_str("") for service in peer.services],
            "values": {uuid: await read(peer, uuid) for uuid in options.read}, "notified": []}
        if options.subscribe:
            [characteristic] = peer.get_characteristics_by_uuid(UUID(options.subscribe))
            await characteristic.discover_descriptors()
            values = asyncio.Queue()
            await characteristic.subscribe(lambda value: values.put_nowait(bytes(value).hex()))
            for _ in range(options.count):
                seen["notified"].append(await asyncio.wait_for(values.get(), 20))
        await connection.disconnect()
        return seen


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("transport", help="tcp-client:HOST:PORT or unix-client:PATH")
    parser.add_argument("--read", nargs="*", default=[])
    parser.add_argument("--subscribe")
    parser.add_argument("--count", type=int, default=1)
    logging.basicConfig(level=logging.ERROR)
    print(json.dumps(asyncio.run(run(parser.parse_args()))))
