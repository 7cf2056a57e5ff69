#!/usr/bin/env python3
"""A COLMI ring made of Bumble's link, controllers and GATT server: the stranger that halo-raw is tested against.

    bumble_ring.py tcp-server:127.0.0.1:0      a free port, printed as `ready PORT`
    bumble_ring.py unix-server:/tmp/ring.sock
    bumble_ring.py vhci                        an adapter of this machine, printed as `ready hci0`

Two virtual controllers share a virtual radio. The ring's own host drives one, the other is offered on the socket
as H4: whoever connects is the central's host. Hosts may come and go; the ring lives on between them. Or the other
is offered to the kernel, which makes an adapter of it: then the ring ends when the adapter is removed.

The ring has Device Information, the command service with battery and raw streaming, the bulk service, with
`--history` a week of readings (see `ring_history.py`), and a service of its own for the parts of GATT that a ring
does not use (see `TestService`).

The value `raw` of its PPG frames counts: FIRST_RAW, and one more with each sample; after 65535 comes 1, since a
ring sends 0 for want of a value. So order and losses show in what a client decoded.
"""

import asyncio
import json
import random
import struct
import sys
import time
from datetime import datetime
from pathlib import Path

from bumble import att, hci
from bumble.core import UUID, AdvertisingData
from bumble.device import Device, DeviceConfiguration
from bumble.gatt import Characteristic, CharacteristicValue, Descriptor, Service
from bumble.host import Host
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig, PairingDelegate
from bumble.smp import SMP_CID
from bumble.snoop import BtSnooper

import ring_frames as frames
import ring_history
from bumble_device import Journal, Worker, protect_subscriptions, pushed, readable, refuse, remove, writable
from ring_frames import frame
from ring_measurement import Measurement
from transports import command_line, run_until_ended, server, start
from virtual_radio import Radio, VirtualController

FIRST_RAW = 10000
MODEL = "R02 " + "long enough to need a long read at the default MTU " * 2  # 106 bytes
TEST_SERVICE = "48414C4F-0001-4000-8000-52494E470000"
INCLUDED_SERVICE = "48414C4F-0002-4000-8000-52494E470000"
LONG_VALUE = "48414C4F-0003-4000-8000-52494E470000"
INDICATED_VALUE = "48414C4F-0004-4000-8000-52494E470000"
COMMAND_VALUE = "48414C4F-0005-4000-8000-52494E470000"
PROTECTED_VALUE = "48414C4F-0006-4000-8000-52494E470000"
INCLUDED_VALUE = "48414C4F-0007-4000-8000-52494E470000"
INDICATIONS = [b"first", b"second", b"third"]
LONGEST_VALUE = 512


def ppg_raw(sample: int) -> int:
    """The value `raw` of the sample with this number, from 0."""
    return (FIRST_RAW - 1 + sample) % 65535 + 1


def vectors(name: str) -> dict:
    """Frames that other people have found, with their source: `vectors/ring.json`."""
    return json.loads((Path(__file__).parent.parent / "vectors" / "ring.json").read_text())[name]


