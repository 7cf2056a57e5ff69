#!/usr/bin/env python3
"""What the examples of HaloRaw meet: two straps, a device for files and lines, and a phone.

    bumble_workshop.py tcp-server:127.0.0.1:0      a free port, printed as `ready PORT`

| name | what it is |
| --- | --- |
| Workshop | Device Information, with the zero of a string of C; the Nordic UART Service, which sends back in capital letters; a service that counts the bytes of a file, as in Examples/Upload |
| Strap A, Strap B | heart rates: 60, 61, ...; 80, 81, ... Strap A ends its link once, after three |

Each line on standard input is a command for the phone, which prints a line of JSON:

    say NAME TEXT    the text in capital letters that the device with the Nordic UART Service answers
    use NAME         what it reads, writes and gets from a strap, or from what offers one again
"""

import asyncio
import itertools
import json
import sys

from bumble import att, hci
from bumble.core import UUID, AdvertisingData
from bumble.device import Peer
from bumble.gatt import Characteristic, CharacteristicValue, Service

from bumble_central import lines
from bumble_device import Journal, Worker, on_air, pushed, readable, writable
from transports import command_line, server, start
from virtual_radio import Radio, VirtualController

PHONE = "F0:F1:F2:F3:F4:F7"
UART, TO_DEVICE, FROM_DEVICE = (f"6E40000{number}-B5A3-F393-E0A9-E50E24DCCA9E" for number in (1, 2, 3))
FILES, DATA, COUNT = (f"F0F0A00{number}-6A5C-4F5E-9A3B-0D5B7D1C2E3F" for number in (0, 1, 2))
properties = Characteristic.Properties


class Peripheral(Worker):
    def __init__(self, radio, name, address, services, advertised, *responses):
        self.name, self.advertised, self.responses, self.journal = name, advertised, responses, Journal(None)
        self.device = on_air(radio, name, address)
        self.device.add_services(services)

    async def start(self):
        await self.device.power_on()
        data = AdvertisingData([(AdvertisingData.FLAGS, b"\x06"), self.advertised])
        response = AdvertisingData([(AdvertisingData.COMPLETE_LOCAL_NAME, self.name.encode()), *self.responses])
        await self.device.start_advertising(
            own_address_type=hci.OwnAddressType.RANDOM, advertising_data=bytes(data), scan_response_data=bytes(response),
            advertising_interval_min=20, advertising_interval_max=20, auto_restart=True)


class Workshop(Peripheral):
    def __init__(self, radio):
        self.count = 0
        self.answers = pushed(FROM_DEVICE, properties.NOTIFY)
        super().__init__(radio, "Workshop", "D2:5C:0A:1E:77:01", [
            Service("180A", [readable("2A29", b"Bumble"), readable("2A26", b"1.2.3\0")]),
            Service(UART, [
                writable(TO_DEVICE, properties.WRITE | properties.WRITE_WITHOUT_RESPONSE, self.on_text), self.answers]),
            Service(FILES, [
                writable(DATA, properties.WRITE_WITHOUT_RESPONSE, self.on_data),
                Characteristic(
                    COUNT, properties.READ, Characteristic.READABLE,
                    CharacteristicValue(read=lambda _: self.count.to_bytes(4, "little")))]),
        ], *((AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS, bytes(UUID(each))) for each in (UART, FILES)))

    def on_text(self, connection, value):
        self.spawn(self.device.notify_subscriber(connection, self.answers, value.upper()))

    def on_data(self, _, value):
        self.count += len(value)


