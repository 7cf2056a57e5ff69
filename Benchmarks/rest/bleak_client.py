#!/usr/bin/env python3
"""The same stream by bleak: bleak_client.py NAME. Runs dbus-daemon and bluetoothd, too. Prints a line a frame."""

import asyncio
import sys
from pathlib import Path

from bleak import BleakClient, BleakScanner
from dbus_fast import BusType
from dbus_fast.aio import MessageBus

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "serve"))

from bluez_server import BLUETOOTHD, DBUS, running, wait_for_adapter  # noqa: E402

COMMAND_RX = "6e400002-b5a3-f393-e0a9-e50e24dcca9e"
COMMAND_TX = "6e400003-b5a3-f393-e0a9-e50e24dcca9e"
START_PPG = bytes.fromhex("a10400000000000000000000000000a5")


async def stream(name):
    bus = await MessageBus(bus_type=BusType.SYSTEM).connect()
    await asyncio.wait_for(wait_for_adapter(bus, "/org/bluez/hci0"), 30)
    bus.disconnect()
    found = asyncio.get_running_loop().create_future()

    def heard(device, _):
        if device.name == name and not found.done():
            found.set_result(device)

    async with BleakScanner(heard):
        device = await found
    async with BleakClient(device) as client:
        await client.start_notify(COMMAND_TX, lambda _, value: print(bytes(value).hex(), flush=True))
        await client.write_gatt_char(COMMAND_RX, START_PPG, response=False)
        await asyncio.Event().wait()


def main():
    with running(DBUS) as bus:
        bus.stdout.readline()
        with running(BLUETOOTHD):
            asyncio.run(stream(sys.argv[1]))


main()
