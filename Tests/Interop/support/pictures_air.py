"""Pictures of the air, from captures/air-battery.pcap: an advertising event, connection events, the states of the link layer."""

from itertools import groupby

import air_frames
import air_recording
from air_frames import Packet
from built import ROOT
from pictures_packets import decoded
from svg import Picture

COLOUR = {"central": "blue", "peripheral": "green"}
PARAMETERS = ROOT / "captures/virtual-parameters.btsnoop"
KINDS = {0: "ADV_IND", 3: "SCAN_REQ", 4: "SCAN_RSP", 5: "CONNECT_IND"}


def packets() -> list[Packet]:
    return air_recording.session(air_recording.recording(air_recording.RECORDING))


def advertising() -> Picture:
    """The second advertising event: the scanner asks on channel 38."""
    event = [one for one in packets() if not one.sender][3:8]
    start, scale, left = event[0].time, 0.295, 100
    picture = Picture(760, "An advertising event: the same advertisement on channels 37, 38 and 39; on 38, the scanner sends a request")
    picture.heading("An advertising event", "The ring sends on three channels; the scanner sends a request on one of them.")
    for row, channel in enumerate((37, 38, 39)):
        y = 56 + 62 * row
        picture.text(20, y + 24, f"channel {channel}", "dim")
        picture.line(left, y + 38, 740, y + 38)
    for one in event:
        x, width = left + scale * (one.time - start), scale * air_recording.duration(one.pdu)
        y = 56 + 62 * (one.channel - 37)
        kind = one.pdu[0] & 15
        picture.text(x + width / 2, y + 7, KINDS[kind], "small", anchor="middle")
        picture.box(x, y + 12, width, 26, "blue" if kind == 3 else "green")
        picture.text(x + width / 2, y + 52, f"{air_recording.duration(one.pdu)} us", "small", "dim", anchor="middle")
    axis = 246
    picture.line(left, axis, 740, axis, end=True)
    for time in range(0, 2200, 250):
        x = left + scale * time
        picture.line(x, axis, x, axis + 5)
        picture.text(x, axis + 19, f"{time}", "small", "dim", anchor="middle")
    picture.text(740, axis + 19, "us", "small", "dim", anchor="end")
    picture.legend(290, [("green", "from the ring"), ("blue", "from the scanner")])
    picture.text(330, 301, "There are always 150 us (T_IFS) between a packet and its answer.", "small", "dim")
    return picture


def name(one: Packet) -> str:
    if one.bad_crc:
        return "damaged"
    kind, length = one.pdu[0] & 3, one.pdu[1]
    if kind == 3:
        return {8: "LL_FEATURE_REQ", 9: "LL_FEATURE_RSP", 0x14: "LL_LENGTH_REQ", 0x15: "LL_LENGTH_RSP", 2: "LL_TERMINATE_IND"}[one.pdu[2]]
    return f"{length} bytes" if length else "empty"


def connection_events() -> Picture:
    """Six connection events, and two of them in detail."""
    link = [list(members) for _, members in groupby((one for one in packets() if one.sender), lambda one: one.event)]
    shown, first = link[2:8], link[2][0].time
    picture = Picture(
        760, "Connection events: every 15 ms both radios meet on the next channel; below, two events in detail")
    picture.heading("Connection events", "Every interval the central sends, the ring answers, and both sleep again.")
    left, scale = 30, 7.6 / 1000
    for number, event in enumerate(shown):
        x = left + scale * (event[0].time - first)
        picture.text(x, 62, f"event {event[0].event}", "small", "dim")
        picture.text(x, 132, f"channel {event[0].channel}", "small", "dim")
        for one in event:
            at = left + scale * (one.time - first)
            colour = "red" if one.bad_crc else COLOUR[one.sender]
            picture.box(at, 70, max(1.5, scale * air_recording.duration(one.pdu)), 44, colour, round=0)
        if number:
            picture.span(x - scale * 15_000 + 10, x - 2, 95, "15 ms")
    picture.line(20, 114, 745, 114, end=True)

    for row, event in enumerate((link[2], link[5])):
        y = 176 + 112 * row
        start, near, origin = event[0].time, 0.62, 98
        picture.text(20, y, f"Event {event[0].event}", "strong")
        picture.text(110, y, "two PDUs from each side: MD, More Data, says that there is another one." if row == 0 else
                     "the ring receives a damaged PDU: it sends its last one again, and so does the central.", "dim")
        picture.text(20, y + 32, "central", "dim")
        picture.text(20, y + 64, "ring", "dim")
        for one in event:
            x, width = origin + near * (one.time - start), near * air_recording.duration(one.pdu)
            level = y + 14 + 32 * (one.sender == "peripheral")
            header = one.pdu[0]
            bits = f"SN {header >> 3 & 1} NESN {header >> 2 & 1}" + (" MD" if header & 16 else "")
            picture.box(x, level, width, 26, "red" if one.bad_crc else COLOUR[one.sender])
            # A name that is too long for its packet stands beside it.
            picture.text(x + (5 if 7.4 * len(name(one)) < width - 5 else width + 6), level + 17, name(one), "small")
            picture.text(x, y + 90, bits, "small", "mono", "dim")
    picture.legend(396, [("blue", "from the central"), ("green", "from the ring"), ("red", "received wrongly")])
    return picture


