"""Bumble's virtual controllers on a virtual radio, brought nearer to silicon.

Bumble's `Controller` is made for Bumble's own host and lets much pass. A host stack that is tested against it
should meet what a chip does, so this one

- sends only the events that both event masks let through, and tells of a connection by the enhanced event where
  that one is unmasked (Vol 4 Part E 7.7.65);
- sends data up in pieces of at most its ACL data length, and labels data with the address that the connection was
  made with, so that a central may use its public address;
- reports advertisements in the form that belongs to the scan asked for, scan responses only to active scans,
  and every advertiser once where duplicates are to be filtered;
- is a Bluetooth 4.2 controller, or one of 5.0 that refuses the legacy advertising, scanning and connecting
  commands after their extended forms were used, and the other way round (Vol 4 Part E 3.1.1);
- ends a connection attempt that is cancelled, and everything upon a reset or when its host goes away;
- answers every command, also those that it does not know;
- notes every breach of the host's duties: more commands or data outstanding than it gave credits for, data longer
  than its buffers, wrong fragment marks, packets that no host may send.
"""

import asyncio
import struct

from bumble import hci, ll
from bumble.controller import Controller
from bumble.link import LocalLink

import quiet_bumble  # noqa: F401

RSSI = -50

LEGACY_COMMANDS = {0x2006, 0x2008, 0x2009, 0x200A, 0x200B, 0x200C, 0x200D}
EXTENDED_COMMANDS = {*range(0x2035, 0x203A), *range(0x203C, 0x2049)}
EXTENDED_FEATURES = (
    hci.LeFeatureMask.LE_EXTENDED_ADVERTISING | hci.LeFeatureMask.LE_PERIODIC_ADVERTISING
)
BLUETOOTH_5_FEATURES = (
    EXTENDED_FEATURES
    | hci.LeFeatureMask.LE_2M_PHY
    | hci.LeFeatureMask.LE_CODED_PHY
    | hci.LeFeatureMask.CHANNEL_SELECTION_ALGORITHM_2
)
BLUETOOTH_5_COMMANDS = {
    hci.HCI_LE_READ_PHY_COMMAND,
    hci.HCI_LE_SET_PHY_COMMAND,
    hci.HCI_LE_SET_DEFAULT_PHY_COMMAND,
}
EXTENDED_COMMANDS = {
    hci.HCI_LE_SET_EXTENDED_SCAN_PARAMETERS_COMMAND,
    hci.HCI_LE_SET_EXTENDED_SCAN_ENABLE_COMMAND,
    hci.HCI_LE_EXTENDED_CREATE_CONNECTION_COMMAND,
    hci.HCI_LE_SET_ADVERTISING_SET_RANDOM_ADDRESS_COMMAND,
    hci.HCI_LE_SET_EXTENDED_ADVERTISING_PARAMETERS_COMMAND,
    hci.HCI_LE_SET_EXTENDED_ADVERTISING_DATA_COMMAND,
    hci.HCI_LE_SET_EXTENDED_SCAN_RESPONSE_DATA_COMMAND,
    hci.HCI_LE_SET_EXTENDED_ADVERTISING_ENABLE_COMMAND,
    hci.HCI_LE_READ_MAXIMUM_ADVERTISING_DATA_LENGTH_COMMAND,
    hci.HCI_LE_READ_NUMBER_OF_SUPPORTED_ADVERTISING_SETS_COMMAND,
    hci.HCI_LE_REMOVE_ADVERTISING_SET_COMMAND,
    hci.HCI_LE_CLEAR_ADVERTISING_SETS_COMMAND,
}
DEFAULT_EVENT_MASK = 0x0000_1FFF_FFFF_FFFF
DEFAULT_LE_EVENT_MASK = 0x1F
LE_META_MASK = 1 << 61


class Radio(LocalLink):
    """The air between the virtual controllers."""

    def send_acl_data(self, sender_controller, destination_address, transport, data):
        # The stock link takes every sender for one that uses its random address.
        connection = sender_controller.le_connections.get(destination_address)
        receiver = self.find_le_controller(destination_address)
        if connection is not None and receiver is not None:
            asyncio.get_running_loop().call_soon(
                receiver.on_link_acl_data, connection.self_address, transport, data
            )

    def scan_response(self, address: hci.Address) -> bytes:
        """What the advertiser with this address answers to a scan request."""
        for controller in self.controllers:
            for advertiser in (controller.le_legacy_advertiser, *controller.advertising_sets.values()):
                if advertiser.enabled and advertiser.address == address:
                    return bytes(advertiser.scan_response_data)
        return b""


