"""What a ring has stored: halo-raw prints what a ring holds that is not ours."""

from datetime import datetime, timedelta

import pytest
from program import PROTOCOL, TIMEOUT
from ring_history import STAGES, Store

JSON = ("--format", "jsonl")


@pytest.fixture
def clock() -> datetime:
    """This machine's time, and the ring's."""
    return datetime.now().replace(microsecond=0)


@pytest.fixture
def ring_of(ring_with, clock):
    def make(*options):
        return ring_with("--history", clock.isoformat(), *options)
    return make


@pytest.fixture
def store(clock):
    return Store(clock)


def history(halo, ring, *arguments):
    return halo.run("history", *arguments, *JSON, adapter=ring.adapter)


def expected_steps(store) -> list[dict]:
    return [{"time": time.isoformat(), "steps": steps, "distance_m": metres, "energy_kcal": energy / 100}
            for days_ago in reversed(range(7))
            for time, steps, metres, energy in store.activity(days_ago)]


def expected_heart_rates(store) -> list[dict]:
    readings = [(store.at(store.day(days_ago), slot * 5), False, rate)
                for days_ago in range(7) for slot, rate in store.heart_rates(days_ago).items()]
    readings += [(store.at(store.today, minute), True, rate)
                 for minute, rate in store.manual_heart_rates().items()]
    return [{"time": time.isoformat(), "heart_rate_bpm": rate, "manual": manual}
            for time, manual, rate in sorted(readings)]


def expected_spo2(store) -> list[dict]:
    return [{"time": store.at(store.day(days_ago), hour * 60).isoformat(),
             "minimum_percent": least, "maximum_percent": most}
            for days_ago in reversed(range(7))
            for hour, (least, most) in enumerate(store.spo2(days_ago)) if least]


def expected_sleep(store) -> list[dict]:
    lines = []
    for nap, sessions in ((False, store.nights()), (True, store.naps())):
        for days_ago, first, last, stages in sessions:
            start, end = (store.at(store.day(days_ago), minute) for minute in (first, last))
            moment = start
            for stage, minutes in stages:
                lines.append({
                    "start": start.isoformat(), "end": end.isoformat(), "nap": nap,
                    "stage_start": moment.isoformat(), "stage": STAGES[stage], "duration_min": minutes})
                moment += timedelta(minutes=minutes)
            assert moment == end
    return sorted(lines, key=lambda line: line["stage_start"])


EXPECTED = {"steps": expected_steps, "heart-rate": expected_heart_rates, "spo2": expected_spo2,
            "sleep": expected_sleep}


@pytest.mark.parametrize("mtu", [23, 247])
@pytest.mark.parametrize("kind", EXPECTED)
def test_it_is_what_the_ring_holds(halo, ring_of, store, kind, mtu):
    ring = ring_of("--mtu", mtu)
    expected = EXPECTED[kind](store)
    assert expected
    assert history(halo, ring, kind).succeeded().records() == expected
    ring.check_farewell()


@pytest.mark.parametrize("kind", ["steps", "heart-rate"])
@pytest.mark.parametrize("fault", [
    ["--lose-every", 13], ["--double-every", 2], ["--delay-every", 3],
    ["--lose-every", 29, "--double-every", 3, "--delay-every", 5],
], ids=lambda fault: " ".join(map(str, fault)))
def test_a_bad_link_changes_nothing(halo, ring_of, store, kind, fault):
    ring = ring_of(*fault)
    result = history(halo, ring, kind, "--from", "-3").succeeded()
    first = store.day(3).isoformat()
    assert result.records() == [line for line in EXPECTED[kind](store) if line["time"] >= first]


def test_frames_that_never_come(halo, ring_of):
    ring = ring_of("--lose-every", 2)
    history(halo, ring, "heart-rate", "--from", "yesterday", "--to", "yesterday").failed(
        TIMEOUT, PROTOCOL, saying="lost, twice")


@pytest.mark.parametrize("damaged, ends_well", [(1, True), (2, False)])
def test_damaged_bulk_frames(halo, ring_of, store, damaged, ends_well):
    ring = ring_of("--bad-bulk", damaged)
    result = history(halo, ring, "spo2")
    if ends_well:
        assert result.succeeded().records() == expected_spo2(store)
    else:
        result.failed(PROTOCOL, saying="damaged")
    assert [event["value"] for event in ring.events("bulk")] == ["bc2a0100ff00ff"] * 2


def expected_temperatures(store) -> list[dict]:
    return [{"time": store.at(store.day(days_ago), slot * 30).isoformat(), "temperature_celsius": 20 + tenths / 10}
            for days_ago in (5, 4, 3, 2, 1) for slot, tenths in enumerate(store.temperatures(days_ago)) if tenths]


