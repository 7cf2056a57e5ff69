"""A ring that misbehaves on ATT, behind an adapter of this kernel. See BEHAVIOURS of hostile_peer.py."""

import bumble_ring
from hostile_peer import misbehave
from kernel_ring import KernelRing


def ring_class(name):
    class Ring(bumble_ring.Ring):
        def on_connection(self, connection):
            super().on_connection(connection)
            misbehave(name, self.device, connection, self.spawn)

    return Ring


class HostileRing(KernelRing):
    def __init__(self, events, behaviour):
        self.behaviour = behaviour
        super().__init__(events, ["--acl-length", 251])

    async def program(self, options):
        bumble_ring.Ring = ring_class(self.behaviour)
        await bumble_ring.run(options)
