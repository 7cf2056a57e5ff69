#!/usr/bin/env python3
"""A device on Bumble that pairs, in both roles, on the radio of an adapter. It reads commands, one in a line, and prints a line
of JSON for each.

    bumble_bonder.py tcp-server:127.0.0.1:0

What the adapter is is printed as `ready PORT`. The commands:

    method NAME     how it pairs from now on: just-works, compare, passkey (which it shows), keyboard (its user types the number
                    in the next line), refuse (its user says no); with `legacy` behind it, without LE Secure Connections
    hide            has another resolvable address from now on, until the next such command
    advertise       advertises a thermometer whose value needs an encrypted link
    forget          loses its bonds, and ends its links
    meet            connects to the device that it hears first, reads its value, pairs if that is refused, and reads again
    again           the same, but encrypts with the bond that it has
    pair            connects to the device that it hears first, and pairs; a number that it shows is a line of its own
    wait            connects to the device that it hears first, and pairs when that asks it to
    drop            ends its links
    state           what has happened: pairings, their failures, the strength of the last link, keys that it has
"""

import asyncio
import hashlib
import json
import sys

from bumble import att, core, hci
from bumble.core import UUID, AdvertisingData
from bumble.device import Peer
from bumble.gatt import Characteristic, Service
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig, PairingDelegate

from bumble_central import heard, lines
from bumble_device import Journal, on_air
from transports import command_line, server, start
from virtual_radio import Radio, VirtualController

ADDRESS = "D8:30:6B:4C:21:9E"
TEMPERATURE = bytes.fromhex("006d0100ff")
CAPABILITIES = {
    "compare": PairingDelegate.DISPLAY_OUTPUT_AND_YES_NO_INPUT, "passkey": PairingDelegate.DISPLAY_OUTPUT_ONLY,
    "keyboard": PairingDelegate.KEYBOARD_INPUT_ONLY}


class Keys(MemoryKeyStore):
    """Bumble looks for the key that a peripheral has distributed where the one is that it was given."""

    def __init__(self, device):
        super().__init__()
        self.device = device

    async def update(self, name, keys):
        if any(connection.role == hci.Role.PERIPHERAL for connection in self.device.connections.values()):
            keys.ltk_central, keys.ltk_peripheral = keys.ltk_peripheral, keys.ltk_central
        await super().update(name, keys)


