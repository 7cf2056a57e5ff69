#!/usr/bin/env python3
"""Bumble's host stack as the central of a ring, on a controller that somebody else offers.

    bumble_host.py tcp-client:127.0.0.1:9105 --count 100
    bumble_host.py unix-client:/tmp/ring.sock

Scans, connects, discovers, reads the firmware revision and the battery, streams until it has as many PPG frames
as asked for, and prints one line of JSON.
"""

import argparse
import asyncio
import json
import logging
import re
import time

from bumble.core import UUID, AdvertisingData
from bumble.device import Device, Peer
from bumble.hci import Address
from bumble.transport import open_transport

import quiet_bumble  # noqa: F401
import ring_frames as frames
from ring_frames import frame

RING_NAME = re.compile(r"R\d\d\w?_|COLMI")


async def find(device, timeout: float):
    """The first ring that advertises: its advertisement and name."""
    found = asyncio.get_running_loop().create_future()

    def on_advertisement(advertisement):
        name = advertisement.data.get(AdvertisingData.COMPLETE_LOCAL_NAME)
        if name and RING_NAME.search(name) and not found.done():
            found.set_result((advertisement, name))

    device.on("advertisement", on_advertisement)
    await device.start_scanning()
    result = await asyncio.wait_for(found, timeout)
    await device.stop_scanning()
    return result


class Readings:
    """The ring's notifications, sorted."""

    def __init__(self, count: int):
        self.count = count
        self.ppg, self.accelerations, self.spo2, self.invalid = [], 0, 0, 0
        self.battery = asyncio.get_running_loop().create_future()
        self.complete = asyncio.Event()

    def on_notification(self, value: bytes):
        if not frames.is_valid(value):
            self.invalid += 1
        elif value[0] == frames.BATTERY and not self.battery.done():
            self.battery.set_result(value[1])
        elif value[0] == frames.RAW_SENSOR:
            self.on_sample(value[1], value)

    def on_sample(self, kind: int, value: bytes):
        self.accelerations += kind == frames.RAW_ACCELERATION
        self.spo2 += kind == frames.RAW_SPO2
        if kind == frames.RAW_PPG and len(self.ppg) < self.count:
            self.ppg.append(int.from_bytes(value[2:4], "big"))
            if len(self.ppg) == self.count:
                self.complete.set()


async def run(options) -> dict:
    async with await open_transport(options.transport) as transport:
        device = Device.with_hci(
            "central", Address("F3:27:5A:11:90:02"), transport.source, transport.sink)
        await device.power_on()
        return await use_ring(device, options.count, options.timeout)


async def use_ring(device, count: int, timeout: float, mtu: int = 247) -> dict:
    """What a host finds in the first ring that advertises, until it has so many PPG frames."""
    advertisement, name = await find(device, timeout)
    connection = await device.connect(advertisement.address)
    peer = Peer(connection)
    mtu = await peer.request_mtu(mtu)
    await peer.discover_services()
    await peer.discover_characteristics()

    async def text(number):
        characteristic = peer.get_characteristics_by_uuid(UUID.from_16_bits(number))[0]
        return bytes(await characteristic.read_value()).decode()

    firmware, hardware = await text(0x2A26), await text(0x2A27)
    rx = peer.get_characteristics_by_uuid(UUID(frames.COMMAND_RX))[0]
    tx = peer.get_characteristics_by_uuid(UUID(frames.COMMAND_TX))[0]
    readings = Readings(count)
    await tx.subscribe(readings.on_notification)
    await rx.write_value(frame(frames.BATTERY), with_response=True)
    battery = await asyncio.wait_for(readings.battery, timeout)
    await rx.write_value(frame(frames.RAW_SENSOR, bytes([frames.RAW_START])))
    start = time.monotonic()
    await asyncio.wait_for(readings.complete.wait(), timeout)
    seconds = time.monotonic() - start
    for stop in (frames.RAW_STOP, frames.RAW_STOP_MODE):
        await rx.write_value(frame(frames.RAW_SENSOR, bytes([stop])), with_response=True)
    await connection.disconnect()
    return {
        "name": name,
        "address": str(advertisement.address).partition("/")[0],
        "address_type": int(advertisement.address.address_type),
        "mtu": mtu,
        "services": [service.uuid.to_hex_str("-") for service in peer.services],
        "firmware": firmware,
        "hardware": hardware,
        "battery": battery,
        "ppg": readings.ppg,
        "accelerations": readings.accelerations,
        "spo2": readings.spo2,
        "invalid": readings.invalid,
        "seconds": round(seconds, 3),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("transport", help="Bumble's name of a transport: tcp-client:HOST:PORT, ...")
    parser.add_argument("--count", type=int, default=100, help="PPG frames to wait for")
    parser.add_argument("--timeout", type=float, default=20, metavar="SECONDS")
    logging.basicConfig(level=logging.ERROR)
    print(json.dumps(asyncio.run(run(parser.parse_args()))), flush=True)


if __name__ == "__main__":
    main()
