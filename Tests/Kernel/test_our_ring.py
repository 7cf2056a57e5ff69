"""Our ring behind an adapter of the kernel, for us and for strangers: simulate --vhci. And on one: simulate --adapter."""

import signal

import bleak_battery
import peripherals
import pytest
from conftest import sudo
from shared_air import SharedAir
from simulation import simulation
from test_privileges import CAP_NET_RAW, check_least

JSON = ("--format", "jsonl")


@pytest.fixture(params=["bluetooth5=true", "bluetooth5=false"])
def simulated(halo, rings, request):
    rings.remove()
    with simulation(halo, f"rate=200,seed=7,{request.param}") as made:
        yield made


@pytest.mark.parametrize("way", ["hci0", "user:hci0"])
def test_our_program_and_our_ring(halo, simulated, way):
    if way == "user:hci0":
        simulated.kernel_adapter.down()
    adapter = way.removesuffix("hci0") + simulated.adapter
    found = halo.run("scan", "--duration", "700ms", *JSON, adapter=adapter).succeeded().records()
    assert simulated.ring in {record["name"] for record in found}
    records = halo.run("stream", "--ppg", "--count", 500, *JSON, adapter=adapter).succeeded().records()
    assert len(records) == 500 and {record["kind"] for record in records} == {"ppg"}
    (battery,) = halo.run("battery", *JSON, adapter=adapter).succeeded().records()
    assert 0 <= battery["percent"] <= 100


@pytest.mark.both_kernels
@pytest.mark.parametrize("way", ["hci0", "user:hci0"])
def test_several_rings_over_one_adapter(halo, rings, way):
    """One is lost after a second and connected again; one does not exist. The others go on."""
    rings.remove()
    with simulation(halo, "rings=3,rate=20,ring=2,drop-after=20") as made:
        if way == "user:hci0":
            made.kernel_adapter.down()
        adapter = way.removesuffix("hci0") + made.adapter
        result = halo.run(
            "stream", "R02_BEEF", "R02_BEF0", "R02_BEF1", "R02_NONE", "--ppg", "--count", 60, "--wait", "15s", *JSON,
            adapter=adapter, timeout=60)
        assert result.code == 79, result
        records = result.records()
        for last in ("EF", "F0", "F1"):
            of_ring = [record for record in records if record["ring"] == f"30:35:38:41:BE:{last}"]
            assert [record["seq"] for record in of_ring if record["kind"] == "ppg"] == list(range(60))
            gaps = [record for record in of_ring if record["kind"] == "gap"]
            assert len(gaps) >= 2 if last == "F0" else gaps == []
        assert "R02_NONE: no device named R02_NONE was found" in result.err
        # No link is left behind: the adapter can be used again.
        result = halo.run("stream", "--all", "--wait", "5s", "--ppg", "--count", 5, *JSON, adapter=adapter, timeout=60)
        assert {record["ring"] for record in result.succeeded().records()} == {
            f"30:35:38:41:BE:{last}" for last in ("EF", "F0", "F1")}


def test_a_stranger_reads_its_battery(halo, simulated, bluetoothd):
    """bleak, by way of bluetoothd."""
    found = peripherals.result_of(bleak_battery.read, simulated.ring)
    assert 0 <= found["percent"] <= 100


# --- on an adapter


@pytest.fixture
def air(rings):
    rings.remove()
    made = SharedAir()
    yield made
    made.close()


ways = pytest.mark.parametrize("way", ["", "user:"], ids=["hci0", "user:hci0"])


def on_air(halo, adapter, *options):
    process = halo.start("simulate", *options, "--options", "rate=50,seed=7", adapter=adapter)
    line = process.stderr.readline()
    assert ": advertises at " in line, line + process.stderr.read()
    return process


def ended(halo, process):
    process.send_signal(signal.SIGTERM)
    return halo.wait(process).succeeded()


@ways
def test_a_phone_uses_the_ring_on_an_adapter(halo, air, way):
    """Bumble's host, which has a server of its own; then our own program, on another adapter of this machine."""
    ours, theirs = air.adapters
    ours.up()
    theirs.up()
    if way:
        ours.down()
    process = on_air(halo, way + ours.name)
    for mtu in (185, 517):
        seen = air.ask("ring", 30, mtu)
        assert seen["name"] == "R02_1001" and seen["address"] == "00:1B:DC:0A:10:01"
        assert len(seen["ppg"]) == 30 and seen["invalid"] == 0 and seen["battery"] == 87
    (battery,) = halo.run("battery", *JSON, adapter=theirs.name).succeeded().records()
    assert battery["percent"] == 87
    records = halo.run("stream", "--ppg", "--count", 50, *JSON, adapter=theirs.name).succeeded().records()
    assert [record["seq"] for record in records] == list(range(50))
    err = ended(halo, process).err
    assert err.count("connected by F0:F1:F2:F3:F4:F6") == 2 and err.count("connected by 00:1B:DC:0A:10:02") == 2
    assert air.ask("advertisements") == [[], []]


@ways
def test_its_end_ends_the_link_of_its_central(halo, air, way):
    ours, theirs = air.adapters
    ours.up()
    theirs.up()
    if way:
        ours.down()
    process = on_air(halo, way + ours.name)
    stream = halo.start("stream", "--ppg", "--retry-for", "0", *JSON, adapter=theirs.name)
    assert stream.stdout.readline()
    ended(halo, process)
    assert "connection" in halo.wait(stream).err


def test_an_address_of_its_own_on_an_adapter(halo, air):
    ours = air.adapters[0]
    # The kernel sets it up first.
    ours.up()
    ours.down()
    process = on_air(halo, "user:" + ours.name, "--address", "C0:11:22:33:44:55")
    seen = air.ask("ring", 10, 247)
    assert (seen["address"], seen["address_type"], seen["name"]) == ("C0:11:22:33:44:55", 1, "R02_4455")
    ended(halo, process)


def test_an_adapter_that_is_switched_off_is_waited_for(halo, air):
    ours = air.adapters[0]
    ours.up()
    process = on_air(halo, ours.name)
    assert air.ask("ring", 10, 247)["invalid"] == 0
    ours.down()
    assert any("waiting for it" in line for line in process.stderr)
    ours.up()
    assert air.ask("ring", 10, 247)["invalid"] == 0
    assert "is back" in ended(halo, process).err


def test_by_way_of_sudo(halo, air):
    """The right to advertise is that of the start, and is given up."""
    air.adapters[0].up()
    with sudo(halo):
        process = on_air(halo, air.adapters[0].name)
    check_least(process, CAP_NET_RAW)
    assert air.ask("ring", 10, 247)["invalid"] == 0
    ended(halo, process)
    assert air.ask("advertisements") == [[], []]
