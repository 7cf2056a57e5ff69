"""The kernel's Bluetooth management, as another program uses it (BlueZ, doc/mgmt-api.txt)."""

import ctypes
import os
import socket
import struct

# include/net/bluetooth/hci_sock.h
NO_DEVICE, CONTROL_CHANNEL = 0xFFFF, 3
COMMAND_COMPLETE, COMMAND_STATUS = 1, 2
READ_INFORMATION, SET_BONDABLE, START_DISCOVERY, STOP_DISCOVERY, SET_ADVERTISING = 0x04, 0x09, 0x23, 0x24, 0x29
READ_ADVERTISING_FEATURES, ADD_ADVERTISING, REMOVE_ADVERTISING = 0x3D, 0x3E, 0x3F


def command(adapter, opcode, parameters=b"") -> bytes:
    """Carries a command out, and returns what its answer says after the status."""
    with socket.socket(socket.AF_BLUETOOTH, socket.SOCK_RAW, socket.BTPROTO_HCI) as management:
        # Python's bind has no channel.
        address = struct.pack("<HHH", socket.AF_BLUETOOTH, NO_DEVICE, CONTROL_CHANNEL)
        if ctypes.CDLL(None, use_errno=True).bind(management.fileno(), address, len(address)) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        management.settimeout(30)
        management.send(struct.pack("<HHH", opcode, adapter.index, len(parameters)) + parameters)
        while True:
            answer = management.recv(1024)
            event, _, _, asked, status = struct.unpack_from("<HHHHB", answer + bytes(9))
            if event in (COMMAND_COMPLETE, COMMAND_STATUS) and asked == opcode:
                assert status == 0, f"management command {opcode:#x} failed with {status:#x}"
                return answer[9:]


def advertisements(adapter) -> list[int]:
    """The numbers of the advertisements of all programs."""
    answer = command(adapter, READ_ADVERTISING_FEATURES)
    return list(answer[8 : 8 + answer[7]])


def advertise(adapter, number):
    """As another program does: an advertisement without data, which nobody can connect to."""
    command(adapter, ADD_ADVERTISING, struct.pack("<BIHHBB", number, 0, 0, 0, 0, 0))


def end_advertisements(adapter):
    """As `btmgmt clr-adv` does: of all programs."""
    command(adapter, REMOVE_ADVERTISING, b"\0")


def start_discovery(adapter, kinds: bytes):
    """As bluetoothd does. It ends by itself after ten seconds."""
    command(adapter, START_DISCOVERY, kinds)


def can_discover(adapter, kinds: bytes) -> bool:
    """Whether a discovery is begun, and ended, without refusal."""
    try:
        start_discovery(adapter, kinds)
        stop_discovery(adapter, kinds)
    except AssertionError:
        return False
    return True


def stop_discovery(adapter, kinds: bytes):
    command(adapter, STOP_DISCOVERY, kinds)


def set_advertising(adapter, is_on: bool):
    """As `btmgmt advertising on` does: the adapter's own advertisement, which a central may connect to."""
    command(adapter, SET_ADVERTISING, bytes([2 if is_on else 0]))


def is_bondable(adapter) -> bool:
    """Whether the kernel keeps the keys of pairings."""
    current = struct.unpack_from("<I", command(adapter, READ_INFORMATION), 13)[0]
    return bool(current & 1 << 4)


def set_bondable(adapter, is_bondable: bool):
    """As bluetoothd does for `bluetoothctl pairable on`: the kernel pairs with whom asks for it."""
    command(adapter, SET_BONDABLE, bytes([is_bondable]))
