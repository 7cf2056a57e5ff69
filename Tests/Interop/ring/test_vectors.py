"""Frames that other people have found (`vectors/ring.json`, each with its source), played by a ring that is not ours: what
halo-raw makes of them. Its own encoder has no part in it, so that a field that is read and written at the same wrong
place shows."""

import struct
from datetime import date, datetime, timedelta

import pytest

JSON = ("--format", "jsonl")
FAST = "virtual:fast"

pytestmark = pytest.mark.verdict


def test_a_sport_session(halo, ring_with):
    ring = ring_with("--vector", "sport")
    (record,) = halo.run("sport", "walk", "--duration", "1s", *JSON, adapter=ring.adapter).succeeded().records()
    assert {name: record[name] for name in ("duration_s", "heart_rate_bpm", "steps", "distance_m", "energy_kcal")} == {
        "duration_s": 75, "heart_rate_bpm": 96, "steps": 130, "distance_m": 91, "energy_kcal": 5.12}
    assert ring.commands() == ["7701", "7704"]


def test_the_virtual_ring_has_the_same_layout(halo):
    records = halo.run("raw", "770104", "--duration", "4s", *JSON, adapter=FAST).succeeded().records()
    updates = [bytes.fromhex(record["bytes"]) for record in records if record["bytes"].startswith("78")]
    assert len(updates) >= 3
    for second, update in enumerate(updates, 1):
        sport, status, seconds, rate = struct.unpack(">BBHB", update[1:6])
        steps, metres, calories = (int.from_bytes(update[at:at + 3], "big") for at in (6, 9, 12))
        assert (sport, status, seconds) == (4, 2, second) and 40 < rate < 120
        assert (steps, metres, calories) == (2 * second, 3 * second // 2, 90 * second)


def test_events(halo, ring_with):
    ring = ring_with("--vector", "events")
    records = halo.run("events", "--camera", "--count", 7, *JSON, adapter=ring.adapter).succeeded().records()
    assert [(record["event"], record["note"]) for record in records] == [
        ("battery", None), ("totals", None), ("counter", "19"), ("button", "tap"), ("button", "long"),
        ("heart-rate-alarm", "too-high"), ("notification", "notification, kind 0x55")]
    assert (records[0]["battery_percent"], records[0]["charging"]) == (87, True)
    assert [records[1][name] for name in ("steps", "energy_kcal", "distance_m")] == [82, 0.593, 60]
    assert records[5]["heart_rate_bpm"] == 130


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


def test_no_nights(halo, ring_with):
    ring = ring_with("--vector", "no sleep")
    assert halo.run("history", "sleep", *JSON, adapter=ring.adapter).succeeded().records() == []


def test_an_odd_record_of_activity_is_told(halo, ring_with):
    ring = ring_with("--vector", "activity")
    result = halo.run("history", "steps", "--from", "-1", *JSON, adapter=ring.adapter).succeeded()
    (odd,) = result.records()
    assert (odd["left_out"], odd["reason"]) == ("steps", "there is no day 15 of month 0")
    assert odd["bytes"] == "43240015580103007900150010000076"
    assert "there is no day 15 of month 0" in result.err
