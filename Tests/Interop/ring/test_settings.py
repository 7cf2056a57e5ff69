"""Settings: shown, changed, kept in files; and switched off for a stream, and restored whatever happens."""

import json
import signal

import pytest
from program import BAD_DATA, CONNECTION_LOST, NO_FILE, PROTOCOL, USAGE
from simulation import Simulation

AUTOMATIC = ["heart-rate", "spo2", "stress", "hrv", "temperature"]
PAUSED = ("stream", "--ppg", "--pause-measurements", "--format", "jsonl")


def settings(halo, adapter, *arguments) -> dict:
    """What the ring has: {setting: {field: value}}."""
    result = halo.run("settings", *arguments, "--format", "jsonl", adapter=adapter).succeeded()
    found = {}
    for record in result.records():
        found.setdefault(record["setting"], {})[record["field"]] = record["value"]
    return found


def are_on(halo, adapter) -> list[bool]:
    found = settings(halo, adapter)
    return [found[name]["enabled"] is True for name in AUTOMATIC]


def test_a_change_stays_and_touches_nothing_else(halo, simulation):
    before = settings(halo, simulation.adapter)
    assert before["heart-rate"] | {"enabled": True, "interval": 5, "start": 5} == before["heart-rate"]
    changed = settings(halo, simulation.adapter, "heart-rate", "interval=10")
    assert changed == {"heart-rate": before["heart-rate"] | {"interval": 10}}
    after = settings(halo, simulation.adapter)
    assert after == before | changed
    # The profile is taken, and not given back.
    assert set(after["profile"].values()) == {None}
    settings(halo, simulation.adapter, "profile", "age=34", "height=172", "weight=65")


@pytest.mark.parametrize("arguments, code, saying", [
    (["hart-rate"], USAGE, "did you mean heart-rate"),
    (["heart-rate", "enable=on"], USAGE, "it has enabled, interval"),
    (["heart-rate", "interval=0"], USAGE, "1 to 255 min"),
    (["heart-rate", "interval=5", "interval=6"], USAGE, "twice"),
    (["heart-rate", "on"], USAGE, "FIELD=VALUE"),
    (["display", "hand=up"], USAGE, "left, right"),
    (["profile", "age=34"], USAGE, "height, weight must be given, too"),
    (["profile", "age=0", "height=0", "weight=0"], USAGE, "1 to 120"),
    (["spo2", "--export", "x.json"], USAGE, "for all settings"),
    (["--export", "x", "--import", "y"], USAGE, "exclude each other"),
    (["--import", "/nonexistent"], NO_FILE, "cannot read"),
    (["do-not-disturb"], PROTOCOL, "not supported"),
])
def test_what_cannot_be_says_why(halo, arguments, code, saying):
    halo.run("settings", *arguments, adapter="virtual:fast").failed(code, saying=saying)


def test_what_the_ring_does_not_take_is_an_error(halo):
    halo.run("settings", "goals", "steps=9000", adapter="virtual:fast,ignore-settings").failed(
        PROTOCOL, saying="did not take over goals steps")


def test_a_file_carries_settings_to_another_ring(halo, simulation, tmp_path):
    path = tmp_path / "ring.json"
    halo.run("settings", "--export", path, adapter=simulation.adapter).succeeded()
    contents = json.loads(path.read_text())
    assert contents["firmware"] == "RT02R_3.11.00_250611"
    assert contents["settings"]["heart-rate"]["interval"] == 5
    assert contents["units"]["heart-rate"]["interval"] == "min"
    result = halo.run("settings", "--import", path, adapter=simulation.adapter).succeeded()
    assert result.out == "nothing differs\n"
    contents["settings"]["heart-rate"] |= {"interval": 30, "enabled": False}
    contents["settings"]["temperature-unit"] = {"unit": "fahrenheit"}
    contents["settings"]["profile"] = {"age": 0, "height": 0, "weight": 0}
    contents["settings"]["do-not-disturb"] = {"enabled": True}
    path.write_text(json.dumps(contents))
    result = halo.run("settings", "--import", path, adapter=simulation.adapter).succeeded()
    assert result.out.splitlines() == [
        "heart-rate enabled: on -> off", "heart-rate interval: 5 min -> 30 min",
        "temperature-unit unit: celsius -> fahrenheit"]
    assert "not supported by this ring: do-not-disturb" in result.err
    found = settings(halo, simulation.adapter)
    assert found["heart-rate"]["interval"] == 30 and found["temperature-unit"]["unit"] == "fahrenheit"


