"""Pairing, bonds, and what is done with them later: our host against Bumble's, in both roles.

The situations are those of hbldh/bleak 504 and 758 and IanHarvey/bluepy 234 (a read that needs pairing, or six digits),
h2zero/NimBLE-Arduino 116 and PhilipsHue/flutter_reactive_ble 903 (a device that was reset, while there is a bond here),
apache/mynewt-nimble 319 (a subscription that was made before bonding), bluez/bluez 270 and embassy-rs/trouble 341 (a bonded
client that does not subscribe again after a restart), apache/mynewt-nimble 2206 and zephyrproject-rtos/zephyr 24086 (a bond that
is taken away by pairing anew).
"""

import json
import re
import signal
import subprocess
import time

import pytest
from built import built
from event_lines import event_lines
from forked import adapter_at, start_peer
from program import BAD_DATA, NO_FILE, PROTOCOL, REPLAY_DIFFERS, USAGE, wait_until
from served_strap import end_strap, start_strap
from shared_radio import SharedRadio

JSON = ("--format", "jsonl")
ADDRESS = "E4:11:0C:4B:53:01"


class Lock:
    """A lock on Bumble, and its user."""

    def __init__(self, events, *options):
        self.events = events
        self.process = start_peer(
            "bumble_lock.py", "tcp-server:127.0.0.1:0", "--events", events, *options, takes_commands=True)
        self.adapter = adapter_at(*self.process.places())

    def tell(self, command):
        print(command, file=self.process.stdin, flush=True)

    def of(self, kind) -> list[dict]:
        return [event for line in event_lines(self.events) if (event := json.loads(line))["event"] == kind]

    def wait_for(self, kind) -> dict:
        wait_until(lambda: self.of(kind), f"event {kind} of the lock", 20)
        return self.of(kind)[-1]


@pytest.fixture
def lock_with(tmp_path, state):
    locks = []

    def make(*options):
        locks.append(Lock(tmp_path / f"lock{len(locks)}.jsonl", *options))
        return locks[-1]

    yield make
    for lock in locks:
        lock.process.terminate()
        lock.process.wait(timeout=20)


@pytest.fixture
def pair(halo):
    """Runs `pair`; its user, if there is one, reads what it says and types a line, or nothing."""
    def run(lock, *options, user=None):
        process = halo.start("pair", "Lock", *JSON, *options, adapter=lock.adapter, stdin=subprocess.PIPE)
        if user:
            answer = user(process.stderr.readline())
            if answer is not None:
                print(answer, file=process.stdin, flush=True)
        return halo.wait(process, 40)
    return run


def number(text) -> str:
    return re.search(r"\b\d{6}\b", text)[0]


# --- the errand of an owner


@pytest.mark.verdict
def test_pairing_once_is_enough(halo, lock_with, pair, state):
    lock = lock_with()
    refused = halo.run("read", "Lock", "--uuid", "2A1C", adapter=lock.adapter)
    refused.failed(PROTOCOL, saying="to pair with it: halo-raw pair DEVICE")
    [paired] = pair(lock).succeeded().records()
    assert paired["method"] == "Just Works" and paired["kept"] and not paired["authenticated"]
    assert (state / "bonds.json").stat().st_mode & 0o777 == 0o600
    [bond] = halo.run("bonds", *JSON).succeeded().records()
    assert bond["address"] == ADDRESS and bond["name"] == "Lock" and bond["private_addresses"]
    for _ in range(2):
        [value] = halo.run("read", "Lock", "--uuid", "2A1C", *JSON, adapter=lock.adapter).succeeded().records()
        assert value["value"] == "2a"
    assert len(lock.of("paired")) == 1 and len(lock.of("encryption")) == 3
    # A CCCD that is refused in clear: the values come, too.
    process = halo.start("connect", "Lock", *JSON, adapter=lock.adapter, stdin=subprocess.PIPE)
    out, _ = process.communicate("subscribe 2A6E\nwait 2A6E 5s\n", timeout=30)
    assert [json.loads(line)["value"] for line in out.splitlines() if json.loads(line)["kind"] == "value"] == ["2c"]


