"""Links that break as docs/links.md lists it, by way of an adapter of the kernel: each command goes on until it has its data.
"""

import bumble_ring
import pytest
from bumble import hci
from kernel_ring import KernelRing
from simulation import simulation
from virtual_radio import VirtualController

JSON = ("--format", "jsonl")
COUNT = 100


def stream(halo, simulated, *options):
    arguments = ("stream", "--ppg", "--count", COUNT, *options, *JSON)
    records = halo.run(*arguments, adapter=simulated.adapter, timeout=120).succeeded().records()
    assert [record["seq"] for record in records if record["kind"] == "ppg"] == list(range(COUNT))
    return [record["kind"] for record in records].count("gap")


@pytest.mark.parametrize(
    ("faults", "options"),
    [
        # Its ATT falls silent, and the link stays.
        ("mute-after=60", ()), ("mute-after=60", ("--retry-for", "60s")),
        # The link is lost, and lost again in the first requests, or nothing is answered on the next one.
        ("drop-after=60,twice", ()), ("drop-after=60,deaf", ()),
    ])
def test_a_stream_goes_on(halo, rings, faults, options):
    rings.remove()
    with simulation(halo, f"rate=50,seed=7,{faults}") as simulated:
        assert stream(halo, simulated, *options) >= 1


def test_the_first_link_is_lost_before_data(halo, rings):
    """Once, twice, in discovery: within --wait every command tries again, also those of one answer."""
    rings.remove()
    with simulation(halo, "rate=50,seed=7,early=2") as simulated:
        assert stream(halo, simulated) == 0
    for command in (("battery",), ("inspect", "R02_BEEF"), ("read", "R02_BEEF", "--uuid", "2A26")):
        with simulation(halo, "seed=7,early=2") as simulated:
            assert halo.run(*command, *JSON, adapter=simulated.adapter, timeout=120).succeeded().records()


def test_a_peer_that_leaves_at_the_exchange_of_the_mtu(halo, rings, tmp_path, monkeypatch):
    """The ring is not known: what is stored of a known one makes the exchange unnecessary."""
    monkeypatch.setitem(halo.environment, "XDG_STATE_HOME", str(tmp_path))
    rings.remove()
    with simulation(halo, "seed=7,leave-at-mtu") as simulated:
        result = halo.run("battery", *JSON, adapter=simulated.adapter, timeout=120).succeeded()
        assert result.records() and result.err.count("later links omit it") == 1, result


class BusyController(VirtualController):
    """Refuses to scan while it has a link, as some do (python-bleson#84)."""

    SCANS = (hci.HCI_LE_SET_SCAN_ENABLE_COMMAND, hci.HCI_LE_SET_EXTENDED_SCAN_ENABLE_COMMAND)

    def on_hci_command_packet(self, command):
        if self.name == "central" and command.op_code in self.SCANS and self.le_connections and bytes(command)[4]:
            self.commands_open += 1
            self.refuse(command, hci.HCI_ErrorCode.COMMAND_DISALLOWED_ERROR)
        else:
            super().on_hci_command_packet(command)


class BusyRing(KernelRing):
    async def program(self, options):
        bumble_ring.VirtualController = BusyController
        await bumble_ring.run(options)


def test_scans_that_are_refused_while_there_is_a_link(halo, rings, tmp_path):
    """The search for another ring costs the one that streams nothing, and says why it found none."""
    rings.remove()
    ring = BusyRing(tmp_path / "events.jsonl", ["--rate", 50, "--acl-length", 251])
    try:
        ring.kernel_adapter.up()
        result = halo.run(
            "stream", ring.name, "R02_NONE", "--ppg", "--count", COUNT, "--wait", "4s", *JSON, adapter=ring.adapter)
        assert result.code != 0 and "R02_NONE" in result.err, result
        records = [record for record in result.records() if record["kind"] == "ppg"]
        assert [record["seq"] for record in records] == list(range(COUNT))
        assert "gap" not in {record["kind"] for record in result.records()}
    finally:
        ring.close()
