"""The store of `halo-raw sync`."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Literal

import pandas as pd

from .database import opened

Kind = Literal[
    "steps", "heart-rate", "spo2", "spo2-values", "sleep", "stress", "hrv", "temperature", "sport", "sedentary"]

_APPLICATION = 0x68616C6F
_SCHEMA = 4
_STAGES = {2: "light", 3: "deep", 4: "rem", 5: "awake"}
_VALUES = {
    "steps": "steps, distance_m, energy_kcal",
    "heart-rate": "heart_rate_bpm, manual",
    "spo2": "minimum_percent, maximum_percent",
    "stress": "stress",
    "hrv": "hrv_ms",
    "temperature": "temperature_celsius",
    "spo2-values": "spo2_percent, manual",
    "sport": "sport, duration_s, distance_m, energy_kcal, heart_rate_bpm, heart_rate_minimum_bpm, "
             "heart_rate_maximum_bpm, steps, interval_s, heart_rates_bpm, bytes",
    "sedentary": "bytes",
}
#: What firmware replaces with random numbers where it measures nothing, without saying so.
_ESTIMATES = ("stress", "hrv")
_WHOLE = (
    "duration_s", "distance_m", "heart_rate_bpm", "heart_rate_minimum_bpm", "heart_rate_maximum_bpm", "steps",
    "interval_s")


def default_store() -> Path:
    """The file that `halo-raw sync` writes if it is given none."""
    base = os.environ.get("XDG_DATA_HOME") or ""
    folder = Path(base) if base.startswith("/") else Path.home() / ".local/share"
    return folder / "halo-raw" / "rings.sqlite"


def read_store(
    kind: Kind, path: str | os.PathLike[str] | None = None, *, ring: str | None = None,
) -> pd.DataFrame:
    """Reads one kind of data, of all rings or of one, given by its address or name.

    `time` is in UTC, `local` is the ring's wall clock, `utc_offset` their difference in seconds. Each row has the
    address of the ring and the firmware it had: group by `ring`. `stress` and `hrv` have a column `estimate`, which is
    true: firmware is known to make up part of these values, and does not say which. Sleep has a row for each stage. Of
    a sport session, a number that the ring does not report is `<NA>`, and `heart_rates_bpm` is a list: one number each
    `interval_s`, 0 for none.

    Without a path, it is the file that `halo-raw sync` writes for real rings. The store may be in a folder that is not
    writable, or on a medium that is read-only.

    Raises ValueError if the file is not a store, and OSError if it cannot be read.
    """
    file = Path(path) if path is not None else default_store()
    if not file.exists():
        virtual = file.with_name("virtual-rings.sqlite")
        hint = f"; the data of virtual rings is in {virtual}" if path is None and virtual.exists() else ""
        raise FileNotFoundError(f"there is no store {file}; halo-raw sync makes it{hint}")
    if kind != "sleep" and kind not in _VALUES:
        raise ValueError(f"unknown kind {kind!r}; use {', '.join([*_VALUES, 'sleep'])}")
    with opened(file) as database:
        _check(database, file)
        frame = _sleep(database) if kind == "sleep" else _readings(database, kind)
    if ring is not None:
        frame = frame[(frame["ring"] == ring) | (frame["name"] == ring)].reset_index(drop=True)
    return frame


def _check(database: sqlite3.Connection, file: Path) -> None:
    try:
        application, version = (
            int(database.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("application_id", "user_version"))
    except sqlite3.OperationalError as error:
        raise OSError(f"cannot read the store {file}: {error}") from None
    except sqlite3.DatabaseError:
        raise ValueError(f"{file} is not a store of rings") from None
    if application != _APPLICATION:
        raise ValueError(f"{file} is not a store of rings")
    if version != _SCHEMA:
        advice = "update this package" if version > _SCHEMA else "the next halo-raw sync --store FILE upgrades it"
        raise ValueError(f"{file} has schema {version}, this package reads {_SCHEMA}; {advice}")


def _readings(database: sqlite3.Connection, kind: str) -> pd.DataFrame:
    table = kind.replace("-", "_")
    frame = pd.read_sql(
        f"SELECT address AS ring, name, syncs.firmware, time AS local, {table}.utc_offset, {_VALUES[kind]} "
        f"FROM {table} JOIN rings ON rings.id = {table}.ring JOIN syncs ON syncs.id = sync "
        f"ORDER BY ring, time, {table}.utc_offset DESC", database)
    if kind in _ESTIMATES:
        frame["estimate"] = True
    if "manual" in frame:
        frame["manual"] = frame["manual"].astype(bool)
    if kind == "sport":
        frame = frame.astype(dict.fromkeys(_WHOLE, "Int64"))
        frame["heart_rates_bpm"] = [[int(rate) for rate in rates.split()] for rates in frame["heart_rates_bpm"]]
    return _with_times(frame)


def _sleep(database: sqlite3.Connection) -> pd.DataFrame:
    frame = pd.read_sql(
        'SELECT address AS ring, name, syncs.firmware, start AS local, sleep.utc_offset, sleep.id AS night, nap, '
        "stage, duration_min FROM sleep_stages JOIN sleep ON sleep.id = sleep JOIN rings ON rings.id = sleep.ring "
        "JOIN syncs ON syncs.id = sync ORDER BY ring, start, position", database)
    frame["nap"] = frame["nap"].astype(bool)
    frame["stage"] = frame["stage"].map(lambda code: _STAGES.get(code, f"stage {code}"))
    # The times of a night are its start and what has passed since.
    passed = frame.groupby("night")["duration_min"].cumsum() - frame["duration_min"]
    frame["local"] = pd.to_datetime(frame["local"]) + pd.to_timedelta(passed, unit="min")
    return _with_times(frame)


def _with_times(frame: pd.DataFrame) -> pd.DataFrame:
    frame["local"] = pd.to_datetime(frame["local"])
    utc = frame["local"] - pd.to_timedelta(frame["utc_offset"], unit="s")
    frame.insert(0, "time", utc.dt.tz_localize("UTC"))
    return frame
