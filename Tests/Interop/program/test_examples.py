"""The examples as they are, against the virtual ring and against peripherals and a central over H4."""

import contextlib
import json
import os
import subprocess
import time

import pytest
from built import built
from example_program import examples
from forked import adapter_at, start_peer
from program import Result


@pytest.fixture
def example(tmp_path):
    with examples(tmp_path / "state") as start:
        yield start


@pytest.fixture
def peripheral():
    """Starts a peripheral, and gives the adapter that leads to it."""
    started = []

    def start(script, *options) -> str:
        process = start_peer(script, "tcp-server:127.0.0.1:0", *options)
        started.append(process)
        return adapter_at(*process.places())

    yield start
    for process in started:
        process.terminate()
        process.wait(timeout=20)


@pytest.fixture
def bird(peripheral):
    """A bird that leaves after a second."""
    return peripheral("bumble_bird.py", "--visit", "1")


@pytest.fixture
def strap(peripheral):
    return peripheral("bumble_heart_rate.py")


def test_the_bird_is_read_each_time_that_it_comes(example, bird):
    watcher = example("bird", bird)
    for _ in range(3):
        lines = watcher.until("left: The specified device has disconnected from us.")
        visit, watcher.lines = lines, []
        assert visit[0].startswith("found Bird, -50 dBm")
        assert visit[1] == "Möwe: weiß, alpha 0.75"


@pytest.mark.verdict
def test_a_ring_is_chosen_once_and_forgotten(example, ring_with, tmp_path):
    ring = ring_with("--battery", "64")
    first = example("ring-session", ring.adapter)
    lines = first.until("battery 64 %")
    assert lines[:3] == ["saved Smart ring", "connecting to R02_341C", "connected"]
    first.close()
    mode = (tmp_path / "state/halo-raw/accessories.json").stat().st_mode
    assert mode & 0o777 == 0o600
    second = example("ring-session", ring.adapter)
    assert second.until("battery 64 %")[:2] == ["connecting to R02_341C", "connected"]
    second.close()
    forgetting = example("ring-session", ring.adapter, "forget")
    assert forgetting.exit_code() == 0 and "forgot Smart ring" in forgetting.lines
    assert example("ring-session", ring.adapter, "forget").exit_code() == 1


def test_a_ring_that_is_away_is_connected_to_when_it_comes_back(example, ring_with, strap):
    """The second run starts while the adapter's radio hears nothing of the ring."""
    ring = ring_with()
    first = example("ring-session", ring.adapter)
    first.until("connected")
    first.close()
    elsewhere = example("ring-session", strap)
    elsewhere.until("connecting to R02_341C")
    time.sleep(1)
    assert elsewhere.process.poll() is None
    second = example("ring-session", ring.adapter)
    second.until("battery")


def test_a_heart_rate_is_received(example, strap):
    lines = example("heart-rate-central", strap).until(" bpm")
    assert any(line.startswith("found ") for line in lines)


def test_everything_of_a_device_is_read(example, ring_with):
    explorer = example("explore", ring_with().adapter, "R02_")
    assert explorer.exit_code() == 0
    assert "service Device Information" in explorer.lines
    assert any(line.endswith(": R02_3.00.06_BUMBLE") for line in explorer.lines)


@pytest.mark.parametrize("options", [
    pytest.param([], id="Bluetooth 4"), pytest.param(["--extended"], id="Bluetooth 5", marks=pytest.mark.verdict)])
