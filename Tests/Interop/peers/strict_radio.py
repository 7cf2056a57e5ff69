#!/usr/bin/env python3
"""The ring of bumble_ring.py with a stricter controller for its central, a worse line to it, or a habit of its own; each is known
from a public report, which test_strict_radios.py names.

    strict_radio.py tcp-server:127.0.0.1:0 --obeys-event-mask --acl-packets 3

The other options are those of bumble_ring.py. Besides what a ring notes, the journal has each command (`hci`), and each that was
refused (`refused`).
"""

import argparse
import asyncio

from bumble import hci
from bumble.core import AdvertisingData
from bumble.device import Device, DeviceConfiguration
from bumble.host import Host

import bumble_ring
import hostile_peer
from bumble_device import Journal
from h4_server import H4Server
from hostile_peer import ERROR, MTU_REQUEST, READ_BY_GROUP, READ_BY_TYPE, misbehave
from transports import run_until_ended, start
from virtual_radio import Radio, VirtualController

# Command Complete, Command Status, Number Of Completed Packets (Vol 4, Part E, 7.3.1).
RESERVED_EVENTS = 1 << 13 | 1 << 14 | 1 << 18
LE_COMMANDS = 0x08
# What Zephyr and Linux send before Write LE Host Support.
EARLY_LE_COMMANDS = {
    hci.HCI_LE_SET_EVENT_MASK_COMMAND, hci.HCI_LE_READ_BUFFER_SIZE_COMMAND,
    hci.HCI_LE_READ_LOCAL_SUPPORTED_FEATURES_COMMAND, hci.HCI_LE_READ_SUPPORTED_STATES_COMMAND}
CREATIONS = {hci.HCI_LE_CREATE_CONNECTION_COMMAND, hci.HCI_LE_EXTENDED_CREATE_CONNECTION_COMMAND}
ENABLES = {hci.HCI_LE_SET_ADVERTISING_ENABLE_COMMAND, hci.HCI_LE_SET_EXTENDED_ADVERTISING_ENABLE_COMMAND}
# Initiating while advertising: non-connectable, scannable, connectable, directed (Vol 4, Part E, 7.8.27).
INITIATING_STATES = 1 << 16 | 1 << 17 | 1 << 32 | 1 << 33 | 1 << 34


class StrictController(VirtualController):
    def __init__(self, name, radio, options, journal, **named):
        super().__init__(name, radio, breach=journal.breach, **named)
        self.options, self.journal = options, journal
        if options.host_support:
            self.lmp_features &= ~hci.LmpFeatureMask.BR_EDR_NOT_SUPPORTED
            self.supported_commands = self.supported_commands | {hci.HCI_WRITE_LE_HOST_SUPPORT_COMMAND}
        if options.says_states:
            states = int.from_bytes(self.le_states, "little") & ~INITIATING_STATES
            self.le_states = states.to_bytes(8, "little")

    def return_to_power_on_state(self):
        super().return_to_power_on_state()
        self.lmp_features &= ~hci.LmpFeatureMask.LE_SUPPORTED_HOST

    @property
    def is_advertising(self) -> bool:
        return self.le_legacy_advertiser.enabled or any(each.enabled for each in self.advertising_sets.values())

    def on_packet(self, packet):
        if packet[0] == hci.HCI_COMMAND_PACKET:
            self.journal.note("hci", opcode=f"{packet[2]:02X}{packet[1]:02X}", parameters=bytes(packet[4:]).hex())
        super().on_packet(packet)

    def objection(self, command):
        error = super().objection(command) or self.own_objection(command)
        if error is not None:
            self.journal.note("refused", opcode=f"{command.op_code:04X}", error=int(error))
        return error

    def own_objection(self, command):
        options, code = self.options, command.op_code
        disallowed = hci.HCI_ErrorCode.COMMAND_DISALLOWED_ERROR
        if code == hci.HCI_SET_EVENT_MASK_COMMAND and options.refuses_reserved_events:
            invalid = int.from_bytes(command.event_mask, "little") & RESERVED_EVENTS
            return hci.HCI_ErrorCode.INVALID_COMMAND_PARAMETERS_ERROR if invalid else None
        if options.host_support == "refused":
            return disallowed if code == hci.HCI_WRITE_LE_HOST_SUPPORT_COMMAND else None
        if options.host_support == "needed" and code >> 10 == LE_COMMANDS and code not in EARLY_LE_COMMANDS:
            return None if self.lmp_features & hci.LmpFeatureMask.LE_SUPPORTED_HOST else disallowed
        if code in CREATIONS and self.is_advertising:
            return options.refuses_creation
        if code in ENABLES and bytes(command)[4]:
            return options.refuses_advertising
        return None

    def deliver(self, packet, host_number):
        if self.options.obeys_event_mask and packet[0] == hci.HCI_EVENT_PACKET:
            bit = 61 if packet[1] == hci.HCI_LE_META_EVENT else packet[1] - 1
            if not self.event_mask >> bit & 1:
                return
        super().deliver(packet, host_number)


class DeafRadio(Radio):
    """Without scan responses."""

    def scan_response(self, address):
        return b""


