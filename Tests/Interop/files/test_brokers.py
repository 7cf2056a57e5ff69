"""Brokers that forget, refuse, end connections or attack: what others get, what is said, how much memory it takes."""

import json
import signal
import subprocess
import threading
import time

import pytest
from mqtt_peer import MQTTPeer, enormous, unfinished
from program import NO_FILE, NOT_FOUND, OK, TIMEOUT, USAGE
from simulation import Simulation
from test_mqtt import (  # noqa: F401 (the fixtures)
    ADAPTER, PREFIX, RING, broker, certificate, free_port, make_broker, publish, records, retained, stream, subscribe,
    wait_for)

CONFIG = f"homeassistant/sensor/halo_{RING}_battery/config"


@pytest.fixture
def peer():
    made = []

    def make(**options) -> MQTTPeer:
        made.append(MQTTPeer(**options))
        made[-1].scheme = "mqtt"
        made[-1].url = lambda prefix=PREFIX: f"mqtt://127.0.0.1:{made[-1].port}/{prefix}"
        return made[-1]

    yield make
    for each in made:
        each.close()


def batches_of(peer, command="stream") -> list[dict]:
    unique = {}
    for topic, payload in list(peer.published):
        if topic == f"{PREFIX}/{RING}/{command}":
            batch = json.loads(payload)
            unique.setdefault((batch["session"], batch["batch"]), batch)
    return list(unique.values())


def test_a_broker_that_has_forgotten_gets_all_states_again(halo, state, make_broker):
    """unixorn/ha-mqtt-discoverable 512, ESPresense 457, SAIC-iSmart-API/saic-python-mqtt-gateway 402: after a restart
    of a broker without persistence the entities stay unavailable."""
    broker = make_broker("allow_anonymous true", "persistence false")
    broker.start()
    process = stream(halo, broker, stdout=subprocess.DEVNULL)
    wait_for("steps", lambda: f"{PREFIX}/{RING}/state/steps" in retained(broker))
    before = retained(broker)
    assert len([topic for topic in before if topic.startswith("homeassistant/")]) == 5
    broker.kill()
    broker.start()
    wait_for("everything", lambda: retained(broker).keys() == before.keys())
    after = retained(broker)
    assert {topic: text for topic, text in after.items() if "/state" not in topic} == {
        topic: text for topic, text in before.items() if "/state" not in topic}
    process.send_signal(signal.SIGINT)
    assert halo.wait(process).code == OK
    assert retained(broker)[f"{PREFIX}/status"] == "offline"


def test_home_assistant_that_starts_is_told_again(halo, state, broker, subscribe):
    """mrlt8/docker-wyze-bridge 920, eschava/psmqtt 79: descriptions and states, too; and allangood/rtlamr2mqtt 406: a
    little later."""
    broker.start()
    subscriber = subscribe(broker)
    process = stream(halo, broker, "--mqtt-discovery", "ha", stdout=subprocess.DEVNULL)
    config = CONFIG.replace("homeassistant", "ha")
    state_topic = f"{PREFIX}/{RING}/state/steps"
    wait_for("steps", lambda: subscriber.of(state_topic))
    assert len(subscriber.of(config)) == len(subscriber.of(state_topic)) == 1
    for text in ("offline", "ONLINE"):
        publish(broker, "ha/status", text)
    publish(broker, "homeassistant/status", "online")
    publish(broker, "ha/status", "online")
    wait_for("the second time", lambda: len(subscriber.of(state_topic)) == 2)
    assert len(subscriber.of(config)) == 2
    assert len(subscriber.of(f"{PREFIX}/status")) == 2
    assert not [topic for topic, _ in subscriber.messages() if topic.startswith("homeassistant/sensor")]
    process.send_signal(signal.SIGINT)
    halo.wait(process)


