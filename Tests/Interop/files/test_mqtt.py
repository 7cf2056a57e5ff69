"""Records for a broker: mosquitto, which is killed in mid-stream, and whose clients see each record once and in order."""

import datetime
import ipaddress
import json
import os
import shutil
import signal
import socket
import subprocess
import time

import pytest
from program import BAD_DATA, IO_ERROR, NO_FILE, NO_PERMISSION, SYSTEM, TIMEOUT, USAGE

UNOPENED = 66
ADDRESS = "30:35:38:41:BE:EF"
RING = "30353841beef"
PREFIX = "test/pulse"
# Slow enough for a second to be a few records, fast enough for a hole to be seen.
ADAPTER = "virtual:rate=50"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(what, condition, seconds=15):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if result := condition():
            return result
        time.sleep(0.02)
    pytest.fail(f"no {what} after {seconds} s")


class Broker:
    """A mosquitto with a folder and a port of its own."""

    def __init__(self, folder, *settings, scheme="mqtt"):
        self.folder, self.port, self.scheme = folder, free_port(), scheme
        self.process = None
        self.configuration = folder / "mosquitto.conf"
        lines = [f"listener {self.port} 127.0.0.1", "persistence true", f"persistence_location {folder}/",
                 "autosave_on_changes true", "autosave_interval 1", "max_queued_messages 0", *settings]
        if os.geteuid() == 0:
            lines.append("user root")
        self.configuration.write_text("\n".join(lines) + "\n")

    def start(self):
        program = shutil.which("mosquitto", path=os.environ["PATH"] + ":/usr/sbin")
        assert program, "mosquitto is missing; run scripts/setup test"
        with (self.folder / "broker.log").open("a") as log:
            self.process = subprocess.Popen([program, "-c", str(self.configuration)], stdout=log, stderr=log)
        wait_for("broker", self.answers)

    def answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return True
        except OSError:
            return False

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process = None

    def url(self, prefix=PREFIX, user="") -> str:
        return f"{self.scheme}://{user}127.0.0.1:{self.port}/{prefix}"


def receive(broker, file, *options) -> subprocess.Popen:
    """Starts a client of the broker that writes into a file what it gets: whether that was retained, the topic, the payload."""
    with file.open("w") as out:
        return subprocess.Popen(
            ["stdbuf", "-oL", "mosquitto_sub", "-h", "127.0.0.1", "-p", str(broker.port), "-F", "%r\t%t\t%p", *options],
            stdout=out, stderr=subprocess.DEVNULL)


def received(file) -> list[tuple[str, str, str]]:
    return [tuple(line.split("\t", 2)) for line in file.read_text().split("\n")[:-1]]


class Subscriber:
    """A client of the broker that gets everything, also what comes while it is away."""

    def __init__(self, broker, folder, *options):
        self.file = folder / "received"
        self.process = receive(broker, self.file, "-q", "1", "-c", "-i", "subscriber", "-t", "#", *options)

    def messages(self) -> list[tuple[str, str]]:
        return [message[1:] for message in received(self.file)]

    def of(self, topic) -> list[str]:
        return [payload for name, payload in self.messages() if name == topic]

    def batches(self, topic=f"{PREFIX}/{RING}/stream") -> list[dict]:
        """Without repeats, which QoS 1 allows."""
        unique = {}
        for payload in self.of(topic):
            batch = json.loads(payload)
            assert unique.setdefault((batch["session"], batch["batch"]), batch) == batch
        return list(unique.values())


def publish(broker, topic, text, *options):
    subprocess.run(
        ["mosquitto_pub", "-h", "127.0.0.1", "-p", str(broker.port), "-t", topic, "-m", text, *options], check=True,
        timeout=10)


def retained(broker, topic="#") -> dict[str, str]:
    """What a client gets that comes now: all that is before a message that is published until the client gets it."""
    file = broker.folder / "retained"
    client = receive(broker, file, "-t", topic, "-t", "end")

    def is_all_there():
        publish(broker, "end", "")
        return ("0", "end", "") in received(file)

    try:
        wait_for("end of what is retained", is_all_there)
    finally:
        client.kill()
        client.wait()
    return {topic: payload for is_retained, topic, payload in received(file) if is_retained == "1"}