class VirtualController(Controller):
    def __init__(
        self, name, radio, *, public_address=None, acl_length=27, acl_packets=64, extended=False,
        snooper=None, breach=lambda text: None, answers_set_phy=True,
    ):
        super().__init__(name, link=radio, public_address=public_address)
        self.le_acl_data_packet_length = self.acl_data_packet_length = acl_length
        self.total_num_le_acl_data_packets = self.total_num_acl_data_packets = acl_packets
        self.supported_max_tx_octets = self.supported_max_rx_octets = max(acl_length, 27)
        self.extended = extended
        self.answers_set_phy = answers_set_phy
        self.snooper = snooper
        self.breach = breach
        self.host_number = 0
        if extended:
            self.le_features |= EXTENDED_FEATURES
            self.supported_commands = self.supported_commands | EXTENDED_COMMANDS
        else:
            self.le_features &= ~BLUETOOTH_5_FEATURES
            self.supported_commands = self.supported_commands - BLUETOOTH_5_COMMANDS
            self.hci_version = self.lmp_version = hci.HCI_VERSION_BLUETOOTH_CORE_4_2
        self.return_to_power_on_state()

    # --- the host

    def attach(self, sink):
        """A host takes over; what was under way for another one is void. None: the host went away."""
        self.return_to_power_on_state()
        self.host_number += 1
        self.host = sink

    def return_to_power_on_state(self):
        self.event_mask, self.le_event_mask = DEFAULT_EVENT_MASK, DEFAULT_LE_EVENT_MASK
        self.le_scan_enable = False
        self.filter_duplicates = False
        self.le_scan_type = 0
        self.scan_is_extended = False
        self.reported = set()
        self.command_family = None
        self.pending_le_connection = None
        self.commands_open = 0
        self.packets_open = 0
        self.le_legacy_advertiser.stop()
        for connection in list(self.le_connections.values()):
            self.fall_silent(connection)
        self.le_connections.clear()

    def fall_silent(self, connection):
        """The other side loses the link as it would when this one lost its power."""
        peer = self.link.find_le_controller(connection.peer_address)
        other = peer and peer.le_connections.get(connection.self_address)
        if other:
            peer.on_le_disconnected(other, hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR)

    # --- packets from the host

    def on_packet(self, packet):
        if self.snooper:
            self.snooper.snoop(packet, self.snooper.Direction.HOST_TO_CONTROLLER)
        if packet[0] not in (hci.HCI_COMMAND_PACKET, hci.HCI_ACL_DATA_PACKET):
            self.breach(f"a packet of type {packet[0]} from the host")
            return
        super().on_packet(packet)

    def on_hci_command_packet(self, command):
        self.commands_open += 1
        if self.commands_open > 1 and command.op_code != hci.HCI_RESET_COMMAND:
            self.breach(f"{command.name} was sent while another command was open")
        error = self.objection(command)
        if error is None:
            super().on_hci_command_packet(command)
        else:
            self.refuse(command, error)

    def objection(self, command):
        """The error of a command that is refused before it is looked at; None for others."""
        if self.is_of_the_wrong_family(command.op_code):
            return hci.HCI_ErrorCode.COMMAND_DISALLOWED_ERROR
        return None

    def is_of_the_wrong_family(self, code) -> bool:
        family = (
            "legacy" if code in LEGACY_COMMANDS
            else "extended" if code in EXTENDED_COMMANDS
            else None
        )
        if family and not self.command_family:
            self.command_family = family
        return family is not None and family != self.command_family

    def refuse(self, command, error):
        if isinstance(command, hci.HCI_SyncCommand):
            self.send_hci_packet(
                hci.HCI_Command_Complete_Event(
                    num_hci_command_packets=1,
                    command_opcode=command.op_code,
                    return_parameters=hci.HCI_StatusReturnParameters(error),
                )
            )
        else:
            self._send_hci_command_status(error, command.op_code)

    def on_hci_command(self, command):
        unknown = hci.HCI_ErrorCode.UNKNOWN_HCI_COMMAND_ERROR
        if isinstance(command, hci.HCI_SyncCommand):
            return hci.HCI_StatusReturnParameters(unknown)
        # The stock controller leaves these without any answer.
        self._send_hci_command_status(unknown, command.op_code)
        return None

    def on_hci_acl_data_packet(self, packet):
        if packet.data_total_length > self.le_acl_data_packet_length:
            self.breach(f"{packet.data_total_length} bytes in one ACL packet")
        if packet.pb_flag not in (0, 1):
            self.breach(f"packet boundary flag {packet.pb_flag} from the host")
        self.packets_open += 1
        if self.packets_open > self.total_num_le_acl_data_packets:
            self.breach(f"{self.packets_open} ACL packets outstanding")
        super().on_hci_acl_data_packet(packet)

    # --- packets to the host

    def send_hci_packet(self, packet):
        asyncio.get_running_loop().call_soon(self.deliver, bytes(packet), self.host_number)

    def deliver(self, packet: bytes, host_number: int):
        if host_number != self.host_number or self.host is None:
            return
        code = packet[1]
        if packet[0] == hci.HCI_EVENT_PACKET:
            if code == hci.HCI_LE_META_EVENT:
                packet = self.unmasked(packet)
                if packet is None:
                    return
            elif code in (hci.HCI_COMMAND_COMPLETE_EVENT, hci.HCI_COMMAND_STATUS_EVENT):
                self.commands_open = max(0, self.commands_open - 1)
            elif code == hci.HCI_NUMBER_OF_COMPLETED_PACKETS_EVENT:
                self.packets_open = max(0, self.packets_open - struct.unpack_from("<H", packet, 6)[0])
            elif code == hci.HCI_DISCONNECTION_COMPLETE_EVENT:
                self.packets_open = 0
        if self.snooper:
            self.snooper.snoop(packet, self.snooper.Direction.CONTROLLER_TO_HOST)
        self.host.on_packet(packet)

    def unmasked(self, event: bytes):
        """The LE event as the masks allow it, or None."""
        def allowed(subevent):
            return self.event_mask & LE_META_MASK and self.le_event_mask & 1 << (subevent - 1)

        plain, enhanced = hci.HCI_LE_CONNECTION_COMPLETE_EVENT, hci.HCI_LE_ENHANCED_CONNECTION_COMPLETE_EVENT
        subevent, parameters = event[3], event[4:]
        if subevent == plain and allowed(enhanced):
            # Local and peer resolvable private address, both unused, go behind the peer's address.
            parameters = parameters[:11] + bytes(12) + parameters[11:]
            return bytes([event[0], event[1], len(parameters) + 1, enhanced]) + parameters
        return event if allowed(subevent) else None

    def on_link_acl_data(self, sender_address, transport, data):
        connection = self.le_connections.get(sender_address)
        if connection is None:
            return
        size = self.le_acl_data_packet_length
        for start in range(0, len(data), size):
            piece = data[start : start + size]
            mark = 1 if start else 2  # continuing, or first
            self.send_hci_packet(hci.HCI_AclDataPacket(connection.handle, mark, 0, len(piece), piece))

    # --- scanning

    def on_hci_le_set_scan_enable_command(self, command):
        self.reported.clear()
        self.scan_is_extended = False
        return super().on_hci_le_set_scan_enable_command(command)

    def on_hci_le_set_extended_scan_parameters_command(self, command):
        self.le_scan_type = command.scan_types[0]
        return super().on_hci_le_set_extended_scan_parameters_command(command)

    def on_hci_le_set_extended_scan_enable_command(self, command):
        self.reported.clear()
        self.scan_is_extended = True
        return super().on_hci_le_set_extended_scan_enable_command(command)

    def on_advertising_pdu(self, pdu):
        address = pdu.advertiser_address
        if self.le_scan_enable and not (self.filter_duplicates and address in self.reported):
            self.reported.add(address)
            self.report(address, pdu.data, is_scan_response=False)
            response = self.link.scan_response(address)
            if self.le_scan_type and response:
                self.report(address, response, is_scan_response=True)
        if self.pending_le_connection and self.pending_le_connection.peer_address == address:
            self.create_le_connection(address)

    def report(self, address, data, is_scan_response):
        if self.scan_is_extended:
            kind = hci.HCI_LE_Extended_Advertising_Report_Event
            event = kind([
                kind.Report(
                    # Legacy PDUs: ADV_IND, or SCAN_RSP to an ADV_IND.
                    event_type=0x1B if is_scan_response else 0x13,
                    address_type=address.address_type, address=address,
                    primary_phy=1, secondary_phy=0, advertising_sid=0xFF, tx_power=127, rssi=RSSI,
                    periodic_advertising_interval=0, direct_address_type=0,
                    direct_address=hci.Address.ANY, data=data,
                )
            ])
        else:
            kind = hci.HCI_LE_Advertising_Report_Event
            event = kind([
                kind.Report(
                    event_type=kind.EventType.SCAN_RSP if is_scan_response else kind.EventType.ADV_IND,
                    address_type=address.address_type, address=address, data=data, rssi=RSSI,
                )
            ])
        self.send_hci_packet(event)

    # --- connecting and disconnecting

    def on_hci_le_create_connection_cancel_command(self, command):
        if self.pending_le_connection is None:
            return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.COMMAND_DISALLOWED_ERROR)
        self.pending_le_connection = None
        cancelled = hci.HCI_LE_Connection_Complete_Event(
            status=hci.HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR,
            connection_handle=0, role=0, peer_address_type=0, peer_address=hci.Address.ANY,
            connection_interval=0, peripheral_latency=0, supervision_timeout=0, central_clock_accuracy=0,
        )
        # After the command's own completion.
        asyncio.get_running_loop().call_soon(self.send_hci_packet, cancelled)
        return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.SUCCESS)

    def on_hci_disconnect_command(self, command):
        connection = self.find_le_connection_by_handle(command.connection_handle)
        if connection is None:
            self.refuse(command, hci.HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR)
            return
        self._send_hci_command_status(hci.HCI_COMMAND_STATUS_PENDING, command.op_code)
        connection.send_ll_control_pdu(ll.TerminateInd(command.reason))
        # The stock controller tells this side the other side's reason.
        self.on_le_disconnected(
            connection, hci.HCI_ErrorCode.CONNECTION_TERMINATED_BY_LOCAL_HOST_ERROR
        )

    def on_hci_reset_command(self, command):
        self.return_to_power_on_state()
        self.commands_open = 1
        return super().on_hci_reset_command(command)

    # --- commands that the stock controller claims to support

    def on_hci_read_rssi_command(self, command):
        known = self.find_connection_by_handle(command.handle)
        return hci.HCI_Read_RSSI_ReturnParameters(
            status=hci.HCI_ErrorCode.SUCCESS if known
            else hci.HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR,
            handle=command.handle, rssi=RSSI,
        )

    def on_hci_le_set_data_length_command(self, command):
        octets = min(command.tx_octets, self.supported_max_tx_octets)
        if octets > 27:
            changed = hci.HCI_LE_Data_Length_Change_Event(
                connection_handle=command.connection_handle,
                max_tx_octets=octets, max_tx_time=(octets + 14) * 8,
                max_rx_octets=octets, max_rx_time=(octets + 14) * 8,
            )
            asyncio.get_running_loop().call_soon(self.send_hci_packet, changed)
        return hci.HCI_StatusAndConnectionHandleReturnParameters(
            status=hci.HCI_ErrorCode.SUCCESS, connection_handle=command.connection_handle
        )

    def on_hci_le_set_phy_command(self, command):
        if not self.extended:
            self.refuse(command, hci.HCI_ErrorCode.UNKNOWN_HCI_COMMAND_ERROR)
            return
        if not self.answers_set_phy:
            # As the stock controller does, which claims the command.
            self.commands_open -= 1
            return
        self._send_hci_command_status(hci.HCI_COMMAND_STATUS_PENDING, command.op_code)

        def fastest(phys):
            return next((phy for bit, phy in ((2, hci.Phy.LE_2M), (4, hci.Phy.LE_CODED)) if phys & bit),
                        hci.Phy.LE_1M)

        self.send_hci_packet(
            hci.HCI_LE_PHY_Update_Complete_Event(
                status=hci.HCI_ErrorCode.SUCCESS, connection_handle=command.connection_handle,
                tx_phy=fastest(command.tx_phys), rx_phy=fastest(command.rx_phys),
            )
        )

    def on_hci_read_remote_version_information_command(self, command):
        self._send_hci_command_status(hci.HCI_COMMAND_STATUS_PENDING, command.op_code)
        self.send_hci_packet(
            hci.HCI_Read_Remote_Version_Information_Complete_Event(
                status=hci.HCI_ErrorCode.SUCCESS, connection_handle=command.connection_handle,
                version=self.lmp_version, manufacturer_name=0xFFFF, subversion=0,
            )
        )
