#!/usr/bin/env python3
"""A radio with adapters for hosts that meet there, and a phone on Bumble. It reads commands, one in a line, and prints a
line of JSON for each.

    bumble_radio.py tcp-server:127.0.0.1:0 tcp-server:127.0.0.1:0

What the adapters are is printed as `ready PORT PORT`. The commands of the phone:

    ring COUNT MTU      uses the first ring that advertises until it has COUNT PPG frames
    advertisements      what each adapter sends: data, scan response, interval in milliseconds
"""

import asyncio
import json
import sys

from bumble import hci
from bumble.device import Device, DeviceConfiguration
from bumble.gatt import Service
from bumble.host import Host

from bumble_central import advertisements, lines
from bumble_device import Journal, readable
from bumble_host import use_ring
from transports import command_line, server, start
from virtual_radio import Radio, VirtualController

PHONE = "F0:F1:F2:F3:F4:F6"


def phone_on(radio) -> Device:
    """It serves its battery, as phones do."""
    own = VirtualController("phone", radio, acl_length=251)
    device = Device(
        config=DeviceConfiguration(name="phone", address=hci.Address(PHONE, hci.Address.RANDOM_DEVICE_ADDRESS)),
        host=Host(own, own))
    device.add_service(Service("180F", [readable("2A19", b"\x32")]))
    return device


async def run(options):
    journal = Journal(None)
    radio = Radio()
    offered = [
        server(
            transport,
            VirtualController(
                f"adapter {number}", radio, public_address=f"00:1B:DC:0A:10:{number:02X}", acl_length=251,
                extended=options.extended, breach=journal.breach),
            journal)
        for number, transport in enumerate(options.transport, 1)]
    print("ready", *[await each.listen(transport) for each, transport in zip(offered, options.transport)], flush=True)
    phone = phone_on(radio)
    await phone.power_on()
    async for line in lines(sys.stdin):
        command, *arguments = line.split()
        match command:
            case "ring":
                answer = await use_ring(phone, int(arguments[0]), 20, int(arguments[1]))
            case "advertisements":
                answer = [advertisements(each.controller) for each in offered]
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    parser = command_line(__doc__, several=True)
    parser.add_argument("--extended", action="store_true", help="the adapters have the commands of Bluetooth 5")
    start(run(parser.parse_args()))