@pytest.fixture
def make_broker(tmp_path):
    made = []

    def make(*settings, **named) -> Broker:
        folder = tmp_path / f"broker{len(made)}"
        folder.mkdir()
        made.append(Broker(folder, *(settings or ["allow_anonymous true"]), **named))
        return made[-1]

    yield make
    for broker in made:
        if broker.process:
            broker.kill()


@pytest.fixture
def broker(make_broker):
    return make_broker()


@pytest.fixture
def subscribe(tmp_path):
    made = []

    def make(broker, *options) -> Subscriber:
        made.append(Subscriber(broker, tmp_path, *options))
        # It is there when its subscription is stored.
        wait_for("subscription", lambda: b"subscriber" in (
            (broker.folder / "mosquitto.db").read_bytes() if (broker.folder / "mosquitto.db").exists() else b""))
        return made[-1]

    yield make
    for subscriber in made:
        subscriber.process.kill()
        subscriber.process.wait()


def records(batches):
    return [record for batch in batches for record in batch["records"]]


def check_order(batches):
    """Each session begins with 0 and has no hole, and so have the records of each kind."""
    sessions = list(dict.fromkeys(batch["session"] for batch in batches))
    for session in sessions:
        own = [batch for batch in batches if batch["session"] == session]
        assert [batch["batch"] for batch in own] == list(range(len(own)))
        assert {batch["ring"]["address"] for batch in own} == {ADDRESS}
        for kind in ("ppg", "accel"):
            numbers = [record["seq"] for record in records(own) if record["kind"] == kind]
            assert numbers == list(range(len(numbers))), kind
            assert numbers
    return sessions


def stream(halo, broker, *options, adapter=ADAPTER, **named):
    return halo.start(
        "stream", "--ppg", "--accel", "--format", "jsonl", "--mqtt", broker.url(), *options, adapter=adapter, **named)


def test_a_broker_that_is_killed_in_mid_stream_gets_everything_in_order(halo, state, broker, subscribe):
    broker.start()
    subscriber = subscribe(broker)
    process = stream(halo, broker, "--duration", "9s")
    wait_for("batches", lambda: len(subscriber.batches()) >= 2)
    broker.kill()
    time.sleep(2.5)
    received = len(subscriber.batches())
    broker.start()
    wait_for("batches after the restart", lambda: len(subscriber.batches()) > received)
    result = halo.wait(process).succeeded()
    wait_for("farewell", lambda: subscriber.of(f"{PREFIX}/status")[-1:] == ["offline"])
    batches = subscriber.batches()
    assert len(check_order(batches)) == 1
    # In the order in which they were made, and equal to the output.
    assert records(batches) == result.records()
    assert len(batches) >= 9
    assert all(len(json.dumps(batch)) <= 1 << 16 for batch in batches)
    assert "no connection to the MQTT broker" in result.err
    assert "connected to the MQTT broker" in result.err
    assert "kept on disk;" not in result.err.splitlines()[-1]
    # Most came once: a repeat is of what was under way.
    assert len(subscriber.of(f"{PREFIX}/{RING}/stream")) - len(batches) <= 16


def test_marks_and_events_reach_a_broker(halo, state, broker, subscribe):
    """The ring's own battery is published at once: it was read each ten minutes only."""
    broker.start()
    subscriber = subscribe(broker)
    process = stream(halo, broker, adapter="virtual:name=R02_MQTT,rate=50,events=0.2")
    wait_for("stream", lambda: not halo.run("mark", "coffee", "--ring", "R02_MQTT").code)

    def published(kind):
        return [record for batch in subscriber.batches() for record in batch["records"] if record["kind"] == kind]

    wait_for("mark", lambda: published("mark"))
    wait_for("event", lambda: published("event"))
    wait_for("tap", lambda: [text for text in subscriber.of(f"{PREFIX}/{RING}/button") if "tap" in text])
    wait_for("temperature", lambda: subscriber.of(f"{PREFIX}/{RING}/state/temperature"))
    process.send_signal(signal.SIGINT)
    result = halo.wait(process).succeeded()
    printed = [record for record in result.records() if record["kind"] in ("mark", "event")]
    assert published("mark")[0]["text"] == "coffee" and published("mark")[0] in printed
    assert published("event")[0] in printed


