"""`sync`, `export` and `history --stored`: what a ring has stored, in an SQLite file."""

import csv
import json
import sqlite3
import time
from datetime import datetime, timedelta, timezone

import pytest
from program import BAD_DATA, CONNECTION_LOST, NOT_FOUND, NO_FILE, OK, USAGE
from stored import CLOCK, ORIGIN, TABLES, contents


@pytest.fixture(scope="module")
def complete(halo, tmp_path_factory):
    """What the ring has, from a sync that nobody disturbed."""
    path = tmp_path_factory.mktemp("store") / "complete.sqlite"
    halo.run("sync", "--store", path, adapter=f"virtual:fast,{CLOCK}").succeeded()
    return contents(path)


def test_everything_is_there_once(halo, tmp_path, complete):
    store = tmp_path / "rings.sqlite"
    first = halo.run("sync", "--store", store, "--format", "jsonl",
                     adapter=f"virtual:fast,{CLOCK}").succeeded().records()
    assert {r["kind"] for r in first} == {
        "steps", "heart-rate", "spo2", "spo2-values", "sleep", "stress", "hrv", "temperature", "sport"}
    assert [r["kind"] for r in first if not r["supported"]] == ["spo2-values"]
    assert all(r["read"] == r["added"] > 0 for r in first if r["supported"])
    assert contents(store) == complete
    assert all(complete[table] for table in TABLES)
    second = halo.run("sync", "--store", store, "--format", "jsonl",
                      adapter=f"virtual:fast,{CLOCK}").succeeded().records()
    assert all(r["added"] == 0 for r in second)
    assert contents(store) == complete
    # Days that were over are not asked for again.
    steps = {r["kind"]: r["read"] for r in first}["steps"], {r["kind"]: r["read"] for r in second}["steps"]
    assert steps[1] < steps[0]


def days_stored(store) -> int:
    """Of heart rates. A sync stores them day by day."""
    try:
        return sqlite3.connect(store).execute("SELECT count(DISTINCT date(time)) FROM heart_rate").fetchone()[0]
    except sqlite3.OperationalError:  # it has no tables yet
        return 0


def test_killed_in_the_middle(halo, tmp_path, complete):
    """Killed when so many days are stored: the file is sound, nothing is there twice, and the next sync completes it. What
    happens at each single change of the file is in test_files.py."""
    stores = {days: tmp_path / f"{days}.sqlite" for days in (0, 1, 2, 4)}
    # With --wait, the simulation runs in real time.
    running = {
        days: halo.start("sync", "--kind", "heart-rate", "--wait", "20s", "--store", store, adapter=f"virtual:{CLOCK}")
        for days, store in stores.items()}
    while running:
        for days, process in list(running.items()):
            if stores[days].exists() and days_stored(stores[days]) >= days:
                process.kill()
                process.wait()
                del running[days]
        time.sleep(0.01)
    for days, store in stores.items():
        if days == 0 and sqlite3.connect(store).execute("SELECT * FROM sqlite_master").fetchall() == []:
            store.unlink()
        else:
            rows = contents(store)
            assert all(set(rows[table]) <= set(complete[table]) for table in TABLES)
            assert days <= days_stored(store) < 7, "not killed in the middle"
            assert sqlite3.connect(store).execute("SELECT finished FROM syncs").fetchall() in ([], [(None,)])
        halo.run("sync", "--store", store, adapter=f"virtual:fast,{CLOCK}").succeeded()
        assert contents(store) == complete


def test_a_ring_that_forgets_takes_nothing_away(halo, tmp_path, complete):
    store = tmp_path / "rings.sqlite"
    halo.run("sync", "--store", store, adapter=f"virtual:fast,{CLOCK}").succeeded()
    # The same ring with another memory, a day later.
    later = "clock=2026-11-22T00:05:00,seed=9"
    halo.run("sync", "--store", store, adapter=f"virtual:fast,{later}").succeeded()
    rows = contents(store)
    for table in ("heart_rate", "stress", "hrv", "temperature"):
        assert set(complete[table]) <= set(rows[table])
    assert {row[:2] for row in complete["steps"]} <= {row[:2] for row in rows["steps"]}


def test_what_a_ring_does_not_keep_is_said(halo, tmp_path):
    store = tmp_path / "rings.sqlite"
    records = halo.run(
        "sync", "--store", store, "--format", "jsonl",
        adapter=f"virtual:fast,{CLOCK},bulk=false,firmware=R02_3.00.06_240523").succeeded().records()
    supported = {r["kind"]: r["supported"] for r in records}
    assert supported["steps"] and supported["heart-rate"]
    assert not supported["sleep"] and not supported["spo2"]


