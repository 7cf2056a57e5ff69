#!/usr/bin/env python3
"""A heart rate sensor with a battery, made of Bumble's GATT server: no ring at all.

    bumble_heart_rate.py tcp-server:127.0.0.1:0      a free port, printed as `ready PORT`

With --more it has a thermometer too, which sends with the heart rate, and advertises data of all kinds; --leave-after N
ends the first link after N heart rates, and with --for-good it does not advertise afterwards.

It sends a heart rate each half second once it is subscribed to: 64, 65, 300 (with 16 bits), 66, 67, and so on. Its
control point takes 01, and refuses everything else with "Control Point Not Supported" (0x80).
"""

import asyncio
import itertools
import struct

from bumble import att, hci
from bumble.core import AdvertisingData
from bumble.gatt import Characteristic, CharacteristicValue, Service

from bumble_device import Journal, on_air, pushed, readable, refuse
from transports import command_line, offer, start
from virtual_radio import Radio

ADDRESS = "D2:5C:0A:1E:48:52"
NAME = "Halo Strap"
BATTERY = 81
RATES = [64, 65, 300]
PERIOD = 0.5


class Sensor:
    def __init__(self, device, more=False, leave_after=None, for_good=False):
        self.device = device
        self.task = None
        self.more, self.leave_after, self.for_good = more, leave_after, for_good
        properties = Characteristic.Properties
        self.measurement = pushed("2A37", properties.NOTIFY)
        device.add_service(Service("180D", [
            self.measurement,
            readable("2A38", b"\x01"),
            Characteristic(
                "2A39", properties.WRITE, Characteristic.WRITEABLE,
                CharacteristicValue(
                    read=refuse(att.ATT_READ_NOT_PERMITTED_ERROR), write=self.on_control))]))
        device.add_service(Service("180F", [readable("2A19", bytes([BATTERY]))]))
        device.add_service(Service("180A", [readable("2A29", b"Bumble")] + [
            readable("2A50", bytes.fromhex("015900341201" "00"))] * more))
        self.temperature = pushed("2A6E", properties.NOTIFY)
        if more:
            device.add_service(Service("181A", [self.temperature]))
        device.on("connection", lambda connection: connection.on("disconnection", self.stop))
        device.gatt_server.on("characteristic_subscription", self.on_subscription)

    async def start(self):
        await self.device.power_on()
        data = AdvertisingData([
            (AdvertisingData.FLAGS, b"\x06"),
            (AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, struct.pack("<2H", 0x180D, 0x180F)),
            (AdvertisingData.COMPLETE_LOCAL_NAME, NAME.encode())])
        response = AdvertisingData([
            (AdvertisingData.MANUFACTURER_SPECIFIC_DATA, bytes.fromhex("4c000215aa")),
            (AdvertisingData.SERVICE_DATA_16_BIT_UUID, bytes.fromhex("0f1851")),
            (AdvertisingData.TX_POWER_LEVEL, b"\xfc"),
            (AdvertisingData.APPEARANCE, struct.pack("<H", 0x0341))] if self.more else [])
        await self.device.start_advertising(
            own_address_type=hci.OwnAddressType.RANDOM, advertising_data=bytes(data),
            scan_response_data=bytes(response), auto_restart=not self.for_good,
            advertising_interval_min=20, advertising_interval_max=20)

    def on_control(self, _, value):
        if value != b"\x01":
            raise att.ATT_Error(0x80)

    def on_subscription(self, connection, characteristic, notify, _):
        if characteristic is self.measurement:
            self.stop()
            if notify:
                self.task = asyncio.create_task(self.beat(connection))

    def stop(self, *_):
        if self.task:
            self.task.cancel()
            self.task = None

    async def beat(self, connection):
        for number, rate in enumerate(itertools.chain(RATES, itertools.count(RATES[1] + 1))):
            if number == self.leave_after:
                self.leave_after = None
                await connection.disconnect()
            await asyncio.sleep(PERIOD)
            value = struct.pack("<BH", 1, rate) if rate > 255 else bytes([0, rate])
            await self.device.notify_subscriber(connection, self.measurement, value)
            if self.more:
                await self.device.notify_subscriber(connection, self.temperature, struct.pack("<h", 2150 + number))


async def run(options):
    radio = Radio()
    await Sensor(on_air(radio, NAME, ADDRESS), options.more, options.leave_after, options.for_good).start()
    await offer(options.transport, radio, Journal(None))


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("--more", action="store_true")
    parser.add_argument("--leave-after", type=int)
    parser.add_argument("--for-good", action="store_true")
    start(run(parser.parse_args()))
