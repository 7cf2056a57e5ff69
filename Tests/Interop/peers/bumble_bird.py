#!/usr/bin/env python3
"""A bird made of Bumble's GATT server: name, colour and alpha as UTF-8. It flies away again and again, and comes back.

    bumble_bird.py tcp-server:127.0.0.1:0 [--visit SECONDS]      a free port, printed as `ready PORT`
"""

import asyncio

from bumble import hci
from bumble.core import UUID, AdvertisingData
from bumble.gatt import Service

from bumble_device import Journal, on_air, readable
from transports import command_line, offer, start
from virtual_radio import Radio

ADDRESS = "D2:5C:0A:1E:B1:4D"
SERVICE = "B12D0000-5C8E-4E0B-9D55-6F2A7C31E804"
VALUES = {"B12D0001": "Möwe", "B12D0002": "weiß", "B12D0003": "0.75"}


class Bird:
    def __init__(self, device, visit):
        self.device, self.visit = device, visit
        device.add_service(Service(SERVICE, [
            readable(SERVICE.replace("B12D0000", start), text.encode()) for start, text in VALUES.items()]))
        device.on("connection", lambda connection: asyncio.create_task(self.fly_away(connection)))

    async def start(self):
        await self.device.power_on()
        data = AdvertisingData([
            (AdvertisingData.FLAGS, b"\x06"),
            (AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS, bytes(UUID(SERVICE)))])
        name = AdvertisingData([(AdvertisingData.COMPLETE_LOCAL_NAME, "Bird".encode())])
        await self.device.start_advertising(
            own_address_type=hci.OwnAddressType.RANDOM, advertising_data=bytes(data),
            scan_response_data=bytes(name), auto_restart=True, advertising_interval_min=20, advertising_interval_max=20)

    async def fly_away(self, connection):
        await asyncio.sleep(self.visit)
        await connection.disconnect()


async def run(options):
    radio = Radio()
    await Bird(on_air(radio, "Bird", ADDRESS), options.visit).start()
    await offer(options.transport, radio, Journal(None))


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("--visit", type=float, default=2, help="seconds until it leaves")
    start(run(parser.parse_args()))
