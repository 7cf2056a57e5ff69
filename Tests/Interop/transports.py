"""How a virtual controller is offered: in H4 framing on a socket, or as an adapter of this machine's kernel."""

from h4_server import H4Server
from vhci_adapter import VhciAdapter

HELP = "tcp-server:HOST:PORT (port 0: any free one), unix-server:PATH, or vhci"


def server(transport, controller, journal):
    return VhciAdapter(controller, journal) if transport == "vhci" else H4Server(controller, journal)
