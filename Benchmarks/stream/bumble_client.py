"""The stream of the benchmark's ring with Bumble's host (https://github.com/google/bumble).

    bumble_client.py PLACE COUNT

PLACE is the path of the controller's socket, or user:hciN, an adapter's user channel.

Needs the tests' Python environment (scripts/setup test). Finds the ring by scanning, discovers its characteristics, and
prints a line for each sample at once.
"""

import asyncio
import datetime
import struct
import sys
import time

from bumble.core import UUID
from bumble.device import Device, Peer
from bumble.hci import Address
from bumble.transport import open_transport

RX, TX = (UUID(f"6E40000{number}-B5A3-F393-E0A9-E50E24DCCA9E") for number in (2, 3))

LINE = (
    '{"t":%.6f,"time":"%s","ring":"C0:11:22:33:A1:B2","seq":%d,"kind":"ppg","raw":%d,"max":%d,"min":%d,"diff":%d}\n')
AHEAD = time.time() - time.monotonic()


def time_of_day(now):
    return datetime.datetime.fromtimestamp(now + AHEAD).astimezone().isoformat(timespec="microseconds")


def control(what):
    frame = bytes([0xA1, what]).ljust(15, b"\0")
    return frame + bytes([sum(frame) & 0xFF])


async def main(place, count):
    way = place.replace("user:hci", "hci-socket:") if place.startswith("user:") else f"unix-client:{place}"
    async with await open_transport(way) as (source, sink):
        device = Device.with_hci("benchmark", Address("F0:F1:F2:F3:F4:F5"), source, sink)
        await device.power_on()
        found = asyncio.get_running_loop().create_future()
        device.on("advertisement", lambda report: found.done() or found.set_result(report.address))
        await device.start_scanning(active=False)
        address = await found
        await device.stop_scanning()
        connection = await device.connect(address)
        peer = Peer(connection)
        await peer.discover_services()
        for service in peer.services:
            await service.discover_characteristics()
        (rx,), (tx,) = (peer.get_characteristics_by_uuid(uuid) for uuid in (RX, TX))
        state, done = {"printed": 0, "origin": None}, asyncio.Event()

        def receive(frame):
            if frame[:2] != b"\xA1\x02" or sum(frame[:15]) & 0xFF != frame[15] or done.is_set():
                return
            now = time.monotonic()
            state["origin"] = now if state["origin"] is None else state["origin"]
            sys.stdout.write(LINE % (
                now - state["origin"], time_of_day(now), state["printed"], *struct.unpack_from(">4H", frame, 2)))
            sys.stdout.flush()
            state["printed"] += 1
            if state["printed"] == count:
                done.set()

        await tx.subscribe(receive)
        await rx.write_value(control(4))
        await done.wait()
        await rx.write_value(control(2))
        await connection.disconnect()


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
