"""Values of the SIG in words, several subscriptions, gaps; what a scan shows; which kind of write is used."""

import csv
import json
import signal
import time
from contextlib import contextmanager

import bumble_ring as peer
import pytest
from forked import adapter_at, start_peer
from program import CONNECTION_LOST, NOT_FOUND, PROTOCOL, USAGE

JSON = ("--format", "jsonl")
STRAP = "Halo Strap"


def wait_until(met):
    """Whether it is met within some seconds."""
    end = time.monotonic() + 10
    while not met() and time.monotonic() < end:
        time.sleep(0.05)
    return met()


@contextmanager
def strap(*options):
    process = start_peer("bumble_heart_rate.py", "tcp-server:127.0.0.1:0", "--more", *options)
    yield adapter_at(*process.places())
    process.send_signal(signal.SIGTERM)
    process.wait(timeout=30)


@pytest.fixture(scope="module")
def one_strap():
    """For all tests that read."""
    with strap() as adapter:
        yield adapter


@pytest.mark.parametrize("uuid, value, text, decoded, name", [
    ("2A19", "51", None, "81 percent", "Battery Level"),
    ("2A29", b"Bumble".hex(), "Bumble", None, "Manufacturer Name String"),
    ("2A38", "01", None, "chest", "Body Sensor Location"),
    ("2A50", "01590034120100", None, "Nordic", "PnP ID"),
    ("2A00", STRAP.encode().hex(), STRAP, None, "Device Name"),
])
def test_a_value_is_read_and_decoded(halo, one_strap, uuid, value, text, decoded, name):
    (record,) = halo.run("read", STRAP, "--uuid", uuid, *JSON, adapter=one_strap).succeeded().records()
    shown = halo.run("read", STRAP, "--uuid", uuid, "--format", "text", adapter=one_strap).succeeded().out
    table = halo.run("read", STRAP, "--uuid", uuid, "--format", "csv", adapter=one_strap).succeeded().out
    assert record["value"] == value and record["text"] == text and record["name"] == name
    assert record["decoded"] == decoded or decoded == "Nordic" and decoded in record["decoded"]
    assert (record["decoded"] or f'"{text}"') in shown
    (row,) = csv.DictReader(table.splitlines())
    assert row["value"] == value and row["text"] == (text or "") and row["decoded"] == (record["decoded"] or "")


def test_the_table_has_values_in_words(halo, one_strap):
    shown = halo.run("inspect", STRAP, "--format", "text", adapter=one_strap).succeeded().out
    records = halo.run("inspect", STRAP, *JSON, adapter=one_strap).succeeded().records()
    assert "2A19 Battery Level  [read]  = 81 percent" in shown
    assert [record["decoded"] for record in records if record["uuid"] == "2A19"] == ["81 percent"]


@pytest.mark.parametrize("choice", [["--uuid", "2A37,2A6E"], ["--uuid", "2A37", "--uuid", "2a6e"]])
def test_several_subscriptions(halo, choice):
    with strap() as adapter:
        result = halo.run("subscribe", STRAP, *choice, "--count", 6, *JSON, adapter=adapter).succeeded()
    records = result.records()
    rates = [record for record in records if record["name"] == "Heart Rate Measurement"]
    degrees = [record for record in records if record["name"] == "Temperature"]
    assert [record["uuid"] for record in rates] == ["2A37"] * 3 and len(degrees) == 3
    assert [record["seq"] for record in rates] == [record["seq"] for record in degrees] == [0, 1, 2]
    assert [record["decoded"] for record in degrees] == ["21.50 °C", "21.51 °C", "21.52 °C"]
    assert "300" in rates[2]["decoded"] and rates[2]["value"] == "012c01"


def test_each_line_of_text_names_its_characteristic(halo):
    with strap() as adapter:
        out = halo.run(
            "subscribe", STRAP, "--uuid", "2A37,2A6E", "--count", 2, "--format", "text", adapter=adapter).succeeded().out
    assert "  Heart Rate Measurement  00 40  " in out and "  Temperature  66 08  21.50 °C" in out


