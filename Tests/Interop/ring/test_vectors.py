"""Frames that other people have found (`vectors/ring.json`, each with its source), played by a ring that is not ours: what
halo-raw makes of them. Its own encoder has no part in it, so that a field that is read and written at the same wrong
place shows."""

import json
import struct
import subprocess
from datetime import date, datetime, timedelta

import pytest
from program import PROTOCOL, TIMEOUT

JSON = ("--format", "jsonl")
FAST = "virtual:fast"

@pytest.mark.verdict
def test_a_sport_session(halo, ring_with):
    ring = ring_with("--vector", "sport, every field")
    (record,) = halo.run("sport", "walk", "--duration", "1s", *JSON, adapter=ring.adapter).succeeded().records()
    assert {name: record[name] for name in ("duration_s", "heart_rate_bpm", "steps", "distance_m", "energy_kcal")} == {
        "duration_s": 75, "heart_rate_bpm": 96, "steps": 130, "distance_m": 91, "energy_kcal": 5.12}
    assert ring.commands() == ["7701", "7704"]


@pytest.mark.verdict
def test_a_session_is_paused_by_standard_input(halo, ring_with):
    ring = ring_with("--vector", "sport")
    process = halo.start("sport", "walk", "--control", *JSON, adapter=ring.adapter, stdin=subprocess.PIPE)
    running = [json.loads(process.stdout.readline()) for _ in range(3)]
    process.stdin.write("pause\nnonsense\n")
    process.stdin.flush()
    paused = json.loads(process.stdout.readline())
    process.stdin.write("resume\nend\n")
    process.stdin.flush()
    result = halo.wait(process)
    assert result.code == 0, result
    assert [(line["note"], line["duration_s"]) for line in (*running, paused)] == [
        (None, 0), (None, 9), (None, 10), ("paused", 10)]
    assert '"nonsense" is not pause, resume or end' in result.err
    assert ring.commands() == ["7701", "7702", "7703", "7704"]