class LossyLine(H4Server):
    """Loses bytes of data packets to the host, which are counted from 1 on."""

    def __init__(self, controller, journal, losses):
        super().__init__(controller, journal)
        self.losses = {number: (offset, count) for number, offset, count in losses}
        self.count = 0

    def on_packet(self, packet):
        if packet[0] == hci.HCI_ACL_DATA_PACKET:
            self.count += 1
            offset, count = self.losses.get(self.count, (0, 0))
            if count:
                self.journal.note("lost bytes", packet=packet.hex(), bytes=packet[offset:offset + count].hex())
                packet = packet[:offset] + packet[offset + count:]
        super().on_packet(packet)


# --- the ring

def no_mtu_answer(peer, pdu):
    """Never answers the request for the MTU."""
    return pdu[0] == MTU_REQUEST


def late_error(peer, pdu):
    """After a request of a kind, an Error Response for the one before of the same kind, which was answered; then the answer."""
    last, peer.last = getattr(peer, "last", b"\0"), pdu
    is_next = pdu[0] == last[0] and int.from_bytes(last[1:3], "little") < int.from_bytes(pdu[1:3], "little")
    if pdu[0] not in (READ_BY_TYPE, READ_BY_GROUP) or not is_next:
        return False

    async def answer():
        await asyncio.sleep(0.02)
        peer.device.journal.note("late error", request=pdu[0])
        peer.send([ERROR, pdu[0], *last[1:3], 0x0A])
        peer.device.on_gatt_pdu(peer.connection.handle, pdu)

    peer.spawn(answer())
    return True


hostile_peer.BEHAVIOURS.update(no_mtu_answer=no_mtu_answer, late_error=late_error)


class StrictRing(bumble_ring.Ring):
    async def advertise(self):
        if not self.options.name_in_scan_response:
            return await super().advertise()
        name = (AdvertisingData.COMPLETE_LOCAL_NAME, self.options.name.encode())
        await self.device.start_advertising(
            own_address_type=hci.OwnAddressType.RANDOM,
            advertising_data=bytes(AdvertisingData([(AdvertisingData.FLAGS, b"\x06")])),
            scan_response_data=bytes(AdvertisingData([name])), advertising_interval_min=20, advertising_interval_max=20)

    def on_connection(self, connection):
        super().on_connection(connection)
        if self.options.att:
            misbehave(self.options.att, self.device, connection, self.spawn)
        if self.options.wants_interval:
            self.spawn(self.want_interval(connection, *self.options.wants_interval))

    async def want_interval(self, connection, least, most):
        units = [round(milliseconds / 1.25) for milliseconds in (least, most)]
        result = await self.device.l2cap_channel_manager.update_connection_parameters(connection, *units, 0, 500)
        self.journal.note("parameter request", result=int(result))
        if result and self.options.insists:
            await asyncio.sleep(0.03)
            await connection.disconnect()


async def run(options):
    journal = Journal(options.events)
    radio = DeafRadio() if options.no_scan_responses else Radio()
    central = StrictController(
        "central", radio, options, journal, public_address="00:1B:DC:0A:10:01", acl_length=options.acl_length,
        acl_packets=options.acl_packets, extended=options.extended)
    own = VirtualController("ring", radio, acl_length=251)
    device = Device(
        config=DeviceConfiguration(
            name=options.name, address=hci.Address(options.address, hci.Address.RANDOM_DEVICE_ADDRESS)),
        host=Host(own, own))
    device.journal = journal
    offered = LossyLine(central, journal, options.lose_bytes)
    ring = StrictRing(device, options, journal, offered.backlog)
    await ring.start()
    await run_until_ended(offered, options.transport)


def hexadecimal(text):
    return int(text, 16)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0], allow_abbrev=False)
    add = parser.add_argument
    add("--obeys-event-mask", action="store_true", help="masks every event that the host masks, also those that nothing masks")
    add("--refuses-reserved-events", action="store_true", help="refuses event masks with reserved bits")
    add("--host-support", choices=("needed", "refused"), help="a controller of both kinds: what Write LE Host Support is")
    add("--refuses-creation", type=hexadecimal, metavar="ERROR", help="of links, while it advertises")
    add("--says-states", action="store_true", help="LE Read Supported States says so")
    add("--refuses-advertising", type=hexadecimal, metavar="ERROR")
    add("--no-scan-responses", action="store_true", help="the controller receives none")
    add("--name-in-scan-response", action="store_true", help="and nowhere else")
    add("--lose-bytes", type=lambda text: tuple(map(int, text.split(":"))), action="append", default=[],
        metavar="PACKET:OFFSET:COUNT", help="of a data packet to the host")
    add("--att", choices=hostile_peer.BEHAVIOURS, metavar="NAME", help="how the ring answers requests")
    add("--wants-interval", type=float, nargs=2, metavar="MS")
    add("--insists", action="store_true", help="and ends the link without it")
    ours, others = parser.parse_known_args()
    return argparse.Namespace(**vars(bumble_ring.parse(others)), **vars(ours))


if __name__ == "__main__":
    start(run(parse()))
