"""What is requested of a link after connecting: PHY, data length; over H4."""

import time

import pytest
from program import USAGE

pytestmark = pytest.mark.verdict

# Bluetooth 5 on both sides, and room for long packets in the controller.
MODERN = ("--extended", "--acl-length", 251)


def link_lines(result) -> list[str]:
    return [line for line in result.err.splitlines() if line.startswith("link: ")]


def test_the_faster_phy_and_long_packets_by_default(halo, ring_with):
    ring = ring_with(*MODERN, "--rate", 100)
    result = halo.run(
        "stream", ring.address, "--ppg", "--count", 20, "-v", adapter=ring.adapter).succeeded()
    assert "link: data length 251 bytes" in link_lines(result)
    assert "link: PHY LE 2M" in link_lines(result)
    assert result.err.splitlines()[-1].endswith("link: PHY LE 2M, data length 251 bytes")


def test_what_the_peer_lacks_is_not_requested(halo, ring_with):
    ring = ring_with("--rate", 100)
    result = halo.run(
        "stream", ring.address, "--ppg", "--count", 5, "-v", adapter=ring.adapter).succeeded()
    assert "link: the controller does not support LE 2M PHY" in link_lines(result)
    assert "link: PHY LE 1M, data length " in result.err.splitlines()[-1]


@pytest.mark.parametrize(("options", "expected"), [
    (("--phy", "coded"), "PHY LE Coded, data length 251 bytes"),
    (("--phy", "2m", "--data-length", "100"), "PHY LE 2M, data length 100 bytes"),
    (("--phy", "none", "--data-length", "none"), "PHY LE 1M, data length 27 bytes"),
    (("--phy", "1m"), "PHY LE 1M, data length 251 bytes"),
])
def test_a_choice(halo, ring_with, options, expected):
    ring = ring_with(*MODERN, "--rate", 100)
    result = halo.run(
        "stream", ring.address, "--ppg", "--count", 5, *options, adapter=ring.adapter).succeeded()
    assert result.err.splitlines()[-1].endswith(expected)


def test_a_choice_that_cannot_be_had_is_reported(halo, ring):
    result = halo.run("battery", ring.address, "--phy", "coded", adapter=ring.adapter).succeeded()
    assert result.err.splitlines() == ["halo-raw: link: the controller does not support LE Coded PHY"]


def test_a_controller_that_ignores_the_request_stays_in_use(halo, ring_with):
    ring = ring_with(*MODERN, "--ignore-set-phy")
    started = time.monotonic()
    result = halo.run("battery", ring.address, adapter=ring.adapter).succeeded()
    assert result.err == "" and "87" in result.out
    assert time.monotonic() - started < 5
    ring.check_farewell()


@pytest.mark.parametrize("option", [("--phy", "3m"), ("--data-length", "26"), ("--data-length", "252")])
def test_a_choice_that_does_not_exist(halo, option):
    halo.run("battery", *option, adapter="virtual").failed(USAGE, saying=option[0])


def test_the_kernel_chooses_the_data_length(halo):
    halo.run("battery", "--data-length", "100", adapter="hci0").failed(USAGE, saying="the kernel sets")


def test_a_replay_requests_what_the_recorded_host_did(halo, ring_with, tmp_path):
    ring = ring_with(*MODERN)
    recording = tmp_path / "session.btsnoop"
    chosen = halo.run(
        "battery", ring.address, "--phy", "coded", "--record", recording, adapter=ring.adapter).succeeded()
    replayed = halo.run("battery", ring.address, adapter=f"replay:{recording}").succeeded()
    assert replayed.out == chosen.out