@pytest.mark.verdict
def test_an_answer_has_a_frame_for_each_day(halo, ring_of, store, tmp_path):
    """As an R09 (RT09_3.10.21_251107) answers: stansz/smart-ring, docs/RING_BEHAVIOR.md."""
    ring = ring_of("--by-day")
    assert history(halo, ring, "temperature").succeeded().records() == expected_temperatures(store)
    assert history(halo, ring, "sleep").succeeded().records() == expected_sleep(store)
    # All of it is stored, too.
    data = tmp_path / "ring.db"
    halo.run("sync", "--store", data, adapter=ring.adapter).succeeded()
    stored = halo.run("export", "temperature", "--all", "--store", data, *JSON).succeeded().records()
    assert [line["temperature_celsius"] for line in stored] == [
        line["temperature_celsius"] for line in expected_temperatures(store)]


@pytest.mark.parametrize("request_form, tries", [("ff01", 1), ("ff", 2), ("", 3)])
def test_rings_want_to_be_asked_for_sleep_in_their_own_way(halo, ring_of, store, request_form, tries):
    ring = ring_of("--sleep-request", request_form)
    assert history(halo, ring, "sleep").succeeded().records() == expected_sleep(store)
    assert len(ring.events("bulk")) == tries


def test_days(halo, ring_of, store):
    ring = ring_of()
    yesterday = store.day(1).isoformat()
    expected = [line for line in expected_steps(store) if line["time"].startswith(yesterday)]
    for days in (["--from", "-1", "--to", "yesterday"], ["--from", yesterday, "--to", "-1"]):
        assert history(halo, ring, "steps", *days).succeeded().records() == expected
    assert ring.commands().count("4301") == 2 and ring.commands().count("4300") == 0
    assert history(halo, ring, "steps", "--from", "-400", "--to", "-8").succeeded().records() == []
    # Rings keep a month at most.
    assert len([command for command in ring.commands() if command.startswith("43")]) == 2 + 22


def test_estimates_are_only_printed_if_they_are_wanted(halo, ring_of, store):
    ring = ring_of()
    result = history(halo, ring, "stress").succeeded()
    assert result.out == "" and "--include-estimates" in result.err and ring.commands() == []
    lines = history(halo, ring, "stress", "--include-estimates", "--from", "today").succeeded().records()
    assert lines == [
        {"time": store.at(store.today, slot * 30).isoformat(), "stress": value, "estimate": True}
        for slot, value in enumerate(store.stress(0)) if value]


def test_today(halo, ring_of, store):
    hours = store.activity(0)
    (record,) = halo.run("today", *JSON, adapter=ring_of().adapter).succeeded().records()
    assert record == {
        "steps": sum(hour[1] for hour in hours), "running_steps": 0,
        "distance_m": sum(hour[2] for hour in hours),
        "energy_kcal": pytest.approx(sum(hour[3] for hour in hours) / 100), "active_min": 25}


# --- rings that can't

def test_a_ring_that_refuses(halo, ring_of):
    ring = ring_of("--refuse", "43")
    history(halo, ring, "steps").failed(PROTOCOL, saying="refused activity: not supported by this ring")
    # HRV is known to newer rings only, and this is an old one.
    history(halo, ring, "hrv", "--include-estimates").failed(PROTOCOL, saying="refused hrv log")


def test_a_ring_without_the_bulk_service(halo, ring_of, store):
    ring = ring_of("--no-bulk-service")
    history(halo, ring, "sleep").failed(PROTOCOL, saying="has no service de5bf728")
    automatic = [line for line in expected_heart_rates(store) if not line["manual"]]
    assert history(halo, ring, "heart-rate").succeeded().records() == automatic


def test_a_ring_that_does_not_answer(halo, ring_of):
    # This one has no temperatures, and old rings are silent then.
    history(halo, ring_of(), "temperature").failed(TIMEOUT, saying="did not answer temperature log")


# --- the built-in ring

@pytest.mark.parametrize("kind", [
    "steps", "heart-rate", "spo2", "spo2-values", "sleep", "stress", "hrv", "temperature", "sedentary"])
@pytest.mark.parametrize("form", ["text", "csv", "jsonl"])
def test_the_virtual_ring(halo, kind, form):
    adapter = "virtual:fast,clock=2026-11-21T13:45:00,support=minute-spo2"
    arguments = ("history", kind, "--include-estimates", "--format", form)
    result = halo.run(*arguments, adapter=adapter).succeeded()
    lines = result.out.splitlines()
    assert len(lines) >= 7 and "2026-11-15" in result.out
    assert not any("2026-11-21T13:46" <= line[:16] for line in lines[1:] if line.startswith("2026"))
    assert ("estimate" in result.out) == (kind in ("stress", "hrv"))
    assert result.err == ""
    # The same in every run, and over the smallest MTU.
    assert halo.run(*arguments, adapter=f"{adapter},mtu=23").succeeded().out == result.out


@pytest.mark.parametrize("arguments, saying", [
    (["stepz"], "did you mean steps?"), (["steps", "--from", "tomorrow"], "--from wants a day such as"),
    (["steps", "--from", "2026-02-30"], "--from wants a day"),
    (["steps", "--from", "today", "--to", "yesterday"], "is after"), ([], "usage"),
])
def test_wrong_command_lines(halo, arguments, saying):
    halo.run("history", *arguments, adapter="virtual").failed(64, saying=saying)
