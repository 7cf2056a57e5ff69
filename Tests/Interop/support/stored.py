"""What a store has, and the clock of the virtual ring that fills it."""

import sqlite3

CLOCK = "clock=2026-11-21T13:45:00"
VIRTUAL = f"virtual:fast,{CLOCK}"
TABLES = ("steps", "heart_rate", "spo2", "stress", "hrv", "temperature", "sport", "sleep", "sleep_stages")
ORIGIN = ("ring", "firmware", "utc_offset", "time_utc", "start_utc", "end_utc", "stage_start_utc")


def contents(path):
    """All rows of all tables, without the numbers of rows and syncs. A store whose program was killed between two migrations lacks
    the tables of the later ones."""
    store = sqlite3.connect(path)
    assert store.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert store.execute("PRAGMA foreign_key_check").fetchall() == []
    rows = {}
    for table in TABLES:
        columns = [c[1] for c in store.execute(f"PRAGMA table_info({table})")
                   if c[1] not in ("sync", "id", "sleep")]
        names = ", ".join(f'"{c}"' for c in columns)
        rows[table] = sorted(store.execute(f"SELECT {names} FROM {table}").fetchall()) if columns else []
    store.close()
    return rows
