"""What people come for, each whole, with the programs that they use beside halo-raw."""

import json
import os
import signal
import subprocess

import pytest
from program import CONNECTION_LOST, OK, wait_until
from simulation import Simulation
from test_mqtt import PREFIX, RING, broker, make_broker, retained  # noqa: F401 (the fixtures)


@pytest.mark.verdict
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_timeout_of_coreutils_ends_a_stream_in_order(halo, ring, tmp_path, number):
    """It signals its child, and then its whole group: one request, which arrives twice."""
    data, session = tmp_path / "pulse.csv", tmp_path / "session.btsnoop"
    process = subprocess.Popen(
        ["timeout", "--signal", str(int(number)), "600", halo.path, "stream", "--ppg", "--output", data, "--record",
         session, "--adapter", ring.adapter], env=halo.environment, stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, start_new_session=True)
    ring.wait_until(lambda: data.exists() and data.stat().st_size > 4000, "stream in a file")
    # As at the end of its time: it has one way to signal.
    os.kill(process.pid, number)
    errors = process.communicate(timeout=20)[1]
    assert "second signal" not in errors and "samples" in errors, errors
    # The command was asked to end, and did; timeout says that the time was over, or what its child says.
    assert process.returncode in (OK, 124), errors
    ring.check_farewell()
    assert "a102" in ring.commands()
    description = json.loads((tmp_path / "pulse.csv.json").read_text())
    lines = data.read_text().splitlines()
    assert description["Printed"] == len(lines) - 1
    recorded = halo.run("decode", session, "--samples", "--ppg").succeeded().out.splitlines()
    assert recorded[:len(lines)] == lines


@pytest.mark.verdict
def test_a_pulse_is_in_home_assistant_and_in_files_together_with_the_nights(halo, state, broker, tmp_path):  # noqa: F811
    """One process has the link: two services excluded each other, and no night was ever copied."""
    broker.start()
    files, store = tmp_path / "hr", tmp_path / "rings.sqlite"
    halo.run(
        "measure", "heart-rate", "--every", "5m", "--measure", "spo2", "--measure-every", "30m", "--sync-every", "1h",
        "--store", store, "--output", f"{files}/", "--rotate", "1d", "--retry-for", "forever", "--duration", "26h",
        "--mqtt", broker.url(), adapter="virtual:fast,clock=2026-11-21T13:45:00", timeout=60).succeeded()
    found = retained(broker)
    values = {topic.rsplit("/", 1)[1]: json.loads(text) for topic, text in found.items() if f"{RING}/state/" in topic}
    assert {"heart_rate", "spo2", "sleep", "battery", "steps"} <= values.keys()
    # The live values, and not those that the ring has stored before them.
    assert values["heart_rate"]["time"].startswith("2026-11-22T15:4")
    assert values["spo2"]["time"].startswith("2026-11-22T15:") and values["sleep"]["value"] > 0
    described = {topic.split("/")[2].removeprefix(f"halo_{RING}_") for topic in found if topic.endswith("/config")}
    assert values.keys() <= described
    series = sorted(files.glob("*.csv"))
    assert len(series) == 2
    halo.run("report", files).succeeded()
    nights = halo.run("export", "sleep", "--store", store, "--format", "jsonl").records()
    assert len({night["start"][:10] for night in nights}) >= 2


@pytest.mark.verdict
def test_a_stream_publishes_the_heart_rate_that_the_ring_counts(halo, state, broker):  # noqa: F811
    """It was announced, and never sent."""
    broker.start()
    halo.run("stream", "--ppg", "--source", "counted", "--duration", "20s", "--mqtt", broker.url(),
             adapter="virtual:fast,counted").succeeded()
    found = retained(broker)
    assert 40 < json.loads(found[f"{PREFIX}/{RING}/state/heart_rate"])["value"] < 200
    assert f"homeassistant/sensor/halo_{RING}_heart_rate/config" in found


@pytest.fixture
def simulation_with(halo):
    """Makes a virtual ring with options of its own, which lives on between the program's runs."""
    made = []

    def make(options):
        made.append(Simulation(halo, options=options))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.mark.verdict
def test_sync_asks_the_stream_that_has_the_ring(halo, simulation, tmp_path):
    """A ring has one link: the program that has it copies the data, and says what it has got."""
    def stream(data, *options):
        process = halo.start("stream", "R02_BEEF", "--ppg", "--output", data, *options, adapter=simulation.adapter)
        wait_until(lambda: data.exists() and data.stat().st_size > 2000, "stream in a file", seconds=60)
        return process

    store, data = tmp_path / "rings.sqlite", tmp_path / "pulse.csv"
    process = stream(data, "--sync-every", "1h", "--store", store)
    result = halo.run("sync", "R02_BEEF", "--format", "jsonl", adapter=simulation.adapter, timeout=60).succeeded()
    assert "which has the ring" in result.err and str(store) in result.err
    kinds = {record["kind"]: record for record in result.records()}
    assert kinds["sleep"]["supported"] and kinds["sleep"]["read"] > 0 and kinds["sleep"]["added"] == 0
    size = data.stat().st_size
    wait_until(lambda: data.stat().st_size > size, "stream again")
    process.send_signal(signal.SIGINT)
    halo.wait(process).succeeded()
    assert "the ring's stored data is copied" in data.read_text()
    # One that copies nothing says so, in place of a ring that can't be found.
    process = stream(tmp_path / "b.csv")
    result = halo.run("sync", "R02_BEEF", adapter=simulation.adapter)
    assert result.code == CONNECTION_LOST and "start it with --sync-every" in result.err
    # A ring of that name on another adapter is another ring.
    assert "asking" not in halo.run("sync", "R02_BEEF", "--wait", "1s", adapter="tcp:127.0.0.1:1").err
    process.send_signal(signal.SIGINT)
    halo.wait(process).succeeded()


@pytest.mark.parametrize("way", [["--continuous"], ["--every", "10m"]])
def test_sync_asks_a_measurement_that_has_the_ring(halo, simulation_with, tmp_path, way):
    """At once, and not when the next copy is due, also while the measurement sleeps."""
    simulation = simulation_with("warm-up=1")
    data, store = tmp_path / "hr.csv", tmp_path / "rings.sqlite"
    process = halo.start("measure", "heart-rate", "R02_BEEF", *way, "--output", data, "--sync-every", "1h", "--store", store,
                         adapter=simulation.adapter)
    wait_until(lambda: data.exists() and ",value," in data.read_text(), "value in a file", seconds=90)
    result = halo.run("sync", "R02_BEEF", "--format", "jsonl", adapter=simulation.adapter, timeout=60).succeeded()
    kinds = {record["kind"]: record for record in result.records()}
    assert kinds["sleep"]["read"] > 0 and kinds["sleep"]["added"] == 0 and kinds["sleep"]["ring"]
    process.send_signal(signal.SIGINT)
    halo.wait(process).succeeded()
    assert ",pause," in data.read_text()
