"""A ring that misbehaves on ATT, behind an adapter of this kernel. See BEHAVIOURS of hostile_peer.py."""

import asyncio
import os
import signal
import sys

import bumble_ring
from hostile_peer import misbehave
from kernel_ring import KernelRing


def ring_class(name):
    class Ring(bumble_ring.Ring):
        def on_connection(self, connection):
            super().on_connection(connection)
            misbehave(name, self.device, connection, self.spawn)

    return Ring


def live(pipe, arguments):
    for number in (signal.SIGALRM, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    sys.stdout = os.fdopen(os.dup(pipe.fileno()), "w")
    bumble_ring.Ring = ring_class(arguments.pop())
    asyncio.run(bumble_ring.run(bumble_ring.parse(arguments)))


class HostileRing(KernelRing):
    live = staticmethod(live)

    def __init__(self, events, behaviour):
        self.behaviour = behaviour
        super().__init__(events, ["--acl-length", 251])

    def arguments(self):
        return [*super().arguments(), self.behaviour]