class RawStream:
    """The raw sensor stream of one connection."""

    def __init__(self, ring, connection):
        self.ring, self.connection = ring, connection
        self.task = asyncio.create_task(self.run())
        self.task.add_done_callback(lambda task: task.cancelled() or task.result())

    def stop(self):
        self.task.cancel()

    async def run(self):
        options, sent = self.ring.options, 0
        total = options.packets or sys.maxsize
        start = time.monotonic()
        while sent < total:
            due = int((time.monotonic() - start) * options.rate) + 1
            while sent < min(due, total):
                for value in self.samples(sent):
                    await self.ring.send(self.connection, value)
                sent += 1
                await asyncio.sleep(0)  # a ring that lags behind its rate hears its central all the same
                if sent == (options.disconnect_after or options.vanish_after):
                    await self.ring.leave(self.connection)
                    return
            await asyncio.sleep(max(1 / options.rate, 0.002))
            while self.ring.backlog() > 65536:
                await asyncio.sleep(0.001)

    def samples(self, number: int):
        """One period's frames, in the order of a ring: SpO2, PPG, acceleration."""
        yield frame(frames.RAW_SENSOR, struct.pack(
            ">BHHHHB", frames.RAW_SPO2, 100 + number % 100, 250, 90, 160, 1))
        yield frame(frames.RAW_SENSOR, struct.pack(
            ">BHHHHB", frames.RAW_PPG, ppg_raw(number), 12000, 10000, 2000, 0))
        # In g: x runs from -1 to 1 in 64 steps, y is 0.5, z is -1.
        axes = (0.5, -1.0, (number % 64 - 32) / 32)  # the order on the air is y, z, x
        yield frame(frames.RAW_SENSOR, bytes([frames.RAW_ACCELERATION]) + b"".join(
            self.acceleration(g) for g in axes))

    def acceleration(self, g: float) -> bytes:
        if self.ring.options.firmware.startswith("RT"):
            return struct.pack(">h", round(g * 8192))
        counts = round(g * 512) & 0xFFF  # 12 bits, two's complement
        return bytes([counts >> 4, counts & 0x0F])


class CountedStream:
    """The stream of the vendor's software, 0x69 with kinds 13 and 14: each packet has a number. Packets are lost at random,
    every now and then one is doubled or changes places with the next; the journal has what became of each."""

    def __init__(self, ring, connection, kind, seconds):
        self.ring, self.connection, self.kind = ring, connection, kind
        self.request(seconds)
        self.chance = random.Random(ring.options.seed)
        self.task = asyncio.create_task(self.run())
        self.task.add_done_callback(lambda task: task.cancelled() or task.result())

    def request(self, seconds):
        self.end = time.monotonic() + seconds

    def stop(self):
        self.task.cancel()

    async def run(self):
        options, number = self.ring.options, 0
        held = None
        start = time.monotonic()
        while time.monotonic() < self.end:
            due = int((time.monotonic() - start) * options.rate) + 1
            while number < due and number < (options.packets or sys.maxsize):
                value = self.packet(number)
                fate = self.chance.random() * 100
                number += 1
                if fate < options.lose:
                    self.ring.journal.note("lost", packet=number - 1)
                    continue
                if fate > 100 - options.swap and held is None:
                    held = value
                    continue
                for _ in range(2 if fate > 100 - options.swap - options.double else 1):
                    await self.ring.send(self.connection, value)
                if held:
                    await self.ring.send(self.connection, held)
                    held = None
                if number == options.disconnect_after:
                    return await self.ring.leave(self.connection)
                await asyncio.sleep(0)
            await asyncio.sleep(max(1 / options.rate, 0.002))
            while self.ring.backlog() > 65536:
                await asyncio.sleep(0.001)

    def packet(self, number):
        green = self.kind == frames.GREEN_STREAM
        light = (ppg_raw(number), 0) if green else (ppg_raw(number), 65535 - number % 65535)
        return frame(frames.MEASURE_START, struct.pack(
            "<BBBBHHhhh", self.kind, 0, number % 256, 72 if green else 97, *light, number % 64 - 32, 4096, -8192))


