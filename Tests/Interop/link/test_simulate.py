"""Our virtual ring, for Bumble's host stack and for ourselves."""

import json
import subprocess
import sys

import pytest
from program import PEERS
from ring_frames import COMMAND_SERVICE
from simulation import Simulation


def bumble(simulation, count: int) -> dict:
    transport = simulation.adapter.replace("tcp:", "tcp-client:").replace("unix:", "unix-client:")
    run = subprocess.run(
        [sys.executable, PEERS / "bumble_host.py", transport, "--count", str(count)],
        capture_output=True, text=True, timeout=30)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.verdict
def test_bumble_reads_ppg_from_our_ring(simulation):
    for _ in range(2):  # one host after the other
        seen = bumble(simulation, 100)
        assert len(seen["ppg"]) == 100 and seen["invalid"] == 0
        assert COMMAND_SERVICE in seen["services"]
        assert seen["firmware"] and seen["hardware"] and 0 <= seen["battery"] <= 100
        assert seen["accelerations"] > 90 and seen["spo2"] > 90
        # It is a wave, neither a line nor noise.
        assert all(0 < value < 65536 for value in seen["ppg"]) and len(set(seen["ppg"])) > 20
        steps = [abs(b - a) for a, b in zip(seen["ppg"], seen["ppg"][1:])]
        assert max(steps) < max(seen["ppg"]) - min(seen["ppg"])


def test_bumble_over_a_unix_socket(halo, tmp_path):
    simulation = Simulation(halo, f"unix:{tmp_path}/ring")
    assert len(bumble(simulation, 20)["ppg"]) == 20
    simulation.close()


def test_we_read_our_own_ring_over_tcp(halo, simulation):
    result = halo.run(
        "stream", "--ppg", "--count", 50, "--format", "jsonl", adapter=simulation.adapter)
    assert len(result.succeeded().records()) == 50


def test_the_same_seed_gives_the_same_samples(halo):
    def samples():
        result = halo.run(
            "stream", "--ppg", "--count", 100, "--format", "jsonl", adapter="virtual:rate=500,seed=7")
        return [(r["raw"], r["max"], r["min"]) for r in result.succeeded().records()]

    assert samples() == samples()
