"""Parquet files."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
import pandas as pd

from . import schema
from .replacing import replacing


def to_parquet(frame: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Writes a frame to a Parquet file, with pyarrow; what the data is (`attrs`) stands in its metadata, under
    `halo_raw`.

    The types depend on the columns alone, not on the values: so the files of several streams of the same kinds are one
    data set for `pyarrow.dataset`, with or without gaps. A file that exists is replaced when the new one is complete.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({name: _array(frame[name]) for name in frame.columns})
    metadata = {
        b"halo_raw": json.dumps(frame.attrs.get("description", {})).encode(),
        # pandas restores `attrs` from these.
        b"PANDAS_ATTRS": json.dumps(frame.attrs, default=str).encode(),
    }
    with replacing(path) as draft:
        pq.write_table(table.replace_schema_metadata(metadata), os.fspath(draft))


def _array(values: pd.Series[Any]) -> Any:
    import pyarrow as pa

    if isinstance(values.dtype, pd.CategoricalDtype):
        # The same width for any number of categories.
        codes = pa.array(values.cat.codes.to_numpy(dtype=np.int32), mask=values.isna().to_numpy())
        names = pa.array([str(name) for name in values.cat.categories], pa.string())
        return pa.DictionaryArray.from_arrays(codes, names)
    if schema.TYPES.get(str(values.name)) == schema.TEXT or pd.api.types.is_string_dtype(values.dtype):
        with_none = values.astype("object").where(values.notna(), None)
        if all(value is None or isinstance(value, str) for value in with_none):
            return pa.array(with_none, type=pa.string())
    if isinstance(values.dtype, pd.DatetimeTZDtype):
        return pa.array(values.dt.as_unit("us"), type=pa.timestamp("us", tz="UTC"), from_pandas=True)
    return pa.array(values, from_pandas=True)