def test_what_a_killed_process_leaves_is_delivered_by_the_next(halo, state, broker, subscribe, tmp_path):
    broker.start()
    subscriber = subscribe(broker)
    with (tmp_path / "out.jsonl").open("w") as out:
        process = stream(halo, broker, "--duration", "30s", stdout=out)
    wait_for("batches", lambda: len(subscriber.batches()) >= 2)
    broker.kill()
    time.sleep(3)
    process.kill()
    process.wait()
    broker.start()
    second = stream(halo, broker, "--duration", "1s")
    result = halo.wait(second).succeeded()
    wait_for("farewell", lambda: subscriber.of(f"{PREFIX}/status")[-1:] == ["offline"])
    batches = subscriber.batches()
    first, last = check_order(batches)
    # The old ones come first.
    order = [batch["session"] for batch in batches]
    assert order == sorted(order, key=[first, last].index)
    printed = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().split("\n")[:-1]]
    kept = records(batch for batch in batches if batch["session"] == first)
    assert kept == printed[:len(kept)]
    # No more than the last second, which was no batch yet, is gone.
    assert printed[-1]["t"] - kept[-1]["t"] < 1.5
    assert records(batch for batch in batches if batch["session"] == last) == result.records()


def test_a_broker_that_is_absent_gets_everything_from_the_next_command(halo, state, broker, subscribe):
    began = time.monotonic()
    result = halo.wait(stream(halo, broker, "--duration", "2s")).succeeded()
    # Nobody waits for a broker that is not there.
    assert time.monotonic() - began < 6
    lines = [line for line in result.err.splitlines() if line.startswith("halo-raw:")]
    assert "no connection to the MQTT broker" in lines[0] and "refused" in lines[0]
    assert "kept on disk" in lines[1] and len(lines) == 2
    queue, = [path for path in (state / "mqtt").iterdir() if path.suffix == ".queue"]
    assert queue.stat().st_mode & 0o777 == 0o600
    broker.start()
    subscriber = subscribe(broker)
    other = halo.wait(stream(halo, broker, "--count", 10)).succeeded()
    wait_for("farewell", lambda: subscriber.of(f"{PREFIX}/status")[-1:] == ["offline"])
    batches = subscriber.batches()
    check_order(batches)
    assert records(batches) == result.records() + other.records()


@pytest.mark.verdict
def test_the_last_will_tells_of_a_killed_process(halo, state, broker, subscribe):
    broker.start()
    subscriber = subscribe(broker)
    process = stream(halo, broker, "--duration", "30s")
    wait_for("batch", subscriber.batches)
    assert subscriber.of(f"{PREFIX}/status") == ["online"]
    process.kill()
    wait_for("last will", lambda: subscriber.of(f"{PREFIX}/status") == ["online", "offline"])
    # It is retained.
    assert retained(broker, f"{PREFIX}/status") == {f"{PREFIX}/status": "offline"}


def test_ctrl_c_delivers_the_rest_and_says_goodbye(halo, state, broker, subscribe):
    broker.start()
    subscriber = subscribe(broker)
    process = stream(halo, broker)
    wait_for("batches", lambda: len(subscriber.batches()) >= 2)
    process.send_signal(signal.SIGINT)
    result = halo.wait(process).succeeded()
    wait_for("farewell", lambda: subscriber.of(f"{PREFIX}/status")[-1:] == ["offline"])
    assert records(subscriber.batches()) == result.records()


