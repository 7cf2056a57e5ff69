#!/usr/bin/env python3
"""Two devices for the errands of Tests/Errands. They journal scans, connections and each ATT PDU that they receive.

    bumble_errands.py tcp-server:127.0.0.1:0 --events FILE [--habit HABIT]

A free port is printed as `ready PORT`. Lamp has the habit, and Other has none. Their tables are the same:

| service | value | what it is |
| --- | --- | --- |
| 180F | 2A19 | the battery |
| A000 | A001 | 300 bytes, which can be written |
| A000 | A002 | takes commands and writes |
| A000 | A003 | sends values of each length in LENGTHS to each that subscribes |
| A000 | A004 | sends the number of the link and a count while somebody has subscribed |
| A100 | A101 | how often this service has got other handles |
"""

import asyncio
import time

from bumble import hci
from bumble.att import ATT_CID
from bumble.core import UUID, AdvertisingData
from bumble.gatt import Characteristic, CharacteristicValue, Service

from bumble_device import Journal, Worker, on_air, pushed, readable, remove, writable
from transports import command_line, run_until_ended, server, start
from virtual_radio import Radio, VirtualController

INTERVAL = 50  # ms
BATTERY = 0x64
# A value of the last length just fits.
LARGEST_MTU = 247
LENGTHS = (1, 20, 100, 244)
LONG = bytes(number % 251 for number in range(300))
# How often a count is sent, and how long a link of the device with the habit "leaves" lasts, in seconds.
COUNT_TIME, LINK_TIME = 0.05, 1
# How much later a value comes than the one before, and less than what, in seconds.
DELAY_STEP, LONGEST_DELAY = 0.000003, 0.0003
ACL, NOTIFICATION = 0x02, 0x1B
HABITS = {
    "silent mtu": "does not answer the exchange of the MTU",
    "silent watch": "does not answer the subscription to Service Changed",
    "silent discovery": "does not answer the discovery of services, but that of 1801",
    "silent read": "does not answer reads of its battery",
    "deaf": "advertises, and takes no link",
    "leaves at a read": "ends its first link in place of the battery",
    "pauses": "waits before each value of A003",
    "hurries": "sends one value of A003, some microseconds behind the answer to the subscription",
    "leaves": "ends each link after a second",
    "leaves for good": "ends its link after a second, and does not advertise again",
    "changes at once": "A100 gets other handles when Service Changed is subscribed to",
    "changes while discovered": "the same when its characteristics are discovered, and the answer has the old handles",
    "changes during a read": "the same when A101 is read, and the answer is the old value",
    "changes before a read": "the same, and the answer is Invalid Handle",
    "changes later": "A100 gets other handles when A101 was read",
    "changes twice": "the same, and again when that was confirmed"}
properties = Characteristic.Properties

MTU, FIND_INFORMATION, FIND_BY_VALUE, READ_BY_TYPE, READ, READ_BLOB, READ_BY_GROUP, WRITE, PREPARE, EXECUTE = (
    0x02, 0x04, 0x06, 0x08, 0x0A, 0x0C, 0x10, 0x12, 0x16, 0x18)
COMMAND, CONFIRMATION, INDICATION, READ_RESPONSE, READ_BY_TYPE_RESPONSE, ERROR = 0x52, 0x1E, 0x1D, 0x0B, 0x09, 0x01
INVALID_HANDLE = 0x01
NAMES = {
    FIND_INFORMATION: "discover", FIND_BY_VALUE: "discover", READ_BY_GROUP: "discover", READ: "read",
    READ_BLOB: "read on", WRITE: "write", PREPARE: "prepare", COMMAND: "command"}


class Adapter(VirtualController):
    """The controller of the host under test. It journals what that is looking for."""

    def __init__(self, radio, journal, deaf, delays_values):
        """deaf: the address of a device that advertises, and takes no link; None if there is none.
        delays_values: whether each notification comes some microseconds later than the last one did, up to a limit"""
        self.deaf, self.delays_values, self.delay = deaf, delays_values, 0
        super().__init__(
            "central", radio, public_address="00:1B:DC:0A:10:01", acl_length=251, breach=journal.breach)
        self.journal = journal

    def on_hci_le_set_scan_enable_command(self, command):
        self.journal.note("scan", on=bool(command.le_scan_enable))
        return super().on_hci_le_set_scan_enable_command(command)

    def deliver(self, packet, host_number):
        if self.delays_values and packet[0] == ACL and packet[9] == NOTIFICATION:
            self.delay = (self.delay + DELAY_STEP) % LONGEST_DELAY
            end = time.perf_counter() + self.delay
            while time.perf_counter() < end:
                pass
        super().deliver(packet, host_number)

    def create_le_connection(self, peer_address):
        if peer_address != self.deaf:
            super().create_le_connection(peer_address)

    def on_hci_le_create_connection_command(self, command):
        self.journal.note("connecting")
        return super().on_hci_le_create_connection_command(command)

    def on_hci_le_create_connection_cancel_command(self, command):
        self.journal.note("given up")
        return super().on_hci_le_create_connection_cancel_command(command)


