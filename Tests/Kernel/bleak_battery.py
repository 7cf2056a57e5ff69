#!/usr/bin/env python3
"""Reads a ring's battery with bleak, by way of bluetoothd. Prints one line of JSON.

    bleak_battery.py NAME
"""

import asyncio
import json
import sys

from bleak import BleakClient, BleakScanner

# From the frames of Tests/Interop/ring_frames.py, which is not on the path of a script of this folder.
COMMAND_RX = "6e400002-b5a3-f393-e0a9-e50e24dcca9e"
COMMAND_TX = "6e400003-b5a3-f393-e0a9-e50e24dcca9e"
BATTERY = bytes([0x03]) + bytes(14) + bytes([0x03])


async def main(name):
    ring = await BleakScanner.find_device_by_name(name, timeout=15)
    if ring is None:
        sys.exit(f"bleak does not find {name}")
    async with BleakClient(ring) as client:
        answer = asyncio.get_running_loop().create_future()

        def on_notification(_, value):
            if value[0] == BATTERY[0] and not answer.done():
                answer.set_result(bytes(value))

        await client.start_notify(COMMAND_TX, on_notification)
        await client.write_gatt_char(COMMAND_RX, BATTERY, response=False)
        frame = await asyncio.wait_for(answer, 5)
        print(json.dumps({
            "address": ring.address, "percent": frame[1], "charging": frame[2] != 0,
            "services": sorted(service.uuid.upper() for service in client.services)}))


asyncio.run(main(sys.argv[1]))