class Bonder(PairingDelegate):
    """Its user, who does what the test says."""

    def __init__(self, device, commands):
        super().__init__(io_capability=PairingDelegate.NO_OUTPUT_NO_INPUT)
        self.device, self.commands = device, commands
        self.method, self.secure_connections = "just-works", True
        self.shown, self.pairings, self.failures, self.says = None, 0, [], False
        device.keystore = Keys(device)
        device.pairing_config_factory = self.configuration
        device.on("connection", self.watch)

    def configuration(self, _):
        self.io_capability = CAPABILITIES.get(self.method, PairingDelegate.NO_OUTPUT_NO_INPUT)
        return PairingConfig(
            sc=self.secure_connections, mitm=self.method in CAPABILITIES, bonding=True, delegate=self,
            identity_address_type=PairingConfig.AddressType.RANDOM)

    def watch(self, connection):
        self.connection = connection
        connection.on("pairing", self.paired)
        connection.on("pairing_failure", lambda reason: self.failures.append(int(reason)))

    def paired(self, _):
        self.pairings += 1

    async def accept(self) -> bool:
        return self.method != "refuse"

    async def confirm(self, auto: bool = False) -> bool:
        return self.method != "refuse"

    async def compare_numbers(self, number: int, digits: int) -> bool:
        self.shown = number
        return True

    async def display_number(self, number: int, digits: int):
        self.shown = number
        if self.says:
            print(json.dumps({"shown": number}), flush=True)

    async def get_number(self):
        return int(await anext(self.commands))

    # --- commands

    async def hide(self):
        """Bumble's own `update_rpa` tells the controller the address before."""
        await self.device.stop_advertising()
        self.device.random_address = hci.Address.generate_private_address(self.device.irk)
        await self.device.send_sync_command(
            hci.HCI_LE_Set_Random_Address_Command(random_address=self.device.random_address))
        await self.advertise()
        return str(self.device.random_address).split("/")[0]

    async def advertise(self):
        await self.device.start_advertising(auto_restart=True)

    async def drop(self):
        for connection in list(self.device.connections.values()):
            await connection.disconnect()

    async def forget(self):
        self.device.keystore = Keys(self.device)
        await self.drop()

    async def meet(self, encrypts=False):
        advertisement = await heard(self.device)
        connection = await self.device.connect(advertisement.address)
        ended = asyncio.get_running_loop().create_future()
        connection.on("disconnection", lambda reason: ended.done() or ended.set_result(int(reason)))
        seen = {"reads": []}

        async def work():
            peer = Peer(connection)
            await peer.discover_services()
            values = {}
            for service in peer.services:
                for characteristic in await service.discover_characteristics():
                    values[characteristic.uuid] = characteristic
            value = values[UUID.from_16_bits(0x2A1C)]
            try:
                if encrypts:
                    await connection.encrypt()
                seen["reads"].append(await self.read(value))
                if isinstance(seen["reads"][-1], int):
                    await connection.pair()
                    seen["reads"].append(await self.read(value))
            except (core.BaseBumbleError, hci.HCI_Error) as error:
                seen["error"] = str(error)
            seen["encrypted"] = bool(connection.encryption)
            seen["authenticated"] = bool(connection.authenticated)

        task = asyncio.ensure_future(work())
        await asyncio.wait({task, ended}, return_when=asyncio.FIRST_COMPLETED)
        if ended.done():
            task.cancel()
            seen["ended"] = ended.result()
        else:
            task.result()
            await connection.disconnect()
        return seen

    async def pair(self):
        advertisement = await heard(self.device)
        connection = await self.device.connect(advertisement.address)
        seen = {}
        self.says = True
        try:
            await connection.pair()
        except (core.BaseBumbleError, hci.HCI_Error, asyncio.CancelledError) as error:
            seen["error"] = str(error)
        seen |= {"encrypted": bool(connection.encryption), "authenticated": bool(connection.authenticated)}
        self.says = False
        await self.drop()
        return seen

    async def wait(self):
        advertisement = await heard(self.device)
        connection = await self.device.connect(advertisement.address)
        requested = asyncio.get_running_loop().create_future()
        connection.on("security_request", requested.set_result)
        await requested
        await connection.pair()
        return {"encrypted": bool(connection.encryption), "authenticated": bool(connection.authenticated)}

    async def read(self, value):
        try:
            return bytes(await value.read_value()).hex()
        except att.ATT_Error as error:
            return error.error_code

    async def state(self):
        return {
            "pairings": self.pairings, "failures": self.failures, "shown": self.shown,
            "keys": [name for name, _ in await self.device.keystore.get_all()]}


def bonder_on(radio, commands) -> Bonder:
    device = on_air(radio, "bonder", ADDRESS)
    device.irk = hashlib.sha256(b"identity of the bonder").digest()[:16]
    permissions = Characteristic.READABLE | Characteristic.READ_REQUIRES_ENCRYPTION
    device.add_service(
        Service("1809", [Characteristic("2A1C", Characteristic.Properties.READ, permissions, TEMPERATURE)]))
    device.advertising_data = bytes(
        AdvertisingData([
            (AdvertisingData.FLAGS, b"\x06"),
            (AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, b"\x09\x18")]))
    return Bonder(device, commands)


async def run(options):
    journal, radio = Journal(None), Radio()
    offered = server(
        options.transport,
        VirtualController(
            "adapter", radio, public_address="00:1B:DC:0A:10:01", acl_length=251, breach=journal.breach), journal)
    print("ready", await offered.listen(options.transport), flush=True)
    commands = lines(sys.stdin)
    bonder = bonder_on(radio, commands)
    await bonder.device.power_on()
    async for line in commands:
        command, *arguments = line.split()
        match command:
            case "method":
                bonder.secure_connections, answer = "legacy" not in arguments, None
                bonder.method = arguments[0] if arguments[0] != "legacy" else "just-works"
            case "again":
                answer = await bonder.meet(encrypts=True)
            case _:
                answer = await getattr(bonder, command)()
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    start(run(command_line(__doc__).parse_args()))
