"""What a ring measures, tells and does, against the virtual ring and against a ring that is not ours."""

import json
import os
import pty
import signal
import subprocess

import pytest
import ring_measurement
from program import CONNECTION_LOST, NO_ADAPTER, OK, PROTOCOL, USAGE
from simulation import Simulation

JSON = ("--format", "jsonl")
FAST = "virtual:fast"
INTERRUPTED = 130


def values(records, state="value"):
    return [record for record in records if record["state"] == state]


# --- against the stranger

def test_heart_rate_of_a_stranger(halo, ring_with):
    ring = ring_with("--tick", 0.05)
    records = halo.run("measure", "heart-rate", *JSON, adapter=ring.adapter).succeeded().records()
    (result,) = values(records)
    assert result == records[-1]
    assert (result["heart_rate_bpm"], result["estimate"]) == (70, False)
    beats = [record["interval_ms"] for record in values(records, "beat")]
    assert set(beats) == set(ring_measurement.BEATS)
    assert all(one != next_one for one, next_one in zip(beats, beats[1:]))
    assert values(records, "warming-up")
    # The ring is told what it shall keep.
    assert [event["frame"][:6] for event in ring.events("command")] == ["690101", "6a0146"]
    ring.check_farewell()


def test_oxygen_of_a_stranger(halo, ring_with):
    ring = ring_with("--tick", 0.05)
    records = halo.run("measure", "spo2", *JSON, adapter=ring.adapter).succeeded().records()
    (result,) = values(records)
    assert (result["spo2_percent"], result["interval_ms"]) == (97, None)
    assert ring.commands() == ["6903", "6a03"]


def test_a_stranger_that_is_not_worn(halo, ring_with):
    ring = ring_with("--tick", 0.1, "--not-worn")
    halo.run("measure", "heart-rate", *JSON, adapter=ring.adapter).failed(
        PROTOCOL, saying="does not touch the skin")
    assert ring.commands() == ["6901", "6a01"]
    # And the next command works.
    halo.run("battery", adapter=ring.adapter).succeeded()


def test_ctrl_c_stops_the_measurement_of_a_stranger(halo, ring_with):
    ring = ring_with("--tick", 0.2)
    process = halo.start("measure", "heart-rate", *JSON, adapter=ring.adapter)
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    result = halo.wait(process)
    assert result.code == INTERRUPTED, result
    assert ring.commands() == ["6901", "6a01"]
    ring.wait_for("measurement ended", why="stopped")
    ring.check_farewell()


def test_ctrl_c_stops_a_continuous_measurement_of_a_stranger(halo, ring_with):
    ring = ring_with("--tick", 0.02)
    process = halo.start("measure", "heart-rate", "--continuous", "--format", "csv", adapter=ring.adapter)
    process.stdout.readline()
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    process.stdout.read()
    assert process.wait(10) == OK
    assert [event["frame"][:6] for event in ring.events("command")] == ["690601", "690604"]
    ring.wait_for("measurement ended", why="stopped")
    ring.check_farewell()


def test_power_off_of_a_stranger(halo, ring_with):
    ring = ring_with()
    halo.run("power-off", "--yes", adapter=ring.adapter).succeeded()
    assert ring.commands() == ["0801"]


def test_what_a_stranger_does_not_know(halo, ring_with):
    ring = ring_with()
    halo.run("sport", "walk", adapter=ring.adapter).failed(PROTOCOL, saying="not supported")
    halo.run("find", adapter=ring.adapter).failed(PROTOCOL, saying="not supported")
    out = halo.run(
        "raw", "77", "--count", 1, "--format", "text", adapter=ring.adapter).succeeded().out
    assert "f7 ee" in out and "refused: not supported by this ring" in out


# --- against the virtual ring

@pytest.mark.parametrize("firmware", [
    "R02_3.00.06_240523", "RY02_3.00.38_250403", "RT02R_3.11.00_250611", "RT11CR_1.00.08_250514"])
def test_every_family_measures(halo, firmware):
    adapter = f"{FAST},firmware={firmware}"
    records = halo.run("measure", "heart-rate", *JSON, adapter=adapter).succeeded().records()
    (result,) = values(records)
    assert 60 <= result["heart_rate_bpm"] <= 80 and 25 < result["t"] < 33
    refused = halo.run("measure", "hrv", *JSON, adapter=adapter)
    if firmware.startswith("R02"):
        refused.failed(PROTOCOL, saying="not supported")
    else:
        assert values(refused.succeeded().records())[0]["estimate"] is True


