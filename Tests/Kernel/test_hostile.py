"""Peers that misbehave on ATT, met through the kernel's L2CAP and without it: each command ends in time and says why, and
the adapter can be used afterwards.

Names follow the headings of the Core Specification's Vol 3, Part F.
"""

import pytest
from hostile_ring import HostileRing
from program import CONNECTION_LOST, OK, PROTOCOL, TIMEOUT

JSON = ("--format", "jsonl")
ADDRESS = "D2:5C:0A:1E:34:1C"
INSPECT = ("inspect", ADDRESS)
READ = ("read", ADDRESS, "--uuid", "2A26")
STREAM = ("stream", "--ppg", "--count", 5, "--retry-for", "0s")
SUBSCRIBE = ("subscribe", ADDRESS, "--uuid", "6E400003-B5A3-F393-E0A9-E50E24DCCA9E", "--duration", "500ms")

# What the commands end with, and which. The kernel holds back what it has no room for, so that a flood is survived.
CASES = {
    "cut": ((PROTOCOL,), [INSPECT]),
    "false_lengths": ((PROTOCOL,), [READ]),
    "standstill": ((PROTOCOL,), [INSPECT]),
    "unasked": ((OK,), [READ]),
    "notifications": ((OK,), [READ]),
    "requests": ((OK,), [READ]),
    "changes": ((OK,), [SUBSCRIBE]),
    "no_mtu": ((OK,), [READ]),
    "huge_mtu": ((OK,), [STREAM]),
    "leaves 1": ((CONNECTION_LOST,), [READ]),
    "leaves 2": ((CONNECTION_LOST,), [STREAM]),
    "leaves 5": ((CONNECTION_LOST,), [INSPECT]),
}
# Our own L2CAP meets the same peers in other tests; here it is the user channel that has to hold. A flood of requests whose
# answers pile up ends the link.
ON_THE_USER_CHANNEL = {"notifications": (OK,), "requests": (OK, CONNECTION_LOST), "leaves 2": (CONNECTION_LOST,)}


@pytest.mark.parametrize(
    ("behaviour", "way"), [(name, "") for name in CASES] + [(name, "user:") for name in ON_THE_USER_CHANNEL])
def test_it_is_survived(halo, rings, tmp_path, behaviour, way):
    rings.remove()
    ring = HostileRing(tmp_path / "events.jsonl", behaviour)
    try:
        if way:
            ring.kernel_adapter.down()
        else:
            ring.kernel_adapter.up()
        codes, commands = CASES[behaviour]
        if way:
            codes = ON_THE_USER_CHANNEL[behaviour]
        for command in commands:
            result = halo.run(*command, *JSON, adapter=way + ring.adapter)
            assert result.code in codes and "rashed" not in result.err, result
            if result.code != OK:
                assert result.err.splitlines()[-1].startswith("halo-raw: "), result
            assert ring.becomes_free()
        # The adapter is as it was.
        assert ring.kernel_adapter.is_up == (not way)
    finally:
        ring.close()


def test_silence_ends_within_the_budget(halo, rings, tmp_path):
    """The exchange of the MTU is left out on the second link, and no request outlives --wait."""
    rings.remove()
    ring = HostileRing(tmp_path / "events.jsonl", "silent")
    try:
        ring.kernel_adapter.up()
        result = halo.run(*READ, *JSON, adapter=ring.adapter, timeout=90)
        assert result.code == TIMEOUT and "did not answer" in result.err.splitlines()[-1], result
        ring.wait_for("disconnected", reason=0x13)
    finally:
        ring.close()