def test_only_that_one_topic_is_asked_for(halo, state, peer):
    one = peer()
    halo.run("stream", "--ppg", "--count", 5, "--mqtt", one.url(), adapter=ADAPTER).succeeded()
    assert one.subscribed == [("homeassistant/status", 0)]
    assert any(topic.startswith("homeassistant/") for topic, _ in one.published)
    other = peer()
    halo.run(
        "stream", "--ppg", "--count", 5, "--mqtt-discovery", "off", "--mqtt", other.url(), adapter=ADAPTER).succeeded()
    assert other.subscribed == []
    assert not any(topic.startswith("homeassistant/") for topic, _ in other.published)
    assert (f"{PREFIX}/{RING}/availability", b"online") in other.published
    for wrong in ("", "a/#", "$x"):
        halo.run("stream", "--mqtt", other.url(), "--mqtt-discovery", wrong, adapter=ADAPTER).failed(USAGE)


def test_a_ring_has_one_owner(halo, state, make_broker):
    """Two programs with prefixes of their own use one ring in turn. The description is that of the one that has it now,
    also after the broker has forgotten all."""
    broker = make_broker("allow_anonymous true", "persistence false")
    broker.start()
    port = free_port()
    ring = Simulation(halo, f"tcp:127.0.0.1:{port}")
    kitchen = halo.start(
        "stream", "--ppg", "--retry-for", "forever", "--mqtt", broker.url("kitchen"), adapter=ring.adapter,
        stdout=subprocess.DEVNULL)

    def owner():
        config = retained(broker, CONFIG).get(CONFIG)
        return config and json.loads(config)["state_topic"].split("/")[0]

    wait_for("kitchen", lambda: owner() == "kitchen")
    ring.close()
    wait_for("loss", lambda: retained(broker).get(f"kitchen/{RING}/availability") == "offline")
    halo.run("measure", "heart-rate", "--mqtt", broker.url("bedroom"), adapter="virtual:fast").succeeded()
    assert owner() == "bedroom"
    assert retained(broker)[f"bedroom/{RING}/availability"] == "online"
    # Only a program that has the ring says so again.
    broker.kill()
    broker.start()
    wait_for("kitchen's status", lambda: retained(broker).get("kitchen/status") == "online")
    assert owner() is None
    ring = Simulation(halo, f"tcp:127.0.0.1:{port}")
    wait_for("kitchen again", lambda: owner() == "kitchen", 40)
    assert retained(broker)[f"kitchen/{RING}/availability"] == "online"
    kitchen.send_signal(signal.SIGINT)
    halo.wait(kitchen)
    ring.close()


def test_a_message_that_ends_the_connection_does_not_stop_the_others(halo, state, peer):
    """mqttjs/MQTT.js 768, eclipse-paho/paho.mqtt.python 760, nanomq 1236: such a message was sent again for ever."""
    broker = peer(largest=9000)
    # One batch of many lines, and then small ones.
    halo.run(
        "stream", "--ppg", "--accel", "--count", 200, "--mqtt", f"mqtt://127.0.0.1:9/{PREFIX}",
        adapter="virtual:fast,rate=250").succeeded()
    # What waits for one broker waits for the other under the same name.
    queues = state / "mqtt"
    waiting, = queues.glob("*.queue")
    for path in queues.iterdir():
        path.rename(queues / path.name.replace("127.0.0.1_3a9_", f"127.0.0.1_3a{broker.port}_"))
    assert waiting
    process = stream(halo, broker, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, adapter="virtual:rate=4")
    wait_for("small batches", lambda: len(batches_of(broker)) >= 3, 30)
    process.send_signal(signal.SIGINT)
    result = halo.wait(process).succeeded()
    said = [line for line in result.err.splitlines() if "does not take" in line]
    assert f"{PREFIX}/{RING}/stream" in said[0] and "bytes" in said[0] and "ended 3 connections" in said[0]
    assert "set aside" in said[-1] and "halo-raw queues" in said[-1]
    # Without it, each connection came as soon as the one before had ended.
    assert len(broker.versions) <= 4 + 3 * len(said)


def test_what_a_broker_refuses_is_named(halo, state, make_broker, subscribe, tmp_path):
    """MQTT 5 says what version 3.1.1 hides: a topic that is not allowed is acknowledged as if it were published."""
    rules = tmp_path / "rules"
    rules.write_text(f"topic read #\ntopic write {PREFIX}/#\n")
    rules.chmod(0o600)
    # Mosquitto 2.0.11 ends the connection after a refusal if its queues are unlimited.
    broker = make_broker("allow_anonymous true", f"acl_file {rules}", "max_queued_messages 1000")
    broker.start()
    subscriber = subscribe(broker)
    result = halo.wait(stream(halo, broker, "--duration", "3s")).succeeded()
    said = [line for line in result.err.splitlines() if "does not take" in line]
    assert len(said) == 5 and all("homeassistant/" in line and "authorized" in line for line in said)
    wait_for("all", lambda: records(subscriber.batches()) == result.records())