def parameters() -> Picture:
    """Interval, latency and timeout, as in the first LE Connection Update Complete of captures/virtual-parameters.btsnoop."""
    update = next(one["hci"] for one in decoded(PARAMETERS) if one["hci"].get("name") == "LE Connection Update Complete")
    interval, latency, timeout = (
        next(field["number"] for field in update["parameters"] if field["name"] == name) * unit
        for name, unit in (("connection interval", 1.25), ("latency", 1), ("supervision timeout", 10)))
    lost = round(timeout / interval)
    picture = Picture(760, "Interval, latency and supervision timeout of a connection")
    picture.heading(
        "Interval, latency, timeout", f"{interval:g} ms, {latency} events and {timeout / 1000:g} s, as in virtual-parameters")
    left, step = 110, 26

    def events(y: float, who: str, colour: str, numbers: list, is_heard) -> None:
        picture.text(20, y + 16, who, "dim")
        for column, number in enumerate(numbers):
            x = left + step * column
            if number is None:
                picture.text(x + 4, y + 16, "...", "dim", anchor="middle")
            elif is_heard(number):
                picture.box(x, y, 8, 22, colour, round=0)
            else:
                picture.line(x, y, x + 8, y + 22)
                picture.line(x + 8, y, x, y + 22)

    shown = list(range(24))
    picture.span(left, left + step, 64, f"{interval:g} ms")
    events(74, "central", "blue", shown, lambda _: True)
    events(104, "ring", "green", shown, lambda number: number % (latency + 1) == 0)
    picture.span(left + 8, left + (latency + 1) * step, 152, f"skips {latency} events")
    picture.text(left + 6 * step, 156, f"Latency: a ring that has nothing to send may skip {latency} events in a row.", "dim")
    # The last packet of the ring is in event 3; the events between are left out.
    last = 3
    shown = [*range(15), None, *range(last + lost - 7, last + lost + 1)]
    events(192, "central", "blue", shown, lambda _: True)
    events(222, "ring", "green", shown, lambda number: number <= last)
    for column in (0, last, 14, 16, len(shown) - 1):
        picture.text(left + step * column + 4, 258, shown[column], "small", "dim", anchor="middle")
    picture.text(20, 258, "event", "small", "dim")
    picture.span(
        left + last * step + 4, left + (len(shown) - 1) * step + 4, 284,
        f"{timeout / 1000:g} s, {lost} intervals, without a packet of the other side: each side ends the connection")
    picture.text(
        20, 312, f"The supervision timeout must be longer than 2 x (1 + latency) x interval, which is "
        f"{2 * (1 + latency) * interval:g} ms here.", "dim")
    return picture


def states() -> Picture:
    """Vol 6, Part B, 1.1."""
    picture = Picture(
        760, "The seven states of the link layer, and the HCI command or the packet that leads from one to the next")
    picture.heading("States of the link layer")

    def state(x, y, text, colour="plain", *, more=None, width=150):
        picture.box(x, y, width, 46, colour, round=10)
        picture.text(x + width / 2, y + (28 if more is None else 21), text, "strong", anchor="middle")
        if more:
            picture.text(x + width / 2, y + 37, more, "small", anchor="middle")

    state(50, 56, "Synchronization")
    state(525, 56, "Isochronous Broadcasting", width=205)
    state(305, 130, "Standby")
    state(50, 230, "Scanning", "blue")
    state(305, 230, "Initiating", "blue")
    state(545, 230, "Advertising", "green")
    state(305, 350, "Connection", "blue", more="in the Central role")
    state(545, 350, "Connection", "green", more="in the Peripheral role")
    for x1, y1, x2, y2 in ((303, 140, 202, 92), (457, 140, 523, 92), (303, 150, 130, 228), (457, 166, 600, 228)):
        picture.line(x1, y1, x2, y2, end=True, start=True)
    for x, y, text, anchor in (
            (212, 84, "LE Periodic Advertising Create Sync", "start"), (500, 122, "LE Create BIG", "start"),
            (196, 186, "LE Set Scan Enable", "end"), (388, 206, "LE Create Connection", "start"),
            (546, 188, "LE Set Advertising Enable", "start"), (388, 310, "sends CONNECT_IND", "start"),
            (612, 324, "receives CONNECT_IND", "end"), (232, 316, "LL_TERMINATE_IND", "end"),
            (232, 332, "or supervision timeout", "end"), (732, 166, "LL_TERMINATE_IND or supervision timeout", "end")):
        picture.text(x, y, text, "small", "dim", anchor=anchor)
    picture.line(380, 176, 380, 228, end=True)
    picture.line(380, 276, 380, 348, end=True)
    picture.line(620, 276, 620, 348, end=True)
    picture.path("M303 373L240 373L240 182L303 168", end=True)
    picture.path("M695 373L738 373L738 152L457 152", end=True)
    picture.legend(420, [("blue", "our side"), ("green", "the ring"), ("plain", "neither of them")])
    picture.text(20, 456, "A controller may be in several states at once: it scans while it has connections. The extended "
                 "commands lead to the same states.", "small", "dim")
    return picture


