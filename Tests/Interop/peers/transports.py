"""How a virtual controller is offered: in H4 framing on a socket, or as an adapter of this machine's kernel."""

import argparse
import asyncio
import logging

from h4_server import H4Server
from vhci_adapter import VhciAdapter
from virtual_radio import VirtualController

HELP = "tcp-server:HOST:PORT (port 0: any free one), unix-server:PATH, or vhci"


def server(transport, controller, journal):
    return VhciAdapter(controller, journal) if transport == "vhci" else H4Server(controller, journal)


async def run_until_ended(offered, transport):
    print("ready", await offered.listen(transport), flush=True)
    await offered.ended


async def offer(transport, radio, journal):
    """Offers a controller of its own for the central."""
    central = VirtualController(
        "central", radio, public_address="00:1B:DC:0A:10:01", breach=journal.breach)
    await run_until_ended(server(transport, central, journal), transport)


def command_line(doc, several=False) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=doc.split("\n", maxsplit=1)[0])
    parser.add_argument("transport", help=HELP, nargs="+" if several else None)
    return parser


def start(program):
    """Runs a program until it ends, or until Ctrl-C."""
    logging.basicConfig(level=logging.ERROR)
    try:
        asyncio.run(program)
    except KeyboardInterrupt:
        pass
