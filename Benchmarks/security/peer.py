#!/usr/bin/env python3
"""The other side of the benchmark, on Bumble's virtual controller.

    peer.py crowd PLACE KEYS COUNT    a controller that reports COUNT advertisements, as fast as the socket takes them, and
                                      ends its connection: a thousand devices in turns, with a resolvable address of each of the keys in
                                      the file and of others that nobody knows
    peer.py lock PLACE                a device that pairs without a person; a line for each link says how long it took, in
                                      seconds, from the connection to encryption

It prints `ready` when it listens at the path PLACE.
"""

import asyncio
import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Tests/Interop/peers"))

from bumble import hci  # noqa: E402
from bumble.core import AdvertisingData  # noqa: E402
from bumble.gatt import Characteristic, Service  # noqa: E402
from bumble.keys import MemoryKeyStore  # noqa: E402
from bumble.pairing import PairingConfig, PairingDelegate  # noqa: E402

from bumble_device import Journal, on_air  # noqa: E402
from h4_server import H4Server  # noqa: E402
from virtual_radio import Radio, VirtualController  # noqa: E402

DEVICES = 1000
DATA = bytes(AdvertisingData([(AdvertisingData.FLAGS, b"\x06"), (AdvertisingData.COMPLETE_LOCAL_NAME, b"somebody")]))


class Crowd(VirtualController):
    """It reports when a scan begins."""

    def __init__(self, keys, count):
        super().__init__("crowd", Radio(), public_address="00:1B:DC:0A:10:01", breach=lambda text: print(text, file=sys.stderr))
        keys = [bytes.fromhex(key) for key in keys] + [os.urandom(16) for _ in range(DEVICES)]
        self.addresses = [hci.Address.generate_private_address(key) for key in keys[:DEVICES]]
        self.count, self.sending = count, None
        self.ended = asyncio.get_running_loop().create_future()

    def on_hci_le_set_scan_enable_command(self, command):
        answer = super().on_hci_le_set_scan_enable_command(command)
        if command.le_scan_enable and self.sending is None:
            self.sending = asyncio.ensure_future(self.send())
        return answer

    async def send(self):
        kind = hci.HCI_LE_Advertising_Report_Event
        reports = [
            bytes(kind([kind.Report(
                event_type=kind.EventType.ADV_IND, address_type=address.address_type, address=address, data=DATA, rssi=-60)]))
            for address in self.addresses]
        await asyncio.sleep(0)  # after the answer to the command
        for number in range(self.count):
            self.host.writer.write(reports[number % DEVICES])
            if number % DEVICES == DEVICES - 1:
                await self.host.writer.drain()
        await self.host.writer.drain()
        # The end comes behind the reports: the host has handled all when it ends, too.
        self.host.writer.close()
        await self.host.writer.wait_closed()
        self.ended.set_result(None)


async def crowd(place, path, count):
    controller = Crowd(json.loads(Path(path).read_text()), int(count))
    await H4Server(controller, Journal(os.devnull)).listen(f"unix-server:{place}")
    print("ready", flush=True)
    await controller.ended


async def lock(place):
    radio = Radio()
    device = on_air(radio, "Lock", "E4:11:0C:4B:53:01")
    device.keystore = MemoryKeyStore()
    device.pairing_config_factory = lambda _: PairingConfig(
        sc=True, mitm=False, bonding=True, delegate=PairingDelegate(PairingDelegate.NO_OUTPUT_NO_INPUT),
        identity_address_type=PairingConfig.AddressType.RANDOM)
    needed = Characteristic.READABLE | Characteristic.READ_REQUIRES_ENCRYPTION
    device.add_service(Service("1809", [Characteristic("2A1C", Characteristic.Properties.READ, needed, b"\x2a")]))

    def on_connection(connection):
        begin = time.monotonic()
        connection.on("connection_encryption_change", lambda: print(time.monotonic() - begin, flush=True))

    device.on("connection", on_connection)
    await device.power_on()
    data = AdvertisingData([(AdvertisingData.FLAGS, b"\x06"), (AdvertisingData.COMPLETE_LOCAL_NAME, b"Lock")])
    await device.start_advertising(
        own_address_type=hci.OwnAddressType.RANDOM, advertising_data=bytes(data), auto_restart=True,
        advertising_interval_min=20, advertising_interval_max=20)
    central = VirtualController("central", radio, public_address="00:1B:DC:0A:10:01")
    server = H4Server(central, Journal(os.devnull))
    await server.listen(f"unix-server:{place}")
    print("ready", flush=True)
    await server.ended


if __name__ == "__main__":
    asyncio.run({"crowd": crowd, "lock": lock}[sys.argv[1]](*sys.argv[2:]))