def hopping() -> Picture:
    """The channel of each connection event of captures/air-battery.pcap."""
    used, events = air_frames.USED_CHANNELS, {one.event: one.channel for one in packets() if one.sender}
    picture = Picture(760, "The channel of each connection event: the unmapped channel, and the one that replaces it")
    picture.heading("Channel hopping", f"captures/air-battery.pcap, hop {air_recording.HOP}, {len(used)} of 37 channels used")
    left, top, step, row = 74, 46, 34, 11.6

    def y(channel: float) -> float:
        return top + row * (36 - channel)

    for first, last in ((0, 15), (16, 23), (24, 36)):
        picture.box(left, y(last), step * len(events), row * (last - first + 1), "plain" if first in used else "red", round=0)
    for channel in (0, 8, 15, 16, 23, 24, 36):
        picture.text(left - 8, y(channel) + 10, channel, "small", "dim", anchor="end")
    picture.text(20, y(19) + 10, "not used", "small", "red-text")
    unmapped = 0
    for event, channel in events.items():
        unmapped = (unmapped + air_recording.HOP) % 37
        x = left + step * (event + 0.5)
        if channel != unmapped:
            picture.box(x - 5, y(unmapped) + 1, 10, row - 2, "red")
            above = channel > unmapped
            picture.line(x, y(unmapped) + row * (not above), x, y(channel) + row * above, end=True)
        picture.box(x - 10, y(channel) + 0.5, 20, row - 1, "blue", round=2)
        picture.text(x, top + 37 * row + 16, event, "small", "dim", anchor="middle")
        picture.text(x, top + 37 * row + 32, channel, "small", anchor="middle")
    picture.text(20, top + 37 * row + 16, "event", "small", "dim")
    picture.text(20, top + 37 * row + 32, "channel", "small", "dim")
    picture.legend(
        top + 37 * row + 50, [("blue", "the channel of the event"), ("red", "the unmapped channel, where it is not used")])
    return picture


def train() -> Picture:
    """The extended advertising of captures/air-advertising.pcap: each packet points to the next one."""
    records = {one["frame"]: one["ll"] for one in decoded(ROOT / "captures/air-advertising.pcap")}
    picture = Picture(
        760, "Extended advertising: ADV_EXT_IND points to AUX_ADV_IND, which points to AUX_CHAIN_IND and AUX_SYNC_IND")
    picture.heading("Extended advertising", "packets 8 to 11 of captures/air-advertising.pcap; not to scale")

    def field(number: int, *names: str) -> str:
        fields = records[number]["fields"]
        for name in names:
            found = next(one for one in fields if one["name"] == name)
            fields = found.get("fields", [])
        return found["text"]

    def packet(number: int, x: float, y: float, colour: str, text: str) -> None:
        one = records[number]
        picture.text(20, y + 12, f"channel {one['channel']}", "small", "strong")
        picture.text(20, y + 28, {8: "primary", 11: "periodic"}.get(number, "secondary"), "small", "dim")
        picture.line(96, y + 36, 740, y + 36)
        picture.box(x, y, 140, 36, colour)
        picture.text(x + 70, y + 15, one["name"], "small", "strong", anchor="middle")
        picture.text(x + 70, y + 30, text, "small", anchor="middle")
        picture.text(740, y + 52, f"access address 0x{one['access_address']:08X}", "small", "dim", anchor="end")

    def pointer(x1: float, y1: float, x2: float, y2: float, name: str, text: str) -> None:
        picture.path(f"M{x1} {y1}L{x1} {y2 + 18}L{x2} {y2 + 18}", "purple", end=True)
        picture.text(x1 + 6, y2 - 10, name, "small", "purple-text", "over")
        picture.text(x1 + 6, y2 + 4, text, "small", "dim", "over")

    auxiliary, chain = (field(number, "extended header", "AuxPtr") for number in (8, 9))
    offset, interval = (field(9, "extended header", "SyncInfo", name) for name in ("sync packet offset", "interval"))
    packet(8, 110, 60, "green", "almost no data")
    packet(9, 300, 150, "green", "data, first part")
    packet(10, 560, 240, "green", "data, second part")
    packet(11, 440, 330, "blue", "periodic data")
    picture.box(640, 330, 80, 36, "blue")
    picture.text(680, 352, "the next", "small", anchor="middle")
    pointer(150, 96, 300, 150, "AuxPtr", ", ".join(auxiliary.split(", ")[:2]))
    pointer(400, 186, 560, 240, "AuxPtr", ", ".join(chain.split(", ")[:2]))
    pointer(320, 186, 440, 330, "SyncInfo", offset)
    picture.span(580, 640, 348, interval)
    picture.text(20, 412, "The offsets count from the start of the packet that has the pointer.", "dim")
    return picture
