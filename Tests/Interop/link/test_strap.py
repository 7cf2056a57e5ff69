"""The heart rate of a ring as that of a chest strap, for Bumble's host and for ourselves."""

import json
import signal
import time

import pytest
from program import NO_ADAPTER, NOT_FOUND, USAGE
from shared_radio import SharedRadio

JSON = ("--format", "jsonl")
# Flags; Heart Rate, Battery and Device Information; a heart rate belt. Then the name of the scan response.
DATA, NAME = "020106" + "03194103" + "07030d180f180a18", "0809" + b"Ring HR".hex()
NO_CONTACT = "0400"
STRAP = "00:1B:DC:0A:10:01"


@pytest.fixture
def radio():
    made = SharedRadio(listening=["tcp-server:127.0.0.1:0"] * 4)
    yield made
    made.close()


class Strap:
    """A strap on the first adapter of a radio, with a virtual ring of its own, unless a ring is given."""

    def __init__(self, halo, radio, *options, ring="virtual:warm-up=1,seed=7,battery=41"):
        self.halo = halo
        self.process = halo.start("strap", "--to", radio.adapters[0], *options, adapter=ring)
        self.first = self.process.stderr.readline()
        assert ": advertises at 00:1B:DC:0A:10:01" in self.first, self.first + self.process.stderr.read()

    def ended(self, by=signal.SIGINT):
        self.process.send_signal(by)
        return self.halo.wait(self.process).succeeded().err.splitlines()


class Watch:
    """Our own program, which subscribes and goes on until it is ended."""

    def __init__(self, halo, adapter):
        self.process = halo.start("subscribe", STRAP, "--uuid", "2A37", *JSON, adapter=adapter)

    def until(self, contact: bool):
        """The values up to one with contact, or without."""
        values = []
        while not values or values[-1].startswith("06") != contact:
            values.append(json.loads(self.process.stdout.readline())["value"])
        return values


def beats(values):
    """The heart rates with contact: flags, and one byte."""
    return [int(value[2:], 16) for value in values if value.startswith("06")]


def test_a_watch_gets_the_heart_rate_of_a_ring(halo, radio):
    """No contact during the warm-up; then one value a second. The battery is the ring's."""
    strap = Strap(halo, radio)
    seen = radio.ask("strap", 6)
    assert seen["data"] == DATA + NAME and seen["name"] == "Ring HR" and seen["appearance"] == "4103"
    assert seen["services"] == ["1800", "1801", "180D", "180F", "180A"]
    assert seen["properties"] == {"2A37": 0x10, "2A38": 0x02, "2A19": 0x12}
    assert seen["location"] == "03" and seen["battery"] == "29" and seen["maker"] == "halo-raw"
    assert seen["firmware"] == "RT02R_3.11.00_250611"
    warm = next(index for index, value in enumerate(seen["values"]) if value != NO_CONTACT)
    assert warm <= 3 and len(beats(seen["values"][warm:])) == 6 - warm, seen
    assert all(55 <= rate <= 85 for rate in beats(seen["values"]))
    steps = [later - earlier for earlier, later in zip(seen["times"], seen["times"][1:])]
    assert all(0.7 < step < 1.4 for step in steps), steps
    # Again, and it is warm already.
    assert len(beats(radio.ask("strap", 3)["values"])) == 3
    lines = strap.ended()
    assert sum("connected by" in line for line in lines) == 2, lines


def test_a_counted_stream_gives_the_times_between_beats(halo, radio):
    """Flags with intervals (Heart Rate Service 1.0, 3.1.1.1), in 1/1024 s; each is said once, and none leads across a hole."""
    strap = Strap(halo, radio, ring="virtual:counted,seed=7")
    watch = Watch(halo, radio.adapters[1])
    intervals, rates = [], []
    while len(intervals) < 6:
        value = bytes.fromhex(json.loads(watch.process.stdout.readline())["value"])
        rates.append(value[1])
        if value[0] & 0x10:
            assert value[0] == 0x16
            intervals += [int.from_bytes(value[at:at + 2], "little") / 1024 for at in range(2, len(value), 2)]
    assert all(0.8 < interval < 0.95 for interval in intervals), intervals
    assert all(64 <= rate <= 75 for rate in rates if rate), rates
    watch.process.kill()
    # Bumble's host finds them, too, with the contact and one byte of heart rate.
    value = bytes.fromhex(radio.ask("strap-until", "16")["values"][-1])
    assert 64 <= value[1] <= 75 and len(value) in (4, 6) and 819 < int.from_bytes(value[2:4], "little") < 973
    strap.ended()


def test_a_ring_that_refuses_its_counted_stream_is_asked_again_later(halo, radio, monkeypatch, tmp_path):
    """It has streamed, and is on its charger then. The strap and its links stay, and say that there is no contact."""
    # What is known of a firmware is not asked again.
    monkeypatch.setitem(halo.environment, "XDG_STATE_HOME", str(tmp_path))
    ours, of_ring, to_ring, of_watch = radio.adapters
    ring = halo.start("simulate", "--options", "counted,charge-after=100,advertising=20", adapter=of_ring)
    assert ": advertises at " in ring.stderr.readline()
    strap = Strap(halo, radio, ring=to_ring)
    watch = Watch(halo, of_watch)
    assert beats(watch.until(contact=True))
    refusals = []
    while len(refusals) < 2:
        refusals.append(strap.process.stderr.readline())
        if "no heart rate" not in refusals[-1]:
            refusals.pop()
            continue
        refusals[-1] = (time.monotonic(), refusals[-1])
    assert all("charger" in line or "status" in line or "refuses" in line for _, line in refusals), refusals
    # Ten seconds of peace for the ring, and less than a minute for its wearer.
    assert 9.5 < refusals[1][0] - refusals[0][0] < 25
    assert watch.until(contact=False)[-1] == NO_CONTACT and watch.process.poll() is None
    assert "has ended" in strap.ended()[-1]
    watch.process.kill()


