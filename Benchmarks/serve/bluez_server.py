#!/usr/bin/env python3
"""The same server on BlueZ: bluez_server.py hciN CENTRALS COUNT [--signals]

Runs dbus-daemon and bluetoothd, too, which end with it. Notifications go to bluetoothd through the socket of
AcquireNotify; with --signals, as PropertiesChanged. It is for one central.

Needs the tests' Python environment (scripts/setup test).
"""

import asyncio
import contextlib
import socket
import subprocess
import sys

from dbus_fast import BusType, Message, MessageType, PropertyAccess
from dbus_fast.aio import MessageBus
from dbus_fast.service import ServiceInterface, dbus_method, dbus_property

DBUS = ["dbus-daemon", "--system", "--nofork", "--nopidfile", "--nosyslog", "--print-address"]
BLUETOOTHD = ["/usr/libexec/bluetooth/bluetoothd", "--nodetach"]
APPLICATION, SERVICE, RATE, ADVERTISEMENT = "/heart", "/heart/service", "/heart/service/rate", "/advertisement"
READ = PropertyAccess.READ


def value_of(number):
    return bytes([0, number % 200])


class Service(ServiceInterface):
    def __init__(self):
        super().__init__("org.bluez.GattService1")

    @dbus_property(READ)
    def UUID(self) -> "s":
        return "180D"

    @dbus_property(READ)
    def Primary(self) -> "b":
        return True


class Rate(ServiceInterface):
    def __init__(self):
        super().__init__("org.bluez.GattCharacteristic1")
        self.value = bytes([0, 60])
        self.subscribed, self.left = asyncio.Event(), asyncio.Event()

    @dbus_property(READ)
    def UUID(self) -> "s":
        return "2A37"

    @dbus_property(READ)
    def Service(self) -> "o":
        return SERVICE

    @dbus_property(READ)
    def Flags(self) -> "as":
        return ["read", "notify"]

    @dbus_property(READ)
    def Value(self) -> "ay":
        return self.value

    @dbus_method()
    def ReadValue(self, options: "a{sv}") -> "ay":
        return self.value

    @dbus_method()
    def StartNotify(self):
        self.subscribed.set()

    @dbus_method()
    def StopNotify(self):
        self.left.set()

    async def notify(self, bus, number):
        self.value = value_of(number)
        self.emit_properties_changed({"Value": self.value})
        # dbus_fast fails when the bus takes nothing more for a while. An answer says that it has taken all.
        if number % 50 == 0:
            await bus.call(Message("org.freedesktop.DBus", "/", "org.freedesktop.DBus.Peer", "Ping"))

    async def wait_until_left(self):
        await self.left.wait()


class RateWithSocket(Rate):
    """bluetoothd asks for a socket where it finds NotifyAcquired."""

    @dbus_property(READ)
    def NotifyAcquired(self) -> "b":
        return self.subscribed.is_set()

    @dbus_method()
    def AcquireNotify(self, options: "a{sv}") -> "hq":
        self.ours, self.theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.subscribed.set()
        return [self.theirs.fileno(), options["mtu"].value]

    async def notify(self, bus, number):
        self.ours.send(value_of(number))

    async def wait_until_left(self):
        self.theirs.close()
        self.ours.recv(1)


class Advertisement(ServiceInterface):
    def __init__(self):
        super().__init__("org.bluez.LEAdvertisement1")

    @dbus_property(READ)
    def Type(self) -> "s":
        return "peripheral"

    @dbus_property(READ)
    def ServiceUUIDs(self) -> "as":
        return ["180D"]


@contextlib.contextmanager
def running(command):
    """Runs a daemon, and ends it."""
    with subprocess.Popen(command, stdout=subprocess.PIPE) as daemon:
        try:
            yield daemon
        finally:
            daemon.terminate()


async def call(bus, path, interface, member, signature="", *body):
    return await bus.call(Message("org.bluez", path, interface, member, signature=signature, body=[*body]))


async def wait_for_adapter(bus, path):
    while True:
        reply = await call(bus, "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
        if reply.message_type != MessageType.ERROR and "org.bluez.GattManager1" in reply.body[0].get(path, {}):
            return
        await asyncio.sleep(0.1)


async def register(bus, adapter, manager, member, path):
    reply = await call(bus, adapter, f"org.bluez.{manager}", member, "oa{sv}", path, {})
    if reply.message_type == MessageType.ERROR:
        sys.exit(f"{member}: {reply.error_name}: {reply.body}")


async def serve(adapter, count, rate):
    bus = await MessageBus(bus_type=BusType.SYSTEM, negotiate_unix_fd=True).connect()
    for path, interface in ((SERVICE, Service()), (RATE, rate), (ADVERTISEMENT, Advertisement())):
        bus.export(path, interface)
    await asyncio.wait_for(wait_for_adapter(bus, adapter), 30)
    await register(bus, adapter, "GattManager1", "RegisterApplication", APPLICATION)
    await register(bus, adapter, "LEAdvertisingManager1", "RegisterAdvertisement", ADVERTISEMENT)
    await rate.subscribed.wait()
    # The answer leaves first.
    await asyncio.sleep(0)
    for number in range(count):
        await rate.notify(bus, number)
    await rate.wait_until_left()


def main():
    adapter, _, count, *options = sys.argv[1:]
    rate = Rate() if options == ["--signals"] else RateWithSocket()
    with running(DBUS) as bus:
        bus.stdout.readline()
        with running(BLUETOOTHD):
            asyncio.run(serve(f"/org/bluez/{adapter}", int(count), rate))


if __name__ == "__main__":
    main()
