"""Samples for the Lab Streaming Layer, if pylsl is installed."""

from __future__ import annotations

from typing import Any

from .live import Record

#: The channels of each kind.
CHANNELS = {
    "ppg": (("raw", "counts"),), "spo2": (("raw", "counts"),),
    "accel": (("x_g", "g"), ("y_g", "g"), ("z_g", "g")),
}


class Outlet:
    """Publishes the samples of one ring, a stream for each kind.

        outlet = halo_raw.Outlet()
        async for record in halo_raw.stream():
            outlet.push(record)

    The time stamps are the receive times, on the clock of LSL. Raises ImportError if pylsl is not installed.
    """

    def __init__(self) -> None:
        import pylsl

        self._lsl: Any = pylsl
        self._outlets: dict[tuple[str, str], Any] = {}
        # Both clocks are read once: LSL corrects the offsets between computers itself.
        import time

        self._ahead = pylsl.local_clock() - time.time()

    def push(self, record: Record) -> bool:
        """Publishes a sample; a value that is missing is NaN.

        Returns false for records that are no samples.
        """
        channels = CHANNELS.get(record.kind)
        if channels is None:
            return False
        values = [record.values.get(name) for name, _ in channels]
        numbers = [float(value) if isinstance(value, (int, float)) else float("nan") for value in values]
        self._outlet(record).push_sample(numbers, record.time.timestamp() + self._ahead)
        return True

    def _outlet(self, record: Record) -> Any:
        key = (record.ring, record.kind)
        if key not in self._outlets:
            channels = CHANNELS[record.kind]
            # A ring's rate is not fixed.
            info = self._lsl.StreamInfo(
                f"halo-raw {record.kind}", record.kind.upper(), len(channels), self._lsl.IRREGULAR_RATE, "double64",
                f"halo-raw {record.ring} {record.kind}")
            description = info.desc().append_child("channels")
            for name, unit in channels:
                description.append_child("channel").append_child_value("label", name).append_child_value("unit", unit)
            self._outlets[key] = self._lsl.StreamOutlet(info)
        return self._outlets[key]
