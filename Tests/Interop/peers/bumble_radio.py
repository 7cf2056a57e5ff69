#!/usr/bin/env python3
"""A radio with adapters for hosts that meet there, and a phone on Bumble. It reads commands, one in a line, and prints a
line of JSON for each.

    bumble_radio.py tcp-server:127.0.0.1:0 tcp-server:127.0.0.1:0

What the adapters are is printed as `ready PORT PORT`. The commands of the phone:

    ring COUNT MTU      uses the first ring that advertises until it has COUNT PPG frames
    strap COUNT         subscribes to the heart rate of the first device that advertises it, for COUNT values
    strap-until FLAGS   the same until a value comes that begins with these flags, in hexadecimal digits
    bond-strap          pairs with such a device, subscribes to it, and leaves
    bonded-strap COUNT  comes back, encrypts the link, and waits for COUNT values without subscribing again
    advertise           advertises, so that another host can pair with it, to which it hands out a key for signatures
    sign SERVICE NUMBER COUNTER VALUE [wrong]
                        writes a value to the characteristic NUMBER of that device, signed, over a link in clear, and reads it
    forget              deletes its bonds
    advertisements      what each adapter sends: data, scan response, interval in milliseconds
"""

import asyncio
import json
import sys
import time

from bumble import att, hci
from bumble.core import UUID, AdvertisingData
from bumble.device import Device, DeviceConfiguration, Peer
from bumble.gatt import Service
from bumble.host import Host
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig, PairingDelegate

from bumble_central import advertisements, lines
from bumble_device import Journal, readable
from bumble_host import use_ring
from signing import KEYS_AND_SIGNATURES, give_key, signed_write
from transports import command_line, server, start
from virtual_radio import Radio, VirtualController

PHONE = "F0:F1:F2:F3:F4:F6"
SIGNING_KEY = bytes(range(0x30, 0x40))


def phone_on(radio) -> Device:
    """It serves its battery, as phones do."""
    own = VirtualController("phone", radio, acl_length=251)
    device = Device(
        config=DeviceConfiguration(name="phone", address=hci.Address(PHONE, hci.Address.RANDOM_DEVICE_ADDRESS)),
        host=Host(own, own))
    device.add_service(Service("180F", [readable("2A19", b"\x32")]))
    return device


async def find_service(device, number: int):
    """The first advertisement with a service."""
    found = asyncio.get_running_loop().create_future()

    def on_advertisement(advertisement):
        services = advertisement.data.get(AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS) or []
        if UUID.from_16_bits(number) in services and not found.done():
            found.set_result(advertisement)

    device.on("advertisement", on_advertisement)
    await device.start_scanning(active=True)
    advertisement = await asyncio.wait_for(found, 20)
    await device.stop_scanning()
    device.remove_listener("advertisement", on_advertisement)
    return advertisement


async def use_strap(device, is_enough) -> dict:
    """What a watch finds in the first strap that advertises, until it has enough heart rates."""
    advertisement = await find_service(device, 0x180D)
    connection = await device.connect(advertisement.address)
    peer = Peer(connection)
    await peer.discover_services()
    await peer.discover_characteristics()

    def of(number):
        return peer.get_characteristics_by_uuid(UUID.from_16_bits(number))[0]

    async def read(number):
        try:
            return bytes(await of(number).read_value()).hex()
        except att.ATT_Error as error:
            return error.error_code

    values, times, enough = [], [], asyncio.Event()

    def on_value(value: bytes):
        values.append(value.hex())
        times.append(time.monotonic())
        if is_enough(values):
            enough.set()

    await of(0x2A37).discover_descriptors()
    await of(0x2A37).subscribe(on_value)
    await asyncio.wait_for(enough.wait(), 60)
    seen = {
        "data": bytes(advertisement.data).hex(), "address": str(advertisement.address).partition("/")[0],
        "services": [service.uuid.to_hex_str("") for service in peer.services],
        "properties": {number: int(of(int(number, 16)).properties) for number in ("2A37", "2A38", "2A19")},
        "name": bytes.fromhex(await read(0x2A00)).decode(), "appearance": await read(0x2A01),
        "location": await read(0x2A38), "battery": await read(0x2A19),
        "maker": bytes.fromhex(await read(0x2A29)).decode(), "firmware": bytes.fromhex(await read(0x2A26)).decode(),
        "values": values, "times": times}
    await connection.disconnect()
    return seen


