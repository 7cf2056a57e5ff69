"""A stranger: bleak reads a ring's battery, by way of bluetoothd."""

import asyncio

import ring_frames
from bleak import BleakClient, BleakScanner

BATTERY = ring_frames.frame(ring_frames.BATTERY)


async def read(name) -> dict:
    ring = await BleakScanner.find_device_by_name(name, timeout=15)
    assert ring is not None, f"bleak does not find {name}"
    async with BleakClient(ring) as client:
        answer = asyncio.get_running_loop().create_future()

        def on_notification(_, value):
            if value[0] == BATTERY[0] and not answer.done():
                answer.set_result(bytes(value))

        await client.start_notify(ring_frames.COMMAND_TX, on_notification)
        await client.write_gatt_char(ring_frames.COMMAND_RX, BATTERY, response=False)
        frame = await asyncio.wait_for(answer, 5)
        return {
            "address": ring.address, "percent": frame[1], "charging": frame[2] != 0,
            "services": sorted(service.uuid.upper() for service in client.services)}