@pytest.mark.parametrize("setting", ["message_size_limit 4000", "max_packet_size 4000"])
def test_a_batch_that_is_too_large_is_named(halo, state, make_broker, subscribe, setting):
    """With version 3.1.1, mosquitto acknowledges what it drops: eclipse-paho/paho.mqtt.python 760 has what others do."""
    broker = make_broker("allow_anonymous true", setting)
    broker.start()
    subscriber = subscribe(broker)
    result = halo.wait(stream(halo, broker, "--duration", "3s", adapter="virtual:rate=8")).succeeded()
    assert "does not take" not in result.err
    wait_for("all", lambda: records(subscriber.batches()) == result.records())
    result = halo.wait(stream(halo, broker, "--duration", "2s", adapter="virtual:rate=200")).succeeded()
    said = [line for line in result.err.splitlines() if "does not take" in line]
    assert said and f"{PREFIX}/{RING}/stream" in said[0] and "large" in said[0].rsplit(":", 1)[1]
    assert "set aside" in result.err.splitlines()[-1]


def test_batches_that_are_refused_are_kept_until_they_are_allowed(halo, state, peer):
    strict = peer(refuses=lambda topic: topic.endswith("/stream"))
    result = stream(halo, strict, "--count", 20, adapter="virtual:fast")
    result = halo.wait(result).succeeded()
    assert sum("does not take" in line for line in result.err.splitlines()) == 2
    queue, = halo.run("queues", "--format", "jsonl").succeeded().records()
    assert queue["set_aside"] >= 1 and queue["waiting"] == 0 and queue["reason"] == "Not authorized"
    strict.refuses = None
    halo.run("queues", "--retry", queue["name"]).succeeded()
    other = halo.wait(stream(halo, strict, "--count", 20, adapter="virtual:fast")).succeeded()
    assert records(batches_of(strict)) == result.records() + other.records()


@pytest.mark.parametrize("silently", [False, True])
def test_a_broker_of_the_old_version_is_spoken_to_in_it(halo, state, peer, silently):
    old = peer(versions=(4,), silently=silently)
    result = halo.run(
        "stream", "--ppg", "--count", 9, "--format", "jsonl", "--mqtt", old.url(), adapter=ADAPTER).succeeded()
    assert old.versions == [5, 4]
    assert records(batches_of(old)) == result.records()
    assert "MQTT" not in result.err


@pytest.mark.parametrize("attack", [unfinished, enormous])
def test_a_hostile_broker_is_left_before_it_takes_memory(halo, state, peer, attack):
    """libmosquitto keeps each message of QoS 2 until it is released, and reads a message of any size."""
    hostile = peer(after=attack)
    process = stream(halo, hostile, "--duration", "5s", stdout=subprocess.DEVNULL)
    most = 0
    while process.poll() is None:
        try:
            fields = dict(line.split(":", 1) for line in open(f"/proc/{process.pid}/status"))
            most = max(most, int(fields.get("VmHWM", "0 kB").split()[0]))
        except (OSError, ValueError):
            break
        time.sleep(0.05)
    result = halo.wait(process).succeeded()
    assert 0 < most < 64_000, most
    assert "bytes, and halo-raw has asked for less" in result.err
    assert "kept on disk" in result.err
    assert 1 <= len(hostile.versions) <= 3


def test_a_broker_that_never_acknowledges_is_tried_less_and_less_often(halo, state, peer):
    quiet = peer(largest=200)
    halo.wait(stream(halo, quiet, "--duration", "9s", stdout=subprocess.DEVNULL)).succeeded()
    # One connection a second would be nine.
    assert 3 <= len(quiet.versions) <= 8