async def use_bonded_strap(device, pairs: bool, count: int) -> dict:
    """As a phone does: it pairs and subscribes once; later it only encrypts."""
    advertisement = await find_service(device, 0x180D)
    connection = await device.connect(advertisement.address)
    connection.on("pairing_failure", lambda reason: print(json.dumps({"failed": int(reason)}), flush=True))
    peer = Peer(connection)
    if not pairs:
        await connection.encrypt()
    await peer.discover_services()
    await peer.discover_characteristics()
    [measurement] = peer.get_characteristics_by_uuid(UUID.from_16_bits(0x2A37))
    await measurement.discover_descriptors()
    values, enough = [], asyncio.Event()

    def on_value(value: bytes):
        values.append(value.hex())
        if len(values) == count:
            enough.set()

    if pairs:
        await measurement.subscribe(on_value)
        await connection.pair()
    else:
        peer.gatt_client.notification_subscribers.setdefault(measurement.handle, set()).add(on_value)
    await asyncio.wait_for(enough.wait(), 20)
    await connection.disconnect()
    return {
        "values": values, "encrypted": bool(connection.encryption), "peer": str(connection.peer_address),
        "address": str(advertisement.address)}


async def sign(device, service: int, number: int, counter: int, value: bytes, is_wrong: bool) -> str:
    advertisement = await find_service(device, service)
    connection = await device.connect(advertisement.address)
    peer = Peer(connection)
    await peer.discover_services()
    await peer.discover_characteristics()
    [characteristic] = peer.get_characteristics_by_uuid(UUID.from_16_bits(number))
    pdu = signed_write(SIGNING_KEY, characteristic.handle, value, counter)
    device.send_l2cap_pdu(connection.handle, att.ATT_CID, pdu[:-1] + bytes([pdu[-1] ^ is_wrong]))
    # It takes effect when its counter is kept.
    for _ in range(20):
        seen = bytes(await characteristic.read_value()).hex()
        if seen == value.hex():
            break
        await asyncio.sleep(0.025)
    assert not connection.encryption
    await connection.disconnect()
    return seen


async def run(options):
    journal = Journal(None)
    radio = Radio()
    offered = [
        server(
            transport,
            VirtualController(
                f"adapter {number}", radio, public_address=f"00:1B:DC:0A:10:{number:02X}", acl_length=251,
                extended=options.extended, breach=journal.breach),
            journal)
        for number, transport in enumerate(options.transport, 1)]
    print("ready", *[await each.listen(transport) for each, transport in zip(offered, options.transport)], flush=True)
    phone = phone_on(radio)
    phone.keystore = MemoryKeyStore()
    phone.pairing_config_factory = lambda _: PairingConfig(
        sc=True, mitm=False, bonding=True, identity_address_type=PairingConfig.AddressType.RANDOM,
        delegate=PairingDelegate(
            local_initiator_key_distribution=KEYS_AND_SIGNATURES, local_responder_key_distribution=KEYS_AND_SIGNATURES))
    give_key(SIGNING_KEY)
    await phone.power_on()
    async for line in lines(sys.stdin):
        command, *arguments = line.split()
        match command:
            case "ring":
                answer = await use_ring(phone, int(arguments[0]), 20, int(arguments[1]))
            case "strap":
                answer = await use_strap(phone, lambda values: len(values) == int(arguments[0]))
            case "strap-until":
                answer = await use_strap(phone, lambda values: values[-1].startswith(arguments[0]))
            case "bond-strap":
                answer = await use_bonded_strap(phone, True, 1)
            case "bonded-strap":
                answer = await use_bonded_strap(phone, False, int(arguments[0]))
            case "advertise":
                await phone.start_advertising(
                    own_address_type=hci.OwnAddressType.RANDOM, advertising_interval_min=20, advertising_interval_max=20,
                    advertising_data=bytes(AdvertisingData([(AdvertisingData.COMPLETE_LOCAL_NAME, b"phone")])))
                answer = {}
            case "sign":
                service, number, counter, value, *wrong = arguments
                answer = await sign(
                    phone, int(service, 16), int(number, 16), int(counter), bytes.fromhex(value), bool(wrong))
            case "forget":
                await phone.keystore.delete_all()
                answer = {}
            case "advertisements":
                answer = [advertisements(each.controller) for each in offered]
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    parser = command_line(__doc__, several=True)
    parser.add_argument("--extended", action="store_true", help="the adapters have the commands of Bluetooth 5")
    start(run(parser.parse_args()))
