"""A recorded device, and a table, in the air of a controller that another stack drives: what a CI job tests against.

Others ask for a device without hardware: dotintent/react-native-ble-plx 879 (a recorded one), ChristianKuehnel/btlewrap 33,
deviceplug/btleplug's own tests need one, TheCellule/python-bleson 68.
"""

import json
import re
import signal

import pytest
from forked import start_peer
from program import ROOT, USAGE

STRAP = ROOT / "Examples/HeartRate/heart-rate.btsnoop"


class Offer:
    """A command that waits for hosts."""

    def __init__(self, halo, *arguments):
        self.halo = halo
        self.process = halo.start(*arguments)
        self.errors = []
        match = None
        while match is None:
            self.errors.append(self.process.stderr.readline())
            assert self.errors[-1], self.errors
            match = re.search(r"listening on ((tcp|unix):\S+)", self.errors[-1])
        self.adapter = match[1]

    def visit(self, *options) -> dict:
        visitor = start_peer("bumble_visitor.py", self.adapter.replace(":", "-client:", 1), *options)
        seen = visitor.stdout.read()
        assert visitor.wait() == 0
        return json.loads(seen)

    def close(self):
        self.process.send_signal(signal.SIGINT)
        return self.halo.wait(self.process)


@pytest.mark.verdict
def test_another_stack_uses_a_recorded_device(halo):
    offer = Offer(halo, "replay", STRAP, "--listen", "tcp:127.0.0.1:0")
    for _ in range(2):
        seen = offer.visit("--read", "2A19", "2A38", "--subscribe", "2A37", "--count", "3")
        assert seen["address"] == "D2:5C:0A:1E:48:52" and seen["name"] == "Halo Strap"
        assert {"180D", "180F"} <= set(seen["services"])
        assert seen["values"]["2A19"] == ["51"]
        # What was not read then is refused now: Read Not Permitted.
        assert seen["values"]["2A38"] == 2
        assert seen["notified"] == ["0040", "0041", "012c01"]
    assert int(re.search(r"requests answered, (\d+) notifications", offer.close().err)[1]) >= 6


def test_a_recorded_ring_is_used_by_our_own_command_over_a_socket(halo, tmp_path):
    offer = Offer(halo, "replay", ROOT / "captures/virtual-inspect.btsnoop", "--listen", f"unix:{tmp_path}/device")
    there = halo.run("read", "--uuid", "2A26", "--format", "jsonl", adapter=offer.adapter).succeeded().records()
    here = halo.run(
        "replay", ROOT / "captures/virtual-inspect.btsnoop", "--level", "att", "read", "--uuid", "2A26", "--format", "jsonl"
    ).succeeded().records()
    assert [each["value"] for each in there] == [each["value"] for each in here]
    assert offer.close().code == 0


def test_listening_runs_no_command(halo):
    halo.run("replay", STRAP, "stream", "--listen", "tcp:127.0.0.1:0", adapter=None).failed(USAGE, saying="stream")
    halo.run("replay", STRAP, "--listen", "tcp:127.0.0.1:0", "--level", "hci", adapter=None).failed(USAGE, saying="--level")
    halo.run("replay", STRAP, "--listen", "nowhere", adapter=None).failed(USAGE, saying="tcp:HOST:PORT")
    halo.run("replay", "/nonexistent", "--listen", "tcp:127.0.0.1:0", adapter=None).failed(66, saying="/nonexistent")


@pytest.mark.verdict
def test_another_stack_uses_a_table(halo, tmp_path):
    """What was recorded of a device is written down, changed, and offered; values come from a pipe."""
    table = tmp_path / "strap.jsonl"
    table.write_text(halo.run("replay", STRAP, "--level", "att", "--lenient", "inspect", "--format", "jsonl", adapter=None).out)
    offer = Offer(halo, "serve", table, "--listen", "tcp:127.0.0.1:0", "--name", "Copy", "--value", "2A19=64")
    for _ in range(2):
        seen = offer.visit("--read", "2A19", "2A00")
        assert seen["name"] == "Copy" and {"180D", "180F"} <= set(seen["services"])
        assert seen["values"]["2A19"] == ["64"]
    assert offer.close().code == 0


def test_two_hosts_have_the_device_one_after_the_other(halo, tmp_path):
    """A host that is replaced loses its controller, and the device advertises for the next one."""
    table = tmp_path / "strap.jsonl"
    table.write_text(halo.run("replay", STRAP, "--level", "att", "--lenient", "inspect", "--format", "jsonl", adapter=None).out)
    offer = Offer(halo, "serve", table, "--listen", f"unix:{tmp_path}/device", "--value", "2A19=64")
    watching = halo.start("subscribe", "--uuid", "2A37", "--duration", "60s", adapter=offer.adapter)
    watching.kill()
    watching.wait()
    assert offer.visit("--read", "2A19")["values"]["2A19"] == ["64"]
    assert offer.close().code == 0


@pytest.mark.parametrize("adapter", ["virtual", "virtual:air=lab"])
@pytest.mark.parametrize("command", [("serve", "table.jsonl"), ("advertise", "--name", "Halo")])
def test_what_nobody_can_hear_is_said(halo, tmp_path, adapter, command):
    (tmp_path / "table.jsonl").write_text(halo.run("inspect", "--format", "jsonl", adapter="virtual").out)
    words = [str(tmp_path / word) if word.endswith(".jsonl") else word for word in command]
    halo.run(*words, adapter=adapter).failed(USAGE, saying="nobody can hear")


def test_listening_needs_no_adapter(halo, tmp_path):
    (tmp_path / "table.jsonl").write_text(halo.run("inspect", "--format", "jsonl", adapter="virtual").out)
    halo.run("serve", tmp_path / "table.jsonl", "--listen", "tcp:127.0.0.1:0", adapter="hci0").failed(
        USAGE, saying="--adapter")
