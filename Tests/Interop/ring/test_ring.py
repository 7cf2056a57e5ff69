"""The ring's own commands, against a ring that is not ours."""

import signal
import time
from datetime import datetime

import pytest
from bumble_ring import ppg_raw
from program import CONNECTION_LOST, PROTOCOL, TIMEOUT, Result
from ring_frames import COMMAND_SERVICE

pytestmark = pytest.mark.verdict

JSON = ("--format", "jsonl")


def ppg_values(records) -> list[int]:
    return [record["raw"] for record in records if record["kind"] == "ppg"]


def expected_ppg(count: int) -> list[int]:
    return [ppg_raw(number) for number in range(count)]


def check_times(records):
    times = [record["t"] for record in records]
    assert times[0] == 0 and times == sorted(times)


# --- scan

def test_scan_shows_the_ring(halo, ring):
    result = halo.run("scan", "--duration", "1s", *JSON, adapter=ring.adapter).succeeded()
    found = [record for record in result.records() if record["address"] == ring.address]
    assert found, result
    last = found[-1]
    assert (last["name"], last["type"], last["rssi_dBm"]) == (ring.name, "random", -50)
    # From the scan response, merged with the advertisement that has the name.
    assert [uuid.upper() for uuid in last["services"]] == [COMMAND_SERVICE]


@pytest.mark.parametrize("filters, shown", [
    (["--service", COMMAND_SERVICE], True),
    (["--service", "180D"], False),
    (["--name", "R02_"], True),
    (["--name", "nobody"], False),
])
def test_scan_filters(halo, ring, filters, shown):
    result = halo.run("scan", "--duration", "500ms", *filters, *JSON, adapter=ring.adapter)
    assert bool(result.records()) == shown, result


# --- info and battery

def test_info(halo, ring):
    (record,) = halo.run("info", *JSON, adapter=ring.adapter).succeeded().records()
    assert (record["firmware"], record["hardware"]) == ("R02_3.00.06_BUMBLE", "R02_V3.0")
    assert "RF03" in record["family"]
    ring.check_farewell()


def test_battery(halo, ring):
    (record,) = halo.run("battery", *JSON, adapter=ring.adapter).succeeded().records()
    assert (record["percent"], record["charging"]) == (87, False)
    ring.check_farewell()


@pytest.mark.parametrize("which", ["R02_341C", "D2:5C:0A:1E:34:1C", "d2:5c:0a:1e:34:1c"])
def test_a_ring_is_named_or_addressed(halo, ring, which):
    halo.run("battery", which, adapter=ring.adapter).succeeded()


def test_the_adapter_may_come_from_the_environment(halo, ring):
    halo.environment["HALO_ADAPTER"] = ring.adapter
    halo.run("battery").succeeded()


# --- stream

def test_stream_ppg(halo, ring):
    result = halo.run("stream", "--ppg", "--count", 200, *JSON, adapter=ring.adapter).succeeded()
    records = result.records()
    assert ppg_values(records) == expected_ppg(200)
    assert all((r["max"], r["min"], r["diff"]) == (12000, 10000, 2000) for r in records)
    check_times(records)
    assert "200" in result.err, "the summary"
    ring.check_farewell()
    # Started once, and stopped in the order that puts the light out.
    raw = [command for command in ring.commands() if command.startswith("a1")]
    assert raw == ["a104", "a105", "a102"]


def test_a_thousand_at_high_rate_arrive_in_order(halo, ring_with):
    ring = ring_with("--rate", 4000)
    result = halo.run("stream", "--ppg", "--count", 1000, *JSON, adapter=ring.adapter).succeeded()
    assert ppg_values(result.records()) == expected_ppg(1000)


@pytest.mark.parametrize("firmware, counts_per_g", [
    ("R02_3.00.06_BUMBLE", 512), ("RT02R_3.11.00_BUMBLE", 8192),
])
def test_stream_of_all_kinds(halo, ring_with, firmware, counts_per_g):
    ring = ring_with("--rate", 100, "--firmware", firmware)
    records = halo.run(
        "stream", "--ppg", "--accel", "--spo2", "--duration", "1s", *JSON, adapter=ring.adapter,
    ).succeeded().records()
    check_times(records)
    kinds = {kind: [r for r in records if r["kind"] == kind] for kind in ("ppg", "accel", "spo2")}
    assert all(len(samples) > 64 for samples in kinds.values())
    assert ppg_values(records) == expected_ppg(len(kinds["ppg"]))
    for number, sample in enumerate(kinds["accel"]):
        expected = ((number % 64 - 32) / 32, 0.5, -1.0)
        assert (sample["x_g"], sample["y_g"], sample["z_g"]) == pytest.approx(expected, abs=0.003)
        raw = (sample["raw_x"], sample["raw_y"], sample["raw_z"])
        assert raw == tuple(g * counts_per_g for g in expected)
    assert [sample["raw"] for sample in kinds["spo2"]][:3] == [100, 101, 102]


