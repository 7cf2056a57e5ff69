"""EDF+ files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from .edffile import MISSING, Signal, ascii_of, write
from .edfnotes import Note, holes, of_marks
from .edfrate import Rates, chosen_rates
from .parts import positions_in_parts, segments
from .replacing import replacing
from .timeline import one_ring, seconds

#: The signals of each kind: the column, its unit, and the smallest and the largest value.
_SIGNALS: dict[str, list[tuple[str, str, float, float]]] = {
    "ppg": [("raw", "counts", 0, 65535)],
    "spo2": [("raw", "counts", 0, 65535), ("infrared", "counts", 0, 65535)],
    "accel": [("x_g", "g", -8, 8), ("y_g", "g", -8, 8), ("z_g", "g", -8, 8)],
}
#: In bytes of samples: a hundred days of all sensors at 25 Hz.
_LARGEST = 2 << 30

_Places = np.ndarray[Any, np.dtype[np.int64]]


def to_edf(
    frame: pd.DataFrame, path: str | os.PathLike[str], *, kinds: Sequence[str] | None = None,
    rate_hz: float | None = None,
) -> None:
    """Writes the samples of one ring to an EDF+ file, with pyEDFlib.

    EDF has a fixed rate: `rate_hz`, or the measured one, which is the mean of the whole. It need not be a whole number:
    the duration of the file's records is chosen so that the last sample of the longest part is in its place. Within an
    uninterrupted part, samples are written one after the other, as the ring took them; a part begins at the time of its
    first sample, to the nearest place. Nothing is interpolated: a place without a sample has the digital minimum, and
    an annotation that begins with `BAD_`, as MNE wants it; so have the second before the first sample, and the end of
    the last record. A value that the sensor did not give is such a place, and a lost packet of a counted stream. Marks
    are annotations; a long text ends in "...".

    Several runs of the program are one file, with a gap between them and an annotation at each start. For a file each:
    `for run, part in frame.groupby("run"): to_edf(part, f"{run}.edf")`.

    The file begins at the time of day of the first sample, also if the clock was set later; readers that ignore the
    fraction of a second of EDF+ are wrong by less than one interval. A file that exists is replaced when the new one is
    complete.

    Raises ValueError if the frame has several rings or no samples, if its runs have different rates, and if a gap is so
    long that the file would have more than 2 GiB.
    """
    ring = one_ring(frame)
    present = [kind for kind in kinds or _SIGNALS if (frame["kind"] == kind).any()]
    if not present:
        raise ValueError("there are no samples to write")
    elapsed = seconds(frame)
    first = np.flatnonzero(frame["kind"].isin(present).to_numpy())[0]
    start = frame["time"].iloc[first].to_pydatetime().replace(tzinfo=None)
    rates = chosen_rates(frame, present, elapsed, rate_hz)
    # The file begins at the whole second, and with it a place of the first kind: many readers know no fraction.
    lead = int(start.microsecond / 1e6 * rates.hertz[present[0]] + 1e-9)
    fraction = start.microsecond / 1e6 - lead / rates.hertz[present[0]]
    origin = float(elapsed[first]) - lead / rates.hertz[present[0]]
    places = {kind: _places(frame, kind, rates.hertz[kind], elapsed, origin) for kind in present}
    records = max(-(-(int(places[kind].max()) + 1) // rates.per_record[kind]) for kind in present)
    _refuse_gap(frame, present, rates, records)
    signals: list[Signal] = []
    notes: list[Note] = []
    for kind in present:
        added = _signals(frame, kind, places[kind], records * rates.per_record[kind], rates.hertz[kind])
        signals += added
        taken = np.logical_and.reduce([signal.values != MISSING for signal in added])
        notes += holes(taken, rates.hertz[kind], kind)
    notes += of_marks(frame, elapsed, origin, records * rates.record_s)
    described = frame.attrs.get("description", {}).get("Ring")
    firmware = described.get("Firmware") if isinstance(described, dict) else None
    equipment = ascii_of(" ".join(str(part) for part in ("halo-raw", ring, firmware) if part))
    with replacing(path) as draft:
        write(draft, signals, sorted(notes), rates, records, start, fraction, equipment)


def _places(frame: pd.DataFrame, kind: str, hertz: float, elapsed: Any, origin: float) -> _Places:
    """The index of each sample in its signal. Those of a part follow those of the part before."""
    mask = (frame["kind"] == kind).to_numpy()
    parts = segments(frame, kind).to_numpy()
    first = np.flatnonzero(np.diff(parts, prepend=-1))
    within = positions_in_parts(frame[mask], first)
    begins = np.rint((elapsed[mask][first] - origin) * hertz).astype(np.int64)
    free = 0
    for index, length in enumerate(np.maximum.reduceat(within, first) + 1):
        begins[index] = max(begins[index], free)
        free = begins[index] + int(length)
    places: _Places = within + np.repeat(begins, np.diff(np.append(first, len(within))))
    return places


def _refuse_gap(frame: pd.DataFrame, present: list[str], rates: Rates, records: int) -> None:
    size = 2 * records * sum(rates.per_record[kind] * len(_SIGNALS[kind]) for kind in present)
    if size > _LARGEST:
        days = records * rates.record_s / 86400
        raise ValueError(
            f"the samples are spread over {days:.0f} days, which takes {size / 1e9:.0f} GB of EDF; write a file for "
            "each run: for run, part in frame.groupby(\"run\"): ...")


def _signals(frame: pd.DataFrame, kind: str, places: _Places, length: int, hertz: float) -> list[Signal]:
    chosen = frame[frame["kind"] == kind]
    found: list[Signal] = []
    for number, (column, unit, low, high) in enumerate(_SIGNALS[kind]):
        if column not in chosen.columns or (number and chosen[column].isna().all()):
            continue
        values = chosen[column].to_numpy(dtype=float)
        known = np.isfinite(values)
        # The digital minimum stays free for places without a sample. Counts are exact.
        digital = np.round((values[known] - low) / (high - low) * 65535) - 32768
        signal = np.full(length, MISSING, dtype=np.int16)
        signal[places[known]] = np.clip(digital, -32767, 32767).astype(np.int16)
        found.append(Signal(f"{kind} {column}"[:16], unit, low, high, hertz, signal))
    return found