def test_a_bad_link_is_told_and_the_rest_is_kept(halo, tmp_path):
    store = tmp_path / "rings.sqlite"
    result = halo.run("sync", "--store", store, "--format", "jsonl",
                      adapter=f"virtual:fast,{CLOCK},silent-after=200")
    assert result.code not in (OK, CONNECTION_LOST), result
    records = result.records()
    assert records[0]["problem"] is None, records
    assert any(r["problem"] for r in records)
    assert contents(store)["steps"]


def test_export_is_what_history_prints(halo, tmp_path):
    store = tmp_path / "rings.sqlite"
    adapter = f"virtual:fast,{CLOCK}"
    halo.run("sync", "--store", store, adapter=adapter).succeeded()
    for kind in ("steps", "heart-rate", "spo2", "sleep", "stress", "hrv", "temperature", "sport"):
        live = halo.run("history", kind, "--from", "2026-11-15", "--include-estimates", "--format", "jsonl",
                        "--to", "2026-11-21", adapter=adapter).succeeded().out
        stored = halo.run("history", kind, "--stored", "--store", store, "--from", "2026-11-15", "--to",
                          "2026-11-21", "--include-estimates", "--format", "jsonl").succeeded().out
        exported = halo.run("export", kind, "--store", store, "--include-estimates", "--format",
                            "jsonl").succeeded().out
        assert live == stored != "", kind
        records = [json.loads(line) for line in exported.splitlines()]
        own = [{key: value for key, value in record.items() if key not in ORIGIN} for record in records]
        assert own == [json.loads(line) for line in live.splitlines()]
        for record in records:
            assert (record["ring"], record["firmware"], record["utc_offset"]) == (
                "30:35:38:41:BE:EF", "RT02R_3.11.00_250611", 0)
            name = "start" if kind == "sleep" else "time"
            assert record[f"{name}_utc"] == record[name] + "Z"
    everything = halo.run("export", "all", "--store", store).succeeded()
    kinds = {json.loads(line)["history"] for line in everything.out.splitlines()}
    assert kinds == {"steps", "heart-rate", "spo2", "sleep", "temperature", "sport"}
    assert "estimates" in everything.err


def test_wrong_files_and_wrong_words(halo, tmp_path):
    halo.run("export", "steps", "--store", tmp_path / "none").failed(NO_FILE, saying="create it with halo-raw sync")
    (tmp_path / "text").write_text("no database " * 100)
    halo.run("export", "steps", "--store", tmp_path / "text").failed(BAD_DATA, saying="text is not a store of rings")
    sqlite3.connect(tmp_path / "other").execute("CREATE TABLE music (title)")
    halo.run("export", "steps", "--store", tmp_path / "other").failed(BAD_DATA, saying="other is not a store of rings")
    store = tmp_path / "rings.sqlite"
    halo.run("sync", "--kind", "steps", "--store", store, adapter=f"virtual:fast,{CLOCK}").succeeded()
    halo.run("export", "step", "--store", store).failed(USAGE, saying="did you mean steps")
    halo.run("export", "steps", "R02_XXXX", "--store", store).failed(NOT_FOUND, saying="no such ring")
    halo.run("export", "all", "--format", "csv", "--store", store).failed(USAGE, saying="csv")
    halo.run("sync", "--store", "/dev/null/x", adapter=f"virtual:fast,{CLOCK}").failed(NO_FILE, saying="store")


# Rings and zones


@pytest.fixture
def two_rings(halo, tmp_path):
    path = tmp_path / "rings.sqlite"
    for options in ("", ",seed=9,address=C0:11:22:33:CA:FE/random,name=R02_CAFE,firmware=RY02_3.00.38_250403"):
        halo.run("sync", "--store", path, adapter=f"virtual:fast,{CLOCK}{options}").succeeded()
    return path


def test_rings_of_a_store_are_listed_exported_and_deleted(halo, two_rings):
    def listed():
        return halo.run("store", "--store", two_rings, "--format", "jsonl").succeeded().records()

    first, second = listed()
    assert (first["name"], first["address"], second["name"]) == ("R02_BEEF", "30:35:38:41:BE:EF", "R02_CAFE")
    assert first["records"] > 500 < second["records"] and first["first"] < first["last"] <= "2026-11-21T13:45:00"
    assert first["last_sync_utc"] == "2026-11-21T13:45:0" + first["last_sync_utc"][18:]
    rows = list(csv.DictReader(halo.run("export", "heart-rate", "--all", "--store", two_rings).succeeded().out.splitlines()))
    assert {row["ring"] for row in rows} == {"30:35:38:41:BE:EF", "C0:11:22:33:CA:FE"}
    assert {row["firmware"] for row in rows} == {"RT02R_3.11.00_250611", "RY02_3.00.38_250403"}
    everything = halo.run("store", "export", "--store", two_rings).succeeded().records()
    assert {record["ring"] for record in everything} == {row["ring"] for row in rows}
    one = halo.run("store", "export", "R02_CAFE", "--store", two_rings).succeeded().records()
    assert one == [record for record in everything if record["ring"] == "C0:11:22:33:CA:FE"]
    halo.run("export", "steps", "R02_CAFE", "--all", "--store", two_rings).failed(USAGE, saying="exclude")
    halo.run("export", "steps", "--store", two_rings).failed(NOT_FOUND, saying="several rings")
    halo.run("store", "delete", "R02_CAFE", "--store", two_rings).failed(USAGE, saying="--yes")
    halo.run("store", "delete", "--yes", "--store", two_rings).failed(USAGE, saying="missing ring")
    halo.run("store", "delte", "--store", two_rings).failed(USAGE, saying="did you mean delete")
    before = contents(two_rings)
    halo.run("store", "delete", "R02_CAFE", "--yes", "--store", two_rings).succeeded()
    after = contents(two_rings)
    assert listed() == [first]
    assert all(0 < len(after[table]) < len(before[table]) for table in TABLES)