def test_stream_as_csv(halo, ring):
    """In a pipe, csv is the default, and the header names units; `t` is in seconds."""
    result = halo.run("stream", "--accel", "--count", 20, adapter=ring.adapter).succeeded()
    header, *lines = result.out.splitlines()
    assert len(lines) == 20
    columns = header.split(",")
    assert all(len(line.split(",")) == len(columns) for line in lines)
    assert columns == ["t", "time", "ring", "seq", "kind", "x_g", "y_g", "z_g", "raw_x", "raw_y", "raw_z", "note"]
    rows = [dict(zip(columns, line.split(","), strict=True)) for line in lines]
    assert [row["seq"] for row in rows] == [str(number) for number in range(20)]
    # Both times are of one stamp.
    times = [datetime.fromisoformat(row["time"]).timestamp() - float(row["t"]) for row in rows]
    assert max(times) - min(times) < 2e-6 and abs(times[0] - time.time()) < 60
    assert result.out.endswith("\n")


def test_stream_as_text(halo, ring):
    result = halo.run(
        "stream", "--ppg", "--count", 5, "--format", "text", adapter=ring.adapter).succeeded()
    assert str(ppg_raw(4)) in result.out


@pytest.mark.parametrize("options", [
    ["--extended", "--acl-length", 251],
    ["--address-type", "public", "--mtu", 23],
    ["--acl-packets", 1],
], ids=lambda options: " ".join(map(str, options)))
def test_stream_over_other_controllers(halo, ring_with, options):
    ring = ring_with("--rate", 500, *options)
    result = halo.run("stream", "--ppg", "--count", 50, *JSON, adapter=ring.adapter).succeeded()
    assert ppg_values(result.records()) == expected_ppg(50)


def test_stream_over_a_unix_socket(halo, ring_with, tmp_path):
    ring = ring_with("--rate", 500, transport=f"unix-server:{tmp_path}/hci")
    result = halo.run("stream", "--ppg", "--count", 10, *JSON, adapter=ring.adapter).succeeded()
    assert ppg_values(result.records()) == expected_ppg(10)


def test_the_rings_own_requests_are_answered(halo, ring_with):
    """Rings look for services on the central, offer an MTU, and ask for other connection parameters."""
    ring = ring_with("--mtu-request", "--parameter-request")
    halo.run("events", "--duration", "1s", adapter=ring.adapter).succeeded()
    asked = {event["request"]: event for event in ring.events("asked")}
    assert asked[0x02]["mtu"] >= 23
    for request in (0x04, 0x06, 0x08, 0x10):
        answer = asked[request]
        assert (answer["answer"], answer["about"]) == (0x01, request)
        assert answer["error"] in (0x0A, 0x10), "attribute not found, or unsupported group"
    assert ring.wait_for("parameter request")["result"] == 0
    # Accepted means carried out.
    assert 25 <= ring.wait_for("parameters")["interval"] <= 50


def test_a_stream_keeps_its_interval(halo, ring_with, tmp_path):
    """The ring would have 25 to 50 ms. A replay refuses it, too."""
    ring = ring_with("--rate", 100, "--parameter-request")
    recording = tmp_path / "kept.btsnoop"
    stream = ("stream", "--ppg", "--count", 50, *JSON)
    result = halo.run(*stream, "--record", recording, adapter=ring.adapter).succeeded()
    assert ring.wait_for("parameter request")["result"] == 1 and not ring.events("parameters")
    assert "link: interval 15 ms" in result.err or "link: interval 7.5 ms" in result.err
    again = halo.run(*stream, adapter=f"replay:{recording}").succeeded()
    assert again.out == result.out


# --- what goes wrong in a stream

def test_the_ring_leaves(halo, ring_with):
    ring = ring_with("--rate", 500, "--disconnect-after", 50)
    result = halo.run("stream", "--ppg", "--retry-for", "0", *JSON, adapter=ring.adapter)
    assert result.code == CONNECTION_LOST, result
    assert ppg_values(result.records()) == expected_ppg(50), "what came before is kept"
    assert "disconnect" in result.err.lower() or "connection" in result.err.lower()