def test_home_assistant_finds_the_ring_and_its_values(halo, state, broker, subscribe):
    broker.start()
    subscriber = subscribe(broker)
    # The steps are those since midnight.
    ring = f"{ADAPTER},clock=2026-11-21T13:45:00"
    walked = halo.run("today", "--format", "jsonl", adapter=ring).records()[0]["steps"]
    halo.wait(stream(halo, broker, "--duration", "2s", adapter=ring)).succeeded()
    wait_for("farewell", lambda: subscriber.of(f"{PREFIX}/status")[-1:] == ["offline"])
    topics = {topic for topic, _ in subscriber.messages()}
    configs = {topic: json.loads(payload) for topic, payload in subscriber.messages()
               if topic.startswith("homeassistant/")}
    assert {topic.split("/")[2] for topic in configs} == {
        f"halo_{RING}_{what}"
        for what in ("battery", "charging", "steps", "button", "heart_rate_alarm")}
    identifiers = set()
    for topic, config in configs.items():
        root, component, identifier, last = topic.split("/")
        assert (root, last) == ("homeassistant", "config") and component in ("sensor", "binary_sensor", "event")
        assert config["unique_id"] == identifier
        identifiers.update(config["device"]["identifiers"])
        assert config["device"]["name"] == "R02_BEEF" and config["device"]["sw_version"]
        assert {each["topic"] for each in config["availability"]} == {
            f"{PREFIX}/status", f"{PREFIX}/{RING}/availability"} <= topics
        own = identifier.removeprefix(f"halo_{RING}_")
        assert (config["state_topic"] in topics) == (own in ("battery", "charging", "steps"))
    assert identifiers == {f"halo_{RING}"}
    state = f"{PREFIX}/{RING}/state"
    known = json.loads(subscriber.of(state)[-1])
    values = {what: json.loads(subscriber.of(f"{state}/{what}")[-1]) for what in ("battery", "charging", "steps")}
    assert {what: value["value"] for what, value in values.items()} == {
        "battery": 87, "charging": False, "steps": walked}
    assert subscriber.of(f"{PREFIX}/{RING}/availability") == ["online", "offline"]
    assert walked > 0
    assert (known["battery_percent"], known["charging"], known["steps"]) == (87, False, walked)
    assert known["time"].startswith("20")
    # Those who come later get the newest of each.
    assert retained(broker).keys() == {
        *configs, state, f"{PREFIX}/status", f"{PREFIX}/{RING}/availability", *(f"{state}/{what}" for what in values)}


def test_beats_reach_the_broker(halo, state, broker, subscribe):
    broker.start()
    subscriber = subscribe(broker)
    result = halo.run(
        "stream", "--ppg", "--beats", "--duration", "20s", "--format", "jsonl", "--mqtt", broker.url(),
        adapter="virtual:fast").succeeded()
    topic = f"{PREFIX}/{RING}/stream"
    beats = [record for record in result.records() if record["kind"] == "beat"]
    wait_for("beats", lambda: [r for r in records(subscriber.batches(topic)) if r["kind"] == "beat"] == beats)
    assert len(beats) > 12 and beats[-1]["bpm"]
    rate = json.loads(subscriber.of(f"{PREFIX}/{RING}/state")[-1])["heart_rate_bpm"]
    assert abs(rate - 69) < 4


@pytest.mark.verdict
def test_events_and_measurements_reach_the_broker(halo, state, broker, subscribe):
    broker.start()
    subscriber = subscribe(broker)
    result = halo.run(
        "measure", "heart-rate", "--format", "jsonl", "--mqtt", broker.url(), adapter="virtual:fast").succeeded()
    topic = f"{PREFIX}/{RING}/measure"
    wait_for("measurement", lambda: subscriber.batches(topic))
    assert records(subscriber.batches(topic)) == result.records()
    rate = result.records()[-1]["heart_rate_bpm"]
    assert json.loads(subscriber.of(f"{PREFIX}/{RING}/state")[-1])["heart_rate_bpm"] == rate
    result = halo.run(
        "events", "--count", 3, "--format", "jsonl", "--mqtt", broker.url(), adapter="virtual:fast,events=1").succeeded()
    topic = f"{PREFIX}/{RING}/events"
    wait_for("events", lambda: len(records(subscriber.batches(topic))) == 3)
    assert records(subscriber.batches(topic)) == result.records()


