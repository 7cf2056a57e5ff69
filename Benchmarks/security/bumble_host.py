#!/usr/bin/env python3
"""The same on Bumble's host.

    bumble_host.py scan PLACE KEYS    resolves the address of each report, with the keys of the file
    bumble_host.py pair PLACE FILE    connects to the first device that it hears, pairs with it, and keeps the bond in a file
    bumble_host.py use PLACE FILE     connects, and encrypts the link with that bond
"""

import asyncio
import json
import sys
from pathlib import Path

from bumble import hci, smp
from bumble.device import Device
from bumble.keys import JsonKeyStore
from bumble.pairing import PairingConfig, PairingDelegate
from bumble.transport import open_transport


async def main(mode, place, path):
    async with await open_transport(f"unix-client:{place}") as transport:
        device = Device.with_hci("central", "F0:F1:F2:F3:F4:F5", transport.source, transport.sink)
        if mode == "scan":
            keys = [
                (bytes.fromhex(key), hci.Address(f"C0:00:00:00:00:{number:02X}"))
                for number, key in enumerate(json.loads(Path(path).read_text()))]
            resolver, ended = smp.AddressResolver(keys), asyncio.get_running_loop().create_future()
            device.on("advertisement", lambda advertisement: resolver.resolve(advertisement.address))
            device.host.on("flush", lambda: ended.done() or ended.set_result(None))
            await device.power_on()
            await device.start_scanning(legacy=True, filter_duplicates=False)
            await ended
            return
        device.pairing_config_factory = lambda _: PairingConfig(
            sc=True, mitm=False, bonding=True, delegate=PairingDelegate(PairingDelegate.NO_OUTPUT_NO_INPUT),
            identity_address_type=PairingConfig.AddressType.RANDOM)
        await device.power_on()
        device.keystore = JsonKeyStore("benchmark", path)
        found = asyncio.get_running_loop().create_future()
        device.on("advertisement", lambda advertisement: found.done() or found.set_result(advertisement.address))
        await device.start_scanning(legacy=True)
        address = await found
        await device.stop_scanning(legacy=True)
        connection = await device.connect(address)
        if mode == "pair":
            kept = asyncio.get_running_loop().create_future()
            connection.on("pairing", kept.set_result)
            await connection.pair()
            await kept
        else:
            await connection.encrypt()
        await connection.disconnect()


asyncio.run(main(*sys.argv[1:]))