@pytest.mark.verdict
def test_a_device_that_was_reset_is_never_used_in_clear(halo, lock_with, pair):
    lock = lock_with()
    pair(lock).succeeded()
    lock.tell("forget")
    lock.wait_for("forgotten")
    halo.run("read", "Lock", "--uuid", "2A1C", adapter=lock.adapter).failed(PROTOCOL, saying=f"bonds forget {ADDRESS}")
    # A new pairing would take the bond away from whoever has it: the owner says so first.
    pair(lock).failed(PROTOCOL, saying=f"bonds forget {ADDRESS}")
    halo.run("bonds", "forget", "Lock").succeeded()
    pair(lock).succeeded()
    halo.run("read", "Lock", "--uuid", "2A1C", adapter=lock.adapter).succeeded()


def test_a_script_pairs_when_it_says_so(halo, lock_with):
    lock = lock_with()
    process = halo.start("connect", "Lock", *JSON, adapter=lock.adapter, stdin=subprocess.PIPE)
    out, err = process.communicate("pair\nread 2A1C\n", timeout=30)
    assert process.returncode == 0, err
    assert [json.loads(line)["value"] for line in out.splitlines() if json.loads(line)["kind"] == "read"] == ["2a"]
    assert lock.of("paired")


def test_a_device_that_leaves_unpaired_hosts_stays(halo, lock_with, pair):
    """Rings that stay connected to bonded hosts only."""
    lock = lock_with("--asks", "--leaves")
    refused = halo.start("connect", "Lock", "--retry-for", "0", adapter=lock.adapter, stdin=subprocess.PIPE)
    out, err = refused.communicate("wait 10s\n", timeout=30)
    assert refused.returncode and "after it had asked for pairing, which was refused" in err
    pair(lock).succeeded()
    process = halo.start("connect", "Lock", *JSON, adapter=lock.adapter, stdin=subprocess.PIPE)
    process.communicate("wait 4s\nread 2A1C\n", timeout=30)
    assert process.returncode == 0


def test_a_program_of_corebluetooth_pairs_once(halo, lock_with, state):
    """An encrypted read pairs by itself, and the next run of the program encrypts with the bond."""
    lock = lock_with()
    for count in (1, 2):
        out = subprocess.run(
            [built("explore"), "Lock"], capture_output=True, text=True, timeout=60,
            env=halo.environment | {"HALO_ADAPTER": lock.adapter}).stdout
        assert "Temperature Measurement: *" in out
        assert len(lock.of("paired")) == 1 and len(lock.of("encryption")) == count
    [bond] = halo.run("bonds", *JSON).succeeded().records()
    assert bond["address"] == ADDRESS


# --- each method


@pytest.mark.verdict
@pytest.mark.parametrize("legacy", [[], ["--legacy"]], ids=["secure connections", "legacy"])
@pytest.mark.parametrize("ours, theirs", [
    ("confirm", "confirm"), ("display", "keyboard"), ("keyboard", "display"), ("keyboard", "keyboard"), ("both", "both"),
    ("none", "both")])
def test_a_method_for_each_pair_of_interfaces(lock_with, pair, ours, theirs, legacy):
    """Bumble keeps the wrong one of the two keys of LE legacy pairing, so that it can't be returned to."""
    lock = lock_with("--interface", theirs, *legacy)
    methods = {("confirm", "confirm"): "numeric comparison", ("both", "both"): "numeric comparison", ("none", "both"): "Just Works"}
    method = methods.get((ours, theirs), "passkey entry")
    if legacy:
        method = {"numeric comparison": "Just Works" if ours == "confirm" else "passkey entry"}.get(method, method)

    def user(said):
        if method == "numeric comparison":
            assert number(said) == lock.wait_for("compare")["number"]
            return "yes"
        if said.startswith("Type the six digits"):
            if theirs == "keyboard":
                # Both users have agreed on a number.
                lock.tell("type 4711")
                return "004711"
            return lock.wait_for("shown")["number"]
        lock.wait_for("asked")
        lock.tell(f"type {int(number(said))}")
        return None

    is_asked = method != "Just Works"
    [paired] = pair(lock, "--interface", ours, user=user if is_asked else None).succeeded().records()
    assert paired["method"] == method and paired["authenticated"] == is_asked
    assert lock.wait_for("paired")


@pytest.mark.parametrize("options, ours, answer, saying", [
    (["--refuses"], "none", None, "pairing not supported"),
    (["--interface", "confirm", "--sees-another-number"], "confirm", "yes", "refused to pair"),
    (["--interface", "confirm"], "confirm", "no", "numeric comparison failed"),
    (["--interface", "display"], "keyboard", "000001", "confirm value failed"),
    (["--key-size", "7"], "none", None, "key size"),
])
def test_a_pairing_that_fails_says_why(lock_with, pair, halo, options, ours, answer, saying):
    lock = lock_with(*options)
    result = pair(lock, "--interface", ours, user=None if ours == "none" else lambda said: answer)
    assert result.code == PROTOCOL and saying in result.err.splitlines()[-1]
    assert halo.run("bonds", *JSON).succeeded().records() == []


