"""A stranger: bleak watches a bird (Examples/CoreBluetooth/BirdPeripheral), by way of bluetoothd."""

import asyncio

from bleak import BleakClient, BleakScanner

SERVICE = "b12d0000-5c8e-4e0b-9d55-6f2a7c31e804"
NAME, COLOUR, ALPHA = (SERVICE.replace("b12d0000", f"b12d000{number}") for number in (1, 2, 3))


async def watch(adapter) -> dict:
    bird = await BleakScanner.find_device_by_filter(
        lambda _, data: SERVICE in data.service_uuids, timeout=30, adapter=adapter)
    assert bird is not None, "bleak does not find the bird"
    async with BleakClient(bird, adapter=adapter) as client:
        read = [(await client.read_gatt_char(one)).decode() for one in (NAME, COLOUR)]
        await client.write_gatt_char(COLOUR, b"rot", response=True)
        alphas = asyncio.Queue()
        await client.start_notify(ALPHA, lambda _, value: alphas.put_nowait(float(value.decode())))
        notified = [await asyncio.wait_for(alphas.get(), 30) for _ in range(2)]
        return {"name": bird.name, "read": read, "notified": notified}