def test_a_gap_is_marked(halo):
    with strap("--leave-after", "2") as adapter:
        records = halo.run(
            "subscribe", STRAP, "--uuid", "2A37", "--count", 4, *JSON, adapter=adapter).succeeded().records()
    assert [record["kind"] for record in records] == ["value", "value", "gap", "value", "value"]
    gap = records[2]
    assert gap["seq"] == 0 and "connection lost" in gap["note"] and gap["value"] is None
    assert [record["seq"] for record in records if record["kind"] == "value"] == [0, 1, 2, 3]


def test_a_link_that_stays_lost_is_marked_too(halo):
    with strap("--leave-after", "1") as adapter:
        result = halo.run("subscribe", STRAP, "--uuid", "2A37", "--retry-for", "0", *JSON, adapter=adapter)
    assert result.code == CONNECTION_LOST and [record["kind"] for record in result.records()] == ["value", "gap"]


def test_a_device_that_is_not_heard_again_is_not_found(halo):
    """The link lasts for longer than an advertisement counts as recent, which is 10 s."""
    with strap("--leave-after", "22", "--for-good") as adapter:
        result = halo.run("subscribe", STRAP, "--uuid", "2A37", "--retry-for", "1s", *JSON, adapter=adapter)
    kinds = [record["kind"] for record in result.records()]
    assert result.code == NOT_FOUND and kinds == ["value"] * 22 + ["gap"]


@pytest.mark.parametrize("arguments, message", [
    ([], "give --uuid UUID or --handle H"),
    (["--uuid", "2A37,"], "--uuid wants a UUID"),
    (["--uuid", "2A37", "--handle", "0"], "--handle wants a handle"),
])
def test_a_wrong_choice(halo, arguments, message):
    halo.run("subscribe", *arguments, adapter="virtual").failed(USAGE, saying=message)


def test_what_is_missing_is_named(halo, one_strap):
    halo.run("subscribe", STRAP, "--uuid", "2A37,FE42,FE43", adapter=one_strap).failed(
        PROTOCOL, saying="no characteristic FE42, no characteristic FE43")


def test_the_kind_of_write_follows_the_properties(halo, ring):
    def write(uuid, *options):
        return halo.run("write", ring.address, "--uuid", uuid, "C0FFEE", *options, "--format", "text", adapter=ring.adapter)

    assert "without response" in write(peer.COMMAND_VALUE).succeeded().out
    assert ring.wait_for("command write")["value"] == "c0ffee"
    assert "without response" not in write(peer.LONG_VALUE).succeeded().out
    write("2A26").failed(PROTOCOL, saying="2A26 (Firmware Revision String) can't be written: its properties are read")
    write(peer.LONG_VALUE, "--without-response").failed(PROTOCOL, saying="can't be written without response")


@pytest.mark.parametrize("form", ["csv", "text"])
def test_a_scan_prints_no_row_twice(halo, tmp_path, form):
    """Of a device whose scan response is empty: a new payload that says nothing. The times are the first two columns."""
    table, socket = tmp_path / "table.jsonl", tmp_path / "air"
    table.write_text('{"handle":16,"kind":"service","uuid":"181A","end":16}\n')
    halo.start("serve", table, "--listen", f"unix:{socket}")
    assert wait_until(socket.exists)

    def rows(*options):
        result = halo.run("scan", "--duration", "1s", "--format", form, *options, adapter=f"unix:{socket}").succeeded()
        lines = result.out.splitlines()
        return [line.split(",", 2)[2] for line in lines[1:]] if form == "csv" else lines

    assert len(rows()) == 1
    repeated = rows("--duplicates")
    assert len(repeated) > 2 and len(set(repeated)) == 1


def test_a_scan_shows_all_data(halo, one_strap):
    out = halo.run("scan", "--duration", "3s", "--name", "strap", *JSON, adapter=one_strap).succeeded().out
    text = halo.run("scan", "--duration", "3s", "--format", "text", adapter=one_strap).succeeded().out
    records = [json.loads(line) for line in out.splitlines()]
    assert records[0]["t"] == 0 and all("T" in record["time"] for record in records)
    last = records[-1]
    assert last["company"] == "Apple, Inc." and last["manufacturer_data"] == ["004c:0215aa"]
    assert last["service_data"] == ["180F:51"] and last["services"] == ["180D", "180F"]
    assert last["tx_power_dBm"] == -4 and last["connectable"] is True
    assert "Heart Rate" in last["appearance"]
    assert "Apple, Inc.: 0215aa  180F: 51" in text and "TX -4 dBm" in text