@pytest.mark.parametrize("legacy", [[], ["--legacy"]], ids=["secure connections", "legacy"])
def test_a_tag_on_the_device_takes_the_place_of_a_person(lock_with, pair, halo, legacy):
    """Out of band: a sticker or an NFC tag (bluez 1601, zephyr 56179: the flag of a central; mbed-os 9339: values in the wrong
    order)."""
    lock = lock_with("--tag", *legacy)
    data = lock.wait_for("tag")["data"]
    other = data[:-2] + f"{int(data[-2:], 16) ^ 1:02x}"
    assert pair(lock, "--tag", other).code == PROTOCOL
    assert halo.run("bonds", *JSON).succeeded().records() == []
    time.sleep(1)  # the pause after a pairing that has failed
    [paired] = pair(lock, "--tag", data, "--authenticated").succeeded().records()
    assert paired["method"] == "out of band" and paired["authenticated"] and paired["kept"]
    if not legacy:
        [value] = halo.run("read", "Lock", "--uuid", "2A1D", *JSON, adapter=lock.adapter).succeeded().records()
        assert value["value"] == "2b"


@pytest.mark.parametrize("text", ["", "zz", "0222", "020a04"])
def test_what_is_on_no_tag(halo, text):
    halo.run("pair", "--tag", text, adapter="virtual:fast").failed(USAGE, saying="--tag")


def test_a_wrong_tag_is_not_repeated(halo):
    assert "02" * 20 not in halo.run("pair", "--tag", "02" * 20, adapter="virtual:fast").failed(USAGE).err


def test_a_tag_is_no_use_if_the_device_does_not_use_it(lock_with, pair, halo):
    """A device in between would only have to say that it has none."""
    lock = lock_with("--legacy")
    pair(lock, "--tag", "1110" + "05" * 16).failed(PROTOCOL, saying="authentication requirements")
    assert halo.run("bonds", *JSON).succeeded().records() == []


def test_answers_may_come_before_their_question(halo, lock_with):
    for given, code in [("yes\n", 0), ("", PROTOCOL)]:
        lock = lock_with("--interface", "confirm")
        process = halo.start("pair", "Lock", "--interface", "confirm", adapter=lock.adapter, stdin=subprocess.PIPE)
        begin = time.monotonic()
        out, err = process.communicate(given, timeout=25)
        assert process.returncode == code and time.monotonic() - begin < 20, err
        assert given or "nobody can answer" in err
        halo.run("bonds", "forget", "Lock")


def test_a_bond_that_cannot_be_stored_is_said(halo, lock_with, pair, state):
    state.parent.mkdir()
    state.write_text("a file in the way")
    result = pair(lock_with())
    assert result.code == NO_FILE and "cannot store the bond" in result.err, result


@pytest.mark.parametrize("given", [subprocess.DEVNULL, "yes\n", None], ids=["/dev/null", "file", "closed"])
def test_answers_come_from_what_is_no_pipe(halo, lock_with, tmp_path, given):
    """The end of the input is an answer, too: nobody waits for 30 s."""
    lock = lock_with("--interface", "confirm")
    answers = tmp_path / "answers"
    answers.write_text(given if isinstance(given, str) else "")
    begin = time.monotonic()
    with answers.open() as file:
        result = subprocess.run(
            ["sh", "-c", 'exec "$@" ' + ("<&-" if given is None else ""), "sh", str(halo.path),
             "pair", "Lock", "--interface", "confirm", "--adapter", lock.adapter],
            stdin=given if given is subprocess.DEVNULL else file, env=halo.environment, capture_output=True, text=True, timeout=25)
    assert result.returncode == (0 if given == "yes\n" else PROTOCOL) and time.monotonic() - begin < 20, result
    assert given == "yes\n" or "nobody can answer" in result.stderr