class TestService:
    """What a ring does not have, for the generic commands."""

    def __init__(self, journal):
        self.journal = journal
        self.long_value = bytes(i % 256 for i in range(LONGEST_VALUE))
        self.command_value = b"nothing yet"
        properties = Characteristic.Properties
        self.indicated = pushed(INDICATED_VALUE, properties.INDICATE)
        self.included = Service(INCLUDED_SERVICE, [readable(INCLUDED_VALUE, b"included")])
        name = Descriptor("2901", Descriptor.READABLE, b"Up to 512 bytes")
        self.service = Service(
            TEST_SERVICE,
            [
                Characteristic(
                    LONG_VALUE, properties.READ | properties.WRITE,
                    Characteristic.READABLE | Characteristic.WRITEABLE,
                    CharacteristicValue(read=self.read_long, write=self.write_long), [name]),
                self.indicated,
                Characteristic(
                    COMMAND_VALUE, properties.READ | properties.WRITE_WITHOUT_RESPONSE,
                    Characteristic.READABLE | Characteristic.WRITEABLE,
                    CharacteristicValue(read=self.read_command, write=self.write_command)),
                Characteristic(
                    PROTECTED_VALUE, properties.READ, Characteristic.READABLE,
                    CharacteristicValue(read=refuse(att.ATT_INSUFFICIENT_AUTHENTICATION_ERROR))),
            ],
            included_services=[self.included])

    def read_long(self, connection):
        return self.long_value

    def write_long(self, connection, value):
        self.long_value = value
        self.journal.note("long write", length=len(value))

    def read_command(self, connection):
        return self.command_value

    def write_command(self, connection, value):
        self.command_value = value
        self.journal.note("command write", value=value.hex())

    async def indicate(self, device, connection):
        for value in INDICATIONS:
            await device.indicate_subscriber(connection, self.indicated, value)
            self.journal.note("confirmed", value=value.decode())


