"""Writes the file of EDF+, with pyEDFlib."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from .edfnotes import Note
from .edfrate import Rates

#: The digital value of a place without a sample. No sample has it.
MISSING = -32768
#: The most that pyEDFlib writes.
_ANNOTATION_SIGNALS = 64


@dataclass
class Signal:
    """A signal with its digital values, of the physical values `low` to `high`."""

    label: str
    unit: str
    low: float
    high: float
    hertz: float
    values: np.ndarray[Any, np.dtype[np.int16]]


def ascii_of(text: str) -> str:
    """What the header of EDF can have: printable ASCII without spaces, and no more than its field takes."""
    return "".join(letter if "!" <= letter <= "~" else "_" for letter in text)[:50]


def write(
    path: Path, signals: list[Signal], notes: list[Note], rates: Rates, records: int, start: datetime, fraction: float,
    equipment: str,
) -> None:
    """Writes a file that begins `fraction` seconds after the whole second of `start`, with the notes in their order.

    Raises ValueError if there are more notes than EDF+ has place for, and OSError if the file cannot be written.
    """
    import pyedflib
    from pyedflib import edfwriter

    # A record holds one annotation of each annotation signal; pyEDFlib leaves out what does not fit.
    needed = -(-len(notes) // records) + 1
    if needed > _ANNOTATION_SIGNALS:
        raise ValueError(f"{len(notes)} annotations do not fit into {records * rates.record_s:.0f} s of EDF+")
    writer = pyedflib.EdfWriter(os.fspath(path), len(signals), file_type=pyedflib.FILETYPE_EDFPLUS)
    try:
        with warnings.catch_warnings():
            # It warns of any duration that it has not chosen itself.
            warnings.simplefilter("ignore")
            # It cuts off what is less than ten microseconds.
            writer.setDatarecordDuration(rates.record_s + 1e-6)
            writer.set_number_of_annotation_signals(needed)
            writer.setSignalHeaders([{
                "label": signal.label, "dimension": signal.unit, "sample_frequency": signal.hertz,
                "physical_min": signal.low, "physical_max": signal.high, "digital_min": MISSING, "digital_max": 32767,
                "transducer": "", "prefilter": "",
            } for signal in signals])
            writer.setStartdatetime(start.replace(microsecond=0))
            writer.setEquipment(equipment)
            # In units of 100 ns. pyEDFlib's own way takes ten of them for one, and drops what exceeds a second.
            if hasattr(edfwriter, "set_starttime_subsecond"):
                edfwriter.set_starttime_subsecond(writer.handle, round(fraction * 1e7))
        blocks = [signal.values.reshape(records, -1) for signal in signals]
        for record in range(records):
            block = np.concatenate([values[record] for values in blocks])
            if writer.blockWriteDigitalShortSamples(block) < 0:
                raise OSError(f"cannot write {path.parent}: is the disk full?")
        for note in notes:
            if writer.writeAnnotation(note.onset_s, note.duration_s, note.text) < 0:
                raise OSError(f"cannot write the annotation {note.text}")
    finally:
        writer.close()
    # Errors of a full disk that occurred last show here alone.
    with pyedflib.EdfReader(os.fspath(path), annotations_mode=pyedflib.DO_NOT_READ_ANNOTATIONS) as reader:
        if reader.datarecords_in_file != records:
            raise OSError(f"cannot write {path.parent}: is the disk full?")
