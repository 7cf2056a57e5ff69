"""What people want of devices, by each door: HaloRaw, CoreBluetooth and halo-raw give one result, and devices on Bumble
see the same requests. The errands are those on which BLE programs fail, as public reports have it:

- values come cut, as the MTU was exchanged too late or not at all: abandonware/noble#72, nkolban/esp32-snippets#1043
- handles are stale after Service Changed: hbldh/bleak#882, nordicsemi/Flutter-nRF-Connect-Device-Manager#90
- notifications do not come again on the next link: deviceplug/btleplug#413
- a request that is not answered hangs: pauldemarco/flutter_blue#509, weliem/blessed-bluez#11
- an attempt to connect cannot be given up, or connects later: innoveit/react-native-ble-manager#525,
  dotintent/react-native-ble-plx#762
- a device connects once, and not again: dotintent/react-native-ble-plx#501
- one user's end is the end of another's link: nordicsemi/IOS-DFU-Library#226
- the roles take each other's links for their own: abandonware/bleno#5
"""

from dataclasses import dataclass

from errand_doors import LONG

DOORS = ["haloraw", "corebluetooth", "halo-raw"]
# What each link begins with, and how the user ends it.
OPENING = ["connected", "mtu", "write 2902 of 2A05 0200"]
END = "disconnected 13"
READ = [*OPENING, "read 2A19", END]
# A reason of the HCI for the end of a link.
LOCAL_HOST = 0x16


def subscribed(uuid) -> list:
    return [f"write 2902 of {uuid} 0100", f"write 2902 of {uuid} 0000"]


# What the doors do otherwise, and why: what others do not send; what they send for these errands only; errands that
# have another result.
EXTRA = {
    "corebluetooth": {"read by type 2A00": "it reads the name of a device that it has not heard: CBPeripheral.name"},
    "halo-raw": {"read by type 2A19": "a value is read by its UUID, which needs no discovery",
                 "read by type A001": "the same"}}
LEFT_OUT = {
    "halo-raw": {"write 2902 of 2A05 0200": (
        {"values", "links that end", "two devices", "cancelled values", "cancelled reconnection"},
        "read and write want one answer: what changes later is not theirs")}}
APART = {
    ("an MTU without an answer", "corebluetooth"): {
        "lines": ["error linkLost", *2 * ["battery 64"]],
        "reason": "an app is told of the link before the MTU is exchanged"},
    ("cancelled exchange", "corebluetooth"): {
        "lines": ["ended", "battery 64"], "reason": "an app is told of the link before the MTU is exchanged"},
    ("cancelled reconnection", "halo-raw"): {
        "other": ["connected", "mtu", "read 2A19", END], "reason": "subscribe does what read does not"},
    ("cancelled values", "halo-raw"): {
        "other": ["connected", "mtu", "read 2A19", END], "optional": {subscribed("A004")[1]},
        "reason": "subscribe does what read does not; its first value may come before it is known to have subscribed"},
    ("a link that ends at a read", "halo-raw"): {
        "lines": 2 * ["battery 64"], "reason": "a command makes a link again, within --wait"},
    ("a watch without an answer", "corebluetooth"): {
        "lines": ["error linkLost", *2 * ["battery 64"]], "reason": "the request of the app fails as its link ends"},
    ("a watch without an answer", "halo-raw"): {
        "lines": 2 * ["battery 64"], "lamp": ["connected", "mtu", "read 2A19", END],
        "reason": "read does not subscribe to Service Changed"}}
# What may be sent before an indication has arrived: requests about handles that are no more.
STALE = {"read FEFE"}


def is_unanswered(event):
    return event.get("unanswered")


def is_connecting(event):
    return event["event"] == "connecting"


def is_looking(event):
    return is_connecting(event) or event["event"] == "scan" and event["on"]


def is_subscription(event):
    return event.get("text") == subscribed("A004")[0]


def has_gone(event):
    return event["event"] == "disconnected"


