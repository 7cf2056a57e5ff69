"""The kernel's adapters, asked and switched with the ioctls of an HCI socket (as hciconfig does)."""

import errno
import fcntl
import os
import socket
import struct
import time
from pathlib import Path

CLASS = Path("/sys/class/bluetooth")
# include/net/bluetooth/hci_sock.h, with the size of an int in bits 16 to 29.
DEVICE_UP, DEVICE_DOWN, DEVICE_RESET, GET_DEVICE_INFO = 0x400448C9, 0x400448CA, 0x400448CB, 0x800448D3
FLAG_UP = 1 << 0


class KernelAdapter:
    def __init__(self, name: str):
        self.name, self.index = name, int(name.removeprefix("hci"))

    def ioctl(self, request, argument):
        with socket.socket(socket.AF_BLUETOOTH, socket.SOCK_RAW, socket.BTPROTO_HCI) as sock:
            return fcntl.ioctl(sock, request, argument)

    @property
    def exists(self) -> bool:
        return (CLASS / self.name).exists()

    @property
    def flags(self) -> int:
        # struct hci_dev_info: index, name[8], address[6], flags, and much more.
        info = self.ioctl(GET_DEVICE_INFO, struct.pack("<H", self.index) + bytes(126))
        return struct.unpack_from("<I", info, 16)[0]

    @property
    def is_up(self) -> bool:
        return bool(self.flags & FLAG_UP)

    def up(self):
        self.switch(DEVICE_UP, errno.EALREADY)

    def down(self):
        """Also ends the first two seconds of a new adapter, in which the kernel has it up by itself."""
        self.up()
        self.switch(DEVICE_DOWN, errno.EALREADY)

    def reset(self):
        """As hciconfig's "reset" does."""
        self.ioctl(DEVICE_RESET, self.index)

    def switch(self, request, harmless):
        try:
            self.ioctl(request, self.index)
        except OSError as error:
            if error.errno != harmless:
                raise

    def wait_until(self, state: bool, timeout=30):
        """Until it is up, or down."""
        deadline = time.monotonic() + timeout
        while self.is_up != state:
            assert time.monotonic() < deadline, f"{self.name} is still {'down' if state else 'up'}"
            time.sleep(0.02)


def names() -> set[str]:
    # Links of an adapter are there, too, as hci0:16.
    return {name for name in os.listdir(CLASS) if ":" not in name}
