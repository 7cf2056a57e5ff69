"""Two adapters of the kernel on one radio: they hear each other."""

import asyncio

from bumble_device import Journal
from vhci_adapter import VhciAdapter
from virtual_radio import Radio, VirtualController


async def run(_):
    """Prints `ready` with the names of both."""
    journal, radio = Journal(None), Radio()
    adapters = [
        VhciAdapter(
            VirtualController(f"{number}", radio, public_address=f"00:1B:DC:0A:12:0{number}", breach=journal.breach),
            journal)
        for number in (1, 2)]
    print("ready", *[await adapter.listen("vhci") for adapter in adapters], flush=True)
    await asyncio.gather(*(adapter.ended for adapter in adapters))
