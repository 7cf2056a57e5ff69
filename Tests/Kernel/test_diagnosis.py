"""adapters and doctor, and bluetoothd beside a stream."""

import subprocess

import adapters
import pytest
from adapters import KernelAdapter
from bumble_ring import ppg_raw
from conftest import RINGS, wait_until
from program import NO_ADAPTER, NOT_FOUND, OK

JSON = ("--format", "jsonl")


def listed(halo, name):
    records = halo.run("adapters", *JSON).succeeded().records()
    return [record for record in records if record["adapter"] == name]


def test_adapters(halo, ring):
    adapter = ring.kernel_adapter
    (record,) = listed(halo, adapter.name)
    assert (record["address"], record["up"], record["le"]) == ("00:1B:DC:0A:10:01", True, True)
    adapter.down()
    (record,) = listed(halo, adapter.name)
    assert not record["up"] and record["features"] is None


@pytest.mark.parametrize("kind", ["bluetooth 4.2", "bluetooth 5, ACL 27"])
def test_what_an_adapter_can_do(halo, ring_with, kind):
    ring = ring_with(*RINGS[kind])
    (record,) = listed(halo, ring.adapter)
    bluetooth5 = {"LE 2M PHY", "LE Coded PHY", "LE Extended Advertising"}
    assert {"LE Encryption", "LE Ping", "LE Data Packet Length Extension"} < set(record["features"])
    assert set(record["features"]) & bluetooth5 == (bluetooth5 if "5" in kind.split(",")[0] else set())
    assert "\n      LE features: LE Encryption, " in halo.run("adapters", "--format", "text").succeeded().out


def test_an_adapter_is_switched(halo, ring):
    adapter = ring.kernel_adapter
    adapter.down()
    halo.run("adapters", "up", adapter.name).succeeded()
    assert adapter.is_up
    halo.run("adapters", "down", adapter.name).succeeded()
    assert not adapter.is_up


def test_the_doctor_finds_nothing(halo, ring):
    assert ring.adapter in halo.run("doctor").succeeded().out


def test_the_doctor_and_an_adapter_that_is_down(halo, ring):
    ring.kernel_adapter.down()
    result = halo.run("doctor")
    assert result.code != OK, result
    assert f"adapters up {ring.adapter}" in result.out


@pytest.fixture
def mute_adapter(rings):
    """An adapter whose controller answers nothing. The kernel gives up setting it up after ten seconds."""
    rings.remove()
    before = adapters.names()
    with open("/dev/vhci", "r+b", buffering=0) as controller:
        controller.write(b"\xff\x00")  # make a controller
        (name,) = adapters.names() - before
        adapter = KernelAdapter(name)
        yield adapter
    wait_until(lambda: not adapter.exists, "end of the adapter")


def test_an_adapter_that_could_not_be_set_up(halo, mute_adapter):
    """It is neither up nor down nor missing, and every command says so, and what helps."""
    name = mute_adapter.name
    wait_until(lambda: mute_adapter.flags == 0, "end of the set-up")
    (record,) = listed(halo, name)
    assert not record["up"] and record["state"].startswith("failed")
    found = halo.run("doctor")
    assert found.code == NO_ADAPTER and name in found.out and "unplug it" in found.out, found
    for arguments in (
        ("adapters", "up", name), ("scan", "--adapter", name), ("scan", "--adapter", f"user:{name}"),
        ("scan", "--adapter", f"user:{name}", "--take"), ("battery",),
    ):
        result = halo.run(*arguments)
        assert result.code == NO_ADAPTER, result
        assert "did not answer when the kernel set it up; unplug it" in result.err, result


def test_an_adapter_that_is_being_set_up(halo, mute_adapter):
    result = halo.run("scan", "--adapter", f"user:{mute_adapter.name}")
    assert result.code == NO_ADAPTER and "the kernel is still setting it up" in result.err, result


def test_the_doctor_without_an_adapter(halo, rings):
    rings.remove()
    result = halo.run("doctor")
    assert result.code != OK and "adapter" in result.out.lower(), result


def test_bluetoothd_is_no_obstacle(halo, ring, bluetoothd):
    result = halo.run("stream", "--ppg", "--count", 200, *JSON, adapter=ring.adapter).succeeded()
    assert [record["raw"] for record in result.records()] == [ppg_raw(number) for number in range(200)]
    assert bluetoothd.poll() is None
    assert "bluetoothd" in halo.run("doctor").succeeded().out


@pytest.mark.both_kernels
def test_the_doctor_and_a_ring_that_somebody_holds(halo, ring, tmp_path, monkeypatch):
    """gatttool holds it. The ring was used before, and so need not be named."""
    monkeypatch.setitem(halo.environment, "XDG_STATE_HOME", str(tmp_path))
    assert ring.name not in halo.run("doctor").succeeded().out
    halo.run("battery", adapter=ring.adapter).succeeded()
    assert ring.becomes_free()
    assert f"{ring.name} is advertising" in halo.run("doctor").succeeded().out
    phone = subprocess.Popen(
        ["gatttool", "-i", ring.adapter, "-b", ring.address, "-t", "random", "--char-read", "-a", "3", "--listen"],
        stdout=subprocess.DEVNULL)
    try:
        # That of `battery` is the first.
        ring.wait_until(lambda: len(ring.events("connected")) == 2, "connection of the phone")
        result = halo.run("doctor", "--wait", "2s")
    finally:
        phone.kill()
        phone.wait()
    assert result.code == NOT_FOUND, result
    assert f"another program of this machine is connected to {ring.name}" in result.out