@pytest.mark.parametrize("contents, saying", [
    ("", "not JSON"), ("[]", "wrong kind"), ("{}", "missing"),
    ('{"halo-raw settings":2,"settings":{}}', "version 2"),
    ('{"halo-raw settings":1,"settings":{"goals":{"steps":1},"hart-rate":{}}}', "did you mean heart-rate"),
    ('{"halo-raw settings":1,"settings":{"goals":{"steps":1},"heart-rate":{"interval":0}}}', "1 to 255"),
    ('{"halo-raw settings":1,"settings":{"goals":{"steps":1},"heart-rate":{"interval":[]}}}', "wrong kind"),
    ('{"halo-raw settings":1,"settings":{"goals":{"steps":1},"spo2":{"enabled":1}}}', "on or off"),
])
def test_nothing_of_a_bad_file_is_written(halo, simulation, tmp_path, contents, saying):
    path = tmp_path / "bad.json"
    path.write_text(contents)
    halo.run("settings", "--import", path, adapter=simulation.adapter).failed(BAD_DATA, saying=saying)
    assert settings(halo, simulation.adapter, "goals")["goals"]["steps"] == 5000


# --- measurements that the ring makes by itself


def start_paused(halo, simulation):
    process = halo.start(*PAUSED, adapter=simulation.adapter)
    assert '"ppg"' in process.stdout.readline()
    return process


def test_measurements_are_off_and_on_again(halo, state, simulation):
    settings(halo, simulation.adapter, "stress", "enabled=off")
    path = state.parent / "session.btsnoop"
    halo.run(*PAUSED, "--count", 5, "--record", path, adapter=simulation.adapter).succeeded()
    assert are_on(halo, simulation.adapter) == [True, True, False, True, True], "as they were"
    assert list((state / "paused").iterdir()) == []
    sent = path.read_bytes()
    for frame in ("1602020505", "2c0200", "380200", "3a0302001e"):
        assert bytes.fromhex(frame) in sent
    assert bytes.fromhex("360200") not in sent, "what was off needs no switching"


@pytest.mark.parametrize("wish", [signal.SIGINT, signal.SIGTERM])
def test_they_are_restored_by_who_is_asked_to_end(halo, state, simulation, wish):
    process = start_paused(halo, simulation)
    process.send_signal(wish)
    halo.wait(process).succeeded()
    assert all(are_on(halo, simulation.adapter))


def test_they_are_restored_after_a_crash(halo, state, simulation):
    settings(halo, simulation.adapter, "heart-rate", "interval=20")
    process = start_paused(halo, simulation)
    process.kill()
    process.communicate()
    (kept,) = (state / "paused").glob("*.json")
    assert json.loads(kept.read_text())["settings"]["heart-rate"]["interval"] == 20
    result = halo.run("battery", adapter=simulation.adapter).succeeded()
    assert "restoring" in result.err
    assert not kept.exists()
    assert halo.run("battery", adapter=simulation.adapter).succeeded().err == ""
    assert all(are_on(halo, simulation.adapter))
    assert settings(halo, simulation.adapter, "heart-rate")["heart-rate"]["interval"] == 20


def test_a_recording_of_the_restoring_is_replayed(halo, state, simulation):
    process = start_paused(halo, simulation)
    process.kill()
    process.communicate()
    path = state.parent / "battery.btsnoop"
    original = halo.run("battery", "--record", path, adapter=simulation.adapter).succeeded()
    halo.environment["XDG_STATE_HOME"] = "/dev/null"
    replayed = halo.run("replay", path, "battery").succeeded()
    assert replayed.out == original.out
    assert "restoring" in original.err and "restoring" in replayed.err


def test_nobody_restores_what_is_still_in_use(halo, state, simulation):
    """The state of a stream that runs is locked: here by the test, in place of it."""
    import fcntl
    process = start_paused(halo, simulation)
    process.kill()
    process.communicate()
    (kept,) = (state / "paused").glob("*.json")
    with open(f"{kept}.lock") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert halo.run("battery", adapter=simulation.adapter).succeeded().err == ""
        assert kept.exists()
    assert "restoring" in halo.run("battery", adapter=simulation.adapter).succeeded().err


def test_a_lost_link_does_not_leave_them_off(halo, state):
    """The ring drops each stream after 20 sets."""
    simulation = Simulation(halo, options="rate=100,drop-after=20")
    try:
        result = halo.run(*PAUSED, "--count", 30, adapter=simulation.adapter).succeeded()
        assert "connected again 1 time" in result.err
        assert all(are_on(halo, simulation.adapter))
        assert list((state / "paused").iterdir()) == []
        # Nor does one that is lost for good: the next connection restores them.
        lost = halo.run(*PAUSED, "--retry-for", 0, adapter=simulation.adapter)
        assert lost.code == CONNECTION_LOST
        assert "the next connection to the ring restores them" in lost.err
        assert len(list((state / "paused").glob("*.json"))) == 1
        assert "restoring" in halo.run("info", adapter=simulation.adapter).succeeded().err
        assert all(are_on(halo, simulation.adapter))
    finally:
        simulation.close()


def test_a_ring_without_settings_streams_nevertheless(halo, state, ring):
    """The ring on the other stack refuses them all."""
    halo.run(*PAUSED, "--count", 10, adapter=ring.adapter).succeeded()
    # It is asked for the counted stream first.
    assert ring.commands()[:6] == ["690d", "1601", "2c01", "3601", "3801", "3a03"]
    assert ring.commands()[6:] == ["a104", "a105", "a102"]
    assert not (state / "paused").exists()
