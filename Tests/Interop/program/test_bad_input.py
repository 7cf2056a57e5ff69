"""What is wrong on the way in or out: one clear line, a documented exit code, and nothing left running."""

import socket
import struct
import subprocess
import threading

import pytest
from program import (
    BAD_DATA, CONNECTION_LOST, IO_ERROR, NOT_FOUND, NO_ADAPTER, NO_FILE, OK, PROTOCOL,
    REPLAY_DIFFERS, TIMEOUT, USAGE)

pytestmark = pytest.mark.verdict

BTSNOOP = b"btsnoop\0" + struct.pack(">II", 1, 1002)
RESET = bytes.fromhex("01030c00")


def record(packet: bytes, flags: int = 2) -> bytes:
    return struct.pack(">IIIIq", len(packet), len(packet), flags, 0, 0x00E03AB44A676000) + packet


# --- the command line

@pytest.mark.parametrize("arguments, saying", [
    ([], ""),
    (["frobnicate"], "frobnicate"),
    (["stream", "--frobnicate"], "--frobnicate"),
    (["stream", "--count"], "--count"),
    (["stream", "--count", "many"], "many"),
    (["stream", "--count", "-1"], "-1"),
    (["stream", "--count", "99999999999999999999"], "99999999999999999999"),
    (["stream", "--duration", "soon"], "soon"),
    (["stream", "--format", "xml"], "xml"),
    (["battery", "one", "two"], "two"),
    (["stream", "--adapter", "carrier-pigeon:1"], "carrier-pigeon"),
    (["stream", "--adapter", "tcp:localhost"], "tcp:localhost"),
    (["stream", "--adapter", "tcp:localhost:99999"], "99999"),
    (["stream", "--adapter", "virtual:rate=fast"], "rate"),
    (["stream", "--adapter", "virtual:colour=red"], "colour"),
    (["stream", "--adapter", "serial:/dev/ttyS0@fast"], "fast"),
    (["read", "R02_341C"], "--uuid"),
    (["read", "R02_341C", "--uuid", "6E40FFF0-B5A3"], "6E40FFF0-B5A3"),
    (["read", "R02_341C", "--handle", "0x10000"], "0x10000"),
    (["read", "R02_341C", "--handle", "0"], "0"),
    (["write", "R02_341C", "--uuid", "2A00", "ABC"], "ABC"),
    (["write", "R02_341C", "--uuid", "2A00", "xyz!"], "xyz!"),
    (["write", "R02_341C", "--uuid", "2A00"], ""),
    (["scan", "--service", "heart"], "heart"),
    (["simulate"], "--listen"),
    (["simulate", "--listen", "pigeon:1"], "pigeon"),
    (["replay"], ""),
], ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_usage(halo, arguments, saying):
    halo.run(*arguments).failed(USAGE, saying=saying)


@pytest.mark.parametrize("arguments", [["--help"], ["stream", "--help"], ["replay", "--help"]])
def test_help_is_not_an_error(halo, arguments):
    result = halo.run(*arguments).succeeded()
    assert "halo-raw" in result.out and result.err == ""


# --- adapters

@pytest.fixture
def controller():
    """A TCP server that treats its clients as the test says."""
    servers = []

    def make(treat):
        server = socket.create_server(("127.0.0.1", 0))
        servers.append(server)

        def serve():
            clients = []
            while True:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                clients.append(client)
                treat(client)

        threading.Thread(target=serve, daemon=True).start()
        return f"tcp:127.0.0.1:{server.getsockname()[1]}"

    yield make
    for server in servers:
        server.close()


def test_a_refused_connection(halo):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    halo.run("stream", adapter=f"tcp:127.0.0.1:{port}").failed(NO_ADAPTER, saying=str(port))


def test_a_host_that_does_not_exist(halo):
    halo.run("stream", adapter="tcp:no-such-host.invalid:1").failed(NO_ADAPTER, saying="no-such-host")


@pytest.mark.parametrize("adapter", [
    "unix:/nowhere/hci", "serial:/nowhere/tty", "serial:/dev/null"])
def test_no_such_device(halo, adapter):
    halo.run("stream", adapter=adapter).failed(NO_ADAPTER, saying=adapter.partition(":")[2])


@pytest.mark.long
def test_a_controller_that_never_answers(halo, controller):
    adapter = controller(lambda client: None)
    halo.run("stream", "--wait", "1s", adapter=adapter).failed(TIMEOUT)


def test_a_controller_that_hangs_up(halo, controller):
    adapter = controller(lambda client: client.close())
    halo.run("stream", "--wait", "1s", adapter=adapter).failed(NO_ADAPTER, CONNECTION_LOST)


@pytest.mark.long
def test_a_controller_that_talks_nonsense(halo, controller):
    adapter = controller(lambda client: client.sendall(bytes(range(256)) * 16))
    halo.run("stream", "--wait", "1s", adapter=adapter).failed(TIMEOUT, PROTOCOL)


# --- peers

@pytest.mark.parametrize("which", ["R02_0000", "C0:FF:EE:C0:FF:EE"])
def test_a_ring_that_is_not_there(halo, ring, which):
    halo.run("stream", which, "--wait", "1s", adapter=ring.adapter).failed(NOT_FOUND, saying=which)


@pytest.mark.parametrize("command", ["stream", "battery"])
def test_a_peer_without_the_rings_service(halo, ring_with, command):
    ring = ring_with("--no-ring-service")
    halo.run(command, ring.address, adapter=ring.adapter).failed(PROTOCOL)
    ring.check_farewell()


# --- captures

@pytest.mark.parametrize("content, saying", [
    (b"", "empty"),
    (b"This is not a capture.\n", "btsnoop"),
    (BTSNOOP[:11], ""),
    (b"btsnoop\0" + struct.pack(">II", 7, 1002), "7"),
    (b"btsnoop\0" + struct.pack(">II", 1, 1003), "1003"),
    (b"btsnoop\0" + struct.pack(">II", 1, 2001), "no HCI packet"),
    (BTSNOOP + struct.pack(">IIIIq", 0xFFFFFFFF, 0xFFFFFFFF, 0, 0, 0) + b"\0" * 64, "record at byte 16"),
    (BTSNOOP + struct.pack(">IIIIq", 4, 8, 2, 0, 0) + b"\0" * 8, "no ATT traffic"),
], ids=["empty", "not btsnoop", "cut in the header", "version", "datalink", "nothing in it", "gigabytes",
        "more than sent"])
def test_a_bad_capture(halo, tmp_path, content, saying):
    path = tmp_path / "bad.btsnoop"
    path.write_bytes(content)
    halo.run("replay", path).failed(BAD_DATA, saying=saying)


def test_a_capture_that_is_not_there(halo):
    halo.run("replay", "/nowhere/session.btsnoop").failed(NO_FILE, saying="/nowhere/session.btsnoop")


@pytest.mark.parametrize(
    "tail", [b"", record(RESET)[:-2], record(RESET)[:10]],
    ids=["after a record", "in a record", "in a record's header"])
def test_a_capture_that_ends_early(halo, tmp_path, tail):
    """A recording whose end is missing is played as far as it goes."""
    path = tmp_path / "cut.btsnoop"
    path.write_bytes(BTSNOOP + record(RESET) + tail)
    halo.run("replay", path).failed(BAD_DATA, REPLAY_DIFFERS, CONNECTION_LOST)


# --- output

def test_a_full_disk(halo):
    with open("/dev/full", "w") as full:
        halo.run(
            "stream", "--count", 1000, adapter="virtual:rate=500", stdout=full,
        ).failed(IO_ERROR, saying="space")


@pytest.mark.parametrize("words", [
    ("doctor",), ("doctor", "--format", "jsonl"), ("adapters", "--help"), ("completion", "bash"),
    ("decode", "captures/virtual-stream.btsnoop"), ("battery", "--adapter", "virtual:fast"), ("--version",),
    ("forget", "--format", "csv"), ("queues", "--format", "csv"), ("bonds", "--format", "csv")])
def test_a_result_on_a_full_disk(halo, state, from_the_repository, words):
    """Also where the exit code is a part of the result."""
    with open("/dev/full", "w") as full:
        halo.run(*words, stdout=full).failed(IO_ERROR, saying="no space left on device")


def test_a_recording_on_a_full_disk(halo):
    result = halo.run("stream", "--count", 500, "--record", "/dev/full", adapter="virtual:rate=500")
    assert result.code == IO_ERROR and "/dev/full" in result.err, result


def test_a_recording_that_cannot_be_made(halo):
    halo.run("stream", "--record", "/nowhere/session.btsnoop", adapter="virtual").failed(
        NO_FILE, saying="/nowhere/session.btsnoop")


@pytest.mark.parametrize("format", ["csv", "jsonl", "text"])
def test_a_closed_pipe(halo, ring, format):
    process = halo.start("stream", "--format", format, adapter=ring.adapter)
    head = subprocess.run(
        ["head", "-n", "1"], stdin=process.stdout, capture_output=True, text=True, timeout=10)
    process.stdout.close()
    process.stdout = None
    result = halo.wait(process)
    assert head.stdout.endswith("\n")
    assert result.code == OK, result
    assert "error" not in result.err.lower() and "pipe" not in result.err.lower(), result
    ring.check_farewell()