def test_touches_and_alarms_are_events_of_the_moment(halo, state, broker, subscribe):
    """Home Assistant takes no event from a retained message, and a touch that waited on disk for its broker would be one at
    the wrong time: awtrix-ng 45, tellstick-plugin-mqtt-hass 5, mochad_dispatch 18, Zwave2Mqtt 143, ha-xcomfort-bridge 106."""
    arguments = ("events", "--format", "jsonl", "--mqtt", broker.url())
    # Without a broker they are in the batches, and nowhere else.
    halo.run(*arguments, "--count", 10, adapter="virtual:fast,events=1").succeeded()
    broker.start()
    subscriber = subscribe(broker)
    halo.run(*arguments, "--count", 20, adapter="virtual:events=0.2").succeeded()
    wait_for("farewell", lambda: subscriber.of(f"{PREFIX}/status")[-1:] == ["offline"])
    told = records(subscriber.batches(f"{PREFIX}/{RING}/events"))
    assert [record["event"] for record in told].count("button") == 3
    touches = [json.loads(payload) for payload in subscriber.of(f"{PREFIX}/{RING}/button")]
    alarms = [json.loads(payload) for payload in subscriber.of(f"{PREFIX}/{RING}/alarm")]
    assert [touch["event_type"] for touch in touches] == ["tap", "tap"]
    assert [(alarm["event_type"], alarm["heart_rate_bpm"]) for alarm in alarms] == [("too-high", 131)] * 2
    times = [record["time"] for record in told if record["event"] == "button"]
    assert [touch["time"] for touch in touches] == times[1:]
    known = json.loads(subscriber.of(f"{PREFIX}/{RING}/state")[-1])
    assert (known["counter"], known["heart_rate_bpm"]) == (20, 131)
    kept = {topic.removeprefix(f"{PREFIX}/{RING}/") for topic in retained(broker, f"{PREFIX}/{RING}/#")}
    assert kept == {"availability", "state", *(
        f"state/{what}" for what in ("battery", "charging", "counter", "heart_rate", "steps", "temperature"))}


def test_a_history_reaches_the_broker(halo, state, broker, subscribe):
    broker.start()
    subscriber = subscribe(broker)
    ring = "virtual:fast,clock=2026-11-21T13:45:00,support=minute-spo2"
    for kind in ("sport", "spo2-values", "sedentary", "sleep", "temperature"):
        result = halo.run("history", kind, "--format", "jsonl", "--mqtt", broker.url(), adapter=ring).succeeded()
        topic = f"{PREFIX}/{RING}/history/{kind}"
        wait_for(kind, lambda: len(records(subscriber.batches(topic))) == len(result.records()))
        assert records(subscriber.batches(topic)) == result.records() != []
    halo.run("history", "sleep", "--stored", "--mqtt", broker.url()).failed(USAGE, saying="exclude each other")


def test_several_rings_have_topics_of_their_own(halo, state, broker, subscribe):
    broker.start()
    subscriber = subscribe(broker)
    result = halo.run(
        "stream", "--all", "--wait", "1s", "--ppg", "--count", 40, "--format", "jsonl", "--mqtt", broker.url(),
        adapter="virtual:fast,rings=2").succeeded()
    for address in (ADDRESS, "30:35:38:41:BE:F0"):
        topic = f"{PREFIX}/{address.replace(':', '').lower()}/stream"
        wait_for("batches", lambda: len(records(subscriber.batches(topic))) == 40)
        batches = subscriber.batches(topic)
        assert [batch["batch"] for batch in batches] == list(range(len(batches)))
        assert records(batches) == [record for record in result.records() if record["ring"] == address]


