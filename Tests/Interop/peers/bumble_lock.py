#!/usr/bin/env python3
"""A lock on Bumble, whose values are for hosts that have paired with it.

    bumble_lock.py tcp-server:127.0.0.1:0      a free port, printed as `ready PORT`

2A1C is read over an encrypted link, 2A1D over one whose key was checked by people, and 2A6E, which it sends, is subscribed to
over an encrypted link. 2A3F takes signed writes with --signs, and what came is noted as `signed`, and as `plain` without a
signature. It reads commands, one in a line: `type NUMBER` is what its user types, `forget` deletes its bonds. What
happens is in lines of JSON on standard error: `shown` and `compare` have the number on its display.
"""

import asyncio
import hashlib
import sys

from bumble import att, hci
from bumble.core import AdvertisingData
from bumble.gatt import Characteristic, Service
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig, PairingDelegate
from bumble.smp import OobContext, OobLegacyContext

from bumble_central import lines
from bumble_device import Journal, Worker, on_air, protect_subscriptions
from signing import KEYS, KEYS_AND_SIGNATURES, SIGNED_WRITE, give_key, peers_key, read_signed_write
from transports import command_line, offer, start
from virtual_radio import Radio

ADDRESS = "E4:11:0C:4B:53:01"
NAME = "Lock"
ENCRYPTED, AUTHENTICATED, PUSHED = b"\x2a", b"\x2b", b"\x2c"
CAPABILITIES = {
    "none": PairingDelegate.NO_OUTPUT_NO_INPUT, "display": PairingDelegate.DISPLAY_OUTPUT_ONLY,
    "confirm": PairingDelegate.DISPLAY_OUTPUT_AND_YES_NO_INPUT, "keyboard": PairingDelegate.KEYBOARD_INPUT_ONLY,
    "both": PairingDelegate.DISPLAY_OUTPUT_AND_KEYBOARD_INPUT}


class User(PairingDelegate):
    def __init__(self, options, journal):
        keys = KEYS_AND_SIGNATURES if options.signs else KEYS
        super().__init__(CAPABILITIES[options.interface], keys, keys, maximum_encryption_key_size=options.key_size)
        self.options, self.journal = options, journal
        self.typed = asyncio.Queue()

    async def accept(self):
        return not self.options.refuses

    async def compare_numbers(self, number, digits):
        self.journal.note("compare", number=f"{number:06}")
        return not self.options.sees_another_number

    async def get_number(self):
        self.journal.note("asked")
        return await self.typed.get()

    async def display_number(self, number, digits):
        self.journal.note("shown", number=f"{number:06}")


