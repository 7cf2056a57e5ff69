"""Offers a virtual controller to the kernel, which makes an adapter of it: /dev/vhci."""

import asyncio
import errno
import os

PATH = "/dev/vhci"
# The driver's own packet type, and its request for a primary controller (the kernel's drivers/bluetooth/hci_vhci.c).
VENDOR, PRIMARY = 0xFF, 0x00
LARGEST_PACKET = 4096


class VhciAdapter:
    """The adapter is there as long as the file is open."""

    def __init__(self, controller, journal):
        self.controller, self.journal = controller, journal
        self.ended = asyncio.get_running_loop().create_future()

    async def listen(self, _: str) -> str:
        """Makes the adapter, and returns its name. From the kernel's answer on, it sends commands."""
        loop = asyncio.get_running_loop()
        self.file = os.open(PATH, os.O_RDWR | os.O_NONBLOCK)
        # Before the kernel learns of the controller, since it greets it at once.
        self.controller.attach(self)
        named = loop.create_future()
        loop.add_reader(self.file, self.on_readable, named)
        os.write(self.file, bytes([VENDOR, PRIMARY]))
        return await named

    def on_readable(self, named):
        try:
            packet = os.read(self.file, LARGEST_PACKET)  # always a whole one
        except BlockingIOError:
            return
        except OSError as error:
            self.remove(error)
            return
        if packet[0] == VENDOR:
            index = int.from_bytes(packet[2:4], "little")
            self.journal.note("adapter", name=f"hci{index}")
            named.set_result(f"hci{index}")
        else:
            self.controller.on_packet(packet)

    def remove(self, reason=None):
        """Pulls the adapter out."""
        if not self.ended.done():
            self.controller.attach(None)
            asyncio.get_running_loop().remove_reader(self.file)
            os.close(self.file)
            self.journal.note("adapter removed", reason=str(reason or "asked to"))
            self.ended.set_result(None)

    # What a controller expects of its host.
    def on_packet(self, packet: bytes):
        if self.ended.done():
            return
        try:
            os.write(self.file, packet)
        except OSError as error:
            # An adapter that is down takes nothing, such as a report that was under way.
            if error.errno not in (errno.ENXIO, errno.ENETDOWN):
                raise

    def backlog(self) -> int:
        """The kernel takes everything at once."""
        return 0