class Ring(Worker):
    def __init__(self, device, options, journal, backlog):
        self.device, self.options, self.journal, self.backlog = device, options, journal, backlog
        self.stream = None
        self.counted = None
        self.measurement = None
        self.vanished = False
        self.store = ring_history.Store(options.history, options.by_day) if options.history else None
        self.log_frames = 0
        self.vectors = vectors(options.vector) if options.vector else {}
        properties = Characteristic.Properties
        self.tx = pushed(frames.COMMAND_TX, properties.NOTIFY)
        self.bulk_tx = pushed(frames.BULK_NOTIFY, properties.NOTIFY)
        device.add_service(Service("180A", [
            readable("2A24", MODEL.encode()),
            readable("2A26", options.firmware.encode()),
            readable("2A27", options.hardware.encode())]))
        # What an update of the firmware has added: handles of old hit values that can be written.
        for number in range(options.added_services):
            device.add_service(Service(f"FF{number:02X}", [
                Characteristic(
                    f"FE{10 * number + value:02X}", properties.READ | properties.WRITE,
                    Characteristic.READABLE | Characteristic.WRITEABLE,
                    CharacteristicValue(
                        read=lambda connection: b"foreign",
                        write=lambda connection, value: journal.note("foreign write", value=value.hex())))
                for value in range(6)]))
        if options.ring_service:
            both = properties.WRITE | properties.WRITE_WITHOUT_RESPONSE
            device.add_service(Service(frames.COMMAND_SERVICE, [
                writable(frames.COMMAND_RX, both, self.on_frame), self.tx]))
            if options.bulk_service:
                device.add_service(Service(frames.BULK_SERVICE, [
                    writable(frames.BULK_WRITE, properties.WRITE_WITHOUT_RESPONSE, self.on_bulk),
                    self.bulk_tx]))
        self.tests = TestService(journal)
        device.add_service(self.tests.included)
        device.add_service(self.tests.service)
        if options.bond:
            self.want_bonds()
        device.gatt_server.max_mtu = options.mtu
        device.on("connection", self.on_connection)
        device.gatt_server.on("characteristic_subscription", self.on_subscription)

    def want_bonds(self):
        """As rings that stay with paired hosts only: they have neither a display nor keys."""
        self.device.keystore = MemoryKeyStore()
        self.device.pairing_config_factory = lambda _: PairingConfig(
            sc=True, mitm=False, bonding=True, delegate=PairingDelegate(PairingDelegate.NO_OUTPUT_NO_INPUT),
            identity_address_type=PairingConfig.AddressType.RANDOM)
        if self.options.bond == "to-subscribe":
            protect_subscriptions(self.device, self.tx)
            protect_subscriptions(self.device, self.bulk_tx)

    # --- advertising

    async def start(self):
        await self.device.power_on()
        await self.advertise()

    async def advertise(self):
        advertised = [
            (AdvertisingData.FLAGS, b"\x06"),
            (AdvertisingData.COMPLETE_LOCAL_NAME, self.options.name.encode())]
        # As real rings have it: 0x1234, which is assigned to no company.
        response = [
            (AdvertisingData.TX_POWER_LEVEL, b"\x00"),
            (AdvertisingData.MANUFACTURER_SPECIFIC_DATA, b"\x34\x12")]
        if self.options.ring_service:
            response.append((
                AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS,
                bytes(UUID(frames.COMMAND_SERVICE))))
        await self.device.start_advertising(
            own_address_type=hci.OwnAddressType.PUBLIC if self.options.address_type == "public"
            else hci.OwnAddressType.RANDOM,
            advertising_data=bytes(AdvertisingData(advertised)),
            scan_response_data=bytes(AdvertisingData(response)),
            advertising_interval_min=20, advertising_interval_max=20)

    # --- the connection

    def on_connection(self, connection):
        self.journal.note("connected", peer=str(connection.peer_address))
        connection.on("disconnection", lambda reason: self.on_disconnection(reason))
        connection.on(
            "connection_att_mtu_update",
            lambda: self.journal.note("mtu", mtu=connection.att_mtu))
        connection.on(
            "connection_parameters_update",
            lambda: self.journal.note(
                "parameters", interval=connection.parameters.connection_interval,
                latency=connection.parameters.peripheral_latency))
        if self.options.mtu_request:
            self.spawn(self.ask_the_central(connection))
        if self.options.parameter_request:
            self.spawn(self.ask_for_parameters(connection))
        if self.options.security_request:
            # Bonding, with protection against a device in between (Vol 3, Part H, 3.6.7).
            self.device.host.send_l2cap_pdu(connection.handle, SMP_CID, bytes([0x0B, 0x05]))
        if self.options.wants_to_pair:
            self.spawn(self.want_to_pair(connection))
        if self.options.bond:
            self.follow_bond(connection)

    async def want_to_pair(self, connection):
        # With bonding.
        self.device.host.send_l2cap_pdu(connection.handle, SMP_CID, bytes([0x0B, 0x01]))
        await asyncio.sleep(0.03)
        await connection.disconnect()

    def follow_bond(self, connection):
        connection.on("pairing", lambda keys: self.journal.note("paired"))
        connection.on("connection_encryption_change", lambda: self.journal.note(
            "encryption", on=bool(connection.encryption)))
        if self.options.bond == "to-stay":
            connection.request_pairing()
            self.spawn(self.leave_unpaired(connection))

    async def leave_unpaired(self, connection):
        await asyncio.sleep(self.options.stays)
        if not connection.encryption:
            self.journal.note("leaving")
            await connection.disconnect()

    def on_disconnection(self, reason):
        self.journal.note("disconnected", reason=reason)
        if self.options.forgets:
            self.spawn(self.device.keystore.delete_all())
        self.stop_stream("disconnected")
        self.stop_measurement("disconnected")
        if not self.vanished:
            self.spawn(self.advertise())

    def on_subscription(self, connection, characteristic, notify, indicate):
        self.journal.note(
            "subscription", uuid=characteristic.uuid.to_hex_str("-"), notify=notify, indicate=indicate)
        if characteristic is self.tests.indicated and indicate:
            self.spawn(self.tests.indicate(self.device, connection))
        if characteristic.uuid == UUID("2A05") and indicate and self.options.change_services:
            self.spawn(self.change_services(connection, characteristic))

    async def change_services(self, connection, service_changed):
        """A firmware update in the middle of a link: the service of the tests is elsewhere, or nowhere."""
        if self.options.change_services != "at-once":
            await asyncio.sleep(0.5)
        old = self.tests.service
        remove(old, self.device)
        end = old.end_group_handle
        if self.options.change_services != "remove":
            self.tests = TestService(self.journal)
            self.device.add_service(self.tests.included)
            self.device.add_service(self.tests.service)
            end = self.tests.service.end_group_handle
        await self.device.indicate_subscriber(
            connection, service_changed, old.handle.to_bytes(2, "little") + end.to_bytes(2, "little"))

    async def ask_the_central(self, connection):
        """The ring is an ATT client, too: it looks for the central's GATT service and offers its MTU."""
        client = connection.gatt_client
        for request in (
            att.ATT_Find_By_Type_Value_Request(
                starting_handle=1, ending_handle=0xFFFF, attribute_type=UUID("2800"),
                attribute_value=bytes.fromhex("0118")),
            att.ATT_Exchange_MTU_Request(client_rx_mtu=self.options.mtu),
            att.ATT_Read_By_Type_Request(
                starting_handle=1, ending_handle=0xFFFF, attribute_type=UUID("2803")),
            att.ATT_Find_Information_Request(starting_handle=1, ending_handle=0xFFFF),
            att.ATT_Read_By_Group_Type_Request(
                starting_handle=1, ending_handle=0xFFFF, attribute_group_type=UUID("2800")),
        ):
            answer = await client.send_request(request)
            facts = {"request": int(request.op_code), "answer": int(answer.op_code)}
            if isinstance(answer, att.ATT_Error_Response):
                facts |= {"error": int(answer.error_code), "about": int(answer.request_opcode_in_error)}
            if isinstance(answer, att.ATT_Exchange_MTU_Response):
                facts |= {"mtu": answer.server_rx_mtu}
                if answer.server_rx_mtu >= att.ATT_DEFAULT_MTU:
                    connection.on_att_mtu_update(min(answer.server_rx_mtu, self.options.mtu))
            self.journal.note("asked", **facts)

    async def ask_for_parameters(self, connection):
        result = await self.device.l2cap_channel_manager.update_connection_parameters(
            connection, 20, 40, 4, 500)  # 25 to 50 ms, latency 4, timeout 5 s
        self.journal.note("parameter request", result=int(result))

    async def leave(self, connection):
        await self.device.host.le_acl_packet_queue.drain(connection.handle)
        self.stream = None
        self.vanished = bool(self.options.vanish_after)
        self.journal.note("leaving")
        await connection.disconnect()

    # --- commands

    def on_frame(self, connection, value):
        if not frames.is_valid(value):
            self.journal.breach(f"not a valid frame: {value.hex()}")
            return
        if self.options.wants_to_pair:
            return
        command, sub = value[0], value[1]
        self.journal.note("command", frame=value.hex(), at=time.monotonic())
        if (answers := self.played(value)) is not None:
            self.spawn(self.play(connection, answers))
        elif command == frames.BATTERY:
            self.answer(connection, frame(command, bytes([self.options.battery, self.options.charging])))
        elif command == frames.RAW_SENSOR and sub in (frames.RAW_STOP, frames.RAW_STOP_MODE):
            self.stop_stream("stopped")
        elif command == frames.RAW_SENSOR and sub == frames.RAW_START and not self.options.charging:
            self.stop_stream("restarted")
            if not self.options.no_data:
                self.stream = RawStream(self, connection)
        elif command == frames.RAW_SENSOR:
            self.answer(connection, frame(command, bytes([frames.RAW_REFUSED])))
        elif command == frames.MEASURE_START:
            if sub in (frames.GREEN_STREAM, frames.RED_STREAM):
                return self.start_counted(connection, sub, value[2])
            ends = value[1:3] == frames.END_CONTINUOUS
            self.stop_measurement("stopped" if ends else "restarted")
            if not ends:
                self.measurement = Measurement(self, connection, sub)
        elif command == frames.MEASURE_STOP:
            self.stop_measurement("stopped")
            self.stop_stream("stopped")
            self.answer(connection, frame(command, bytes([sub])))
        elif command == frames.POWER:
            self.spawn(self.leave(connection))
        elif self.store and command in self.store.FRAMES and command not in self.options.refuse:
            self.spawn(self.send_log(connection, self.store.FRAMES[command](self.store, value)))
        elif not command & frames.ERROR_FLAG:
            self.answer(
                connection, frame(command | frames.ERROR_FLAG, bytes([frames.NOT_SUPPORTED])))

    def start_counted(self, connection, kind, seconds):
        if not self.options.counted:
            refusal = bytes([frames.NOT_SUPPORTED])
            return self.answer(connection, frame(frames.MEASURE_START | frames.ERROR_FLAG, refusal))
        if self.counted and self.counted.kind == kind:
            return self.counted.request(seconds)
        self.stop_stream("taken over")
        self.counted = CountedStream(self, connection, kind, seconds)

    def played(self, request: bytes):
        """The bytes that answer a request, as they were found; None if there are none."""
        return next((
            answers for start, answers in self.vectors.get("answers", {}).items() if request.hex().startswith(start)), None)

    async def play(self, connection, values):
        for value in map(bytes.fromhex, values):
            if value[0] == 0xBC:
                await self.send_bulk(connection, [value])
            else:
                await self.send(connection, value)

    async def send_log(self, connection, answer):
        """Sends the frames of an answer, of which options lose some, double some and hold some back."""
        late = None
        for value in answer:
            self.log_frames += 1
            due = lambda every: every and self.log_frames % every == 0  # noqa: E731
            if due(self.options.lose_every):
                continue
            if due(self.options.delay_every) and late is None:
                late = value
                continue
            for _ in range(2 if due(self.options.double_every) else 1):
                await self.send(connection, value)
            if late:
                await self.send(connection, late)
                late = None
        if late:
            await self.send(connection, late)

    def on_bulk(self, connection, value):
        self.journal.note("bulk", value=value.hex())
        request = ring_history.parse_bulk(value)
        if not request:
            self.journal.breach(f"not a valid bulk frame: {value.hex()}")
        elif (answers := self.played(value)) is not None:
            self.spawn(self.play(connection, answers))
        elif self.store:
            sleep_request = bytes.fromhex(self.options.sleep_request)
            self.spawn(self.send_bulk(
                connection, self.store.bulk_answers(*request, sleep_request) or []))

    async def send_bulk(self, connection, answers):
        for value in answers:
            if self.options.bad_bulk > 0:
                self.options.bad_bulk -= 1
                value = value[:4] + bytes([value[4] ^ 1]) + value[5:]
            length = min(connection.att_mtu - 3, 182)
            for start in range(0, len(value), length):
                await self.device.notify_subscriber(
                    connection, self.bulk_tx, value[start:start + length])

    def stop_stream(self, why: str):
        if self.counted:
            self.counted.stop()
            self.counted = None
            self.journal.note("counted stream ended", why=why)
        if self.stream:
            self.stream.stop()
            self.stream = None
            self.journal.note("stream ended", why=why)

    def stop_measurement(self, why: str):
        if self.measurement:
            self.measurement.stop()
            self.measurement = None
            self.journal.note("measurement ended", why=why)

    def answer(self, connection, value):
        self.spawn(self.send(connection, value))

    async def send(self, connection, value):
        await self.device.notify_subscriber(connection, self.tx, value)


