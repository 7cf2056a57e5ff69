"""What the peripherals on Bumble have in common."""

import asyncio
import json
import sys

from bumble import att, core, hci
from bumble.core import UUID
from bumble.device import Device, DeviceConfiguration
from bumble.gatt import Characteristic, CharacteristicValue
from bumble.host import Host

from virtual_radio import VirtualController


class Journal:
    """What happened, as lines of JSON that a test can read while the ring runs."""

    def __init__(self, path):
        self.file = open(path, "w", buffering=1) if path else sys.stderr

    def note(self, event: str, **facts):
        print(json.dumps({"event": event, **facts}), file=self.file, flush=True)

    def breach(self, text: str):
        """The host broke a rule of the specification."""
        self.note("breach", text=text)


def refuse(error: int):
    """For a read or write that gets this error. (Bumble's server itself does not look at permissions, and
    leaves a request unanswered where there is nothing to read.)"""
    def handler(*_):
        raise att.ATT_Error(error)
    return handler


def readable(uuid, value: bytes) -> Characteristic:
    return Characteristic(
        uuid, Characteristic.Properties.READ, Characteristic.READABLE,
        CharacteristicValue(
            read=lambda _: value, write=refuse(att.ATT_WRITE_NOT_PERMITTED_ERROR)))


def writable(uuid, properties, write) -> Characteristic:
    return Characteristic(
        uuid, properties, Characteristic.WRITEABLE,
        CharacteristicValue(read=refuse(att.ATT_READ_NOT_PERMITTED_ERROR), write=write))


def pushed(uuid, properties) -> Characteristic:
    """For notifications or indications only."""
    return writable(uuid, properties, refuse(att.ATT_WRITE_NOT_PERMITTED_ERROR))


def protect_subscriptions(device, characteristic):
    """Only over an encrypted link can a client subscribe. (Bumble's list of descriptors lacks the one that it makes.)"""
    (configuration,) = (
        attribute for attribute in device.gatt_server.attributes
        if attribute.type == UUID("2902") and characteristic.handle < attribute.handle <= characteristic.end_group_handle)
    configuration.permissions |= Characteristic.WRITE_REQUIRES_ENCRYPTION


def on_air(radio, name, address) -> Device:
    """A device with a controller of its own and a random address."""
    own = VirtualController(name, radio, acl_length=251)
    return Device(
        config=DeviceConfiguration(
            name=name, address=hci.Address(address, hci.Address.RANDOM_DEVICE_ADDRESS)),
        host=Host(own, own))


def remove(service, device):
    """Takes a service out of a database, of which a central is told by Service Changed."""
    for attribute in device.gatt_server.attributes:
        if service.handle <= attribute.handle <= service.end_group_handle:
            attribute.type = UUID("FEFE")  # found by nothing


class Worker:
    """Runs work that the end of the connection may break off. It has a journal."""

    # The loop only keeps weak references to its tasks.
    tasks: set = set()

    def spawn(self, work):
        async def run():
            try:
                await work
            except (core.BaseBumbleError, TimeoutError, asyncio.CancelledError) as error:
                self.journal.note("broken off", by=repr(error))
        task = asyncio.get_running_loop().create_task(run())
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
