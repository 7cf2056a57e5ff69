"""The programs against CoreBluetooth on adapters of the kernel, in both ways: through the kernel, and without it."""

import json
import os
from argparse import Namespace

import bumble_bird
import bumble_heart_rate
import bumble_workshop
import peripherals
import pytest
from adapters import KernelAdapter
from example_program import examples

FIRMWARE = "R02_3.00.06_BUMBLE"


@pytest.fixture(params=["", "user:"], ids=["hci0", "user:hci0"])
def way(request):
    return request.param


@pytest.fixture
def example(tmp_path):
    with examples(tmp_path / "state") as start:
        yield start


@pytest.fixture
def peripheral(way):
    """Starts a peripheral behind an adapter of its own, and gives the adapter as a program names it."""
    started = []

    def start(module, **options) -> str:
        started.append(peripherals.Peripheral(module.run, Namespace(transport="vhci", **options)))
        adapter = KernelAdapter(*started[-1].names)
        adapter.down() if way else adapter.up()
        return way + adapter.name

    yield start
    for one in started:
        one.close()


@pytest.fixture
def ring_adapter(ring, way):
    if way:
        ring.kernel_adapter.down()
    return way + ring.adapter


def test_the_bird_is_read_each_time_that_it_comes(example, peripheral):
    """It leaves, and is found by the scan that is started when it has left."""
    watcher = example("bird", peripheral(bumble_bird, visit=4))
    for _ in range(2):
        lines = watcher.until("left: ")
        visit, watcher.lines = lines, []
        assert visit[0].startswith("found Bird")
        assert visit[1] == "Möwe: weiß, alpha 0.75"


def strap_that_leaves(peripheral, after=None) -> str:
    return peripheral(bumble_heart_rate, more=False, leave_after=after, for_good=False)


def test_a_heart_rate_is_received(example, peripheral):
    example("heart-rate-central", strap_that_leaves(peripheral)).until("bpm")


def test_a_program_of_the_library_goes_on_when_its_link_was_lost(example, peripheral):
    """The strap ends the link after two values."""
    adapter = strap_that_leaves(peripheral, after=2)
    lines = example("heart-rate", adapter, adapter).until("heart rates")
    assert lines == ["battery 81", "heart rates [64, 65, 64, 65, 300]"]


def test_a_ring_is_chosen_once_and_found_again(example, ring_adapter):
    first = example("ring-session", ring_adapter)
    assert first.until("battery")[:3] == ["saved Smart ring", "connecting to R02_341C", "connected"]
    first.close()
    second = example("ring-session", ring_adapter)
    assert second.until("battery")[:2] == ["connecting to R02_341C", "connected"]
    second.close()


def test_everything_of_a_device_is_read(example, ring_adapter):
    explorer = example("explore", ring_adapter, "R02_")
    assert explorer.exit_code() == 0
    text = "\n".join(explorer.lines)
    assert "service " in text and FIRMWARE in text


@pytest.fixture
def workshop(way):
    """Devices and a phone of another stack behind an adapter, and that adapter."""
    devices = peripherals.Peripheral(bumble_workshop.run, Namespace(transport="vhci"), takes_commands=True)
    adapter = KernelAdapter(*devices.names)
    adapter.down() if way else adapter.up()
    yield devices, way + adapter.name
    devices.close()


def test_a_file_is_sent_over_a_link_with_the_mtu_that_is_required(example, workshop, tmp_path):
    path = tmp_path / "firmware.bin"
    path.write_bytes(os.urandom(5000))
    upload = example("upload", "", workshop[1], path)
    assert upload.exit_code() == 0
    assert upload.lines[-2] == "100 %" and upload.lines[-1].startswith("5000 bytes, ")


def test_an_inventory_says_what_devices_are(example, workshop):
    inventory = example("inventory", "", workshop[1])
    assert inventory.exit_code() == 0
    assert "D2:5C:0A:1E:77:01, Workshop, Bumble, 1.2.3" in inventory.lines


def test_a_proxy_is_a_client_and_a_server_on_one_adapter(example, workshop):
    devices, adapter = workshop
    proxy = example("proxy", "", adapter, "Strap B")
    assert proxy.until("services of")[0].startswith("2 services of D2:5C:0A:1E:77:0B")
    print("use Proxy", file=devices.stdin, flush=True)
    seen = json.loads(devices.stdout.readline())
    first = seen["rates"][0]
    assert seen["battery"] == "51" and seen["control"] == "07" and seen["refusal"] == 0x80
    assert seen["rates"] == [first, first + 1, first + 2]