@pytest.mark.verdict
def test_records_are_the_same_in_any_format_of_the_output(halo, state, broker, subscribe):
    broker.start()
    subscriber = subscribe(broker)
    halo.run("stream", "--ppg", "--count", 30, "--format", "csv", "--mqtt", broker.url(), adapter=ADAPTER).succeeded()
    topic = f"{PREFIX}/{RING}/stream"
    wait_for("batches", lambda: len(records(subscriber.batches(topic))) == 30)
    assert all(record["kind"] == "ppg" and record["raw"] for record in records(subscriber.batches(topic)))


def test_a_wrong_password_ends_the_command(halo, state, make_broker, tmp_path):
    passwords = tmp_path / "passwords"
    subprocess.run(["mosquitto_passwd", "-b", "-c", str(passwords), "me", "se/cret"], check=True, capture_output=True)
    broker = make_broker("allow_anonymous false", f"password_file {passwords}")
    broker.start()

    def run(user, **environment):
        before = dict(halo.environment)
        halo.environment.update(environment)
        try:
            return halo.run(
                "stream", "--ppg", "--duration", "2s", "--mqtt", broker.url(user=user), adapter=ADAPTER)
        finally:
            halo.environment.clear()
            halo.environment.update(before)

    for user in ("", "me:wrong@", "me@"):
        result = run(user)
        assert result.code == NO_PERMISSION, result
        assert "check the user and the password" in result.err.splitlines()[-1]
        assert "wrong" not in result.err
    run("me:se%2Fcret@").succeeded()
    assert "kept on disk" not in run("me@", HALO_MQTT_PASSWORD="se/cret").succeeded().err


@pytest.fixture
def locked_broker(make_broker, tmp_path):
    """It wants a user and a password."""
    passwords = tmp_path / "passwords"
    subprocess.run(["mosquitto_passwd", "-b", "-c", str(passwords), "me", "se/cret"], check=True, capture_output=True)
    broker = make_broker("allow_anonymous false", f"password_file {passwords}")
    broker.start()
    return broker


def secret(path, text, mode=0o600):
    path.write_text(text)
    path.chmod(mode)
    return path


@pytest.mark.parametrize("way", ["option", "credential", "environment"])
def test_the_password_comes_from_a_file_or_a_credential(halo, state, locked_broker, tmp_path, monkeypatch, way):
    """The file is taken before the credential, and that before the variable."""
    options = []
    if way == "option":
        options = ["--mqtt-password-file", secret(tmp_path / "password", "se/cret\nanother line\n")]
    folder = tmp_path / "credentials"
    folder.mkdir(mode=0o700)
    if way != "environment":
        secret(folder / "mqtt-password", "se/cret" if way == "credential" else "wrong", 0o400)
    monkeypatch.setitem(halo.environment, "CREDENTIALS_DIRECTORY", str(folder))
    monkeypatch.setitem(halo.environment, "HALO_MQTT_PASSWORD", "se/cret" if way == "environment" else "wrong")
    result = halo.run(
        "stream", "--ppg", "--duration", "2s", "--mqtt", locked_broker.url(user="me@"), *options, adapter=ADAPTER)
    assert "kept on disk" not in result.succeeded().err


def test_a_password_file_that_others_can_read_is_refused(halo, state, tmp_path):
    def run(path, user="me@"):
        return halo.run(
            "stream", "--ppg", "--count", 1, "--mqtt", f"mqtt://{user}127.0.0.1:1/x", "--mqtt-password-file", path,
            adapter=ADAPTER)

    for mode in (0o604, 0o640, 0o666):
        run(secret(tmp_path / "open", "se/cret", mode)).failed(NO_PERMISSION, saying="others can read it")
    run(tmp_path / "missing").failed(NO_FILE, saying="missing")
    run(secret(tmp_path / "empty", "\n")).failed(BAD_DATA, saying="is no password")
    run(secret(tmp_path / "long", "x" * 2000)).failed(NO_FILE, saying="larger than")
    os.mkfifo(tmp_path / "fifo", 0o600)
    run(tmp_path / "fifo").failed(NO_FILE, saying="not a regular file")
    fine = secret(tmp_path / "fine", "se/cret")
    run(fine, "").failed(USAGE, saying="needs the user in the address")
    run(fine, "me:own@").failed(USAGE, saying="has a password")


