"""The controller, or the adapter, is lost while the program has it for itself (user channel): the program ends with the
true cause, or goes on when the controller is well again, and leaves the adapter as it was.
"""

import os
import time
from pathlib import Path

import pytest
from conftest import NOBODY, RINGS, rfkill, sudo
from faulty_ring import FaultyRing
from program import NO_ADAPTER, TIMEOUT
from test_power import start

CAP_NET_ADMIN = 1 << 12


@pytest.fixture
def faulty(rings, tmp_path):
    """Makes a ring whose controller fails; its adapter is up."""
    made = []

    def make(resets=1) -> FaultyRing:
        rings.remove()
        ring = FaultyRing(tmp_path / "events.jsonl", resets)
        made.append(ring)
        ring.kernel_adapter.up()
        return ring

    yield make
    for ring in made:
        ring.close()


@pytest.fixture
def radio_on():
    yield
    rfkill(False)


def check_went_on(result):
    kinds = [record["kind"] for record in result.succeeded().records()]
    # While nothing came, the stream may have been asked for again.
    assert 1 <= kinds.count("gap") <= 3 and "connected again" in result.err, result


def steps(result) -> list[str]:
    """What the ladder has reported."""
    marks = [line.partition("radio: ")[2] for line in result.err.splitlines() if "radio: " in line]
    return [mark.partition(":")[0] for mark in marks]


@pytest.mark.parametrize(
    ("resets", "climbed"), [(1, ["cancel", "disconnect", "reset"]),
                            (2, ["cancel", "disconnect", "reset", "off and on"])])
def test_a_silent_controller_is_woken(halo, faulty, resets, climbed):
    ring = faulty(resets)
    process = start(halo, f"user:{ring.adapter}", "--take", "--retry-for", "60s", "--count", 100)
    ring.go_silent()
    result = halo.wait(process, timeout=60)
    check_went_on(result)
    assert steps(result) == climbed, result
    ring.kernel_adapter.wait_until(True)


@pytest.mark.parametrize("resets", [1, 2, 3])
def test_a_silent_controller_without_a_retry(halo, faulty, resets):
    """The link can't be ended: that, too, takes its time and no more. A controller that answers only the kernel's second or
    third Reset comes up all the same (raspberrypi/linux#6462, btlejuice#54: "hci0: Connection timed out")."""
    ring = faulty(resets)
    process = start(halo, f"user:{ring.adapter}", "--take", "--retry-for", "0s")
    ring.go_silent()
    result = halo.wait(process, timeout=40)
    assert result.code == TIMEOUT and result.err.splitlines()[-1].startswith("halo-raw: "), result
    ring.kernel_adapter.wait_until(True)


def test_an_adapter_that_does_not_come_up_is_left_to_the_next_run(halo, faulty):
    """ble_monitor#1276: "the adapter never comes back up"."""
    ring = faulty(5)
    process = start(halo, f"user:{ring.adapter}", "--take", "--retry-for", "0s")
    ring.go_silent()
    halo.wait(process, timeout=40)
    assert not ring.kernel_adapter.is_up
    result = halo.run("battery", "--take", adapter=f"user:{ring.adapter}").succeeded()
    assert f"{ring.adapter} is up again" in result.err
    ring.kernel_adapter.wait_until(True)


def test_a_controller_that_breaks_down(halo, faulty):
    ring = faulty()
    process = start(halo, f"user:{ring.adapter}", "--take", "--retry-for", "40s", "--count", 100)
    ring.break_down()
    result = halo.wait(process, timeout=40)
    check_went_on(result)
    assert steps(result) == []
    ring.kernel_adapter.wait_until(True)


def test_a_controller_that_breaks_down_without_a_retry(halo, faulty):
    ring = faulty()
    process = start(halo, f"user:{ring.adapter}", "--take", "--retry-for", "0s")
    ring.break_down()
    result = halo.wait(process, timeout=10)
    assert "hardware error 0x42" in result.err and result.code != 0, result
    ring.kernel_adapter.wait_until(True)


@pytest.mark.parametrize("way", ["root", "sudo", "blocked"])
def test_it_goes_on_when_the_adapter_is_back(halo, rings, ring, radio_on, way):
    """The program has given its privileges up by then."""
    ring.kernel_adapter.down()
    options = ("--retry-for", "60s", "--count", 200)
    if way == "sudo":
        with sudo(halo):
            process = start(halo, f"user:{ring.adapter}", *options)
    else:
        process = start(halo, f"user:{ring.adapter}", *options)
    rings.remove()
    if way == "blocked":
        rfkill(True)
    time.sleep(1)
    rings.with_options(RINGS["bluetooth 4.2"])
    if way == "blocked":
        time.sleep(2)
        rfkill(False)
    check_went_on(halo.wait(process, timeout=60))


def test_it_does_not_come_back(halo, rings, ring):
    ring.kernel_adapter.down()
    process = start(halo, f"user:{ring.adapter}", "--retry-for", "3s")
    rings.remove()
    result = halo.wait(process, timeout=15)
    assert result.code == NO_ADAPTER and "was removed" in result.err.splitlines()[-1], result


def test_a_taken_adapter_that_was_pulled_out_is_up_at_the_end(halo, rings, ring):
    process = start(halo, f"user:{ring.adapter}", "--take", "--retry-for", "60s", "--count", 200)
    rings.remove()
    ring = rings.with_options(RINGS["bluetooth 4.2"])
    check_went_on(halo.wait(process, timeout=60))
    ring.kernel_adapter.wait_until(True)


def test_rfkill_does_not_reach_it(halo, ring, radio_on):
    """The kernel leaves an adapter alone that a program has."""
    ring.kernel_adapter.down()
    process = start(halo, f"user:{ring.adapter}", "--retry-for", "0s", "--count", 200)
    rfkill(True)
    halo.wait(process, timeout=20).succeeded()


# --- the helper

def helpers() -> list[Path]:
    def name(folder):
        try:
            return (folder / "comm").read_text().strip()
        except OSError:
            return ""

    return [folder for folder in Path("/proc").iterdir() if folder.name.isdigit() and name(folder) == "halo-adapter"]


@pytest.mark.parametrize("kill", [False, True])
def test_the_helper_has_one_privilege_and_ends_with_the_program(halo, ring, kill):
    ring.kernel_adapter.down()
    process = start(halo, f"user:{ring.adapter}")
    [helper] = helpers()
    status = dict(line.split(":\t", 1) for line in (helper / "status").read_text().splitlines() if ":\t" in line)
    assert status["Uid"].split() == status["Gid"].split() == [str(NOBODY)] * 4
    assert status["Groups"].strip() == ""
    assert int(status["CapPrm"], 16) == int(status["CapEff"], 16) == CAP_NET_ADMIN
    assert int(status["CapInh"], 16) == int(status["CapAmb"], 16) == 0
    assert os.listdir(helper / "fd") == ["0"]
    if kill:
        process.kill()
        process.communicate()
    else:
        process.terminate()
        halo.wait(process)
    for _ in range(100):
        if not helpers():
            break
        time.sleep(0.05)
    assert not helpers()
