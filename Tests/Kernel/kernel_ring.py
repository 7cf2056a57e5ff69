"""A Bumble ring behind an adapter of this kernel.

Bumble takes seconds to import in a virtual machine without KVM. So it is imported once, and each ring is a fork.
"""

import asyncio
import multiprocessing
import os
import signal
import sys
import time

import bumble_ring
import interop
from adapters import KernelAdapter


def live(pipe, arguments):
    """The life of a ring's process."""
    for number in (signal.SIGALRM, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    sys.stdout = os.fdopen(os.dup(pipe.fileno()), "w")  # pytest has one of its own
    asyncio.run(bumble_ring.run(bumble_ring.parse(arguments)))


class KernelRing(interop.RingProcess):
    """A running bumble_ring.py, as the interop tests have it."""

    live = staticmethod(live)

    def arguments(self) -> list[str]:
        return ["vhci", "--events", str(self.events_file), *self.options]

    def __init__(self, events, options):
        self.events_file, self.seen = events, 0
        ours, theirs = multiprocessing.Pipe(duplex=False)
        self.options = [str(option) for option in options]
        self.fork = multiprocessing.get_context("fork").Process(
            target=self.live, args=(theirs, self.arguments()))
        self.fork.start()
        theirs.close()
        with os.fdopen(os.dup(ours.fileno())) as lines:
            ready, _, name = lines.readline().strip().partition(" ")
        ours.close()
        assert ready == "ready", "the ring did not start"
        self.kernel_adapter = KernelAdapter(name)

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
        self.fork.terminate()
        self.fork.join()
        deadline = time.monotonic() + 30
        while self.kernel_adapter.exists:
            assert time.monotonic() < deadline, "the adapter outlives its ring"
            time.sleep(0.02)