class Lock(Worker):
    def __init__(self, device, options, journal):
        self.device, self.options, self.journal = device, options, journal
        self.user = User(options, journal)
        device.le_privacy_enabled = options.privacy
        device.keystore = MemoryKeyStore()
        tag = self.tag() if options.tag else None
        device.pairing_config_factory = lambda _: PairingConfig(
            sc=not options.legacy, mitm=options.interface != "none" or tag is not None, bonding=not options.no_bond,
            delegate=self.user, identity_address_type=PairingConfig.AddressType.RANDOM, oob=tag)
        read, notify = Characteristic.Properties.READ, Characteristic.Properties.NOTIFY
        self.pushed = Characteristic("2A6E", notify, Characteristic.READABLE, PUSHED)
        device.add_service(Service("1809", [
            Characteristic("2A1C", read, Characteristic.READABLE | Characteristic.READ_REQUIRES_ENCRYPTION, ENCRYPTED),
            Characteristic(
                "2A1D", read, Characteristic.READABLE | Characteristic.READ_REQUIRES_AUTHENTICATION, AUTHENTICATED),
            self.pushed,
            Characteristic("2A3F", Characteristic.Properties.AUTHENTICATED_SIGNED_WRITES, Characteristic.WRITEABLE, b"\0")]))
        protect_subscriptions(device, self.pushed)
        device.on("connection", self.on_connection)
        device.gatt_server.on("characteristic_subscription", self.on_subscription)

    def on_pdu(self, connection_handle, pdu):
        if pdu[0] == SIGNED_WRITE:
            self.spawn(self.check(pdu))
        elif pdu[0] == att.Opcode.ATT_WRITE_COMMAND:
            self.journal.note("plain", value=pdu[3:].hex())
        else:
            self.device.on_gatt_pdu(connection_handle, pdu)

    async def check(self, pdu):
        self.journal.note("signed", **read_signed_write(await peers_key(self.device), pdu))

    def tag(self) -> PairingConfig.OobConfig:
        """What a sticker on it says, as AD structures; it reads no other one."""
        context, legacy = OobContext(), OobLegacyContext()
        data = AdvertisingData([(AdvertisingData.SECURITY_MANAGER_TK_VALUE, legacy.tk)]) if self.options.legacy \
            else context.share().to_ad()
        self.journal.note("tag", data=bytes(data).hex())
        return PairingConfig.OobConfig(context, None, legacy)

    def on_connection(self, connection):
        self.journal.note(
            "connected", peer=str(connection.peer_address), at=str(connection.peer_resolvable_address),
            own=str(self.device.random_address))
        connection.on("disconnection", self.on_disconnection)
        connection.on("connection_encryption_change", lambda: self.journal.note(
            "encryption", on=bool(connection.encryption)))
        connection.on("pairing", lambda keys: self.journal.note("paired", authenticated=bool(connection.authenticated)))
        connection.on("pairing_failure", lambda reason: self.journal.note("pairing failed", reason=int(reason)))
        if self.options.asks:
            connection.request_pairing()
            if self.options.leaves:
                self.spawn(self.leave(connection))

    def on_disconnection(self, reason):
        self.journal.note("disconnected", reason=int(reason))
        if self.options.privacy:
            self.spawn(self.change_address())

    async def change_address(self):
        """Bumble's own update_rpa() sets the old one once more."""
        address = hci.Address.generate_private_address(self.device.irk)
        await self.device.send_sync_command(hci.HCI_LE_Set_Random_Address_Command(random_address=address))
        self.device.random_address = address
        await self.advertise()

    async def leave(self, connection):
        """As rings that stay with paired hosts only."""
        await asyncio.sleep(3)
        if not connection.encryption:
            await connection.disconnect()

    def on_subscription(self, connection, characteristic, notify, _):
        if characteristic is self.pushed and notify:
            self.spawn(self.device.notify_subscriber(connection, self.pushed, PUSHED))

    async def start(self):
        if self.options.signs:
            self.device.l2cap_channel_manager.register_fixed_channel(att.ATT_CID, self.on_pdu)
            give_key(hashlib.sha256(b"signatures of the lock").digest()[:16])
        await self.device.power_on()
        await self.advertise()

    async def advertise(self):
        data = AdvertisingData([
            (AdvertisingData.FLAGS, b"\x06"), (AdvertisingData.COMPLETE_LOCAL_NAME, NAME.encode())])
        await self.device.start_advertising(
            own_address_type=hci.OwnAddressType.RANDOM, advertising_data=bytes(data),
            auto_restart=not self.options.privacy,
            advertising_interval_min=20, advertising_interval_max=20)

    async def command(self, line):
        match line.split():
            case ["type", number]:
                self.user.typed.put_nowait(int(number))
            case ["forget"]:
                await self.device.keystore.delete_all()
                self.journal.note("forgotten")


async def run(options):
    radio, journal = Radio(), Journal(options.events)
    device = on_air(radio, NAME, ADDRESS)
    device.irk = hashlib.sha256(b"identity of the lock").digest()[:16]
    lock = Lock(device, options, journal)
    await lock.start()

    async def obey():
        async for line in lines(sys.stdin):
            await lock.command(line)

    obeying = asyncio.create_task(obey())
    await offer(options.transport, radio, journal)
    obeying.cancel()


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("--events", help="a file for the lines of JSON")
    parser.add_argument("--interface", choices=CAPABILITIES, default="none")
    parser.add_argument("--legacy", action="store_true", help="no LE Secure Connections")
    parser.add_argument("--no-bond", action="store_true", help="it keeps no keys")
    parser.add_argument("--key-size", type=int, default=16)
    parser.add_argument("--tag", action="store_true", help="what proves that it is the one is on a tag: the event `tag`")
    parser.add_argument("--signs", action="store_true", help="it takes signed writes, and hands out a key for its own")
    parser.add_argument("--asks", action="store_true", help="it sends a Security Request at once")
    parser.add_argument("--leaves", action="store_true", help="and ends a link that is not encrypted after three seconds")
    parser.add_argument("--privacy", action="store_true", help="it has another address after each link")
    parser.add_argument("--refuses", action="store_true")
    parser.add_argument("--sees-another-number", action="store_true")
    start(run(parser.parse_args()))
