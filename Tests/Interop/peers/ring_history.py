"""What a ring has stored, and the frames in which it tells that. Written from the ring reference, not from halo-raw.

A `Store` holds readings as a person would write them down. The ring puts them into frames; the tests compare them with
what halo-raw prints.
"""

import struct
from datetime import date, datetime, timedelta

from ring_frames import frame

HEART_RATE_LOG, ACTIVITY, TODAY = 0x15, 0x43, 0x48
STRESS_LOG, DEVICE_SUPPORT = 0x37, 0x3C
TEMPERATURE, SLEEP, MANUAL_HEART_RATE, SPO2, NAP = 0x25, 0x27, 0x28, 0x2A, 0x3E
NO_DATA, ACTIVITY_HEADER = 0xFF, 0xF0
LIGHT, DEEP, REM, AWAKE = 2, 3, 4, 5
STAGES = {LIGHT: "light", DEEP: "deep", REM: "REM", AWAKE: "awake"}


class Store:
    """A week of a wearer who does the same every day, but not quite. Nothing is newer than `now`."""

    def __init__(self, now: datetime, by_day: bool = False):
        self.now = now
        # Whether each day of a bulk answer has a frame of its own.
        self.by_day = by_day
        self.today = now.date()

    def day(self, days_ago: int) -> date:
        return self.today - timedelta(days=days_ago)

    def at(self, day: date, minutes: int) -> datetime:
        return datetime(day.year, day.month, day.day) + timedelta(minutes=minutes)

    def activity(self, days_ago: int) -> list[tuple]:
        """Hours with (time, steps, metres, tens of small calories)."""
        day = self.day(days_ago)
        hours = [(0, 8 + days_ago, 4, 19), (7, 76, 50, 216), (9, 1668, 1383, 10915), (18, 300, 210, 960)]
        readings = [(self.at(day, hour * 60), steps, metres, energy) for hour, steps, metres, energy in hours]
        return [reading for reading in readings if reading[0] <= self.now] if days_ago < 7 else []

    def heart_rates(self, days_ago: int) -> dict[int, int]:
        """Beats a minute by slots of five minutes."""
        if days_ago >= 7:
            return {}
        return {slot: 50 + (slot * 7 + days_ago) % 90 for slot in range(3, 288, 4)
                if self.at(self.day(days_ago), slot * 5) <= self.now}

    def manual_heart_rates(self) -> dict[int, int]:
        """Beats a minute by minutes of today."""
        return {minute: rate for minute, rate in {1: 89, 722: 66, 1430: 71}.items()
                if self.at(self.today, minute) <= self.now}

    def stress(self, days_ago: int) -> list[int]:
        """Values of half hours, 0 for none."""
        return [0 if slot % 5 == 0 or self.at(self.day(days_ago), slot * 30) > self.now
                else 20 + (slot + days_ago) % 60 for slot in range(48)]

    def spo2(self, days_ago: int) -> list[tuple[int, int]]:
        """The least and the most of each hour, zeros for none."""
        return [(0, 0) if hour % 7 == 6 or self.at(self.day(days_ago), hour * 60) > self.now
                else (95 + (hour + days_ago) % 4, 96 + (hour + days_ago) % 4) for hour in range(24)]

    def nights(self) -> list[tuple]:
        """(days ago, first minute, last minute, stages); a first minute below zero is of the evening before."""
        return [
            (2, 204, 420, [(LIGHT, 39), (REM, 19), (LIGHT, 20), (DEEP, 135), (AWAKE, 3)]),
            (1, -75, 415, [(LIGHT, 200), (DEEP, 36), (LIGHT, 250), (AWAKE, 4)]),
        ]

    def naps(self) -> list[tuple]:
        return [(2, 774, 885, [(LIGHT, 20), (REM, 17), (DEEP, 33), (LIGHT, 41)])]

    # --- frames

    def activity_frames(self, request: bytes) -> list[bytes]:
        readings = self.activity(request[1])
        if not readings:
            return [frame(ACTIVITY, bytes([NO_DATA]))]
        answer = [frame(ACTIVITY, bytes([ACTIVITY_HEADER, len(readings), request[5]]))]
        for index, (time, steps, metres, energy) in enumerate(reversed(readings)):
            answer.append(frame(ACTIVITY, bytes([
                bcd(time.year % 100), bcd(time.month), bcd(time.day), time.hour * 4, index, len(readings)])
                + struct.pack("<HHH", energy * (1 if request[5] else 10), steps, metres)))
        return answer

    def heart_rate_frames(self, request: bytes) -> list[bytes]:
        (seconds,) = struct.unpack("<I", request[1:5])
        wanted = datetime(1970, 1, 1) + timedelta(seconds=seconds)
        slots = self.heart_rates((self.today - wanted.date()).days) if wanted.date() <= self.today else {}
        if not slots:
            return [frame(HEART_RATE_LOG, bytes([NO_DATA]))]
        values = bytearray(295)
        for slot, rate in slots.items():
            values[slot] = rate
        if wanted.date() == self.today:
            # What stands in the slots of the future is old.
            for slot in range(max(slots) + 24, 288):
                values[slot] = 111
        answer = [frame(HEART_RATE_LOG, bytes([0, 24, 5])),
                  frame(HEART_RATE_LOG, bytes([1]) + struct.pack("<I", seconds) + values[:9])]
        for index in range(2, 24):
            start = 9 + 13 * (index - 2)
            answer.append(frame(HEART_RATE_LOG, bytes([index]) + values[start:start + 13]))
        return answer

    def stress_frames(self, request: bytes) -> list[bytes]:
        if request[1] >= 7:
            return [frame(STRESS_LOG, bytes([NO_DATA]))]
        payload = bytes([request[1], *self.stress(request[1])])
        return [frame(STRESS_LOG, bytes([0, 5, 30]))] + [
            frame(STRESS_LOG, bytes([index + 1]) + payload[start:start + 13])
            for index, start in enumerate(range(0, len(payload), 13))]

    def today_frames(self, _: bytes) -> list[bytes]:
        hours = self.activity(0)
        steps, metres, energy = (sum(hour[place] for hour in hours) for place in (1, 2, 3))
        return [frame(TODAY, steps.to_bytes(3, "big") + bytes(3) + (energy * 10).to_bytes(3, "big")
                      + metres.to_bytes(3, "big") + (25).to_bytes(2, "big"))]

    FRAMES = {ACTIVITY: activity_frames, HEART_RATE_LOG: heart_rate_frames, STRESS_LOG: stress_frames,
              TODAY: today_frames}

    def temperatures(self, days_ago: int) -> list[int]:
        """Tenths of a degree above 20, every half hour of a completed day; 0 is none."""
        return [150 + days_ago if slot <= 14 else 0 for slot in range(48)]

    # --- bulk frames

    def bulk_answers(self, number: int, payload: bytes, sleep_request: bytes) -> list[bytes] | None:
        """The bulk frames that answer a request; none if the ring ignores it."""
        if number == SLEEP and payload == sleep_request:
            # The naps come behind.
            if self.by_day:
                return [bulk(SLEEP, sleep_payload([night])) for night in self.nights()] + [
                    bulk(NAP, sleep_payload(self.naps()))]
            return [bulk(SLEEP, sleep_payload(self.nights())), bulk(NAP, sleep_payload(self.naps()))]
        if number == SPO2 and payload in (b"\xFF", b""):
            blocks = [bytes([days_ago]) + bytes(value for hour in self.spo2(days_ago) for value in hour)
                      for days_ago in reversed(range(7))]
            return [bulk(SPO2, b"".join(blocks))]
        if number == TEMPERATURE and self.by_day:
            # As an R09 answers: a frame for each completed day, the oldest first.
            return [bulk(TEMPERATURE, bytes([days_ago, 30, *self.temperatures(days_ago)]))
                    for days_ago in (5, 4, 3, 2, 1) if days_ago < payload[0]]
        if number == MANUAL_HEART_RATE:
            return [bulk(MANUAL_HEART_RATE, b"\0" + b"".join(
                struct.pack("<HB", minute, rate) for minute, rate in self.manual_heart_rates().items()))]
        return None


def bcd(number: int) -> int:
    return int(str(number), 16)


def sleep_payload(sessions: list[tuple]) -> bytes:
    payload = bytes([len(sessions)])
    for days_ago, first, last, stages in sessions:
        body = struct.pack("<HH", first % 1440, last) + bytes(x for stage in stages for x in stage)
        payload += bytes([days_ago, len(body)]) + body
    return payload


def crc16(payload: bytes) -> int:
    """CRC-16/MODBUS."""
    crc = 0xFFFF
    for byte in payload:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xA001 if crc & 1 else 0)
    return crc


def bulk(number: int, payload: bytes) -> bytes:
    return struct.pack("<BBHH", 0xBC, number, len(payload), crc16(payload)) + payload


def parse_bulk(value: bytes) -> tuple[int, bytes] | None:
    """The id and the payload of a request that came in one piece; nothing if it is not of that form."""
    if len(value) < 6:
        return None
    magic, number, length, crc = struct.unpack("<BBHH", value[:6])
    payload = value[6:]
    return (number, payload) if magic == 0xBC and length == len(payload) and crc == crc16(payload) else None
