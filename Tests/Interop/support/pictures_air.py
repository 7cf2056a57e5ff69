"""Pictures of the air, from captures/air-battery.pcap: an advertising event, connection events, the states of the link layer."""

from itertools import groupby

import air_recording
from air_frames import Packet
from svg import Picture

COLOUR = {"central": "blue", "peripheral": "green"}
KINDS = {0: "ADV_IND", 3: "SCAN_REQ", 4: "SCAN_RSP", 5: "CONNECT_IND"}


def packets() -> list[Packet]:
    return air_recording.session(air_recording.recording(air_recording.RECORDING))


def advertising() -> Picture:
    """The second advertising event: the scanner asks on channel 38."""
    event = [one for one in packets() if not one.sender][3:8]
    start, scale, left = event[0].time, 0.295, 100
    picture = Picture(760, "An advertising event: the same advertisement on channels 37, 38 and 39; on 38 the scanner asks for more")
    picture.text(20, 26, "An advertising event", "strong")
    picture.text(180, 26, "The ring sends on three channels; a scanner that listens to one of them may ask.", "dim")
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
    legend(picture, 290, [("green", "from the ring"), ("blue", "from the scanner")])
    picture.text(330, 301, "Between a packet and its answer are always 150 us (T_IFS).", "small", "dim")
    return picture


def legend(picture: Picture, y: float, entries: list[tuple[str, str]], x=20.0) -> None:
    for colour, text in entries:
        picture.box(x, y, 14, 14, colour)
        picture.text(x + 20, y + 11.5, text, "small")
        x += 30 + 7 * len(text)


def name(one: Packet) -> str:
    if one.bad_crc:
        return "damaged"
    kind, length = one.pdu[0] & 3, one.pdu[1]
    if kind == 3:
        return {8: "LL_FEATURE_REQ", 9: "LL_FEATURE_RSP", 0x14: "LL_LENGTH_REQ", 0x15: "LL_LENGTH_RSP", 2: "LL_TERMINATE_IND"}[one.pdu[2]]
    return f"{length} bytes" if length else "empty"


def connection_events() -> Picture:
    """Six connection events, and three of them near by."""
    link = [list(members) for _, members in groupby((one for one in packets() if one.sender), lambda one: one.event)]
    shown, first = link[2:8], link[2][0].time
    picture = Picture(
        760, "Connection events: every 15 ms both radios meet on the next channel; below, two events in detail")
    picture.text(20, 26, "Connection events", "strong")
    picture.text(180, 26, "Every interval the central sends, the ring answers, and both sleep again.", "dim")
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
            picture.span(x - scale * 15_000 + 2, x - 2, 95, "15 ms")
    picture.line(20, 114, 745, 114, end=True)

    for row, event in enumerate((link[2], link[5])):
        y = 176 + 112 * row
        start, near, origin = event[0].time, 0.62, 98
        picture.text(20, y, f"Event {event[0].event}", "strong")
        picture.text(110, y, "two PDUs from each side: MD, More Data, says that there is one more." if row == 0 else
                     "the ring receives a damaged PDU: it sends its last one again, and so does the central.", "dim")
        picture.text(20, y + 32, "central", "dim")
        picture.text(20, y + 64, "ring", "dim")
        for one in event:
            x, width = origin + near * (one.time - start), near * air_recording.duration(one.pdu)
            level = y + 14 + 32 * (one.sender == "peripheral")
            header = one.pdu[0]
            bits = f"SN {header >> 3 & 1} NESN {header >> 2 & 1}" + (" MD" if header & 16 else "")
            picture.box(x, level, width, 26, "red" if one.bad_crc else COLOUR[one.sender])
            picture.text(x + 5, level + 17, name(one), "small")
            picture.text(x, y + 90, bits, "small", "mono", "dim")
    legend(picture, 396, [("blue", "from the central"), ("green", "from the ring"), ("red", "received wrongly")])
    return picture


def parameters() -> Picture:
    """Interval, latency and timeout, with the numbers of captures/virtual-parameters.btsnoop."""
    picture = Picture(760, "Interval, latency and supervision timeout of a connection")
    picture.text(20, 26, "Interval, latency, timeout", "strong")
    picture.text(220, 26, "50 ms, 4 events and 5 s, as the ring asks for in virtual-parameters", "dim")
    left, step = 110, 26

    def events(y: float, who: str, count: int, heard, colour: str) -> None:
        picture.text(20, y + 16, who, "dim")
        for number in range(count):
            x = left + step * number
            if heard(number):
                picture.box(x, y, 8, 22, colour, round=0)
            else:
                picture.line(x, y, x + 8, y + 22, "red" if colour == "red" else "")
                picture.line(x + 8, y, x, y + 22, "red" if colour == "red" else "")

    picture.span(left, left + step, 64, "50 ms")
    events(74, "central", 24, lambda _: True, "blue")
    events(104, "ring", 24, lambda number: number % 5 == 0, "green")
    picture.span(left + 8, left + 5 * step, 152, "sleeps through 4 events")
    picture.text(left + 6 * step, 156, "Latency: with nothing to send, the ring may stay away 4 times.", "dim")
    events(182, "central", 24, lambda _: True, "blue")
    events(212, "ring", 24, lambda number: number < 4, "green")
    picture.span(left + 3 * step, left + 23 * step + 8, 260, "5 s without a packet: both take the connection for lost")
    picture.text(20, 288, "Supervision timeout: longer than (1 + latency) x interval x 2, which is 500 ms here.", "dim")
    return picture


def states() -> Picture:
    """Vol 6, Part B, 1.1."""
    picture = Picture(760, "The states of the link layer, and the HCI command or the packet that leads from one to the next")
    picture.text(20, 26, "States of the link layer", "strong")

    def state(x, y, text, colour="plain", *, more=None):
        picture.box(x, y, 150, 46, colour, round=10)
        picture.text(x + 75, y + (28 if more is None else 21), text, "strong", anchor="middle")
        if more:
            picture.text(x + 75, y + 37, more, "small", anchor="middle")

    state(305, 60, "Standby")
    state(50, 160, "Scanning", "blue")
    state(305, 160, "Initiating", "blue")
    state(560, 160, "Advertising", "green")
    state(305, 280, "Connection", "blue", more="in the central role")
    state(560, 280, "Connection", "green", more="in the peripheral role")
    picture.line(303, 74, 130, 158, end=True, start=True)
    picture.text(200, 100, "LE Set Scan Enable", "small", "dim", anchor="end")
    picture.line(380, 106, 380, 158, end=True)
    picture.text(388, 136, "LE Create Connection", "small", "dim")
    picture.line(455, 90, 630, 158, end=True, start=True)
    picture.text(566, 118, "LE Set Advertising Enable", "small", "dim")
    picture.line(380, 206, 380, 278, end=True)
    picture.text(388, 240, "sends CONNECT_IND", "small", "dim")
    picture.line(635, 206, 635, 278, end=True)
    picture.text(627, 254, "receives CONNECT_IND", "small", "dim", anchor="end")
    picture.path("M303 303L240 303L240 112L303 96", end=True)
    picture.text(232, 246, "LL_TERMINATE_IND", "small", "dim", anchor="end")
    picture.text(232, 262, "or supervision timeout", "small", "dim", anchor="end")
    picture.path("M710 303L740 303L740 76L457 76", end=True)
    picture.text(598, 70, "LL_TERMINATE_IND or supervision timeout", "small", "dim", anchor="middle")
    legend(picture, 350, [("blue", "our side"), ("green", "the ring")])
    picture.text(220, 361.5, "A controller may be in several states at once: it scans while it has connections.", "small", "dim")
    return picture
