"""Recordings: tshark reads them as we do, and they play the controller again."""

import re
import time

import pytest
import tshark_check
from bumble_ring import ppg_raw
from program import REPLAY_DIFFERS
from tshark_check import CONTROLLER_TO_HOST, HOST_TO_CONTROLLER

pytestmark = pytest.mark.verdict

STREAM = ("stream", "--ppg", "--count", 200, "--format", "jsonl")


@pytest.fixture(scope="module")
def recording(halo, shared_ring, tmp_path_factory):
    """A recorded session, and what was printed during it."""
    path = tmp_path_factory.mktemp("capture") / "session.btsnoop"
    result = halo.run(*STREAM, "--record", path, adapter=shared_ring.adapter).succeeded()
    return path, result


def ppg_in(pdus) -> list[int]:
    return [
        int.from_bytes(pdu.value[2:4], "big") for pdu in pdus
        if pdu.opcode == tshark_check.NOTIFICATION and pdu.value[:2] == b"\xa1\x02"]


def test_tshark_agrees(recording):
    path, result = recording
    pdus = tshark_check.check(path)

    def find(opcode, direction):
        return [pdu for pdu in pdus if (pdu.opcode, pdu.direction) == (opcode, direction)]

    assert len(find(tshark_check.MTU_REQUEST, HOST_TO_CONTROLLER)) == 1
    assert len(find(tshark_check.MTU_RESPONSE, CONTROLLER_TO_HOST)) == 1
    notifications = find(tshark_check.NOTIFICATION, CONTROLLER_TO_HOST)
    (tx,) = {pdu.handle for pdu in notifications}
    subscriptions = [
        pdu for pdu in find(tshark_check.WRITE_REQUEST, HOST_TO_CONTROLLER)
        if pdu.handle == tx + 1]
    assert [pdu.value for pdu in subscriptions[:1]] == [b"\x01\x00"]
    assert subscriptions[0].number < notifications[0].number
    printed = [record["raw"] for record in result.records()]
    # The ring sends on until it has read that it should stop.
    assert ppg_in(pdus)[: len(printed)] == printed == [ppg_raw(number) for number in range(200)]


def test_all_attributes_in_one_recording(halo, ring_with, tmp_path):
    ring = ring_with()  # with its long value still long
    path = tmp_path / "inspect.btsnoop"
    halo.run("inspect", ring.address, "--record", path, adapter=ring.adapter).succeeded()
    pdus = tshark_check.check(path)
    assert {pdu.opcode for pdu in pdus} >= {tshark_check.READ_REQUEST, tshark_check.READ_BLOB_REQUEST}


def test_records_are_whole_within_a_second(halo, ring, tmp_path):
    """A session that ends by SIGKILL has lost a second at most."""
    path = tmp_path / "killed.btsnoop"
    process = halo.start(
        "stream", "--ppg", "--format", "jsonl", "--record", path, adapter=ring.adapter)
    first = process.stdout.readline()
    assert '"ppg"' in first
    time.sleep(1.5)
    process.kill()
    process.communicate()
    packets = 0
    try:
        for _ in tshark_check.read_records(path):
            packets += 1
    except tshark_check.CaptureError as error:
        assert "not whole" in str(error) or "header" in str(error)
    # 1500 notifications a second; the first half second of the stream must be there.
    assert packets > 600


def test_replay_gives_the_same_lines(halo, recording):
    path, result = recording
    start = time.monotonic()
    replayed = halo.run("replay", path, *STREAM).succeeded()
    assert replayed.out == result.out
    assert re.search(r"sent", replayed.err), "tells that what we send is what was sent"
    assert time.monotonic() - start < 5


def test_a_recording_is_an_adapter(halo, recording):
    path, result = recording
    assert halo.run(*STREAM, adapter=f"replay:{path}").succeeded().out == result.out


def test_replay_without_a_command_streams(halo, recording):
    path, result = recording
    assert halo.run("replay", path, *STREAM[1:]).succeeded().out == result.out


def test_replay_notices_that_something_else_is_sent(halo, recording):
    path, _ = recording
    replayed = halo.run("replay", path, "battery")
    assert replayed.code == REPLAY_DIFFERS, replayed


def test_the_virtual_ring_is_recorded_and_replayed(halo, tmp_path):
    path = tmp_path / "virtual.btsnoop"
    original = halo.run(*STREAM, "--record", path, adapter="virtual:rate=200").succeeded()
    tshark_check.check(path)
    assert halo.run("replay", path, *STREAM).succeeded().out == original.out
