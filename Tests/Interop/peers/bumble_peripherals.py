#!/usr/bin/env python3
"""Several peripherals around one adapter, for programs against CoreBluetooth. None is in reach until it is asked for.

    bumble_peripherals.py tcp-server:127.0.0.1:0      a free port, printed as `ready PORT`

Each line on standard input is a command, answered by `done`:

    reach NAME NAME...    these are in reach, and no others
    behave NAME           how the stranger answers from its next connection on: BEHAVIOURS of hostile_peer.py

| name | what it is |
| --- | --- |
| Strap | sends raw values when its control point has been written to, leaves when it is asked to |
| R02_0001, R02_0002 | two rings |
| Sensor | nine services; each value says of itself whether it was read or sent |
| Changing | exchanges a service for another one when the central has subscribed to Service Changed |
| Stranger | misbehaves on ATT |
"""

import asyncio
import sys

from bumble import att, hci
from bumble.core import UUID, AdvertisingData
from bumble.gatt import Characteristic, CharacteristicValue, Service

from bumble_device import Journal, Worker, on_air, pushed, readable, remove, writable
from hostile_peer import misbehave
from transports import command_line, offer, start
from virtual_radio import Radio

INTERVAL = 100  # ms
CONTROL = "2A39"
# What the control point of each peripheral takes.
LEAVE, RAW = 0xFF, range(0x80)
CONTROL_REFUSED = 0x80
RAW_VALUE = "48414C4F-0101-4000-8000-535452415000"
properties = Characteristic.Properties


class Neighbourhood(Radio):
    """The air, in which some peripherals are out of reach."""

    def __init__(self):
        super().__init__()
        self.out_of_reach = set()

    def send_advertising_pdu(self, sender, pdu):
        if sender.name not in self.out_of_reach:
            super().send_advertising_pdu(sender, pdu)


class Peripheral(Worker):
    """It has a battery, and a control point."""

    def __init__(self, radio, journal, name, address, services=(), advertised="180F"):
        self.name, self.advertised, self.journal = name, advertised, journal
        self.device = on_air(radio, name, address)
        self.device.add_services([
            Service("180F", [readable("2A19", bytes([81]))]),
            Service("180D", [writable(CONTROL, properties.WRITE, self.on_control)]), *services])
        self.device.on("connection", self.on_connection)

    async def start(self):
        await self.device.power_on()
        data = AdvertisingData([
            (AdvertisingData.FLAGS, b"\x06"),
            (AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, bytes(UUID(self.advertised))),
            (AdvertisingData.COMPLETE_LOCAL_NAME, self.name.encode())])
        await self.device.start_advertising(
            own_address_type=hci.OwnAddressType.RANDOM, advertising_data=bytes(data), scan_response_data=b"",
            advertising_interval_min=INTERVAL, advertising_interval_max=INTERVAL, auto_restart=True)

    def on_connection(self, connection):
        self.journal.note("connected", name=self.name)
        connection.on(
            "disconnection", lambda reason: self.journal.note("disconnected", name=self.name, reason=reason))

    def on_control(self, connection, value):
        """What follows from a command comes behind the Write Response."""
        if value == bytes([LEAVE]):
            self.spawn(connection.disconnect())
        else:
            raise att.ATT_Error(CONTROL_REFUSED)


class Strap(Peripheral):
    def __init__(self, *arguments):
        self.raw = pushed(RAW_VALUE, properties.NOTIFY)
        super().__init__(*arguments, [Service(RAW_VALUE.replace("0101", "0100"), [self.raw])], "180D")

    def on_control(self, connection, value):
        if len(value) == 1 and value[0] in RAW:
            self.spawn(self.send(connection, value[0]))
        else:
            super().on_control(connection, value)

    async def send(self, connection, number):
        for part in range(3):
            await self.device.notify_subscriber(connection, self.raw, bytes([number, part]))


class Sensor(Peripheral):
    """Nine services: that of the control point, the battery, and seven with three values each, of which one is only
    read, one only sent, and one both."""

    def __init__(self, *arguments):
        super().__init__(*arguments, [
            Service(f"A{number}00", [
                readable(f"A{number}01", b"read"),
                pushed(f"A{number}02", properties.INDICATE if number % 2 else properties.NOTIFY),
                Characteristic(
                    f"A{number}03", properties.READ | properties.NOTIFY, Characteristic.READABLE,
                    CharacteristicValue(read=lambda _: b"read"))])
            for number in range(1, 8)])
        self.device.gatt_server.on("characteristic_subscription", self.on_subscription)

    def on_subscription(self, connection, characteristic, notify, indicate):
        if notify:
            self.spawn(self.device.notify_subscriber(connection, characteristic, b"sent"))
        elif indicate and characteristic.uuid != UUID("2A05"):
            self.spawn(self.device.indicate_subscriber(connection, characteristic, b"sent"))


class Changing(Peripheral):
    """The last service gets another UUID and other handles each time that a central has subscribed to Service Changed."""

    def __init__(self, *arguments):
        self.number = 0
        super().__init__(*arguments)
        self.add_service()
        self.device.gatt_server.on("characteristic_subscription", self.on_subscription)

    def add_service(self):
        self.service = Service(f"C{self.number:03X}", [readable("C0FF", str(self.number).encode())])
        self.device.add_service(self.service)

    def on_subscription(self, connection, characteristic, notify, indicate):
        if characteristic.uuid == UUID("2A05") and indicate:
            self.spawn(self.change(connection, characteristic))

    async def change(self, connection, service_changed):
        await asyncio.sleep(0.5)
        old = self.service
        remove(old, self.device)
        self.number += 1
        self.add_service()
        await self.device.indicate_subscriber(
            connection, service_changed,
            old.handle.to_bytes(2, "little") + self.service.end_group_handle.to_bytes(2, "little"))


class Stranger(Peripheral):
    behaviour = "silent"

    def on_connection(self, connection):
        super().on_connection(connection)
        misbehave(self.behaviour, self.device, connection, self.spawn)


class Commands:
    """Those on standard input."""

    def __init__(self, radio, peripherals):
        self.radio, self.peripherals = radio, {one.name: one for one in peripherals}
        self.reach()
        asyncio.get_running_loop().add_reader(sys.stdin.fileno(), self.on_line)

    def on_line(self):
        command, *words = sys.stdin.readline().split() or ["end"]
        if command == "end":
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
            return
        {"reach": self.reach, "behave": self.behave}[command](*words)
        print("done", flush=True)

    def reach(self, *names):
        self.radio.out_of_reach = set(self.peripherals) - set(names)

    def behave(self, *words):
        self.peripherals["Stranger"].behaviour = " ".join(words)


async def run(options):
    journal = Journal(options.events)
    radio = Neighbourhood()
    peripherals = [
        kind(radio, journal, name, f"D2:5C:0A:1E:50:{number:02X}") for number, (kind, name) in enumerate([
            (Strap, "Strap"), (Peripheral, "R02_0001"), (Peripheral, "R02_0002"), (Sensor, "Sensor"),
            (Changing, "Changing"), (Stranger, "Stranger")])]
    for peripheral in peripherals:
        await peripheral.start()
    Commands(radio, peripherals)
    await offer(options.transport, radio, journal)


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("--events", metavar="FILE", help="write what happened as JSON lines (default: stderr)")
    start(run(parser.parse_args()))
