"""Our virtual ring, for Bumble's host stack and for ourselves."""

import json
import signal
import time

import pytest
from forked import start_peer
from program import NO_ADAPTER, USAGE
from ring_frames import COMMAND_SERVICE
from shared_radio import SharedRadio
from simulation import Simulation

JSON = ("--format", "jsonl")


def bumble(simulation, count: int) -> dict:
    transport = simulation.adapter.replace(":", "-client:", 1)
    host = start_peer("bumble_host.py", transport, "--count", count)
    seen = host.stdout.read()
    assert host.wait() == 0
    return json.loads(seen)


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


# --- on an adapter


@pytest.fixture(params=[[], ["--extended"]], ids=["Bluetooth 4", "Bluetooth 5"])
def radio(request):
    made = SharedRadio(*request.param)
    yield made
    made.close()


class RingOnAir:
    """The virtual ring on the first adapter of a radio."""

    def __init__(self, halo, radio, *options, ring="rate=100,seed=7,advertising=20"):
        self.halo = halo
        self.process = halo.start("simulate", *options, "--options", ring, adapter=radio.adapters[0])
        self.first = self.process.stderr.readline()
        assert ": advertises at " in self.first, self.first + self.process.stderr.read()

    def ended(self, by=signal.SIGINT):
        self.process.send_signal(by)
        return self.halo.wait(self.process).succeeded().err.splitlines()


@pytest.fixture
def on_air(halo, radio):
    return RingOnAir(halo, radio)


@pytest.mark.verdict
def test_a_phone_uses_the_ring(radio, on_air):
    """Bumble's host, which has a server of its own. It comes again, with other MTUs, after it has gone."""
    for mtu in (185, 247, 517):
        seen = radio.ask("ring", 100, mtu)
        assert seen["name"] == "R02_1001" and seen["address"] == "00:1B:DC:0A:10:01" and seen["address_type"] == 0
        assert len(seen["ppg"]) == 100 and seen["invalid"] == 0 and seen["mtu"] == min(mtu, 247)
        assert COMMAND_SERVICE in seen["services"] and seen["battery"] == 87
        assert seen["accelerations"] > 90 and seen["spo2"] > 90
    assert on_air.first == "R02_1001: advertises at 00:1B:DC:0A:10:01; Ctrl-C ends it\n"
    lines = on_air.ended()
    assert len([line for line in lines if "connected by F0:F1:F2:F3:F4:F6" in line]) == 3, lines


def heard(radio) -> list:
    """What the adapter of the ring sends, which may take a moment."""
    return radio.ask("advertisements")[0]


def wait_for(radio, count):
    deadline = time.monotonic() + 10
    while len(heard(radio)) != count:
        assert time.monotonic() < deadline, heard(radio)


def test_we_use_our_ring_on_the_same_radio(halo, radio, on_air):
    """What it advertises, before and after, is what the virtual ring in memory advertises."""
    wait_for(radio, 1)
    service, name = "9ecadc240ee5a9e093f3a3b5f0ff406e", b"R02_1001".hex()
    assert heard(radio) == [{
        "data": f"020106030302380909{name}", "response": f"1107{service}09ff341201100adc1b00", "interval": 20}]
    phone = radio.adapters[1]
    (battery,) = halo.run("battery", *JSON, adapter=phone).succeeded().records()
    assert battery["percent"] == 87
    records = halo.run("stream", "--ppg", "--count", 200, *JSON, adapter=phone).succeeded().records()
    assert [record["seq"] for record in records] == list(range(200))
    info = halo.run("info", *JSON, adapter=phone).succeeded().records()[0]
    assert info["firmware"] == "RT02R_3.11.00_250611"
    wait_for(radio, 1)
    on_air.ended()
    wait_for(radio, 0)


def test_the_ring_does_not_advertise_while_it_is_used(halo, radio, on_air):
    """A second central does not find it. A first one that dies says nothing, and the ring is there again."""
    stream = halo.start("stream", "--ppg", *JSON, adapter=radio.adapters[1])
    assert stream.stdout.readline()
    assert heard(radio) == []
    stream.kill()
    halo.wait(stream)
    wait_for(radio, 1)
    assert radio.ask("ring", 20, 247)["invalid"] == 0


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_its_end_ends_the_link(halo, radio, on_air, signal_number):
    stream = halo.start("stream", "--ppg", "--retry-for", "0", *JSON, adapter=radio.adapters[1])
    assert stream.stdout.readline()
    lines = on_air.ended(signal_number)
    assert "has ended: disconnected" in lines[-1]
    assert "the peer ended the connection" in halo.wait(stream).err
    assert heard(radio) == []


def test_an_address_and_a_name_of_its_own(halo, radio):
    on_air = RingOnAir(halo, radio, "--address", "C0:11:22:33:44:55")
    seen = radio.ask("ring", 20, 247)
    assert (seen["address"], seen["address_type"], seen["name"]) == ("C0:11:22:33:44:55", 1, "R02_4455")
    on_air.ended()
    on_air = RingOnAir(halo, radio, ring="name=R02_MINE,rate=50,battery=12")
    seen = radio.ask("ring", 20, 247)
    assert (seen["name"], seen["battery"]) == ("R02_MINE", 12)
    on_air.ended()


def test_a_radio_that_goes_away_is_waited_for(halo, tmp_path):
    """Its socket is closed, and there is another one later."""
    path = tmp_path / "radio"
    radio = SharedRadio(listening=[f"unix-server:{path}"])
    on_air = RingOnAir(halo, radio)
    assert radio.ask("ring", 20, 247)["invalid"] == 0
    radio.close()
    line = next(line for line in on_air.process.stderr if "waiting for it" in line)
    assert line.startswith("halo-raw: ")
    path.unlink(missing_ok=True)
    radio = SharedRadio(listening=[f"unix-server:{path}"])
    assert radio.ask("ring", 20, 247)["invalid"] == 0
    assert any(line.endswith(" is back") for line in on_air.ended())
    radio.close()


def test_what_is_recorded_is_decoded(halo, radio, tmp_path):
    file = tmp_path / "ring.btsnoop"
    on_air = RingOnAir(halo, radio, "--record", file)
    radio.ask("ring", 20, 247)
    on_air.ended()
    text = halo.run("decode", file).succeeded().out
    assert "raw stream, PPG, from the ring" in text and "LE Set Random Address" not in text


@pytest.mark.parametrize(("options", "code", "words"), [
    (["--adapter", "virtual"], USAGE, "needs a radio"),
    (["--adapter", "hci77", "--address", "C0:11:22:33:44:55"], USAGE, "user:hci0"),
    (["--adapter", "user:hci77", "--address", "00:11:22:33:44:55"], USAGE, "random static"),
    (["--adapter", "user:hci77", "--options", "rings=2"], USAGE, "rings"),
    (["--adapter", "user:hci77", "--listen", "tcp:127.0.0.1:0"], USAGE, "exclude each other"),
    (["--address", "C0:11:22:33:44:55", "--vhci"], USAGE, "--adapter"),
    (["--adapter", "unix:/nonexistent/socket"], NO_ADAPTER, "/nonexistent/socket"),
])
def test_what_is_wrong_is_said(halo, options, code, words):
    halo.run("simulate", *options).failed(code, saying=words)