@pytest.mark.verdict
@pytest.mark.parametrize("damage, code", [("{", BAD_DATA), ('{"version": 9, "bonds": {}}', BAD_DATA), (None, NO_FILE)])
def test_without_its_bonds_no_link_is_made(halo, lock_with, pair, state, damage, code):
    """It would be in clear."""
    lock = lock_with()
    pair(lock).succeeded()
    path = state / "bonds.json"
    if damage:
        path.write_text(damage)
    else:
        path.unlink()
        path.mkdir()
    for command in (["read", "Lock", "--uuid", "2A00"], ["scan", "--duration", "1s"], ["pair", "Lock"]):
        halo.run(*command, adapter=lock.adapter).failed(code, saying="cannot read the bonds")
    halo.run("bonds").failed(code, saying="bonds.json")
    assert len(lock.of("paired")) == len(lock.of("encryption")) == 1
    assert path.is_dir() if damage is None else path.read_text() == damage


def test_a_recording_with_bonds_is_replayed(halo, lock_with, pair, tmp_path):
    """No replay has its keys: it answers what was read."""
    lock = lock_with()
    pair(lock).succeeded()
    record = tmp_path / "encrypted.btsnoop"
    [live] = halo.run(
        "read", "Lock", "--uuid", "2A1C", "--record", record, *JSON, adapter=lock.adapter).succeeded().records()
    [replayed] = halo.run("read", "--uuid", "2A1C", *JSON, adapter=f"replay:{record}").succeeded().records()
    assert replayed["value"] == live["value"] == "2a"
    halo.run("read", "--uuid", "2A1C", adapter=f"replay:{record},level=hci").failed(REPLAY_DIFFERS, saying="made with bonds")


def test_the_link_to_a_bonded_device_says_that_it_is_encrypted(halo, lock_with, pair):
    lock = lock_with()
    pair(lock).succeeded()
    result = halo.run("read", "Lock", "--uuid", "2A1C", "-v", adapter=lock.adapter).succeeded()
    assert result.err.count("link: encrypted") == 1, result.err


def test_no_person_is_no_protection(lock_with, pair):
    pair(lock_with(), "--authenticated").failed(USAGE, saying="--interface both")


# --- as a peripheral


@pytest.fixture
def phone():
    process = start_peer("bumble_bonder.py", "tcp-server:127.0.0.1:0", takes_commands=True)

    class Phone:
        adapter = adapter_at(*process.places())

        @staticmethod
        def say(line):
            print(line, file=process.stdin, flush=True)

        @staticmethod
        def answer():
            return json.loads(process.stdout.readline())

        def ask(self, line):
            self.say(line)
            return self.answer()

    yield Phone()
    process.terminate()
    process.wait(timeout=20)


@pytest.fixture
def serve(halo, state, tmp_path):
    """A device of ours, and the person beside it."""
    def start(phone, *options):
        table = tmp_path / "table.jsonl"
        table.write_text(halo.run("inspect", *JSON, adapter="virtual:fast").succeeded().out)
        process = halo.start("serve", table, *JSON, *options, adapter=phone.adapter, stdin=subprocess.PIPE)
        said(process, "advertising at")
        return process
    return start


def said(process, text) -> str:
    while text not in (line := process.stderr.readline()):
        assert line, f"no {text!r}"
    return line


@pytest.mark.parametrize("legacy", ["", " legacy"], ids=["secure connections", "legacy"])
@pytest.mark.parametrize("ours, theirs", [
    ("none", "just-works"), ("confirm", "compare"), ("keyboard", "passkey"), ("display", "keyboard")])
def test_a_phone_pairs_by_each_method(halo, serve, phone, ours, theirs, legacy):
    server = serve(phone, "--interface", ours)
    phone.ask(f"method {theirs}{legacy}")
    phone.say("pair")
    is_compared = theirs == "compare" and not legacy
    if is_compared:
        assert "Do not type" in said(server, "Compare")
        print("yes", file=server.stdin, flush=True)
    elif theirs == "compare":
        # Two devices that can show a number and say yes: Just Works without LE Secure Connections.
        said(server, "Pair?")
        print("yes", file=server.stdin, flush=True)
    elif theirs == "passkey":
        said(server, "Type the six digits")
        print(f"{phone.answer()['shown']:06}", file=server.stdin, flush=True)
    elif theirs == "keyboard":
        phone.say(number(said(server, "and nowhere else")))
    seen = phone.answer()
    server.send_signal(signal.SIGINT)
    halo.wait(server)
    # Bumble says "authenticated" of each link that it has encrypted after pairing.
    [bond] = halo.run("bonds", *JSON).succeeded().records()
    assert seen["encrypted"] and bond["secure_connections"] == (not legacy)
    assert bond["authenticated"] == (is_compared or theirs in ("passkey", "keyboard"))


