#!/usr/bin/env python3
"""Clients of what the errands of Tests/Errands offer, one after the other. They journal what they get.

    bumble_clients.py tcp-server:127.0.0.1:0 --events FILE --clients KIND...

A free port is printed as `ready PORT`.

| kind | what it does |
| --- | --- |
| reader | reads the value, writes it, and leaves |
| called | advertises, and does so on the link that the server makes, but waits until its own battery was read, and stays |
| listener | subscribes to notifications |
| silent | subscribes to indications, and confirms none |
| phone | reads the value until its own battery was read, five times more, and leaves |
"""

import asyncio
import time

from bumble.att import ATT_CID
from bumble.core import UUID
from bumble.device import Peer
from bumble.gatt import Service
from bumble.hci import OwnAddressType

from bumble_central import heard
from bumble_device import Journal, on_air, readable
from transports import command_line, server, start
from virtual_radio import Radio, VirtualController

SERVICE, VALUE = UUID("B000"), UUID("B001")
WRITTEN = bytes(number % 251 for number in range(300))[::-1]
INDICATION = 0x1D
READ = 0x0A


class Client:
    def __init__(self, radio, journal, number, kind):
        self.kind, self.journal, self.name = kind, journal, f"{kind} {number}"
        self.device = on_air(radio, self.name, f"F0:F1:F2:F3:F4:{number:02X}")
        self.device.add_service(Service("180F", [readable("2A19", b"\x32")]))
        self.is_asked = asyncio.Event()

    def note(self, event, **facts):
        self.journal.note(event, name=self.name, **facts)

    async def meet(self):
        await self.device.power_on()
        connection = await (self.connected_to() if self.kind == "called" else self.connected())
        connection.on("disconnection", lambda reason: self.note("disconnected", reason=reason))
        self.note("connected")
        self.device.l2cap_channel_manager.register_fixed_channel(ATT_CID, self.on_pdu)
        peer = Peer(connection)
        if self.kind != "called":  # Bumble does not take the smaller MTU of two exchanges
            await peer.request_mtu(247)
        await peer.discover_service(SERVICE)
        value, = await peer.services[0].discover_characteristics()
        await value.discover_descriptors()
        await getattr(self, self.kind)(connection, value)

    async def connected(self):
        advertisement = await heard(self.device)
        return await self.device.connect(advertisement.address)

    async def connected_to(self):
        """It advertises, and the server connects."""
        made = asyncio.get_running_loop().create_future()
        self.device.on("connection", made.set_result)
        await self.device.start_advertising(own_address_type=OwnAddressType.RANDOM)
        return await made

    def on_pdu(self, handle, pdu):
        if self.kind == "silent" and pdu[0] == INDICATION:
            return self.note("unconfirmed")
        self.device.on_gatt_pdu(handle, pdu)
        if pdu[0] == READ:
            self.note("asked")
            self.is_asked.set()

    async def reader(self, connection, value):
        self.note("read", value=(await value.read_value()).hex())
        await value.write_value(WRITTEN, with_response=True)
        await connection.disconnect()

    async def called(self, connection, value):
        self.note("read", value=(await value.read_value()).hex())
        await self.is_asked.wait()
        await value.write_value(WRITTEN, with_response=True)

    async def listener(self, connection, value):
        await value.subscribe(lambda bytes_: self.note("value", value=bytes_.hex(), time=time.monotonic()))

    async def silent(self, connection, value):
        await value.subscribe(lambda _: None, prefer_notify=False)

    async def phone(self, connection, value):
        more = 5
        while more:
            self.note("read", value=(await value.read_value()).hex())
            more -= self.is_asked.is_set()
            await asyncio.sleep(0.02)
        await connection.disconnect()


async def run(options):
    journal, radio = Journal(options.events), Radio()
    controller = VirtualController(
        "peripheral", radio, public_address="00:1B:DC:0A:10:01", acl_length=251, breach=journal.breach)
    offered = server(options.transport, controller, journal)
    clients = [Client(radio, journal, number, kind) for number, kind in enumerate(options.clients)]
    print("ready", await offered.listen(options.transport), flush=True)
    for client in clients:
        await client.meet()
    await offered.ended


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("--clients", nargs="+", metavar="KIND", choices=["reader", "called", "listener", "silent", "phone"])
    parser.add_argument("--events", metavar="FILE", help="write what happened as JSON lines (default: stderr)")
    start(run(parser.parse_args()))