def test_continuous_heart_rate(halo):
    records = halo.run(
        "measure", "heart-rate", "--continuous", "--count", 100, *JSON, adapter=FAST,
    ).succeeded().records()
    measured = values(records)
    assert len(measured) == 100
    assert 15 < measured[0]["t"] < 18
    assert 98 < measured[-1]["t"] - measured[0]["t"] < 100
    timed = halo.run(
        "measure", "heart-rate", "--continuous", "--duration", "10s", *JSON, adapter=FAST)
    assert len(values(timed.succeeded().records())) in (10, 11)


def test_ctrl_c_ends_a_continuous_measurement(halo):
    process = halo.start(
        "measure", "heart-rate", "--continuous", "--format", "csv", adapter="virtual:warm-up=1")
    assert process.stdout.readline().startswith("t,time,ring,seq,kind,state,heart_rate_bpm,")
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    process.stdout.read()
    assert process.wait(10) == OK


def test_the_older_way(halo):
    adapter = f"{FAST},refuse-measurements,firmware=R02_3.00.06_240523"
    for way in ([], ["--live"]):
        (result,) = values(halo.run(
            "measure", "heart-rate", *way, *JSON, adapter=adapter).succeeded().records())
        assert 60 <= result["heart_rate_bpm"] <= 80
    newer = halo.run("measure", "heart-rate", "--live", *JSON, adapter=FAST)
    newer.failed(PROTOCOL, saying="not supported")


def test_what_no_ring_can_measure(halo):
    for kind in ("blood-pressure", "blood-sugar", "fatigue"):
        halo.run("measure", kind, adapter=FAST).failed(USAGE, saying="--include-estimates")
        (result,) = values(halo.run(
            "measure", kind, "--include-estimates", *JSON, adapter=FAST).succeeded().records())
        assert result["estimate"] is True
        columns = {
            "blood-pressure": ["systolic_mmhg", "diastolic_mmhg"], "blood-sugar": ["blood_sugar"],
            "fatigue": ["fatigue"]}[kind]
        assert all(result[column] > 0 for column in columns)
    text = halo.run("measure", "stress", "--format", "text", adapter=FAST).succeeded().out
    assert "(estimate)" in text and "random" in text


@pytest.mark.parametrize("arguments, saying", [
    (["measure"], "KIND"),
    (["measure", "heartrate"], "did you mean heart-rate?"),
    (["measure", "spo2", "--continuous"], "works only with heart-rate"),
    (["measure", "heart-rate", "--count", "2"], "--continuous"),
    (["sport", "swimm"], "did you mean swim?"),
    (["raw", "xyz"], "not a frame"),
    (["raw", "03" * 16], "checksum"),
    (["raw", "03" * 17], "16 bytes"),
    (["raw", "0F"], "never sent"),
    (["raw", "c66c"], "never sent"),
    (["raw", "0A0200"], "never sent"),
    (["raw", "BC01"], "never sent"),
    (["raw", "--bulk", "05ff"], "never sent"),
    (["raw", "0801"], "--yes"),
    (["raw", "5401"], "radio off"),
    (["raw", "55"], "no source says"),
    (["raw", "021A"], "no source says"),
    (["raw", "--bulk", "60"], "no source says"),
    (["raw", "7C01"], "user's id"),
    (["raw", "FF6666"], "--yes"),
    (["reboot"], "--yes"),
    (["power-off"], "--yes"),
    (["factory-reset"], "--yes"),
    (["write", "--uuid", "6E400002-B5A3-F393-E0A9-E50E24DCCA9E", "CD00"], "never sent"),
    (["write", "--handle", "0x10", "--without-response", "CE"], "never sent"),
    (["write", "--handle", "0x16", "BC0100000000"], "never sent"),
])
def test_what_is_refused(halo, arguments, saying):
    halo.run(*arguments, adapter=FAST).failed(USAGE, saying=saying)


def test_the_guard_is_for_rings_alone(halo):
    """A value elsewhere may begin with any byte."""
    halo.run("write", "--handle", "0x0034", "0F", adapter=FAST).succeeded()


def test_power_off_while_charging(halo):
    halo.run("power-off", "--yes", adapter=f"{FAST},charging").failed(PROTOCOL, saying="charging")


def test_events_and_camera(halo):
    records = halo.run("events", "--count", 7, *JSON, adapter=f"{FAST},events=1").succeeded().records()
    assert {r["event"] for r in records} == {
        "totals", "notification", "battery", "hrv", "stress", "key", "find-phone"}
    assert {r["event"] for r in records if r["estimate"]} == {"hrv", "stress"}
    # One name for one quantity, in all commands.
    named = {"battery": "battery_percent", "hrv": "hrv_ms", "stress": "stress"}
    for event, column in named.items():
        assert [type(r[column]) for r in records if r["event"] == event] == [int]
        assert all(r[column] is None for r in records if r["event"] != event)
    records = halo.run("events", "--camera", "--count", 2, *JSON, adapter=FAST).succeeded().records()
    assert [r["note"] for r in records] == ["entered", "shake"]


