"""What people want of devices, by each door: HaloRaw, CoreBluetooth and halo-raw give one result, and devices on Bumble
see the same requests. The errands are those on which BLE programs fail, as public reports have it:

- values come cut, as the MTU was exchanged too late or not at all: abandonware/noble#72, nkolban/esp32-snippets#1043
- handles are stale after Service Changed: hbldh/bleak#882, nordicsemi/Flutter-nRF-Connect-Device-Manager#90
- notifications do not come again on the next link: deviceplug/btleplug#413
- a request that is not answered hangs: pauldemarco/flutter_blue#509, weliem/blessed-bluez#11
- an attempt to connect cannot be given up, or connects later: innoveit/react-native-ble-manager#525,
  dotintent/react-native-ble-plx#762
- one user's end is the end of another's link: nordicsemi/IOS-DFU-Library#226
"""

import os
from dataclasses import dataclass, field

import pytest
from errand_doors import CommandDoor, LibraryDoor, Peers

DOORS = ["haloraw", "corebluetooth", "halo-raw"]
LONG = bytes(number % 251 for number in range(300))
# What each link begins with, and how the user ends it.
OPENING = ["connected", "mtu", "write 2902 of 2A05 0200"]
END = "disconnected 13"
READ = [*OPENING, "read 2A19", END]

# What the doors do otherwise, and why: what others do not send; and what they do not send but for these errands.
EXTRA = {
    "corebluetooth": {"read by type 2A00": "it reads the name of a device that it has not heard: CBPeripheral.name"},
    "halo-raw": {"read by type 2A19": "a value is read by its UUID, which needs no discovery",
                 "read by type A001": "the same"}}
LEFT_OUT = {
    "halo-raw": {"write 2902 of 2A05 0200": (
        {"values", "links that end"}, "read and write want one answer: what changes later is not theirs")}}


@dataclass
class Errand:
    """lines: what the user gets. lamp, other: what the devices see, without discovery."""
    lines: list
    lamp: list
    other: list = field(default_factory=list)
    argument: str = ""
    habit: str = ""
    # When the user interrupts it.
    sign: object = None


def is_unanswered(event):
    return event.get("unanswered")


def is_scanning(event):
    return event["event"] == "scan" and event["on"]


def subscription(uuid) -> list:
    return [f"write 2902 of {uuid} 0100"]


ERRANDS = {
    "find by name": Errand(["battery 64"], READ),
    "find by service": Errand(["battery 64"], READ),
    "find by address": Errand(["battery 64"], READ),
    "long read": Errand([f"A001 {LONG.hex()}"], [*OPENING, "read A001", "read on A001 from 246", END]),
    "long write": Errand(
        ["written"], [*OPENING, "prepare A001 from 0", "prepare A001 from 242", "execute 1", END]),
    "commands": Errand(
        ["battery 64"],
        [*OPENING, *[f"command A002 {number:04x}" for number in range(500)], "read 2A19", END]),
    "values": Errand(
        [f"A003 {LONG[:length].hex()}" for length in (1, 20, 100, 244)],
        [*OPENING, "write 2902 of A003 0100", "write 2902 of A003 0000", END]),
    "two devices": Errand(
        ["lamp 10 other 10"], *2 * [[*OPENING, "write 2902 of A004 0100", "write 2902 of A004 0000", END]]),
    "links that end": Errand(
        ["links 01020304", "longest gap short"],
        [*3 * [*OPENING, "write 2902 of A004 0100", "disconnected 16"],
         *OPENING, "write 2902 of A004 0100", "write 2902 of A004 0000", END], habit="leaves"),
    "services change": Errand(
        ["A101 01"], [*OPENING, "confirm", "read A101", END], argument="1", habit="changes at once"),
    "two users": Errand(["first 64", "second 64"], [*OPENING, "read 2A19", "read 2A19", END]),
}


@pytest.fixture
def peers(tmp_path, request):
    made = Peers("bumble_errands.py", tmp_path / "events.jsonl", "--habit", request.param)
    yield made
    made.close()
    assert made.events("breach") == []


def cases():
    for name, errand in ERRANDS.items():
        for door in DOORS:
            if door != "halo-raw" or name not in CommandDoor.MISSING:
                yield pytest.param(errand.habit, name, door, id=f"{name}-{door}", marks=pytest.mark.verdict)


@pytest.mark.parametrize("peers, name, door", cases(), indirect=["peers"])
def test_an_errand(peers, name, door, halo, tmp_path):
    errand = ERRANDS[name]
    if door == "halo-raw":
        made = CommandDoor(halo, peers)
    else:
        made = LibraryDoor(door, peers, tmp_path / "state", dict(os.environ))
    assert made.run(name, errand.argument, errand.sign) == errand.lines
    peers.all_links_end()
    for device, expected in (("Lamp", errand.lamp), ("Other", errand.other)):
        assert [text for text in peers.seen_by(device) if text not in EXTRA.get(door, {})] == [
            text for text in expected if not is_left_out(text, name, door)]


def is_left_out(text, name, door) -> bool:
    others, _ = LEFT_OUT.get(door, {}).get(text, (ERRANDS, ""))
    return name not in others


def test_commands_have_each_errand_or_a_reason():
    done = {name for name in ERRANDS if hasattr(CommandDoor, name.replace(" ", "_"))}
    assert done.isdisjoint(CommandDoor.MISSING) and done | set(CommandDoor.MISSING) == set(ERRANDS)
