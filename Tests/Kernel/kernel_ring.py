"""A Bumble ring behind an adapter of this kernel."""

import time

import bumble_ring
import peripherals
from adapters import KernelAdapter
from ring_process import RingProcess


class KernelRing(RingProcess):
    """A running bumble_ring.py, as the interop tests have it, in a fork."""

    def __init__(self, events, options):
        self.events_file, self.seen = events, 0
        self.options = [str(option) for option in options]
        self.peripheral = peripherals.Peripheral(
            self.program, bumble_ring.parse(["vhci", "--events", str(events), *self.options]))
        self.fork = self.peripheral.process
        self.kernel_adapter = KernelAdapter(*self.peripheral.names)

    async def program(self, options):
        await bumble_ring.run(options)

    @property
    def adapter(self) -> str:
        return self.kernel_adapter.name

    def becomes_free(self) -> bool:
        """Waits until it advertises again: the kernel keeps an unused link for two seconds. A program that was killed
        on the user channel leaves its link for good."""
        deadline = time.monotonic() + 30
        while len(self.events("connected")) > len(self.events("disconnected")):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True

    def check_conduct(self):
        assert self.fork.is_alive(), "the ring died"
        assert self.events("breach") == []

    def close(self):
        """Also removes the adapter, like pulling it out."""
        self.peripheral.close()
        deadline = time.monotonic() + 30
        while self.kernel_adapter.exists:
            assert time.monotonic() < deadline, "the adapter outlives its ring"
            time.sleep(0.02)