def test_virtual_rings_have_a_store_of_their_own(halo, tmp_path):
    halo.environment["XDG_DATA_HOME"] = str(tmp_path)
    halo.run("sync", "--kind", "steps", adapter=f"virtual:fast,{CLOCK}").succeeded()
    assert [path.name for path in (tmp_path / "halo-raw").glob("*.sqlite")] == ["virtual-rings.sqlite"]
    halo.run("export", "steps").failed(NO_FILE, saying="rings.sqlite")


def test_the_offset_is_that_of_the_rings_clock(halo, tmp_path, state, simulation):
    """The ring was set in one zone, and is read in another: its clock is still that of the first."""
    store = tmp_path / "rings.sqlite"
    # Where it is day, as the ring counts few steps at night; the newest hour with steps may be two hours old.
    hour = datetime.now(timezone.utc).hour
    offset = min(range(3, 15), key=lambda offset: abs((hour + offset) % 24 - 13))
    halo.environment["TZ"] = f"DAY-{offset}"
    halo.run("time", "--set", adapter=simulation.adapter).succeeded()
    halo.environment["TZ"] = "UTC0"
    halo.run("sync", "--kind", "steps", "--store", store, adapter=simulation.adapter).succeeded()
    assert sqlite3.connect(store).execute("SELECT utc_offset FROM syncs").fetchall() == [(offset * 3600,)]
    exported = halo.run("export", "steps", "--store", store, "--format", "jsonl").succeeded().records()
    # The newest hours of the ring are in the future of this computer's clock, and are there all the same.
    newest = datetime.fromisoformat(exported[-1]["time"])
    now = datetime.now(timezone.utc).replace(tzinfo=None)
    assert newest > now
    for record in exported:
        utc = datetime.fromisoformat(record["time_utc"].rstrip("Z"))
        assert datetime.fromisoformat(record["time"]) - utc == timedelta(hours=offset) and utc < now


def test_the_store_of_virtual_rings_is_found(halo, tmp_path):
    """A newcomer's way, without --store: the data of a virtual ring is not with that of real ones, and each command says so."""
    halo.environment["XDG_DATA_HOME"] = str(tmp_path)
    synced = halo.run("sync", "--kind", "steps", adapter=f"virtual:fast,{CLOCK}").succeeded()
    assert f"stored in {tmp_path}/halo-raw/virtual-rings.sqlite" in synced.err
    for words in [("export", "steps"), ("store",), ("history", "steps", "--stored", "--adapter", "hci0")]:
        halo.run(*words).failed(NO_FILE, saying="virtual-rings.sqlite: add --adapter virtual")
    rows = halo.run("export", "steps", "--format", "jsonl", adapter="virtual").succeeded().records()
    assert len(rows) > 10
    halo.environment["HALO_ADAPTER"] = "virtual"
    assert halo.run("export", "steps", "--format", "jsonl").succeeded().records() == rows


def test_all_rings_that_are_near(halo, tmp_path):
    store = tmp_path / "s"
    result = halo.run("sync", "--all", "--kind", "steps", "--store", store, "--format", "jsonl",
                      adapter=f"virtual:fast,rings=3,{CLOCK}").succeeded()
    rings = [record["ring"] for record in result.records()]
    assert len(rings) == 3 and len(set(rings)) == 3
    stored = halo.run("store", "--store", store, "--format", "jsonl").succeeded().records()
    assert {ring["address"] for ring in stored} == set(rings) and all(ring["records"] > 10 for ring in stored)
    halo.run("sync", "R02_BEEF", "--all", "--store", store, adapter="virtual:fast").failed(USAGE, saying="exclude each other")


def test_an_empty_kind_has_its_header(halo, tmp_path):
    store = tmp_path / "s"
    halo.run("sync", "--kind", "steps", "--store", store, adapter=f"virtual:fast,{CLOCK}").succeeded()
    for kind in ("sport", "sedentary", "stress", "hrv"):
        out = halo.run("export", kind, "--store", store).succeeded().out
        assert out.count("\n") == 1 and "ring,firmware,utc_offset" in out, kind