@dataclass
class Errand:
    """One line of the table."""

    # What the user gets.
    lines: list
    # What the devices see, without discovery.
    lamp: list = ()
    other: list = ()
    # Its name in the program, if several are one there, and the argument.
    does: str = ""
    argument: str = ""
    # What Lamp does, or the clients that there are in place of it.
    habit: str = ""
    clients: tuple = ()
    # When the user interrupts it.
    sign: object = None
    # By which doors it takes longer than the verdict should.
    long: set = frozenset()


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
        [f"A003 {LONG[:length].hex()}" for length in (1, 20, 100, 244)], [*OPENING, *subscribed("A003"), END],
        habit="pauses"),
    "many subscriptions": Errand(
        ["200 subscriptions"], [*OPENING, *200 * subscribed("A003"), END], habit="hurries"),
    "two devices": Errand(["lamp 10 other 10"], *2 * [[*OPENING, *subscribed("A004"), END]]),
    "links that end": Errand(
        ["links 01020304", "longest gap short"],
        [*3 * [*OPENING, subscribed("A004")[0], "disconnected 16"], *OPENING, *subscribed("A004"), END],
        habit="leaves"),
    "many links": Errand(["30 links"], 30 * READ, long={"corebluetooth", "halo-raw"}),
    "two users": Errand(["first 64", "second 64"], [*OPENING, "read 2A19", "read 2A19", END]),
    "two users of a value": Errand(
        ["first 5 second 20"], [*OPENING, *subscribed("A004"), END]),
    "two users of a change": Errand(
        ["A101 00", *3 * ["A101 01"]], [*OPENING, "read A101", "confirm", *3 * ["read A101"], END],
        habit="changes later"),
    "a user that is released": Errand(2 * ["battery 64"], 2 * READ),
    "a link that ends at a read": Errand(
        ["error linkLost", *2 * ["battery 64"]], [*READ[:-1], "disconnected 16", *READ], READ, does="a limit",
        argument="2", habit="leaves at a read"),
    # Services that change.
    "a change at once": Errand(
        ["A101 01"], [*OPENING, "confirm", "read A101", END], does="services change", argument="1",
        habit="changes at once"),
    "a change during the discovery": Errand(
        ["A101 01"], [*OPENING, "confirm", "read A101", END], does="services change", argument="1",
        habit="changes while discovered"),
    "a change during a read": Errand(
        ["A101 01"], [*OPENING, "read A101", "confirm", "read A101", END], does="services change", argument="1",
        habit="changes during a read"),
    "a change before a read": Errand(
        ["A101 01"], [*OPENING, "read A101", "confirm", "read A101", END], does="services change", argument="1",
        habit="changes before a read"),
    "a change after a read": Errand(
        ["A101 00", "A101 01"], [*OPENING, "read A101", "confirm", "read A101", END], does="services change",
        argument="1", habit="changes later"),
    "two changes in a row": Errand(
        ["A101 00", "A101 02"], [*OPENING, "read A101", "confirm", "confirm", "read A101", END],
        does="services change", argument="2", habit="changes twice"),
    # Devices that do not answer. The MTU and the subscription to Service Changed have five seconds, and are left out
    # then.
    "an MTU without an answer": Errand(
        2 * ["battery 64"], ["connected", "mtu", END, "connected", OPENING[2], "read 2A19", END], READ,
        does="a limit", argument="8", habit="silent mtu", long={"halo-raw"}),
    "a watch without an answer": Errand(
        ["error timedOut", *2 * ["battery 64"]], [*OPENING, END, "connected", "mtu", "read 2A19", END], READ,
        does="a limit", argument="8", habit="silent watch", long={"corebluetooth"}),
    "a discovery without an answer": Errand(
        [*2 * ["error timedOut"], "battery 64"], 2 * [*OPENING, END], READ, does="a limit", argument="2",
        habit="silent discovery", long={"halo-raw"}),
    "a read without an answer": Errand(
        [*2 * ["error timedOut"], "battery 64"], 2 * READ, READ, does="a limit", argument="2", habit="silent read",
        long={"halo-raw"}),
    # What the user interrupts: it ends soon, and the next errand is as good as any.
    "cancelled scan": Errand(["error cancelled", "battery 64"], [], READ, sign=is_looking),
    "cancelled connection": Errand(["error cancelled", "battery 64"], READ, sign=is_looking),
    "cancelled discovery": Errand(
        ["error cancelled", "battery 64"], [*OPENING, END], READ, does="cancelled request", habit="silent discovery",
        sign=is_unanswered),
    "cancelled read": Errand(
        ["error cancelled", "battery 64"], READ, READ, does="cancelled request", habit="silent read",
        sign=is_unanswered),
    "cancelled attempt": Errand(["error cancelled", "battery 64"], [], READ, habit="deaf", sign=is_connecting),
    "cancelled values": Errand(
        ["error cancelled", "battery 64"], [*OPENING, *subscribed("A004"), END], READ, sign=is_subscription),
    "cancelled exchange": Errand(
        ["error cancelled", "battery 64"], ["connected", "mtu", END], READ, does="cancelled attempt",
        habit="silent mtu", sign=is_unanswered),
    "cancelled reconnection": Errand(
        ["error cancelled", "battery 64"], [*OPENING, subscribed("A004")[0], "disconnected 16"], READ,
        habit="leaves for good", sign=has_gone),
    # What is served: the user ends it.
    "serve": Errand([f"written {LONG[::-1].hex()}", "error cancelled"], clients=("reader",), sign=has_gone),
    "serve three": Errand(["sent", "error cancelled"], clients=("listener", "silent", "listener")),
    "serve many": Errand(["sent", "error cancelled"], clients=("listener",)),
    "both roles": Errand(["battery 32", "error cancelled"], clients=("phone",), sign=has_gone),
    "a served peripheral": Errand(
        ["battery 32", f"written {LONG[::-1].hex()}", "error cancelled"], clients=("called",), sign=has_gone),
}


