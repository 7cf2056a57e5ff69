"""Files for other programs: EDF+ and Parquet."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from .streams import marks, positions, rate, segments

#: The signals of each kind: the column, its unit, and the smallest and the largest value.
_SIGNALS: dict[str, list[tuple[str, str, float, float]]] = {
    "ppg": [("raw", "counts", 0, 65535)],
    "spo2": [("raw", "counts", 0, 65535), ("infrared", "counts", 0, 65535)],
    "accel": [("x_g", "g", -8, 8), ("y_g", "g", -8, 8), ("z_g", "g", -8, 8)],
}
#: The digital value of a place without a sample. No sample has it.
MISSING = -32768
#: The most that pyEDFlib writes.
_ANNOTATION_SIGNALS = 64


def to_edf(
    frame: pd.DataFrame, path: str | os.PathLike[str], *, kinds: Sequence[str] | None = None, rate_hz: int | None = None,
) -> None:
    """Writes the samples of one ring to an EDF+ file, with pyEDFlib.

    EDF has a fixed rate: `rate_hz`, or the measured one, rounded. Within an uninterrupted part, samples are written one after
    the other, as the ring took them; a part begins at the time of its first sample. Nothing is interpolated: a place without
    a sample has the digital minimum, and an annotation; so have marks. A value that the sensor did not give is such a place,
    and a lost packet of a counted stream.

    Raises ValueError if the frame has several rings or no samples.
    """
    import pyedflib

    rings = frame["ring"].dropna().unique()
    if len(rings) != 1:
        raise ValueError(f"an EDF file has one ring, not {len(rings)}; select one: frame[frame.ring == ...]")
    present = [kind for kind in kinds or _SIGNALS if (frame["kind"] == kind).any()]
    if not present:
        raise ValueError("there are no samples to write")
    start = frame["time"].min()
    origin = float(frame["t"].min())
    headers: list[dict[str, Any]] = []
    data: list[np.ndarray[Any, np.dtype[np.int32]]] = []
    notes: list[tuple[float, float, str]] = []
    for kind in present:
        hertz = rate_hz or max(1, round(rate(frame, kind)))
        places = _places(frame, kind, hertz, origin)
        chosen = frame[frame["kind"] == kind]
        last = int(places.max())
        length = -(-(last + 1) // hertz) * hertz
        taken = np.zeros(length, dtype=bool)
        for column, unit, low, high in _SIGNALS[kind]:
            if column not in chosen.columns:
                continue
            values = chosen[column].to_numpy(dtype=float)
            # The digital minimum stays free for places without a sample. Counts are exact.
            digital = np.round((values - low) / (high - low) * 65535) - 32768
            signal = np.full(length, MISSING, dtype=np.int32)
            known = ~np.isnan(values)
            signal[places[known]] = np.clip(digital[known], -32767, 32767).astype(np.int32)
            taken |= signal != MISSING
            data.append(signal)
            headers.append({
                "label": f"{kind} {column}"[:16], "dimension": unit, "sample_frequency": hertz,
                "physical_min": low, "physical_max": high,
                "digital_min": MISSING, "digital_max": 32767, "transducer": "", "prefilter": "",
            })
        notes += _holes(taken[: last + 1], hertz, kind)
    # All signals have the same duration.
    seconds = max(len(signal) // header["sample_frequency"] for signal, header in zip(data, headers, strict=True))
    data = [
        np.concatenate([signal, np.full(seconds * header["sample_frequency"] - len(signal), MISSING, dtype=np.int32)])
        for signal, header in zip(data, headers, strict=True)]
    for _, mark in marks(frame).iterrows():
        note = mark.get("note") if isinstance(mark.get("note"), str) else mark.get("reason")
        text = f"{mark['kind']}: {note}" if isinstance(note, str) else str(mark["kind"])
        notes.append((float(mark["t"]) - origin, 0.0, text))
    ring = frame.attrs.get("description", {}).get("Ring", {})
    writer = pyedflib.EdfWriter(os.fspath(path), len(data), file_type=pyedflib.FILETYPE_EDFPLUS)
    try:
        # A second holds one annotation of each annotation signal; pyEDFlib leaves out what does not fit.
        needed = -(-len(notes) // max(seconds, 1)) + 1
        if needed > _ANNOTATION_SIGNALS:
            raise ValueError(f"{len(notes)} annotations do not fit into {seconds} s of EDF+")
        writer.set_number_of_annotation_signals(needed)
        writer.setSignalHeaders(headers)
        writer.setStartdatetime(start.to_pydatetime().replace(tzinfo=None))
        writer.setEquipment(" ".join(filter(None, ["halo-raw", str(rings[0]), ring.get("Firmware")])).replace(" ", "_"))
        writer.writeSamples(data, digital=True)
        for onset, duration, text in sorted(notes):
            writer.writeAnnotation(max(onset, 0.0), duration, text)
    finally:
        writer.close()


def _places(frame: pd.DataFrame, kind: str, hertz: int, origin: float) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The index of each sample in its signal."""
    chosen = frame[frame["kind"] == kind]
    parts = segments(frame, kind)
    places: list[int] = []
    for number in parts.unique():
        part = chosen[parts == number]
        first = round((float(part["t"].iloc[0]) - origin) * hertz)
        first = max(first, max(places) + 1 if places else 0)
        places += (first + positions(part)).tolist()
    return np.asarray(places, dtype=np.int64)


def _holes(taken: np.ndarray[Any, np.dtype[np.bool_]], hertz: int, kind: str) -> list[tuple[float, float, str]]:
    """An annotation for each run of places without a sample."""
    edges = np.flatnonzero(np.diff(np.concatenate([[True], taken, [True]]).astype(np.int8)))
    return [
        (float(first) / hertz, float(last - first) / hertz, f"no {kind}")
        for first, last in zip(edges[::2], edges[1::2], strict=True)]


def to_parquet(frame: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Writes a frame to a Parquet file, with pyarrow; what the data is (`attrs`) stands in its metadata, under `halo_raw`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pandas(frame, preserve_index=False)
    description = json.dumps(frame.attrs.get("description", {}))
    metadata = dict(table.schema.metadata or {}) | {b"halo_raw": description.encode()}
    pq.write_table(table.replace_schema_metadata(metadata), os.fspath(path))
