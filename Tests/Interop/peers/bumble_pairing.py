#!/usr/bin/env python3
"""Records how two devices on Bumble pair: captures/bumble-pairing.btsnoop, the HCI of the central.

    .cache/venv/bin/python Tests/Interop/peers/bumble_pairing.py captures/bumble-pairing.btsnoop

A thermometer has a value that may be read on an authenticated link only. The central reads it and is
refused, pairs (LE Secure Connections, Numeric Comparison), and reads it again. Then it connects a second time: the link
is encrypted with the key that was kept, without pairing.

Addresses, key pairs and random numbers are fixed, and so are the times, which are made up: the same version of Bumble
gives the same file. Real devices use each number once.
"""

import asyncio
import hashlib
import sys
from pathlib import Path

import btsnoop
from bumble import att, crypto, hci, smp
from bumble.core import AdvertisingData
from bumble.device import Device, DeviceConfiguration, Peer
from bumble.gatt import Characteristic, Service
from bumble.host import Host
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig, PairingDelegate
from bumble.snoop import Snooper

from virtual_radio import Radio, VirtualController

CENTRAL, PERIPHERAL = "F3:27:5A:11:90:02", "D8:30:6B:4C:21:9E"
# Microseconds, as btsnoop counts them: 2026-11-22 20:15:00.
START = 0x00E33E_9521_0E5D00
# From a command to its answer, and from one connection event to the next.
ANSWERED_AFTER, INTERVAL = 200, 15_000
TEMPERATURE = bytes.fromhex("00 6d0100ff")  # 36.5 degrees Celsius: a Temperature Measurement is flags and a float


class FixedSnooper(Snooper):
    """A recording with made-up times: answers come soon, and what comes over the air with the next connection event."""

    def __init__(self):
        self.records, self.time = [], START

    def snoop(self, hci_packet: bytes, direction: Snooper.Direction) -> None:
        is_received = direction == Snooper.Direction.CONTROLLER_TO_HOST
        is_answer = hci_packet[0] == 4 and hci_packet[1] in (0x0E, 0x0F)
        self.time += (ANSWERED_AFTER if is_answer else INTERVAL) if is_received else 0
        self.records.append(btsnoop.Record(self.time, is_received, bytes(hci_packet)))


class Numbers:
    """Stands for the random numbers of pairing."""

    def __init__(self):
        self.count = 0

    def next(self) -> bytes:
        self.count += 1
        return hashlib.sha256(f"number {self.count}".encode()).digest()[:16]


class Answering(PairingDelegate):
    """A device with a display and two buttons, whose user says that the numbers are the same."""

    def __init__(self):
        super().__init__(io_capability=PairingDelegate.DISPLAY_OUTPUT_AND_YES_NO_INPUT)
        self.shown = None

    async def compare_numbers(self, number: int, digits: int) -> bool:
        self.shown = f"{number:0{digits}}"
        return True


def private_key(name: str) -> bytes:
    """It is in this file, and so nothing that these devices say is secret."""
    return hashlib.sha256(f"key pair of {name}".encode()).digest()


def made(name: str, address: str, controller: VirtualController) -> tuple[Device, Answering]:
    irk = hashlib.sha256(f"identity of {name}".encode()).digest()[:16]
    device = Device(
        config=DeviceConfiguration(
            name=name, address=hci.Address(address, hci.Address.RANDOM_DEVICE_ADDRESS), irk=irk),
        host=Host(controller, controller))
    device.keystore = MemoryKeyStore()
    delegate = Answering()
    device.pairing_config_factory = lambda _: PairingConfig(sc=True, mitm=True, bonding=True, delegate=delegate)
    device.smp_manager._ecc_key = crypto.EccKey.from_private_key_bytes(private_key(name))
    return device, delegate


async def read(device: Device) -> tuple[Peer, object]:
    """Searches, connects, and finds the value."""
    found = asyncio.get_running_loop().create_future()
    device.once("advertisement", lambda advertisement: found.set_result(advertisement.address))
    await device.start_scanning()
    address = await found
    await device.stop_scanning()
    connection = await device.connect(address)
    peer = Peer(connection)
    await peer.request_mtu(247)
    await peer.discover_service("1809")
    (service,) = peer.get_services_by_uuid(Service("1809", []).uuid)
    (value,) = await service.discover_characteristics()
    return peer, value


async def record() -> tuple[bytes, str]:
    """The recording, and the number that both displays show."""
    smp.crypto.r = Numbers().next
    snooper, radio = FixedSnooper(), Radio()
    central, on_central = made("central", CENTRAL, VirtualController("central", radio, acl_length=251, snooper=snooper))
    peripheral, on_peripheral = made("Thermometer", PERIPHERAL, VirtualController("peripheral", radio, acl_length=251))
    needed = Characteristic.READABLE | Characteristic.READ_REQUIRES_AUTHENTICATION
    peripheral.add_service(
        Service("1809", [Characteristic("2A1C", Characteristic.Properties.READ, needed, TEMPERATURE)]))
    peripheral.advertising_data = bytes(AdvertisingData([(AdvertisingData.FLAGS, b"\x06")]))
    peripheral.scan_response_data = bytes(AdvertisingData([(AdvertisingData.COMPLETE_LOCAL_NAME, b"Thermometer")]))
    await peripheral.power_on()
    await central.power_on()
    await peripheral.start_advertising(auto_restart=True)

    peer, value = await read(central)
    try:
        await value.read_value()
        raise AssertionError("the value was read on a link that is not encrypted")
    except att.ATT_Error as error:
        assert error.error_code == att.ATT_INSUFFICIENT_AUTHENTICATION_ERROR
    await peer.connection.pair()
    assert await value.read_value() == TEMPERATURE
    await peer.connection.disconnect()

    peer, value = await read(central)
    await peer.connection.encrypt()
    assert await value.read_value() == TEMPERATURE
    await peer.connection.disconnect()
    assert on_central.shown == on_peripheral.shown
    return btsnoop.written(snooper.records), on_central.shown


if __name__ == "__main__":
    content, number = asyncio.run(asyncio.wait_for(record(), 30))
    Path(sys.argv[1]).write_bytes(content)
    print(f"both displays show {number}")