def test_the_stream_goes_on_after_a_loss(halo, ring_with):
    """The link is made again, and the gap stands in the output."""
    ring = ring_with("--rate", 500, "--disconnect-after", 50)
    records = halo.run(
        "stream", "--ppg", "--count", 120, *JSON, adapter=ring.adapter).succeeded().records()
    gaps = [number for number, record in enumerate(records) if record["kind"] == "gap"]
    assert gaps == [50, 101]
    assert "connection" in records[50]["reason"]
    assert ppg_values(records) == expected_ppg(50) + expected_ppg(50) + expected_ppg(20)
    check_times(records)


def test_a_ring_is_remembered(halo, ring_with, tmp_path):
    """The second time there is no scan and no discovery; `forget` ends that."""
    ring = ring_with("--rate", 500)
    halo.environment["XDG_STATE_HOME"] = str(tmp_path)
    first = halo.run("battery", "-v", adapter=ring.adapter).succeeded()
    assert "found" in first.err and "without a scan" not in first.err
    second = halo.run("stream", "--ppg", "--count", 20, "-v", *JSON, adapter=ring.adapter).succeeded()
    assert "without a scan" in second.err and "found" not in second.err
    assert ppg_values(second.records()) == expected_ppg(20)
    (known,) = halo.run("forget", *JSON).succeeded().records()
    assert (known["name"], known["address"]) == (ring.name, ring.address)
    halo.run("forget", ring.name).succeeded()
    assert halo.run("forget", *JSON).succeeded().records() == []
    assert "found" in halo.run("battery", "-v", adapter=ring.adapter).succeeded().err


def test_the_ring_refuses(halo, ring_with):
    ring = ring_with("--charging")
    result = halo.run("stream", "--ppg", adapter=ring.adapter)
    assert result.code == PROTOCOL and "charg" in result.err.lower(), result
    ring.check_farewell()


@pytest.mark.long
def test_the_ring_sends_nothing(halo, ring_with):
    ring = ring_with("--no-data")
    result = halo.run("stream", "--ppg", "--count", 1, adapter=ring.adapter)
    assert result.code in (TIMEOUT, PROTOCOL) and "3 s" in result.err, result
    ring.check_farewell()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_stream_in_order(halo, ring, number):
    process = halo.start("stream", "--ppg", *JSON, adapter=ring.adapter)
    first = [process.stdout.readline() for _ in range(20)]
    process.send_signal(number)
    # Not `communicate`: it would leave out what is in the file object's buffer already.
    out, err = "".join(first) + process.stdout.read(), process.stderr.read()
    result = Result(process.args[1:], process.wait(timeout=30), out, err)
    if number == signal.SIGINT:
        result.succeeded()
    records = result.records()
    assert ppg_values(records) == expected_ppg(len(records))
    assert str(len(records)) in result.err, "the summary"
    ring.check_farewell()
    assert ring.commands()[-2:] == ["a105", "a102"]


@pytest.mark.parametrize("added", [1, 3])
def test_handles_that_moved_since_they_were_stored(halo, ring_with, state, added):
    """A firmware update between two commands: the second works at once, silently, and writes nothing foreign."""
    before = ring_with("--rate", 100)
    halo.run("battery", adapter=before.adapter).succeeded()
    stored = (state / "rings.json").read_text()
    after = ring_with("--rate", 100, "--added-services", added)
    result = halo.run("battery", adapter=after.adapter).succeeded()
    assert "87" in result.out and result.err == ""
    assert after.events("foreign write") == []
    assert (state / "rings.json").read_text() != stored
    halo.run("stream", "--ppg", "--count", 5, adapter=after.adapter).succeeded()
    assert after.events("foreign write") == []


def test_handles_that_are_true_are_proved_without_a_round_trip(halo, ring_with, state, tmp_path):
    snoop = tmp_path / "ring.btsnoop"
    ring = ring_with("--snoop", snoop)
    halo.run("battery", adapter=ring.adapter).succeeded()
    begin = len(halo.run("decode", snoop, "--layer", "att").succeeded().out.splitlines())
    halo.run("battery", adapter=ring.adapter).succeeded()
    lines = halo.run("decode", snoop, "--layer", "att").succeeded().out.splitlines()[begin:]
    requests = [line for line in lines if "Request" in line]
    # Bumble has a Database Hash. The MTU is exchanged behind the subscription, and nothing waits for it.
    assert len(requests) == 3 and "Database Hash" in requests[0] and "Write Request" in requests[1]
    assert "Exchange MTU" in requests[2]