@pytest.mark.verdict
def test_the_virtual_ring_has_the_same_layout(halo):
    records = halo.run("raw", "770104", "--duration", "4s", *JSON, adapter=FAST).succeeded().records()
    updates = [bytes.fromhex(record["bytes"]) for record in records if record["bytes"].startswith("78")]
    assert len(updates) >= 3
    for second, update in enumerate(updates):
        sport, status, seconds, rate = struct.unpack(">BBHB", update[1:6])
        steps, metres, calories = (int.from_bytes(update[at:at + 3], "big") for at in (6, 9, 12))
        assert (sport, status, seconds) == (4, 1, second) and (rate == 0 or 40 < rate < 120)
        assert (steps, metres, calories) == (2 * second, 3 * second // 2, 90 * second)


@pytest.mark.verdict
def test_events(halo, ring_with):
    ring = ring_with("--vector", "events")
    records = halo.run("events", "--camera", "--count", 7, *JSON, adapter=ring.adapter).succeeded().records()
    assert [(record["event"], record["note"]) for record in records] == [
        ("battery", None), ("totals", None), ("counter", "19"), ("button", "tap"), ("button", "long"),
        ("heart-rate-alarm", "too-high"), ("notification", "notification, kind 0x55")]
    assert (records[0]["battery_percent"], records[0]["charging"]) == (87, True)
    assert [records[1][name] for name in ("steps", "energy_kcal", "distance_m")] == [82, 0.593, 60]
    assert records[5]["heart_rate_bpm"] == 130


@pytest.mark.long
def test_an_odd_night_does_not_cost_the_others(halo, ring_with, tmp_path):
    ring = ring_with("--vector", "sleep")
    today = date.today()
    result = halo.run("history", "sleep", *JSON, adapter=ring.adapter).succeeded()
    odd = [record for record in result.records() if "left_out" in record]
    nights = [record for record in result.records() if "left_out" not in record]

    def at(days, minutes):
        return (datetime.combine(today - timedelta(days=days), datetime.min.time()) + timedelta(minutes=minutes)).isoformat()

    # The start 1468 counts from the midnight before.
    assert [(night["start"], night["end"]) for night in nights] == [
        (at(3, 10), at(3, 30)), (at(2, 28), at(2, 420))]
    assert [record["bytes"] for record in odd] == ["0106e2ffa4010264", "0003010203"]
    assert "from minute 65506 to minute 420" in odd[0]["reason"]
    for text in ("65506", "start, end and stages", "left out 2 records"):
        assert text in result.err
    # The store has them as well, once, and exports them.
    file = str(tmp_path / "rings.sqlite")
    for _ in range(2):
        (kind,) = halo.run("sync", "--kind", "sleep", "--store", file, *JSON, adapter=ring.adapter).succeeded().records()
        assert (kind["read"], kind["left_out"]) == (2, 2)
    exported = halo.run("export", "sleep", "--store", file, *JSON).succeeded().records()
    assert [record["bytes"] for record in exported if "left_out" in record] == ["0003010203", "0106e2ffa4010264"]
    assert len([record for record in exported if "stage" in record]) == 2


@pytest.mark.verdict
def test_no_nights(halo, ring_with):
    ring = ring_with("--vector", "no sleep")
    assert halo.run("history", "sleep", *JSON, adapter=ring.adapter).succeeded().records() == []


@pytest.mark.verdict
def test_an_odd_record_of_activity_is_told(halo, ring_with):
    ring = ring_with("--vector", "activity")
    result = halo.run("history", "steps", "--from", "-1", *JSON, adapter=ring.adapter).succeeded()
    (odd,) = result.records()
    assert (odd["left_out"], odd["reason"]) == ("steps", "there is no day 15 of month 0")
    assert odd["bytes"] == "43240015580103007900150010000076"
    assert "there is no day 15 of month 0" in result.err


# --- the raw stream


@pytest.mark.verdict
def test_the_raw_stream_of_an_old_ring(halo, ring_with):
    ring = ring_with("--vector", "raw stream")
    records = halo.run("stream", "--count", 6, "--source", "raw", *JSON, adapter=ring.adapter).succeeded().records()
    light = [[record[name] for name in ("kind", "raw", "max", "min", "diff")] for record in records if "raw" in record]
    # A zero is a gap of the sensor.
    assert light == [
        ["spo2", 160, 194, 114, 149], ["ppg", 10625, 10957, 10689, 268], ["spo2", None, 194, 114, 149],
        ["ppg", None, 10957, 10689, 268]]
    axes = [[record[name] for name in ("raw_x", "raw_y", "raw_z")] for record in records if record["kind"] == "accel"]
    assert axes == [[372, 291, 189], [360, 282, 177]]
    g = next(record for record in records if record["kind"] == "accel")
    assert sum(g[axis] ** 2 for axis in ("x_g", "y_g", "z_g")) ** 0.5 == pytest.approx(0.994, abs=5e-4)


@pytest.mark.verdict
def test_the_raw_stream_of_a_newer_ring(halo, ring_with):
    ring = ring_with("--vector", "raw stream, 16 bits", "--firmware", "RT02CR_1.00.02_260319")
    records = halo.run("stream", "--count", 5, "--source", "raw", *JSON, adapter=ring.adapter).succeeded().records()
    assert [records[0][name] for name in ("raw", "max", "min", "diff")] == [1635, 8232, 8017, 215]
    assert [[record[name] for name in ("raw_x", "raw_y", "raw_z")] for record in records[1:]] == [
        [-1217, -8219, -444], [-1234, -8275, -355], [-1294, -8182, -227], [-1218, -8524, -568]]
    lengths = [sum(record[axis] ** 2 for axis in ("x_g", "y_g", "z_g")) ** 0.5 for record in records[1:]]
    assert lengths == [pytest.approx(length, abs=1e-3) for length in (1.016, 1.022, 1.012, 1.053)]


# --- settings


def test_settings_as_they_were_captured(halo, ring_with):
    ring = ring_with("--vector", "settings")
    records = halo.run("settings", *JSON, adapter=ring.adapter).succeeded().records()
    found = {(record["setting"], record["field"]): record["value"] for record in records}
    expected = {
        ("heart-rate", "enabled"): True, ("heart-rate", "interval"): 60, ("spo2", "enabled"): True, ("hrv", "enabled"): True,
        ("temperature", "enabled"): False, ("goals", "steps"): 5000, ("goals", "calories"): 300000,
        ("goals", "distance"): 3000}
    assert {key: found.get(key) for key in expected} == expected


@pytest.mark.verdict
def test_a_setting_that_is_acknowledged_and_not_taken(halo, ring_with):
    ring = ring_with("--vector", "settings, not taken")
    result = halo.run("settings", "heart-rate", "enabled=true", "interval=10", adapter=ring.adapter)
    assert result.code == PROTOCOL and "did not take over heart-rate interval" in result.err
    assert ring.commands().count("1602") == 1


# --- temperatures


@pytest.mark.verdict
def test_temperatures_of_half_hours(halo, ring_with):
    ring = ring_with("--vector", "temperature", "--firmware", "RT02CR_1.00.02_260319")
    records = halo.run("history", "temperature", *JSON, adapter=ring.adapter).succeeded().records()
    midnight = datetime.combine(date.today(), datetime.min.time())
    assert [(record["time"][:19], record["temperature_celsius"]) for record in records] == [(midnight.isoformat(), 35.0)]


@pytest.mark.verdict
def test_temperatures_at_intervals(halo, ring_with):
    ring = ring_with("--vector", "interval temperature", "--firmware", "RT02CR_1.00.02_260319")
    records = halo.run("history", "temperature", *JSON, adapter=ring.adapter).succeeded().records()
    yesterday = datetime.combine(date.today() - timedelta(days=1), datetime.min.time())
    assert [(record["time"][:19], record["temperature_celsius"]) for record in records] == [(yesterday.isoformat(), 36.26)]


@pytest.mark.verdict
def test_a_packet_of_temperatures_that_comes_again_is_not_a_later_one(halo, ring_with):
    ring = ring_with("--vector", "interval temperature, stalled", "--firmware", "RT02CR_1.00.02_260319")
    result = halo.run("history", "temperature", *JSON, adapter=ring.adapter).succeeded()
    midnight = datetime.combine(date.today() - timedelta(days=1), datetime.min.time())
    values = [(record["time"][:19], record["temperature_celsius"]) for record in result.records() if "left_out" not in record]
    assert values == [(midnight.isoformat(), 36.26), ((midnight + timedelta(minutes=30)).isoformat(), 36.36)]
    (odd,) = [record for record in result.records() if "left_out" in record]
    assert odd["bytes"] == "011e03002a0e340e" and "packet" in odd["reason"]


# --- measurements


def test_several_values_at_once(halo, ring_with):
    ring = ring_with("--vector", "combined measurement")
    names = ("heart_rate_bpm", "hrv_ms", "stress", "temperature", "systolic_mmhg", "diastolic_mmhg", "interval_ms", "estimate")

    def measure(*options):
        record = halo.run("measure", "all", *options, *JSON, adapter=ring.adapter).succeeded().records()[-1]
        return [record[name] for name in names], record["note"]

    values, note = measure()
    assert values == [72, None, None, None, None, None, 707, False] and "--include-estimates" in note
    values, note = measure("--include-estimates")
    assert values == [72, 42, 30, None, 120, 80, 707, False] and "all but heart_rate are estimates" in note
    # The ring measured several values, and is told to store none.
    assert [event["frame"][:6] for event in ring.events("command")][:2] == ["690c01", "6a0c00"]


def test_a_body_temperature_is_bytes(halo, ring_with):
    ring = ring_with("--vector", "body temperature")
    record = halo.run("measure", "temperature", *JSON, adapter=ring.adapter).succeeded().records()[-1]
    assert (record["bytes"], record["estimate"]) == ("6d0100000000000000000000", False)
    assert "layout is not known" in record["note"]
    assert [event["frame"][:6] for event in ring.events("command")] == ["690b01", "6a0b00"]


# --- sport sessions, and values of a day


@pytest.mark.verdict
def test_stored_sport_sessions(halo, ring_with, tmp_path):
    ring = ring_with("--vector", "sport sessions")
    result = halo.run("history", "sport", "--from", "2026-11-01", *JSON, adapter=ring.adapter).succeeded()
    training, run, odd = result.records()
    assert {name: value for name, value in training.items() if name != "bytes"} == {
        "time": "2026-11-20T18:30:00", "sport": "strength training", "duration_s": 1830, "distance_m": None,
        "energy_kcal": 151.2, "heart_rate_bpm": 112, "heart_rate_minimum_bpm": 88, "heart_rate_maximum_bpm": 141,
        "steps": 240, "interval_s": 60, "heart_rates_bpm": "96 104 0 118"}
    assert training["bytes"].startswith("23580601")
    assert (run["time"], run["sport"], run["distance_m"], run["steps"], run["heart_rates_bpm"]) == (
        "2026-11-21T18:30:00", "run", 1500, 1600, "")
    assert (odd["left_out"], odd["reason"]) == ("sport", "it has no start") and "it has no start" in result.err
    file = str(tmp_path / "rings.sqlite")
    for added in (2, 0):
        (kind,) = halo.run("sync", "--kind", "sport", "--store", file, *JSON, adapter=ring.adapter).succeeded().records()
        assert (kind["read"], kind["added"], kind["left_out"]) == (2, added, 1)
    exported = halo.run("export", "sport", "--store", file, *JSON).succeeded().records()
    assert {name: exported[0][name] for name in training} == training


def test_a_course_that_is_cut_off_costs_no_session(halo, ring_with):
    ring = ring_with("--vector", "sport sessions, cut off")
    result = halo.run("history", "sport", "--from", "2026-11-01", *JSON, adapter=ring.adapter).succeeded()
    session, *odd = result.records()
    assert (session["sport"], session["heart_rates_bpm"]) == ("strength training", "96 104 0")
    assert [record["reason"] for record in odd] == [
        "it is cut off", "of its course, 1 of 2 packets are missing"]


@pytest.mark.verdict
def test_no_sport_sessions(halo, ring_with):
    ring = ring_with("--vector", "no sport")
    assert halo.run("history", "sport", *JSON, adapter=ring.adapter).succeeded().records() == []


@pytest.mark.verdict
def test_oxygen_by_the_minute(halo, ring_with):
    ring = ring_with("--vector", "SpO2 by the minute", "--firmware", "RT02CR_1.00.02_260319")
    arguments = ("history", "spo2-values", "--from", "yesterday", *JSON)
    result = halo.run(*arguments, adapter=ring.adapter).succeeded()
    *records, odd = result.records()
    yesterday = date.today() - timedelta(days=1)
    assert [(record["time"], record["spo2_percent"], record["manual"]) for record in records] == [
        (f"{yesterday}T{clock}:00", *rest) for clock, *rest in [
            ("00:00", 97, False), ("02:00", 96, False), ("10:10", 98, True), ("12:00", 99, False)]]
    assert (odd["left_out"], odd["reason"]) == ("spo2-values", "a day has no minute 1500")


@pytest.mark.verdict
def test_a_ring_that_does_not_report_it_is_not_asked(halo, ring_with):
    ring = ring_with("--vector", "interval temperature", "--firmware", "RT02CR_1.00.02_260319")
    halo.run("history", "spo2-values", adapter=ring.adapter).failed(PROTOCOL, saying="does not report that it stores")
    assert ring.commands() == ["3c00"]


@pytest.mark.verdict
def test_temperatures_of_the_other_id(halo, ring_with):
    ring = ring_with("--vector", "temperatures, id 0x74", "--firmware", "RT02CR_1.00.02_260319")
    result = halo.run("history", "temperature", "--from", "yesterday", *JSON, adapter=ring.adapter).succeeded()
    *records, odd = result.records()
    yesterday = date.today() - timedelta(days=1)
    assert [(record["time"], record["temperature_celsius"]) for record in records] == [
        (f"{yesterday}T00:00:00", 36.26), (f"{yesterday}T08:00:00", 35.8)]
    # Three sensors: which one is that of the skin is not known.
    assert odd["reason"] == "it has several temperatures for each time" and odd["bytes"].startswith("2a0ed40db60d")


def test_what_is_odd_is_kept_although_the_rest_does_not_come(halo, ring_with, tmp_path):
    ring = ring_with("--vector", "temperatures, then silence", "--firmware", "RT02CR_1.00.02_260319")
    file = str(tmp_path / "rings.sqlite")
    result = halo.run("sync", "--kind", "temperature", "--store", file, *JSON, adapter=ring.adapter)
    assert result.code == TIMEOUT and "it is not packet 0 of that day" in result.err, result
    (kind,) = result.records()
    assert (kind["read"], kind["added"], kind["left_out"]) == (0, 0, 1)
    (odd,) = halo.run("export", "temperature", "--store", file, *JSON).succeeded().records()
    assert odd["bytes"] == "053c01002a0e"


@pytest.mark.verdict
def test_times_of_sitting_are_bytes(halo, ring_with):
    ring = ring_with("--vector", "sedentary")
    day, odd = halo.run("history", "sedentary", *JSON, adapter=ring.adapter).succeeded().records()
    assert (day["time"], day["bytes"]) == (f"{date.today() - timedelta(days=1)}T00:00:00", "015a021e")
    assert (odd["reason"], odd["bytes"]) == ("its bytes are not pairs", "0003012d02")
