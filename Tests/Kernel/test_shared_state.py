"""States of an adapter that other programs change while halo-raw uses it, and that it leaves to them (docs/links.md)."""

import json
import signal

import management
import pytest
from conftest import wait_until
from program import CONNECTION_LOST

pytestmark = [pytest.mark.usefixtures("no_kernel_fault"), pytest.mark.both_kernels]
JSON = ("--format", "jsonl")
LE = b"\x06"


def lines_until(process, is_last) -> list[dict]:
    """The records of a running program up to one."""
    records = []
    for line in process.stdout:
        records.append(json.loads(line))
        if is_last(records):
            return records
    pytest.fail(f"it has ended: {process.stderr.read()}")


@pytest.mark.verdict
def test_a_discovery_of_another_program_ends_during_a_scan(halo, ring):
    """bluetoothd's for a desktop, for Home Assistant, for each program with bleak: the kernel switches the scan off at its end
    (bluez/bluez 1345: every ten seconds)."""
    adapter = ring.kernel_adapter
    management.start_discovery(adapter, LE)
    scan = halo.start("scan", "--duplicates", "--duration", "0", *JSON, adapter=adapter.name)
    try:
        lines_until(scan, lambda records: len(records) == 10)
        management.stop_discovery(adapter, LE)
        last = lines_until(scan, lambda records: True)[-1]["t"]
        records = lines_until(scan, lambda records: records[-1]["t"] > last + 3)
    finally:
        scan.kill()
        scan.wait()
    times = [last] + [record["t"] for record in records]
    # The ring advertises every 100 ms.
    assert max(after - before for before, after in zip(times, times[1:])) < 1, times


def test_another_program_resets_the_controller_during_a_scan(halo, ring):
    """HCIDEVRESET ("hciconfig hci0 reset"): the kernel does not set the event masks again, which leave out all of LE. Nobody
    could scan or connect until the adapter is switched off and on."""
    adapter = ring.kernel_adapter
    scan = halo.start("scan", "--duplicates", "--duration", "0", *JSON, adapter=adapter.name)
    try:
        last = lines_until(scan, lambda records: len(records) == 10)[-1]["t"]
        adapter.reset()
        times = [record["t"] for record in lines_until(scan, lambda records: records[-1]["t"] > last + 3)]
    finally:
        scan.kill()
        scan.wait()
    assert max(after - before for before, after in zip([last, *times], times)) < 1, times
    result = halo.run("battery", *JSON, adapter=adapter.name).succeeded()
    assert result.records()[0]["percent"] == 87


@pytest.mark.parametrize("is_killed", [False, True], ids=["in order", "killed"])
def test_other_programs_discover_after_a_scan(halo, ring, is_killed):
    """Since Linux 6.10, the kernel takes an active scan for a discovery of its own, which did not end with it: no program could
    discover any more, or be connected. bluetoothd has discovered before, so that this one has a type."""
    adapter = ring.kernel_adapter
    management.start_discovery(adapter, LE)
    management.stop_discovery(adapter, LE)
    scan = halo.start("scan", "--duplicates", "--duration", "0", *JSON, adapter=adapter.name)
    lines_until(scan, lambda records: len(records) == 3)
    scan.send_signal(signal.SIGKILL if is_killed else signal.SIGINT)
    scan.wait()
    wait_until(lambda: management.can_discover(adapter, LE), "a discovery that is accepted")


@pytest.fixture
def own_advertising(ring):
    """Another program has switched the adapter's own advertising on."""
    adapter = ring.kernel_adapter
    management.set_advertising(adapter, True)
    yield adapter
    management.set_advertising(adapter, False)


def test_an_adapter_that_advertises_for_itself(halo, own_advertising):
    """Without sets, the kernel takes another advertisement, and sends the adapter's own."""
    adapter = own_advertising
    advertise = halo.start("advertise", "--name", "Pi", adapter=adapter.name)
    try:
        line = advertise.stderr.readline()
        assert "another program has switched the adapter's own advertising on" in line, line
        management.set_advertising(adapter, False)
        assert advertise.stderr.readline().startswith("advertising at ")
        management.set_advertising(adapter, True)
        assert "another program has switched" in advertise.stderr.readline()
    finally:
        advertise.terminate()
        advertise.wait()
    assert management.advertisements(adapter) == []


@pytest.mark.parametrize("is_bondable", [False, True], ids=["alone", "bondable"])
def test_a_device_that_wants_to_pair(halo, ring_with, is_bondable):
    """It does nothing until it is paired, and ends the link (stoprocent/noble#142). The kernel answers it, and does not say so: it
    refuses, or, where another program has made the adapter bondable, as bluetoothd does, begins to pair."""
    ring = ring_with("--wants-to-pair")
    management.set_bondable(ring.kernel_adapter, is_bondable)
    result = halo.run("battery", "--wait", "5s", adapter=ring.adapter)
    management.set_bondable(ring.kernel_adapter, False)
    assert result.code == CONNECTION_LOST, result
    assert len(ring.events("connected")) > 1
    assert result.err.count("add --bond") == 1, result