def test_the_password_is_in_no_file(halo, state, broker, tmp_path):
    output = tmp_path / "out.csv"
    broker.start()
    halo.run(
        "stream", "--ppg", "--count", 3, "--output", output, "--mqtt", broker.url(user="me:verysecret@"),
        adapter=ADAPTER).succeeded()
    for path in [tmp_path / "out.csv.json", *(state / "mqtt").iterdir()]:
        assert b"verysecret" not in path.read_bytes()
    assert "me:***@127.0.0.1" in (tmp_path / "out.csv.json").read_text()


@pytest.fixture
def certificate(tmp_path):
    """A certificate for 127.0.0.1, which is its own authority."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.timezone.utc)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(1).not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True).sign(key, hashes.SHA256()))
    (tmp_path / "certificate.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (tmp_path / "key.pem").write_bytes(key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    return tmp_path / "certificate.pem", tmp_path / "key.pem"


def test_mqtts_trusts_the_authorities_of_the_system_alone(halo, state, make_broker, certificate):
    trusted, key = certificate
    broker = make_broker("allow_anonymous true", f"certfile {trusted}", f"keyfile {key}", scheme="mqtts")
    broker.start()
    result = halo.run(
        "stream", "--ppg", "--count", 5, "--mqtt", broker.url(), adapter=ADAPTER).succeeded()
    assert "kept on disk" in result.err.splitlines()[-1]
    assert "certificate verify failed" in result.err and "--mqtt-ca" in result.err
    # OpenSSL's own variable says where the system has them.
    halo.environment["SSL_CERT_FILE"] = str(trusted)
    result = halo.run("stream", "--ppg", "--duration", "2s", "--mqtt", broker.url(), adapter=ADAPTER).succeeded()
    assert "MQTT" not in result.err


def test_a_queue_is_for_one_process(halo, state, broker):
    broker.start()
    first = stream(halo, broker, "--duration", "20s", stdout=subprocess.DEVNULL)
    wait_for("queue", lambda: (state / "mqtt").exists() and list((state / "mqtt").glob("*.queue")))
    halo.run("stream", "--mqtt", broker.url(), adapter=ADAPTER).failed(TIMEOUT, saying="use another prefix")
    halo.run("stream", "--ppg", "--count", 2, "--mqtt", broker.url("other"), adapter=ADAPTER).succeeded()
    first.kill()
    first.wait()


def test_a_damaged_library_is_said_at_once(halo, state, tmp_path):
    (tmp_path / "libmosquitto.so.1").write_bytes(b"")
    halo.environment["LD_LIBRARY_PATH"] = str(tmp_path)
    halo.run("stream", "--mqtt", "mqtt://127.0.0.1/x", adapter=ADAPTER).failed(
        SYSTEM, saying="libmosquitto.so.1: file too short; raise the limit")


@pytest.mark.parametrize("url, words", [
    ("http://host/x", "mqtt://"), ("mqtt://host", "prefix"), ("mqtt://host:99999/x", "port"), ("mqtt://host/#", "#")])
def test_a_wrong_address_is_a_usage_error(halo, url, words):
    halo.run("stream", "--mqtt", url, adapter=ADAPTER).failed(USAGE, saying=words)


def test_without_a_folder_for_the_queue_nothing_begins(halo):
    # The state of the other tests has no folder.
    halo.run("stream", "--mqtt", "mqtt://127.0.0.1/x", adapter=ADAPTER).failed(UNOPENED, saying="queue")


def test_a_full_disk_is_said_and_nothing_else_stops(halo, state, broker, tmp_path):
    """The limit of a file's size stands for a full disk: the records go to the output all the same."""
    broker.start()
    import resource
    process = stream(
        halo, broker, "--duration", "3s",
        restore_signals=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)))
    result = halo.wait(process)
    assert result.code == IO_ERROR, result
    assert "the queue" in result.err and "lost" in result.err.splitlines()[-1]
    assert len(result.records()) > 100