class Strap(Peripheral):
    def __init__(self, radio, name, address, first, leaves=False):
        self.rates, self.leaves, self.control = itertools.count(first), leaves, b"\0"
        self.measurement = pushed("2A37", properties.NOTIFY)
        super().__init__(radio, name, address, [
            Service("180D", [
                self.measurement,
                Characteristic(
                    "2A39", properties.READ | properties.WRITE, Characteristic.READABLE | Characteristic.WRITEABLE,
                    CharacteristicValue(read=lambda _: self.control, write=self.on_control))]),
            Service("180F", [readable("2A19", b"\x51")]),
        ], (AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, bytes(UUID("180D"))))
        self.device.gatt_server.on("characteristic_subscription", self.on_subscription)

    def on_control(self, _, value):
        if value == b"\xff":
            raise att.ATT_Error(0x80)
        self.control = value

    def on_subscription(self, connection, characteristic, notify, _):
        if characteristic is self.measurement and notify:
            self.spawn(self.beat(connection))

    async def beat(self, connection):
        for number in itertools.count():
            if self.leaves and number == 3:
                self.leaves = False
                return await connection.disconnect()
            await self.device.notify_subscriber(connection, self.measurement, bytes([0, next(self.rates) % 256]))
            await asyncio.sleep(0.2)


class Phone:
    def __init__(self, radio):
        self.device = on_air(radio, "phone", PHONE)

    async def find(self, name) -> Peer:
        found = asyncio.get_running_loop().create_future()

        def on_advertisement(advertisement):
            if advertisement.data.get(AdvertisingData.COMPLETE_LOCAL_NAME) == name and not found.done():
                found.set_result(advertisement.address)

        self.device.on("advertisement", on_advertisement)
        await self.device.start_scanning(active=True)
        address = await asyncio.wait_for(found, 30)
        await self.device.stop_scanning()
        self.device.remove_listener("advertisement", on_advertisement)
        peer = Peer(await self.device.connect(address))
        await peer.request_mtu(247)
        await peer.discover_services()
        for service in peer.services:
            await service.discover_characteristics()
        return peer

    async def subscribe(self, peer, uuid) -> asyncio.Queue:
        values = asyncio.Queue()
        [characteristic] = peer.get_characteristics_by_uuid(UUID(uuid))
        await characteristic.discover_descriptors()
        await characteristic.subscribe(lambda value: values.put_nowait(bytes(value)))
        return values

    async def say(self, name, text):
        peer = await self.find(name)
        values = await self.subscribe(peer, FROM_DEVICE)
        [command] = peer.get_characteristics_by_uuid(UUID(TO_DEVICE))
        await command.write_value(text.encode(), with_response=False)
        answer = await asyncio.wait_for(values.get(), 20)
        await peer.connection.disconnect()
        return answer.decode()

    async def use(self, name):
        peer = await self.find(name)
        [battery] = peer.get_characteristics_by_uuid(UUID("2A19"))
        [control] = peer.get_characteristics_by_uuid(UUID("2A39"))
        seen = {"services": [each.uuid.to_hex_str("") for each in peer.services], "battery": (await battery.read_value()).hex()}
        await control.write_value(b"\x07", with_response=True)
        seen["control"] = (await control.read_value()).hex()
        try:
            await control.write_value(b"\xff", with_response=True)
        except att.ATT_Error as error:
            seen["refusal"] = error.error_code
        values = await self.subscribe(peer, "2A37")
        seen["rates"] = [(await asyncio.wait_for(values.get(), 20))[1] for _ in range(3)]
        await peer.connection.disconnect()
        return seen


async def run(options):
    radio = Radio()
    offered = server(
        options.transport,
        VirtualController("halo-raw", radio, public_address="00:1B:DC:0A:10:01", extended=True), Journal(None))
    devices = [
        Workshop(radio), Strap(radio, "Strap A", "D2:5C:0A:1E:77:0A", 60, leaves=True),
        Strap(radio, "Strap B", "D2:5C:0A:1E:77:0B", 80)]
    for device in devices:
        await device.start()
    phone = Phone(radio)
    await phone.device.power_on()
    print("ready", await offered.listen(options.transport), flush=True)
    async for line in lines(sys.stdin):
        command, _, rest = line.partition(" ")
        answer = await (phone.say(*rest.rsplit(" ", 1)) if command == "say" else phone.use(rest))
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    start(run(command_line(__doc__).parse_args()))