def test_three_subscribers_at_once(halo, radio):
    """Each gets all values, and a fourth could connect."""
    strap = Strap(halo, radio)
    # One after the other: on this radio, two centrals would take one advertisement for both.
    watches = []
    for adapter in radio.adapters[1:]:
        watches.append(Watch(halo, adapter))
        watches[-1].until(contact=True)
    assert [len(each) for each in radio.ask("advertisements")] == [1, 0, 0, 0]
    assert beats(radio.ask("strap", 3)["values"])
    for watch in watches:
        watch.until(contact=True)
    strap.ended()


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_its_end_ends_the_links(halo, radio, signal_number):
    strap = Strap(halo, radio)
    watch = halo.start(
        "subscribe", STRAP, "--uuid", "2A37", "--retry-for", "0", *JSON, adapter=radio.adapters[1])
    assert watch.stdout.readline()
    assert "has ended: disconnected" in strap.ended(signal_number)[-1]
    assert "the peer ended the connection" in halo.wait(watch).err
    assert radio.ask("advertisements")[0] == []


def ring_on(halo, adapter):
    """The virtual ring, which can be met by its radio only."""
    process = halo.start("simulate", "--options", "warm-up=1,advertising=20", adapter=adapter)
    assert ": advertises at " in process.stderr.readline()
    return process


@pytest.mark.parametrize("adapters", ["two", "one"])
def test_a_ring_that_is_lost_is_no_contact(halo, radio, adapters):
    """It is looked for meanwhile; the strap stays, also before there is a ring."""
    ours, of_ring, to_ring, of_watch = radio.adapters
    process = halo.start("strap", *(["--to", ours, "--adapter", to_ring] if adapters == "two" else ["--adapter", ours]))
    assert "for the heart rate of a ring" in process.stderr.readline()
    watch = Watch(halo, of_watch)
    assert watch.until(contact=False) == [NO_CONTACT]
    ring = ring_on(halo, of_ring)
    assert set(watch.until(contact=True)[:-1]) <= {NO_CONTACT}
    for _ in range(2):
        ring.kill()
        halo.wait(ring)
        values = watch.until(contact=False)
        assert len(values) <= 7 and values[-1] == NO_CONTACT
        ring = ring_on(halo, of_ring)
        watch.until(contact=True)
    process.send_signal(signal.SIGINT)
    halo.wait(process).succeeded()
    # The ring measures no longer, and can be used by others.
    (battery,) = halo.run("battery", *JSON, "R02_1002", adapter=to_ring).succeeded().records()
    assert battery["percent"] == 87


def test_a_ring_is_measured_while_somebody_listens(halo, radio, ring_with):
    """Another stack's ring, of which the light is off before. It is told of the end of the measurement, and of the link."""
    ring = ring_with("--tick", 0.05, "--battery", 63)
    strap = Strap(halo, radio, ring=ring.adapter)
    ring.wait_for("command", frame="03" + "00" * 14 + "03")
    assert not [command for command in ring.commands() if command.startswith("69")]
    seen = radio.ask("strap-until", "06")
    assert seen["battery"] == "3f" and beats(seen["values"])
    assert [command for command in ring.commands() if command.startswith("69")]
    strap.ended()
    assert ring.events("command")[-1]["frame"].startswith("690604"), ring.events()
    ring.check_farewell()


@pytest.mark.parametrize(("options", "code", "words"), [
    (["--adapter", "virtual"], USAGE, "give --to"),
    (["--adapter", "virtual", "--to", "virtual"], USAGE, "needs a radio"),
    (["--adapter", "replay:x.btsnoop", "--to", "hci77"], USAGE, "recording"),
    (["--adapter", "virtual", "--to", "tcp:127.0.0.1:1", "--take"], USAGE, "--take"),
    (["--adapter", "virtual", "--to", "tcp:127.0.0.1:1", "--name", ""], USAGE, "1 to 29 bytes"),
    (["--adapter", "virtual", "--to", "tcp:127.0.0.1:1", "--name", "x" * 30], USAGE, "1 to 29 bytes"),
    (["--adapter", "virtual", "--to", "unix:/nonexistent/socket"], NO_ADAPTER, "/nonexistent/socket"),
])
def test_what_is_wrong_is_said(halo, options, code, words):
    halo.run("strap", *options).failed(code, saying=words)


def test_a_ring_that_is_not_there_ends_it_after_a_wait(halo, radio):
    result = halo.run("strap", "--to", radio.adapters[0], "--wait", "1s", "R02_NONE", adapter=radio.adapters[1])
    assert result.code == NOT_FOUND and "R02_NONE" in result.err.splitlines()[-1], result
    assert radio.ask("advertisements")[0] == []