@pytest.mark.long
def test_a_damaged_queue_ends_no_stream(halo, state, broker):
    halo.run("stream", "--ppg", "--count", 30, "--mqtt", broker.url(), adapter="virtual:fast").succeeded()
    queue, = (state / "mqtt").glob("*.queue")
    damaged = bytearray(queue.read_bytes())
    assert len(damaged) > 8 * 4096
    damaged[4096:] = b"\xa5" * len(damaged[4096:])
    queue.write_bytes(damaged)
    assert not queue.with_name(queue.name + "-wal").exists()
    broker.start()
    result = halo.run("stream", "--ppg", "--duration", "2s", "--mqtt", broker.url(), adapter=ADAPTER).succeeded()
    assert "damaged" in result.err and str(queue) + ".damaged" in result.err
    assert (state / "mqtt" / (queue.name + ".damaged")).read_bytes()[4096:] == damaged[4096:]
    assert "damaged" not in halo.run(
        "stream", "--ppg", "--count", 3, "--mqtt", broker.url(), adapter=ADAPTER).succeeded().err


def test_queues_are_listed_and_deleted(halo, state, broker):
    assert halo.run("queues", "--format", "jsonl").succeeded().out == ""
    halo.run(
        "stream", "--ppg", "--count", 3, "--mqtt", "mqtt://127.0.0.1:1/mistyped", adapter="virtual:fast").succeeded()
    broker.start()
    process = stream(halo, broker, stdout=subprocess.DEVNULL)
    wait_for("queue", lambda: len(list((state / "mqtt").glob("*.queue"))) == 2)
    queues = {queue["name"]: queue for queue in halo.run("queues", "--format", "jsonl").succeeded().records()}
    mistyped, = [name for name in queues if "mistyped" in name]
    used, = [name for name in queues if name != mistyped]
    assert queues[mistyped]["waiting"] > 0 and queues[mistyped]["size_bytes"] > 0 and not queues[mistyped]["in_use"]
    assert queues[used]["in_use"]
    assert mistyped in halo.run("queues").succeeded().out
    halo.run("queues", "--delete", used).failed(TIMEOUT, saying="uses the queue")
    halo.run("queues", "--delete", "nothing").failed(NOT_FOUND, saying="no queue")
    halo.run("queues", "--delete", "../../etc/passwd").failed(NOT_FOUND, saying="no queue")
    halo.run("queues", "--delete", mistyped).succeeded()
    assert [path.name for path in (state / "mqtt").iterdir() if "mistyped" in path.name] == []
    process.send_signal(signal.SIGINT)
    halo.wait(process)


def test_tls_at_a_plain_port_says_what_to_do(halo, state, broker):
    broker.start()
    result = halo.run(
        "stream", "--ppg", "--duration", "2s", "--mqtt", broker.url().replace("mqtt:", "mqtts:"),
        adapter=ADAPTER).succeeded()
    assert "use mqtt://" in result.err and "TLS" in result.err
    assert "SSL" not in result.err and "routines" not in result.err


def test_no_tls_at_a_port_for_it_says_what_to_do(halo, state, make_broker, certificate):  # noqa: F811
    trusted, key = certificate
    broker = make_broker("allow_anonymous true", f"certfile {trusted}", f"keyfile {key}")
    broker.start()
    result = halo.run(
        "stream", "--ppg", "--duration", "2s", "--mqtt", broker.url(), adapter=ADAPTER).succeeded()
    assert "mqtts://" in result.err


def test_an_authority_and_a_certificate_for_one_command(halo, state, make_broker, certificate, tmp_path):  # noqa: F811
    trusted, key = certificate
    broker = make_broker(
        "allow_anonymous true", f"certfile {trusted}", f"keyfile {key}", f"cafile {trusted}",
        "require_certificate true", scheme="mqtts")
    broker.start()

    def run(*options):
        return halo.run("stream", "--ppg", "--duration", "2s", "--mqtt", broker.url(), *options, adapter=ADAPTER)

    own = ("--mqtt-ca", trusted)
    identity = ("--mqtt-cert", trusted, "--mqtt-key", key)
    stranger = tmp_path / "stranger.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", tmp_path / "k", "-out", stranger,
         "-days", "1", "-subj", "/CN=127.0.0.1"], check=True, capture_output=True)
    assert "not signed by a trusted authority" in run("--mqtt-ca", stranger, *identity).succeeded().err
    other = halo.run(
        "stream", "--ppg", "--duration", "2s", "--mqtt", broker.url().replace("127.0.0.1", "localhost"), *own, *identity,
        adapter=ADAPTER)
    assert "for another name" in other.succeeded().err
    assert "--mqtt-cert" in run(*own).succeeded().err
    assert "MQTT" not in run(*own, *identity).succeeded().err
    run(*own, "--mqtt-cert", trusted).failed(USAGE, saying="--mqtt-key")
    run("--mqtt-ca", tmp_path / "none").failed(NO_FILE, saying="none")
    halo.run("stream", "--mqtt", "mqtt://127.0.0.1/x", *own, adapter=ADAPTER).failed(USAGE, saying="mqtts://")


