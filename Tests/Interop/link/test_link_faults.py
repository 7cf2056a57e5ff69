"""What radios and rings do to links, as public reports describe it, over the whole program: data arrive all the same.

The virtual ring has each fault by name. The tables of what is tried when are in ReconnectPolicyTests.
"""

import json
import subprocess

import pytest
from program import CONNECTION_LOST, ROOT, USAGE

STREAM = ("stream", "--ppg", "--count", 100, "--format", "jsonl")


def records(result):
    return [json.loads(line) for line in result.out.splitlines()]


@pytest.mark.verdict
@pytest.mark.parametrize(("fault", "losses"), [
    # The ring answers nothing any more, and the link stays.
    ("mute-after=30", 4),
    # Each second link is lost at the first request: lost twice in a row.
    ("drop-after=30,twice", 4),
    # Nothing is answered on the second link.
    ("drop-after=60,deaf", 2),
])
def test_a_stream_goes_on(halo, fault, losses):
    result = halo.run(*STREAM, adapter=f"virtual:fast,{fault}").succeeded()
    samples = [record for record in records(result) if record["kind"] == "ppg"]
    gaps = [record for record in records(result) if record["kind"] == "gap"]
    assert [sample["seq"] for sample in samples] == list(range(100))
    assert 1 <= len(gaps) <= losses
    assert "connected again" in result.err


def test_a_day_with_all_faults_at_random(halo):
    """Lost, doubled and late events, refused commands, a deaf radio, kept data; rings that vanish, fall silent, or stop."""
    subprocess.run([ROOT / "scripts/soak-faults", halo.path, "1", "3"], check=True)


@pytest.mark.parametrize("command", [
    ("battery",), ("info",), ("inspect", "R02_BEEF"), ("read", "R02_BEEF", "--uuid", "2A26"), ("history", "steps"),
    ("settings",), ("stream", "--ppg", "--count", 10, "--format", "text"),
])
def test_a_link_that_is_lost_before_its_data_is_made_again(halo, command):
    """Links lost with 0x08 or 0x3E in the first requests (abandonware/noble#62, noble#751)."""
    expected = halo.run(*command, adapter="virtual:fast").succeeded()
    result = halo.run(*command, adapter="virtual:fast,early=2").succeeded()
    assert result.out.splitlines()[:1] == expected.out.splitlines()[:1]
    assert len(result.out.splitlines()) == len(expected.out.splitlines())


def test_it_is_tried_for_as_long_as_wait_says(halo):
    result = halo.run("battery", "--wait", "3s", adapter="virtual:fast,early=1000")
    assert result.code == CONNECTION_LOST and "was lost" in result.err.splitlines()[-1], result


def test_time_limits_a_recovery(halo):
    """Without an end of its own, --duration would not end it: no sample comes any more."""
    result = halo.run(
        "stream", "--ppg", "--duration", "2500ms", adapter="virtual:fast,drop-after=60,early=1").succeeded()
    assert "rashed" not in result.err


class TestMTU:
    """The exchange is optional (Vol 3, Part F, 3.4.2.1), and some peers end the link at it."""

    @pytest.mark.verdict
    @pytest.mark.parametrize("command", [("battery",), ("read", "R02_BEEF", "--uuid", "2A26")])
    def test_a_peer_that_ends_the_link_at_it_is_not_asked_again(self, halo, command):
        expected = halo.run(*command, adapter="virtual:fast").succeeded()
        result = halo.run(*command, adapter="virtual:fast,leave-at-mtu").succeeded()
        assert result.out == expected.out
        assert result.err.splitlines()[-1].endswith("later links omit it")
        silent = halo.run(*command, "--mtu", "none", adapter="virtual:fast,leave-at-mtu").succeeded()
        assert (silent.out, silent.err) == (expected.out, expected.err)

    def test_a_link_that_is_lost_by_chance_costs_nothing(self, halo):
        result = halo.run("battery", "-v", adapter="virtual:fast,early=1").succeeded()
        assert "MTU 247" in result.err and "left out" not in result.err

    @pytest.mark.parametrize(("mtu", "expected"), [("none", 23), ("23", 23), ("50", 50), ("auto", None)])
    def test_a_choice(self, halo, mtu, expected):
        line = next(
            line for line in halo.run("battery", "--mtu", mtu, "-v", adapter="virtual:fast").succeeded().err.splitlines()
            if line.startswith("MTU "))
        number = int(line.split()[1].rstrip(","))
        assert number == expected if expected else number > 50

    @pytest.mark.parametrize("mtu", ["22", "518", "all"])
    def test_a_choice_that_does_not_exist(self, halo, mtu):
        halo.run("battery", "--mtu", mtu, adapter="virtual").failed(USAGE, saying="--mtu")
