#!/usr/bin/env python3
"""The same server on Bumble: bumble_server.py PLACE CENTRALS COUNT

PLACE is the path of the controller's socket, or user:hciN, an adapter's user channel.
"""

import asyncio
import sys

from bumble.core import AdvertisingData, UUID
from bumble.device import Device
from bumble.gatt import Characteristic, Service
from bumble.transport import open_transport


async def main():
    place, centrals, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    way = place.replace("user:hci", "hci-socket:") if place.startswith("user:") else f"unix-client:{place}"
    async with await open_transport(way) as transport:
        device = Device.with_hci("Heart", "F0:F1:F2:F3:F4:F5", transport.source, transport.sink)
        rate = Characteristic(
            UUID.from_16_bits(0x2A37), Characteristic.Properties.READ | Characteristic.Properties.NOTIFY,
            Characteristic.READABLE, bytes([0, 60]))
        device.add_service(Service(UUID.from_16_bits(0x180D), [rate]))
        device.advertising_data = bytes(AdvertisingData([(AdvertisingData.FLAGS, bytes([6]))]))
        subscribed, ready = set(), asyncio.Event()

        def on_subscription(connection, notify_enabled, _):
            subscribed.add(connection)
            if len(subscribed) == centrals:
                ready.set()

        rate.on("subscription", on_subscription)
        device.on("connection", lambda _: asyncio.ensure_future(advertise(device, centrals)))
        await device.power_on()
        await advertise(device, centrals)
        await ready.wait()
        for number in range(count):
            await device.notify_subscribers(rate, bytes([0, number % 200]))
        # What was queued leaves before the transport is closed.
        for connection in list(subscribed):
            await connection.disconnect()


async def advertise(device, centrals):
    if len(device.connections) < centrals:
        await device.start_advertising(auto_restart=False)


asyncio.run(main())
