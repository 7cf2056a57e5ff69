"""A ring behind an adapter of this kernel whose controller fails when the test says so."""

import asyncio
import os
import signal

import bumble_ring
from kernel_ring import KernelRing
from virtual_radio import VirtualController

RESET = b"\x01\x03\x0c\x00"
HARDWARE_ERROR = b"\x04\x10\x01\x42"


class FaultyController(VirtualController):
    """With SIGUSR1 it falls silent, until its host has given a number of resets. With SIGUSR2 it breaks down: all that it
    had is lost, and it reports Hardware Error (Core Specification Vol 4, Part E, 7.7.16)."""

    resets = 1

    def __init__(self, name, radio, **options):
        super().__init__(name, radio, **options)
        self.resets_missing = 0
        if name == "central":
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGUSR1, self.go_silent)
            loop.add_signal_handler(signal.SIGUSR2, self.break_down)

    def go_silent(self):
        self.resets_missing = self.resets

    def break_down(self):
        self.return_to_power_on_state()
        self.deliver(HARDWARE_ERROR, self.host_number)

    def on_packet(self, packet):
        if self.resets_missing:
            self.resets_missing -= bytes(packet) == RESET
            if self.resets_missing or bytes(packet) != RESET:
                return
        super().on_packet(packet)

    def deliver(self, packet, host_number):
        if not self.resets_missing:
            super().deliver(packet, host_number)


class FaultyRing(KernelRing):
    def __init__(self, events, resets=1):
        """resets: how many it takes to wake the controller."""
        self.resets = resets
        # Slow, as it goes on to send while its controller is silent.
        super().__init__(events, ["--rate", 50, "--acl-length", 251])

    async def program(self, options):
        FaultyController.resets = self.resets
        bumble_ring.VirtualController = FaultyController
        await bumble_ring.run(options)

    def go_silent(self):
        os.kill(self.fork.pid, signal.SIGUSR1)

    def break_down(self):
        os.kill(self.fork.pid, signal.SIGUSR2)
