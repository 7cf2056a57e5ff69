"""simulate --vhci: our ring behind an adapter of the kernel, for us and for strangers."""

import bleak_battery
import forked
import pytest
from simulation import simulation

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
    found = forked.result_of(bleak_battery.read, simulated.ring)
    assert 0 <= found["percent"] <= 100
