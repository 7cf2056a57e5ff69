"""Private addresses: of a device on Bumble, and of ours against Bumble's host, in both roles.

The situations are those of espressif/esp-nimble 8 and 10 (a bonded device is a stranger at its next address), apache/mynewt-nimble
323 (two sides with private addresses do not agree on a key), zephyrproject-rtos/zephyr 18150 (an address that stays) and
bluez/bluetooth-next 601 (a controller that refuses another address). Bumble's radio answers as a real controller does.
"""

import json
import subprocess

import pytest
from program import PROTOCOL, USAGE
from served_strap import end_strap, start_strap
from shared_radio import SharedRadio
from test_pairing import ADDRESS, JSON, lock_with, pair  # noqa: F401


def is_private(address: str) -> bool:
    return int(address[:2], 16) >> 6 == 1


@pytest.mark.verdict
def test_a_bonded_device_is_found_at_each_address(halo, lock_with, pair):  # noqa: F811
    lock = lock_with("--privacy")
    [paired] = pair(lock).succeeded().records()
    for _ in range(3):
        [value] = halo.run("read", ADDRESS, "--uuid", "2A1C", *JSON, adapter=lock.adapter).succeeded().records()
        assert value["value"] == "2a"
    own = [link["own"] for link in lock.of("connected")]
    assert len(set(own)) == 4 and all(map(is_private, own))
    assert len(lock.of("paired")) == 1
    [bond] = halo.run("bonds", *JSON).succeeded().records()
    assert bond["address"] == ADDRESS and bond["private_addresses"]


@pytest.mark.verdict
@pytest.mark.parametrize("options", [[], ["--privacy"]], ids=["open lock", "private lock"])
def test_a_device_knows_us_at_each_address(halo, lock_with, pair, options):  # noqa: F811
    lock = lock_with(*options)
    pair(lock, "--privacy").succeeded()
    for _ in range(3):
        halo.run("read", ADDRESS, "--uuid", "2A1C", "--privacy", adapter=lock.adapter).succeeded()
    first, *later = lock.of("connected")
    # The first link is that of a stranger.
    assert is_private(first["peer"])
    [identity] = {link["peer"] for link in later}
    assert not is_private(identity)
    assert len({link["at"] for link in later}) == 3 and all(is_private(link["at"]) for link in later)
    assert len(lock.of("paired")) == 1 and len(lock.of("encryption")) == 4


def test_a_bond_from_before_is_of_no_use_at_a_private_address(halo, lock_with, pair):  # noqa: F811
    lock = lock_with()
    pair(lock).succeeded()
    halo.run("read", "Lock", "--uuid", "2A1C", "--privacy", adapter=lock.adapter).failed(
        PROTOCOL, saying="does not know this machine at its private address")
    halo.run("read", "Lock", "--uuid", "2A1C", adapter=lock.adapter).succeeded()


@pytest.mark.verdict
@pytest.mark.parametrize("options", [[], ["--extended"]], ids=["Bluetooth 4", "Bluetooth 5"])
def test_a_bonded_phone_knows_our_strap_at_each_address(halo, state, options):
    radio = SharedRadio(*options, listening=["tcp-server:127.0.0.1:0"])

    try:
        first = start_strap(halo, radio, "--privacy")
        bonded = radio.ask("bond-strap")
        assert bonded["encrypted"] and is_private(bonded["address"])
        end_strap(halo, first)
        second = start_strap(halo, radio, "--privacy")
        seen = [radio.ask("bonded-strap", 2) for _ in range(2)]
        end_strap(halo, second)
        assert all(each["encrypted"] and len(each["values"]) == 2 for each in seen)
        assert bonded["address"] not in {each["address"] for each in seen}
        assert all(is_private(each["address"]) for each in seen)
        assert len({each["peer"] for each in seen}) == 1 and not is_private(seen[0]["peer"])
    finally:
        radio.close()


@pytest.mark.parametrize("adapter", ["hci0", "hci7"])
def test_the_kernel_owns_the_address_of_its_adapters(halo, adapter):
    result = halo.run("scan", "--privacy", adapter=adapter)
    assert result.code and "the kernel chooses the address of " + adapter in result.err
    assert "Privacy = device" in result.err and "user:" + adapter in result.err


def test_a_recording_is_replayed_with_its_addresses(halo, tmp_path):
    record = tmp_path / "private.btsnoop"
    first = halo.run(
        "battery", "R02_BEEF", "--privacy", "--record", record, *JSON, adapter="virtual:fast").succeeded()
    second = halo.run("battery", "R02_BEEF", *JSON, adapter=f"replay:{record}").succeeded()
    assert first.records() == second.records()
    halo.run("battery", "--privacy", adapter=f"replay:{record}").failed(USAGE, saying="--privacy")


def test_a_session_with_privacy_works_as_others(halo):
    process = halo.start("connect", "R02_BEEF", *JSON, "--privacy", adapter="virtual", stdin=subprocess.PIPE)
    out, err = process.communicate("read 2A00\n", timeout=30)
    assert process.returncode == 0, err
    assert [json.loads(line)["kind"] for line in out.splitlines()] == ["read"]