async def run(options):
    journal = Journal(options.events)
    radio = Radio()
    snooper = BtSnooper(open(options.snoop, "wb", buffering=0)) if options.snoop else None
    central = VirtualController(
        "central", radio, public_address="00:1B:DC:0A:10:01", acl_length=options.acl_length,
        acl_packets=options.acl_packets, extended=options.extended, snooper=snooper,
        breach=journal.breach, answers_set_phy=not options.ignore_set_phy)
    public = options.address_type == "public"
    own = VirtualController(
        "ring", radio, public_address=options.address if public else None, acl_length=251)
    if options.extended:
        own.le_features |= hci.LeFeatureMask.LE_2M_PHY | hci.LeFeatureMask.LE_CODED_PHY
    address = hci.Address(
        options.address,
        hci.Address.PUBLIC_DEVICE_ADDRESS if public else hci.Address.RANDOM_DEVICE_ADDRESS)
    device = Device(
        config=DeviceConfiguration(name=options.name, address=address), host=Host(own, own))
    offered = server(options.transport, central, journal)
    ring = Ring(device, options, journal, offered.backlog)
    await ring.start()
    await run_until_ended(offered, options.transport)


def parse(arguments=None):
    parser = command_line(__doc__)
    add = parser.add_argument
    add("--name", default="R02_341C")
    add("--address", default="D2:5C:0A:1E:34:1C")
    add("--address-type", choices=("random", "public"), default="random")
    add("--firmware", default="R02_3.00.06_BUMBLE", help="RT... sends 16-bit accelerations")
    add("--hardware", default="R02_V3.0")
    add("--battery", type=int, default=87, metavar="PERCENT")
    add("--charging", action="store_true", help="and so refuses to stream")
    add("--no-data", action="store_true", help="takes the start of a stream and sends nothing")
    add("--counted", action="store_true", help="it has the counted stream, too")
    add("--lose", type=float, default=0, metavar="PERCENT", help="lose packets of the counted stream")
    add("--double", type=float, default=0, metavar="PERCENT", help="send packets of the counted stream twice")
    add("--swap", type=float, default=0, metavar="PERCENT", help="send packets behind the next ones")
    add("--seed", type=int, default=1, help="of what is lost, doubled and swapped")
    add("--rate", type=float, default=25, metavar="HZ", help="sample sets a second")
    add("--tick", type=float, default=0.5, metavar="S", help="from one word of a measurement to the next")
    add("--not-worn", dest="worn", action="store_false", help="measurements find no skin")
    add("--packets", type=int, default=0, metavar="N", help="fall silent after N sample sets")
    add("--disconnect-after", type=int, default=0, metavar="N", help="leave after N sample sets")
    add("--vanish-after", type=int, default=0, metavar="N",
        help="leave after N sample sets and never advertise again")
    add("--mtu", type=int, default=247, help="ATT MTU")
    add("--acl-length", type=int, choices=(27, 251), default=27)
    add("--acl-packets", type=int, default=8, help="data buffers of the central's controller")
    add("--vector", metavar="NAME", help="play the frames of this name in vectors/ring.json")
    add("--history", type=datetime.fromisoformat, metavar="TIME",
        help="has a week stored, up to this time, which its clock says")
    add("--by-day", action="store_true", help="bulk answers have a frame for each day, as those of an R09")
    add("--lose-every", type=int, default=0, metavar="N", help="lose every Nth frame of a log")
    add("--double-every", type=int, default=0, metavar="N", help="send every Nth frame of a log twice")
    add("--delay-every", type=int, default=0, metavar="N", help="send every Nth frame of a log behind the next")
    add("--bad-bulk", type=int, default=0, metavar="N", help="damage the first N bulk frames")
    add("--refuse", type=lambda text: int(text, 16), action="append", default=[], metavar="COMMAND",
        help="a command (hexadecimal) that this ring does not know")
    add("--sleep-request", default="ff01", metavar="HEX", help="the only request for sleep that is answered")
    add("--no-bulk-service", dest="bulk_service", action="store_false")
    add("--no-ring-service", dest="ring_service", action="store_false")
    add("--mtu-request", action="store_true", help="ask the central as an ATT client, as rings do")
    add("--parameter-request", action="store_true", help="ask for 25 to 50 ms, latency 4, as rings do")
    add("--security-request", action="store_true", help="ask the central to pair, as newer rings do")
    add("--wants-to-pair", action="store_true", help="do nothing without pairing: ask for it, and end the link")
    add("--bond", choices=("to-stay", "to-subscribe"), help="what it does for paired hosts only")
    add("--stays", type=float, default=1, metavar="SECONDS", help="how long it stays with other hosts")
    add("--forgets", action="store_true", help="it forgets its bonds when a link ends")
    add("--change-services", choices=("move", "at-once", "remove"), help="the tests' service, when the central listens")
    add("--extended", action="store_true", help="the central's controller is one of Bluetooth 5")
    add("--added-services", type=int, default=0, metavar="N", help="so many services before the ring's")
    add("--ignore-set-phy", action="store_true", help="it does not answer LE Set PHY")
    add("--snoop", metavar="FILE", help="write the central's HCI traffic as btsnoop")
    add("--events", metavar="FILE", help="write what happened as JSON lines (default: stderr)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    start(run(parse()))