@pytest.mark.verdict
def test_a_bonded_phone_keeps_its_subscription_over_restarts(halo, state):
    radio = SharedRadio(listening=["tcp-server:127.0.0.1:0"])
    try:
        first = start_strap(halo, radio)
        assert radio.ask("bond-strap")["encrypted"]
        end_strap(halo, first)
        [bond] = halo.run("bonds", *JSON).succeeded().records()
        assert bond["address"] == "F0:F1:F2:F3:F4:F6"
        second = start_strap(halo, radio)
        assert len(radio.ask("bonded-strap", 2)["values"]) == 2
        # A phone that has forgotten the bond can't take it away.
        radio.ask("forget")
        assert "failed" in radio.ask("bond-strap")
        end_strap(halo, second)
        assert halo.run("bonds", *JSON).succeeded().records() == [bond]
    finally:
        radio.close()


# --- signed writes


@pytest.mark.verdict
def test_a_signed_write_is_believed_by_its_device(halo, lock_with, pair, state):
    """The signatures of another implementation. Counters go on over runs, and after one that is killed."""
    lock = lock_with("--signs")
    halo.run("write", "Lock", "--uuid", "2A3F", "00", "--signed", adapter=lock.adapter).failed(
        PROTOCOL, saying="pair with it")
    pair(lock).succeeded()
    for value in ("01", "02"):
        written = halo.run(
            "write", "Lock", "--uuid", "2A3F", value, "--signed", "--format", "text", adapter=lock.adapter)
        assert written.succeeded().out.endswith(", signed, without response\n")
    wait_until(lambda: len(lock.of("signed")) == 2, "two signed writes", 20)
    assert [(each["value"], each["counter"], each["right"]) for each in lock.of("signed")] == [
        ("01", 0, True), ("02", 1, True)]
    # In the state of a run that was killed, a step of counters is missing.
    bonds = json.loads((state / "bonds.json").read_text())
    bonds["bonds"][0]["ownSigning"]["counter"] += 100
    (state / "bonds.json").write_text(json.dumps(bonds))
    halo.run("write", "Lock", "--uuid", "2A3F", "03", "--signed", adapter=lock.adapter).succeeded()
    wait_until(lambda: len(lock.of("signed")) == 3, "a third signed write", 20)
    assert lock.of("signed")[-1] | {"counter": 102, "right": True} == lock.of("signed")[-1]
    # An encrypted link needs no signature.
    halo.run("write", "Lock", "--uuid", "2A3F", "04", adapter=lock.adapter).succeeded()
    wait_until(lambda: lock.of("plain"), "a write without a signature", 20)
    assert lock.of("plain")[0]["value"] == "04" and len(lock.of("signed")) == 3


@pytest.mark.verdict
def test_a_signed_write_of_a_phone_is_taken_once(halo, state, tmp_path):
    table = tmp_path / "table.jsonl"
    rows = [
        {"handle": 1, "kind": "service", "uuid": "180D", "end": 3},
        {"handle": 2, "kind": "characteristic", "uuid": "2A3F", "value_handle": 3, "value": "00",
         "properties": ["read", "signed write"]}]
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    radio = SharedRadio(listening=["tcp-server:127.0.0.1:0"])

    def serve():
        process = halo.start("serve", table, "--value", "2A3F=00", adapter=radio.adapters[0], stdin=subprocess.PIPE)
        assert "advertising at" in process.stderr.readline()
        return process

    def end(process):
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=20)

    def sign(counter, value, *options):
        return radio.ask("sign", "180D", "2A3F", counter, value, *options)

    try:
        radio.ask("advertise")
        halo.run("pair", "phone", adapter=radio.adapters[0]).succeeded()
        process = serve()
        assert sign(0, "01") == "01"
        assert sign(5, "02") == "02"
        assert sign(4_000_000_000, "03", "wrong") == "02"
        assert sign(5, "04") == "02"
        end(process)
        # It was killed, and begins anew.
        process = serve()
        assert sign(5, "05") == "00"
        assert sign(0, "06") == "00"
        assert sign(6, "07") == "07"
        end(process)
    finally:
        radio.close()


# --- interruption


def test_ctrl_c_during_a_question_ends_pairing(halo, lock_with):
    lock = lock_with("--interface", "confirm")
    process = halo.start("pair", "Lock", "--interface", "confirm", adapter=lock.adapter, stdin=subprocess.PIPE)
    assert "Compare" in process.stderr.readline()
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 130 and time.monotonic() - begin < 5
    assert halo.run("bonds", *JSON).succeeded().records() == []