def test_sport(halo):
    records = halo.run("sport", "run", "--duration", "60s", *JSON, adapter=FAST).succeeded().records()
    assert [r["duration_s"] for r in records] == list(range(len(records)))
    assert len(records) in (60, 61)


def test_raw_explains(halo):
    records = halo.run("raw", "03", "--count", 1, *JSON, adapter=FAST).succeeded().records()
    assert [(r["direction"], r["name"]) for r in records] == [("out", "battery"), ("in", "battery")]
    assert records[1]["fields"] == ["percent=87 %", "charging=no"]
    records = halo.run("raw", "--bulk", "30", *JSON, adapter=FAST).succeeded().records()
    assert [(r["direction"], r["channel"]) for r in records] == [("out", "bulk"), ("in", "bulk")]
    text = halo.run("raw", "--bulk", "27FF01", "--count", 2, "--format", "text", adapter=FAST).succeeded().out
    for part in ("naps, event", "sleep, reply", "number of days", "days-ago", "kind light (2)"):
        assert part in text


def test_what_raw_has_started_is_ended(halo, ring_with):
    ring = ring_with("--rate", 100)
    halo.run("raw", "A104", "--count", 3, adapter=ring.adapter).succeeded()
    assert ring.commands() == ["a104", "a105", "a102"]


def test_the_terminal_is_asked(halo):
    for answer, code in (("no", INTERRUPTED), ("yes", OK)):
        leader, follower = pty.openpty()
        process = subprocess.Popen(
            [halo.path, "factory-reset", "--adapter", FAST], stdin=follower, stdout=follower,
            stderr=follower, env=halo.environment)
        os.close(follower)
        halo.processes.append(process)
        said = b""
        while b"Type yes" not in said:
            said += os.read(leader, 1000)
        os.write(leader, answer.encode() + b"\n")
        assert process.wait(10) == code
        os.close(leader)


def test_info_tells_what_the_ring_supports(halo):
    (record,) = halo.run(
        "info", *JSON, adapter=f"{FAST},firmware=RT11CR_1.00.08_250514").succeeded().records()
    assert record["wants_bond"] is True and record["support"].startswith("008c2700")
    unknown = halo.run("info", *JSON, adapter=f"{FAST},firmware=X1,hardware=X").succeeded()
    assert unknown.err.count("of no known family") == 1


def test_events_go_on_over_a_lost_connection(halo):
    """The adapter and the ring are gone, and come back."""
    first = Simulation(halo, options="events=0.2")
    process = halo.start("events", "--retry-for", "20s", *JSON, adapter=first.adapter)
    assert json.loads(process.stdout.readline())["seq"] == 0
    first.process.kill()
    first.process.wait()
    second = Simulation(halo, listen=first.adapter, options="events=0.2")
    records = [json.loads(process.stdout.readline())]
    while [record["event"] for record in records].count("gap") == 0 or len(records) < 4 or any(
            record["event"] == "gap" for record in records[-3:]):
        records.append(json.loads(process.stdout.readline()))
    process.send_signal(signal.SIGINT)
    records += halo.wait(process).succeeded().records()
    second.close()
    (gap,) = [record for record in records if record["event"] == "gap"]
    assert "lost" in gap["note"]


def test_a_measurement_goes_on_over_a_lost_connection(halo):
    first = Simulation(halo, options="warm-up=1")
    measure = ("measure", "heart-rate", "--continuous")
    process = halo.start(*measure, "--retry-for", "20s", "--duration", "40s", *JSON, adapter=first.adapter)
    records = [json.loads(process.stdout.readline())]
    while records[-1]["state"] != "value":
        records.append(json.loads(process.stdout.readline()))
    first.process.kill()
    first.process.wait()
    second = Simulation(halo, listen=first.adapter, options="warm-up=1")
    while [record["state"] for record in records].count("gap") == 0 or records[-1]["state"] != "value":
        records.append(json.loads(process.stdout.readline()))
    process.send_signal(signal.SIGINT)
    halo.wait(process).succeeded()
    second.close()
    halo.run(*measure[:2], "--retry-for", "1s", adapter="virtual").failed(USAGE, saying="--continuous")


def test_events_end_with_a_connection_that_stays_lost(halo):
    ring = Simulation(halo, options="events=0.2")
    process = halo.start("events", "--retry-for", "0", *JSON, adapter=ring.adapter)
    process.stdout.readline()
    ring.process.kill()
    result = halo.wait(process)
    assert result.code in (NO_ADAPTER, CONNECTION_LOST) and result.records()[-1]["event"] == "gap"
