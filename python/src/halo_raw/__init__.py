"""Data of halo-raw as pandas data frames: streams, the store, captures; and from them EDF and Parquet files.

    import halo_raw
    frame = halo_raw.read_stream("session.csv")
    pulse = halo_raw.samples(frame, "ppg")

Times are time zone aware and in UTC; units are in the names of columns. Nothing is interpolated.
"""

from .beats import beats
from .capture import read_capture
from .edf import to_edf
from .live import Record, stream
from .lsl import Outlet
from .moments import longest_part, moments
from .parquet import to_parquet
from .parts import positions, segments
from .program import ProgramError
from .reading import read_stream
from .store import read_store
from .streams import lost_packets, marks, rate, samples

__all__ = [
    "Outlet", "ProgramError", "Record", "beats", "longest_part", "lost_packets", "marks", "moments", "positions", "rate",
    "read_capture", "read_store", "read_stream", "samples", "segments", "stream", "to_edf", "to_parquet",
]