def test_a_thermometer_is_found_read_and_subscribed_to(options):
    """By another stack's central, which comes again after it has gone."""
    central = start_peer("bumble_central.py", "tcp-server:127.0.0.1:0", "--turns", "2", *options)
    thermometer = subprocess.Popen([built("thermometer"), adapter_at(*central.places())], stdout=subprocess.DEVNULL)
    try:
        turns = [json.loads(central.stdout.readline()) for _ in range(2)]
    finally:
        for process in (thermometer, central):
            process.terminate()
            process.wait(timeout=20)
    for turn in turns:
        assert turn["address"] == "00:1B:DC:0A:10:01" and turn["mtu"] == 247
        assert turn["services"] == ["1800", "1801", "181A"]
        # Flags, the service in two bytes, and the name of the scan response.
        assert turn["data"] == "02010603031a18" + "0c09" + b"Thermometer".hex()
        # The write is refused as the value is not writable: Write Not Permitted.
        assert turn["refusal"] == 3
        degrees = [int.from_bytes(bytes.fromhex(value), "little") for value in (turn["read"], *turn["notified"])]
        assert all(2000 <= each <= 2490 for each in degrees) and degrees[2] == degrees[1] + 10


def ended(name, *arguments) -> Result:
    """How an example of the library itself has ended."""
    process = subprocess.run(
        [built(name), *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    return Result([name, *arguments], process.returncode, process.stdout, process.stderr)


@pytest.mark.verdict
def test_the_first_steps_find_read_write_and_subscribe():
    lines = ended("first-steps").succeeded().out.splitlines()
    assert lines[0].startswith("firmware RT02R_") and lines[1:] == ["battery 87"]


def test_the_first_steps_are_those_with_a_ring_of_another_stack(ring_with):
    ring = ring_with("--name", "R02_BEEF", "--battery", "64")
    assert ended("first-steps", ring.adapter).succeeded().out == "firmware R02_3.00.06_BUMBLE\nbattery 64\n"


@pytest.mark.verdict
@pytest.mark.parametrize("name", ["heart-rate", "pulse"])
@pytest.mark.parametrize(("adapter", "words"), [
    ("hci77", "adapter"), ("user:hci77", "adapter" if os.geteuid() == 0 else "CAP_NET_ADMIN is missing"),
    ("bluetooth", 'unknown adapter "bluetooth"'),
    ("unix:/nonexistent/socket", "/nonexistent/socket"), ("replay:/nonexistent/file", "/nonexistent/file")])
def test_without_an_adapter_an_example_says_so_in_one_line(name, adapter, words):
    """And leaves no crash report (hbldh/bleak 792, theengs/gateway 109, balena-labs-projects/bluetooth 1)."""
    assert ended(name, adapter).failed(1, saying=words).err.startswith(f"{name}: ")


@pytest.mark.verdict
def test_an_example_without_a_standard_error_ends(tmp_path):
    process = subprocess.run(
        ["bash", "-c", f"exec {built('pulse')} hci77 2>&-"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    assert process.returncode == 1


def test_an_example_goes_on_when_its_link_was_lost(peripheral):
    """The strap ends the link after two values; the program subscribes again on the next one."""
    adapter = peripheral("bumble_heart_rate.py", "--leave-after", "2")
    assert ended("heart-rate", adapter).succeeded().out == "battery 81\nheart rates [64, 65, 64, 65, 300]\n"


def test_an_example_records_itself(strap, tmp_path):
    """The recording replays, and is not replaced by a second run."""
    path = tmp_path / "heart-rate.btsnoop"
    printed = ended("heart-rate", strap, path).succeeded().out
    assert "heart rates [" in printed
    size = path.stat().st_size
    ended("heart-rate", strap, path).failed(1, saying="it has data already")
    assert path.stat().st_size == size
    assert ended("heart-rate", f"replay:{path}").succeeded().out == printed


@pytest.fixture
def workshop():
    """A process with devices and a phone, and the adapter for an example."""
    process = start_peer("bumble_workshop.py", "tcp-server:127.0.0.1:0", takes_commands=True)
    process.adapter = adapter_at(*process.places())

    def ask(command):
        print(command, file=process.stdin, flush=True)
        return json.loads(process.stdout.readline())

    process.ask = ask
    yield process
    process.terminate()
    process.wait(timeout=20)


@contextlib.contextmanager
def running(name, *arguments, stdin=subprocess.DEVNULL):
    """An example that runs until it is ended."""
    process = subprocess.Popen(
        ["stdbuf", "-oL", built(name), *map(str, arguments)], stdin=stdin, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=20)


@pytest.mark.verdict
def test_the_beats_of_a_strap_go_on_after_a_loss(workshop):
    """Strap A ends its link once, after three values; Strap B is the other one that has the service."""
    with running("beats", workshop.adapter) as beats:
        assert beats.stdout.readline() == "battery 81 %\n"
        lines = [beats.stdout.readline().strip() for _ in range(8)]
    rates = [int(line.removesuffix(" bpm")) for line in lines if line.endswith(" bpm")]
    assert rates == list(range(rates[0], rates[0] + len(rates))) and rates[0] in (60, 80)
    assert [line.split()[:2] for line in lines if not line.endswith(" bpm")] == [["nothing", "for"]] * (rates[0] == 60)


def test_a_pulse_is_that_of_another_stacks_ring(ring_with):
    lines = ended("pulse", ring_with("--battery", "64").adapter).out.splitlines()
    assert lines[0].startswith("battery 64")


@pytest.mark.verdict
def test_an_inventory_says_what_devices_are(workshop):
    lines = ended("inventory", workshop.adapter).succeeded().out.splitlines()
    assert sorted(lines) == [
        "D2:5C:0A:1E:77:01, Workshop, Bumble, 1.2.3", "D2:5C:0A:1E:77:0A, Strap A", "D2:5C:0A:1E:77:0B, Strap B"]


def test_two_straps_are_logged_and_one_comes_back(workshop):
    addresses = ["D2:5C:0A:1E:77:0A", "D2:5C:0A:1E:77:0B"]
    rates, gaps = {address: [] for address in addresses}, []
    with running("logger", workshop.adapter, *addresses) as logger:
        assert logger.stdout.readline() == "seconds,address,bpm,gap\n"
        last = 0
        while len(rates[addresses[0]]) < 6:
            seconds, address, rate, gap = logger.stdout.readline().strip().split(",")
            rates[address].append(int(rate))
            if gap:
                gaps.append((address, rate, float(gap)))
            last = max(last, float(seconds))
    assert rates[addresses[0]] == [60, 61, 62, 63, 64, 65] and rates[addresses[1]][:3] == [80, 81, 82]
    assert [each[:2] for each in gaps] == [(addresses[0], "63")] and 0 < gaps[0][2] < last


@pytest.mark.verdict
def test_lines_go_to_a_device_and_back(workshop):
    text = "hello\n" + "long " * 100 + "\n"
    printed = subprocess.run(
        [built("terminal"), workshop.adapter], input=text, capture_output=True, text=True, timeout=60, check=True).stdout
    assert printed == text.upper()


def test_a_phone_talks_to_the_terminal(workshop):
    with running("terminal", workshop.adapter, "serve") as terminal:
        assert workshop.ask("say Echo hello") == "hello"
        assert workshop.ask("say Echo again") == "again"
        assert terminal.stdout.readline() == "connected: F0:F1:F2:F3:F4:F7\n"


@pytest.mark.verdict
def test_a_file_is_sent_with_its_progress(workshop, tmp_path):
    path = tmp_path / "firmware.bin"
    path.write_bytes(os.urandom(20000))
    lines = ended("upload", workshop.adapter, path).succeeded().out.splitlines()
    assert lines[:-1] == [f"{percent} %" for percent in range(10, 101, 10)]
    assert lines[-1].startswith("20000 bytes, ")
    ended("upload", workshop.adapter, tmp_path / "none").failed(1, saying="none")


def test_a_proxy_offers_what_another_device_has(workshop):
    """A phone cannot tell it from the strap, but by its name."""
    with running("proxy", workshop.adapter, "Strap B") as proxy:
        assert proxy.stdout.readline() == "2 services of D2:5C:0A:1E:77:0B at 00:1B:DC:0A:10:01\n"
        for turn in range(2):
            seen = workshop.ask("use Proxy")
            first = seen["rates"][0]
            assert seen == {
                "services": ["1800", "1801", "180D", "180F"], "battery": "51", "control": "07", "refusal": 0x80,
                "rates": [first, first + 1, first + 2]}
