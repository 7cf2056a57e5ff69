"""The adapter goes down, is blocked or pulled out, in mid-stream and while a link is made: the program ends or goes on,
with the true cause, and without the kernel's fault (docs/08-the-kernel.md).
"""

import time

import pytest
from conftest import RINGS, rfkill
from program import NO_ADAPTER

pytestmark = [pytest.mark.usefixtures("no_kernel_fault"), pytest.mark.both_kernels]
JSON = ("--format", "jsonl")
SAYS = {"down": "is down", "switched off": "is down", "blocked": "switched off", "pulled out": "was removed"}


@pytest.fixture
def take_away(halo, rings):
    """Takes an adapter away, in one of the ways of SAYS."""
    def act(kind, ring):
        adapter = ring.kernel_adapter
        if kind == "down":
            adapter.down()
        elif kind == "switched off":
            halo.run("adapters", "down", adapter.name).succeeded()
        elif kind == "blocked":
            rfkill(True)
        else:
            rings.remove()

    yield act
    rfkill(False)
    rings.remove()  # it may not have noticed that its link is gone


def start(halo, adapter, *options):
    process = halo.start("stream", "--ppg", "-v", *options, *JSON, adapter=adapter)
    for _ in range(20):
        line = process.stdout.readline()
    assert '"ppg"' in line, process.stderr.read()
    return process


@pytest.mark.parametrize("kind", SAYS)
def test_in_mid_stream(halo, ring, take_away, kind):
    """Without --retry-for there is nothing to wait for: it ends at once, and says what has happened."""
    process = start(halo, ring.adapter, "--retry-for", "0s")
    take_away(kind, ring)
    result = halo.wait(process, timeout=10)
    assert result.code == NO_ADAPTER and SAYS[kind] in result.err.splitlines()[-1], result


@pytest.mark.parametrize("kind", SAYS)
def test_during_a_scan(halo, ring, take_away, kind):
    """The kernel reports changes of an adapter only once somebody has used its management."""
    process = halo.start("scan", "--duration", "60s", "--duplicates", *JSON, adapter=ring.adapter)
    assert process.stdout.readline()
    take_away(kind, ring)
    result = halo.wait(process, timeout=10)
    assert result.code == NO_ADAPTER and SAYS[kind] in result.err.splitlines()[-1], result


@pytest.mark.parametrize("retry", ["0s", "60s"])
def test_pulled_out_on_the_user_channel(halo, ring, take_away, retry):
    ring.kernel_adapter.down()
    process = start(halo, f"user:{ring.adapter}", "--retry-for", retry)
    take_away("pulled out", ring)
    if retry != "0s":
        time.sleep(0.5)
        process.terminate()
    result = halo.wait(process, timeout=10)
    assert "was removed" in result.err and "Fatal" not in result.err, result


@pytest.mark.parametrize("kind", SAYS)
def test_while_a_link_is_made(halo, ring_with, take_away, kind):
    """The ring has left for good, and the kernel looks for it."""
    ring = ring_with("--vanish-after", 50)
    process = start(halo, ring.adapter, "--retry-for", "3s")
    ring.wait_for("disconnected")
    time.sleep(0.7)
    take_away(kind, ring)
    result = halo.wait(process, timeout=10)
    assert result.code == NO_ADAPTER and SAYS[kind] in result.err.splitlines()[-1], result


@pytest.mark.parametrize("kind", SAYS)
def test_the_stream_goes_on_when_the_adapter_is_back(halo, rings, ring, take_away, kind):
    process = start(halo, ring.adapter, "--retry-for", "40s", "--count", 200)
    take_away(kind, ring)
    time.sleep(1)
    rfkill(False)
    if kind == "pulled out":
        ring = rings.with_options(RINGS["bluetooth 4.2"])
    ring.kernel_adapter.up()
    result = halo.wait(process, timeout=40).succeeded()
    kinds = [record["kind"] for record in result.records()]
    assert kinds.count("gap") == 1 and "connected again" in result.err, result
    (gap,) = [record for record in result.records() if record["kind"] == "gap"]
    assert SAYS[kind] in gap["reason"] and "the peer" not in gap["reason"], gap
