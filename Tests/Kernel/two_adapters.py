"""Two adapters of the kernel on one radio: they hear each other."""

import asyncio

from bumble_device import Journal
from vhci_adapter import VhciAdapter
from virtual_radio import Radio, VirtualController


async def run(_):
    """Prints `ready` with the name of the first one, and then the name of the second one."""
    journal, radio = Journal(None), Radio()
    adapters = [
        VhciAdapter(
            VirtualController(f"{number}", radio, public_address=f"00:1B:DC:0A:10:0{number}", breach=journal.breach),
            journal)
        for number in (1, 2)]
    names = [await adapter.listen("vhci") for adapter in adapters]
    print("ready", names[0], flush=True)
    print(names[1], flush=True)
    await asyncio.gather(*(adapter.ended for adapter in adapters))
