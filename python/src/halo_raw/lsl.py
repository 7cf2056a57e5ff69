"""Samples, beats and marks for the Lab Streaming Layer, if pylsl is installed."""

from __future__ import annotations

import math
import time
from typing import Any

from .live import Record
from .notes import label_of, note_of
from .schema import MARKS

#: The channels of each kind. The stamp of a beat is its time.
CHANNELS = {
    "ppg": (("raw", "counts"),), "spo2": (("raw", "counts"),),
    "accel": (("x_g", "g"), ("y_g", "g"), ("z_g", "g")),
    "beat": (("interval_s", "s"), ("bpm", "1/min"), ("quality", "1")),
}


#: In seconds: a record that is this much earlier is one of another stream.
_OTHER_STREAM = 1.0
#: In seconds: how long a live record can have waited for `push`.
_OLDEST = 60.0
#: The samples of a kind that wait until their rate is known.
_MEASURED = 8
#: The nominal rate of a stream whose samples come at any time.
_IRREGULAR = 0.0
#: The type of a stream of texts that mark moments, by which recorders and MNE know it.
_MARKERS = "Markers"


class Outlet:
    """Publishes the samples of one ring or several, a stream for each kind; and its beats and marks.

        outlet = halo_raw.Outlet()
        async for record in halo_raw.stream():
            outlet.push(record)

    The time stamps are the receive times on the clock of LSL: the clocks are compared once, at the first record of a
    ring, and from then on the stamps follow `t`, which nobody sets. The nominal rate of the streams is `rate_hz`. If
    that is not given, it is measured: the first eight samples of a kind wait until the last of them is there, and are
    then published with their own stamps.

    Beats, of `stream(arguments=["--beats"])`, are a stream of irregular rate: the stamp of each is the time of the beat,
    and its channels are the interval since the one before, the rate and the quality. A beat that is not accepted has a
    quality below 0.5, and no interval. Gaps and other marks, those of `halo-raw mark` among them, are a stream of type
    `Markers`: a text each.

    Raises ImportError if pylsl is not installed.
    """

    def __init__(self, rate_hz: float | None = None) -> None:
        import pylsl

        self._lsl: Any = pylsl
        self._rate = rate_hz
        self._outlets: dict[tuple[str, str], Any] = {}
        self._waiting: dict[tuple[str, str], list[tuple[list[float], float]]] = {}
        #: Of each ring: what `t` is behind the clock of LSL, and the last `t`.
        self._clocks: dict[str, tuple[float, float]] = {}

    def push(self, record: Record) -> bool:
        """Publishes a record; a value that is missing is NaN.

        Returns false for a kind of record that is not known.
        """
        stamp = self._stamp(record)
        if record.kind in MARKS:
            self._push_mark(record, stamp)
            return True
        channels = CHANNELS.get(record.kind)
        if channels is None:
            return False
        values = [record.values.get(name) for name, _ in channels]
        numbers = [float(value) if isinstance(value, (int, float)) else float("nan") for value in values]
        key = (record.ring, record.kind)
        outlet = self._outlets.get(key)
        if record.kind == "beat":
            outlet = outlet or self._outlets.setdefault(key, self._outlet(record, _IRREGULAR))
            beat = record.values.get("beat_s")
            stamp += beat - record.t if isinstance(beat, (int, float)) else 0.0
        if outlet is not None:
            outlet.push_sample(numbers, stamp)
            return True
        waiting = self._waiting.setdefault(key, [])
        waiting.append((numbers, stamp))
        if self._rate is not None or len(waiting) >= _MEASURED:
            outlet = self._outlets[key] = self._outlet(record, self._rate or _nominal([time for _, time in waiting]))
            for earlier, time in self._waiting.pop(key):
                outlet.push_sample(earlier, time)
        return True

    def _push_mark(self, record: Record, stamp: float) -> None:
        key = (record.ring, _MARKERS)
        if key not in self._outlets:
            info = self._lsl.StreamInfo(
                "halo-raw markers", _MARKERS, 1, _IRREGULAR, "string", f"halo-raw {record.ring} markers")
            self._outlets[key] = self._lsl.StreamOutlet(info)
        self._outlets[key].push_sample([label_of(record.kind, note_of(record.kind, record.values))], stamp)

    def _stamp(self, record: Record) -> float:
        behind, last = self._clocks.get(record.ring, (0.0, math.inf))
        if record.t < last and (record.t == 0 or last - record.t > _OTHER_STREAM):
            # The first record of a stream. LSL corrects the offsets between computers itself.
            age = time.time() - record.time.timestamp()
            # A record of a file or of a virtual clock has no age.
            behind = self._lsl.local_clock() - (age if 0 <= age < _OLDEST else 0.0) - record.t
        self._clocks[record.ring] = (behind, record.t)
        return behind + record.t

    def _outlet(self, record: Record, hertz: float) -> Any:
        channels = CHANNELS[record.kind]
        info = self._lsl.StreamInfo(
            f"halo-raw {record.kind}", record.kind.upper(), len(channels), hertz, "double64",
            f"halo-raw {record.ring} {record.kind}")
        description = info.desc().append_child("channels")
        for name, unit in channels:
            description.append_child("channel").append_child_value("label", name).append_child_value("unit", unit)
        return self._lsl.StreamOutlet(info)


def _nominal(stamps: list[float]) -> float:
    """Samples per second, to a tenth; 0, which LSL takes as irregular, for samples that arrived all at once."""
    passed = stamps[-1] - stamps[0]
    return round((len(stamps) - 1) / passed, 1) if passed > 0 else 0.0