def at_devices() -> list[str]:
    """The errands of the central role."""
    return [name for name in ERRANDS if not ERRANDS[name].clients]


def is_left_out(text, name, door) -> bool:
    others, _ = LEFT_OUT.get(door, {}).get(text, (ERRANDS, ""))
    return name not in others


# --- what is checked; `run` does an errand by a door, and returns the lines that the user gets

def check_devices(peers, name, door, run, apart=None):
    """apart: what this door does otherwise, by default as APART has it"""
    errand = ERRANDS[name]
    apart = APART.get((name, door), {}) if apart is None else apart
    optional = STALE | apart.get("optional", set())
    assert run(name, door) == apart.get("lines", errand.lines)
    peers.all_links_end()
    for device, expected in (
            ("Lamp", apart.get("lamp", errand.lamp)), ("Other", apart.get("other", errand.other))):
        seen = [text for text in peers.seen_by(device) if text not in optional and text not in EXTRA.get(door, {})]
        assert seen == [text for text in expected if text not in optional and not is_left_out(text, name, door)]
    # Nothing is looked for any more.
    assert [event["on"] for event in peers.events("scan")][-1:] in ([], [False])
    assert len(peers.events("connecting")) == len(peers.events("connected")) + len(peers.events("given up"))


def check_served_value(peers, name, door, run):
    assert run(name, door) == ERRANDS[name].lines
    assert [event["value"] for event in peers.events("read")] == [LONG.hex()]


def check_both_roles(peers, name, door, run):
    """The client reads on, and ends the link itself."""
    assert run(name, door) == ERRANDS[name].lines
    (asked,) = peers.events("asked")
    events = peers.events()
    assert len([event for event in events[events.index(asked):] if event["event"] == "read"]) == 5
    assert len(peers.events("connected")) == 1
    assert [event["reason"] for event in peers.events("disconnected")] == [LOCAL_HOST]


def check_values(peers, name, door, run):
    """Others wait for a client that confirms nothing for a second, once."""
    count = 100 if name == "serve three" else 5000
    names = [f"listener {number}" for number, kind in enumerate(ERRANDS[name].clients) if kind == "listener"]

    ended = set()

    def all_have_come(event):
        if event["event"] == "value" and event["value"] == f"{count - 1:04x}":
            ended.add(event["name"])
        return len(ended) == len(names)

    assert run(name, door, all_have_come) == ERRANDS[name].lines
    for each in names:
        values = [event for event in peers.events("value") if event["name"] == each]
        assert [event["value"] for event in values] == [f"{number:04x}" for number in range(count)]
        assert max(later["time"] - event["time"] for event, later in zip(values, values[1:])) < 2