class Lamp(Worker):
    def __init__(self, radio, journal, name, address, services, habit=""):
        self.name, self.journal, self.habit, self.advertised = name, journal, habit, services
        self.long, self.generation, self.links = LONG, 0, 0
        # The links on which a count is sent.
        self.counting = set()
        self.device = on_air(radio, name, address)
        self.device.gatt_server.max_mtu = LARGEST_MTU
        self.lengths, self.count = pushed("A003", properties.NOTIFY), pushed("A004", properties.NOTIFY)
        self.device.add_services([
            Service("180F", [readable("2A19", bytes([BATTERY]))]),
            Service("A000", [
                Characteristic(
                    "A001", properties.READ | properties.WRITE, Characteristic.READABLE | Characteristic.WRITEABLE,
                    CharacteristicValue(read=lambda _: self.long, write=self.write_long)),
                writable("A002", properties.WRITE | properties.WRITE_WITHOUT_RESPONSE, lambda *_: None),
                self.lengths, self.count])])
        self.add_changing()
        self.service_changed = next(
            one for one in self.device.gatt_server.attributes if one.type == UUID("2A05"))
        self.device.on("connection", self.on_connection)
        self.device.gatt_server.on("characteristic_subscription", self.on_subscription)

    def note(self, event, **facts):
        self.journal.note(event, name=self.name, **facts)

    async def start(self):
        await self.device.power_on()
        data = AdvertisingData([
            (AdvertisingData.FLAGS, b"\x06"),
            (AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, bytes(UUID(self.advertised))),
            (AdvertisingData.COMPLETE_LOCAL_NAME, self.name.encode())])
        await self.device.start_advertising(
            own_address_type=hci.OwnAddressType.RANDOM, advertising_data=bytes(data), scan_response_data=b"",
            advertising_interval_min=INTERVAL, advertising_interval_max=INTERVAL,
            auto_restart=self.habit != "leaves for good")

    def write_long(self, _, value):
        self.long = bytes(value)

    # --- links

    def on_connection(self, connection):
        self.links += 1
        self.note("connected", link=self.links)
        connection.on("disconnection", lambda reason: self.note("disconnected", reason=reason))
        self.device.l2cap_channel_manager.register_fixed_channel(ATT_CID, self.on_pdu)
        if self.habit in ("leaves", "leaves for good"):
            self.spawn(self.leave(connection))

    async def leave(self, connection):
        await asyncio.sleep(LINK_TIME)
        await connection.disconnect()

    def on_pdu(self, handle, pdu):
        is_unanswered = self.is_unanswered(pdu)
        self.note("att", pdu=pdu.hex(), text=self.text_of(pdu), unanswered=is_unanswered)
        if is_unanswered:
            return
        answer = self.answer_of_the_past(pdu)
        if answer:
            self.send(handle, [INDICATION, *self.service_changed.handle.to_bytes(2, "little"), *self.exchange()])
            return self.send(handle, answer)
        if self.habit == "leaves at a read" and self.links == 1 and pdu[0] == READ and self.type_of(pdu) == "2A19":
            return self.spawn(self.device.lookup_connection(handle).disconnect())
        self.device.on_gatt_pdu(handle, pdu)
        if (self.habit in ("changes later", "changes twice") and self.generation == 0 and pdu[0] == READ
                and self.type_of(pdu) == "A101"):
            connection = self.device.lookup_connection(handle)
            self.spawn(self.change(connection, 2 if self.habit == "changes twice" else 1))

    def answer_of_the_past(self, pdu) -> list | None:
        """The answer to a request during which A100 gets other handles, from before that."""
        if self.generation:
            return None
        is_read = pdu[0] == READ and self.type_of(pdu) == "A101"
        match self.habit:
            case "changes during a read" if is_read:
                return [READ_RESPONSE, self.generation]
            case "changes before a read" if is_read:
                return [ERROR, *pdu[:3], INVALID_HANDLE]
            case "changes while discovered" if self.discovers(pdu, "A100"):
                declaration = self.changing.handle + 1
                return [
                    READ_BY_TYPE_RESPONSE, 7, *declaration.to_bytes(2, "little"), properties.READ,
                    *(declaration + 1).to_bytes(2, "little"), *UUID("A101").to_pdu_bytes()]

    # --- what a PDU asks for

    def attribute(self, handle):
        return self.device.gatt_server.get_attribute(handle)

    def type_of(self, pdu) -> str:
        """The type of the attribute that a PDU is about, for a configuration with that of its characteristic."""
        handle = int.from_bytes(pdu[1:3], "little")
        attribute = self.attribute(handle)
        name = attribute.type.to_hex_str("-") if attribute else "no attribute"
        if name != "2902":
            return name
        value = next(
            one for one in map(self.attribute, range(handle, 0, -1)) if isinstance(one, Characteristic))
        return f"2902 of {value.uuid.to_hex_str('-')}"

    def text_of(self, pdu) -> str:
        if pdu[0] == MTU:
            return "mtu"
        if pdu[0] == CONFIRMATION:
            return "confirm"
        if pdu[0] == READ_BY_TYPE:
            kind = UUID.from_bytes(pdu[5:]).to_hex_str("-")
            return "discover" if kind in ("2803", "2802") else f"read by type {kind}"
        if pdu[0] == EXECUTE:
            return f"execute {pdu[1]}"
        name = NAMES.get(pdu[0], f"opcode {pdu[0]:02X}")
        if name == "discover":
            return name
        value = pdu[3:].hex()
        if pdu[0] in (READ_BLOB, PREPARE):
            value = f"from {int.from_bytes(pdu[3:5], 'little')}"
        return f"{name} {self.type_of(pdu)} {value}".rstrip()

    def range_of(self, uuid) -> range:
        service = self.device.gatt_server.get_service_attribute(UUID(uuid))
        return range(service.handle, service.end_group_handle + 1)

    def discovers(self, pdu, uuid) -> bool:
        """Whether it asks for the characteristics of a service."""
        return (pdu[0] == READ_BY_TYPE and pdu[5:] == bytes.fromhex("0328")
                and int.from_bytes(pdu[1:3], "little") in self.range_of(uuid))

    def is_unanswered(self, pdu) -> bool:
        match self.habit:
            case "silent mtu":
                return pdu[0] == MTU
            case "silent watch":
                return pdu[0] == WRITE and self.type_of(pdu) == "2902 of 2A05"
            case "silent discovery":
                first = int.from_bytes(pdu[1:3], "little")
                if pdu[0] == FIND_BY_VALUE:
                    return pdu[7:] != bytes.fromhex("0118")
                return (pdu[0] == READ_BY_GROUP or pdu[0] in (READ_BY_TYPE, FIND_INFORMATION)
                        and first not in self.range_of("1801"))
            case "silent read":
                return pdu[0] == READ and self.type_of(pdu) == "2A19"
        return False

    def send(self, handle, pdu):
        self.device.host.send_l2cap_pdu(handle, ATT_CID, bytes(pdu))

    # --- values

    def on_subscription(self, connection, characteristic, notify, indicate):
        if characteristic is self.lengths and notify:
            self.spawn(self.send_lengths(connection))
        elif characteristic is self.count and notify:
            self.spawn(self.send_counts(connection))
        elif characteristic.uuid == UUID("2A05") and indicate and self.habit == "changes at once":
            self.spawn(self.change(connection))

    async def send_lengths(self, connection):
        for length in LENGTHS[:1] if self.habit == "hurries" else LENGTHS:
            if self.habit == "pauses":
                await asyncio.sleep(COUNT_TIME)
            await self.device.notify_subscriber(connection, self.lengths, LONG[:length])

    async def send_counts(self, connection):
        if connection in self.counting:
            return
        self.counting.add(connection)
        number = 0
        while self.device.gatt_server.subscribers.get(connection, {}).get(self.count.handle) == b"\x01\x00":
            await self.device.notify_subscriber(connection, self.count, bytes([self.links]) + number.to_bytes(2, "big"))
            number += 1
            await asyncio.sleep(COUNT_TIME)
        self.counting.remove(connection)

    # --- changes

    def add_changing(self):
        self.changing = Service("A100", [readable("A101", bytes([self.generation]))])
        self.device.add_service(self.changing)

    def exchange(self) -> bytes:
        """Gives A100 other handles, and returns the range that has changed. At the old ones, the old value can still be
        read."""
        old = self.changing
        remove(old, self.device)
        self.generation += 1
        self.add_changing()
        self.note("changed", generation=self.generation)
        return old.handle.to_bytes(2, "little") + self.changing.end_group_handle.to_bytes(2, "little")

    async def change(self, connection, times=1):
        for _ in range(times):
            await self.device.indicate_subscriber(connection, self.service_changed, self.exchange())


async def run(options):
    journal, radio = Journal(options.events), Radio()
    lamp = Lamp(radio, journal, "Lamp", "D2:5C:0A:1E:60:01", "A000", options.habit)
    for device in (lamp, Lamp(radio, journal, "Other", "D2:5C:0A:1E:60:02", "180F")):
        await device.start()
    adapter = Adapter(
        radio, journal, deaf=lamp.device.random_address if options.habit == "deaf" else None,
        delays_values=options.habit == "hurries")
    await run_until_ended(server(options.transport, adapter, journal), options.transport)


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("--events", metavar="FILE", help="write what happened as JSON lines (default: stderr)")
    parser.add_argument(
        "--habit", choices=["", *HABITS], default="",
        help="what Lamp does: " + "; ".join(f"{name}: {text}" for name, text in HABITS.items()))
    start(run(parser.parse_args()))