def test_a_sync_publishes_the_newest_of_each_kind(halo, state, peer, tmp_path):
    """A state of one program does not replace those of another: each value has a topic."""
    broker = peer()
    ring = "virtual:fast,clock=2026-11-21T13:45:00,support=minute-spo2"
    options = ("--store", tmp_path / "rings.sqlite", "--mqtt", broker.url())
    halo.run("sync", *options, adapter=ring).succeeded()
    values = {
        topic.rsplit("/", 1)[1]: json.loads(text)
        for topic, text in broker.published if f"/{RING}/state/" in topic}
    assert values.keys() == {"heart_rate", "spo2", "temperature", "hrv", "stress", "sleep"}
    # Home Assistant takes the time at which a value comes for its own: none of last week may come before.
    assert sum(f"/{RING}/state/" in topic for topic, _ in broker.published) == len(values)
    stages = halo.run("history", "sleep", "--format", "jsonl", adapter=ring).records()
    last = max(stage["start"] for stage in stages if not stage["nap"])
    assert values["sleep"]["value"] == sum(
        stage["duration_min"] for stage in stages if stage["start"] == last and stage["stage"] != "awake") > 0
    newest = halo.run("history", "temperature", "--format", "jsonl", adapter=ring).records()[-1]
    assert values["temperature"] == {"value": newest["temperature_celsius"], "time": newest["time"]}
    assert values["hrv"]["estimate"] and values["stress"]["estimate"] and "estimate" not in values["spo2"]
    assert all(value["time"].startswith("2026-11-2") for value in values.values())
    configs = [topic for topic, _ in broker.published if topic.endswith("/config")]
    told = {topic.split("/")[2].removeprefix(f"halo_{RING}_") for topic in configs}
    assert values.keys() <= told
    # What it has measured stays available after its end.
    assert [text for topic, text in broker.published if topic.endswith("/availability")] == [b"online"]


def test_a_broker_that_answers_at_the_end_of_a_sync_gets_the_descriptions(halo, state, peer, tmp_path):
    """They were withdrawn as the link was gone, and Home Assistant did not show the values."""
    welcomes = threading.Event()
    broker = peer(welcomes=welcomes)
    process = halo.start("sync", "--kind", "heart-rate", "--store", tmp_path / "rings.sqlite", "--mqtt", broker.url(),
                         adapter="virtual:fast,clock=2026-11-21T13:45:00", stderr=subprocess.PIPE)
    while not process.stderr.readline().startswith("stored in"):
        assert process.poll() is None
    welcomes.set()
    halo.wait(process).succeeded()
    topics = [topic for topic, _ in broker.published]
    assert f"{PREFIX}/{RING}/state/heart_rate" in topics
    assert f"homeassistant/sensor/halo_{RING}_heart_rate/config" in topics and CONFIG in topics


def test_measurements_have_topics_of_their_own(halo, state, peer):
    broker = peer()
    for kind in ("spo2", "hrv", "stress", "heart-rate"):
        halo.run("measure", kind, "--mqtt", broker.url(), adapter="virtual:fast").succeeded()
    values = {
        topic.rsplit("/", 1)[1]: json.loads(text)
        for topic, text in broker.published if f"/{RING}/state/" in topic}
    assert values.keys() == {"spo2", "hrv", "stress", "heart_rate"}
    assert 80 < values["spo2"]["value"] <= 100 and values["stress"]["estimate"]
