"""What happens to a connection: the ring leaves, comes back or not, the adapter is pulled out; and what the wire says.
"""

import json
import re
import signal
import struct
import time

import pytest
import tshark_check
from bumble_ring import ppg_raw
from conftest import wait_until
from monitor import Monitor
from program import CONNECTION_LOST, NO_ADAPTER, REPLAY_DIFFERS, USAGE

JSON = ("--format", "jsonl")
CREATE_CONNECTION, CONNECTION_UPDATE, SET_DATA_LENGTH = 0x200D, 0x2013, 0x2022


@pytest.fixture(params=["hci0", "user:hci0"])
def way(request):
    return request.param.removesuffix("hci0")


@pytest.fixture
def ready(ring_with, way):
    """A ring with its adapter as the way wants it, and its name for the program."""
    def make(*options):
        ring = ring_with(*options)
        if way:
            ring.kernel_adapter.down()
        return ring, way + ring.adapter

    return make


def test_the_ring_leaves_and_the_stream_goes_on(halo, ring_with):
    ring = ring_with("--disconnect-after", 200)
    records = halo.run(
        "stream", "--ppg", "--count", 500, *JSON, adapter=ring.adapter, timeout=90).succeeded().records()
    values = [record["raw"] for record in records if record["kind"] == "ppg"]
    whole = [ppg_raw(number) for number in range(200)]
    assert values == whole + whole + whole[:100]
    assert len(ring.events("leaving")) >= 2
    # The gap is marked where it is.
    kinds = [record["kind"] for record in records]
    assert [number for number, kind in enumerate(kinds) if kind == "gap"] == [200, 401]
    times = [record["t"] for record in records if record["kind"] == "ppg"]
    assert times == sorted(times), "one clock for the whole stream"


def test_the_ring_leaves_for_good(halo, ring_with):
    ring = ring_with("--vanish-after", 50)
    result = halo.run(
        "stream", "--ppg", "--count", 500, "--retry-for", "3s", *JSON, adapter=ring.adapter, timeout=90)
    assert result.code == CONNECTION_LOST, result
    values = [record["raw"] for record in result.records() if record["kind"] == "ppg"]
    assert values == [ppg_raw(number) for number in range(50)]
    assert ring.events("leaving")


def test_the_adapter_is_pulled_out(halo, ready, rings):
    ring, adapter = ready()
    process = halo.start("stream", "--ppg", "--retry-for", "2s", *JSON, adapter=adapter)
    first = [process.stdout.readline() for _ in range(50)]
    assert '"ppg"' in first[-1]
    rings.remove()
    result = halo.wait(process)
    assert result.code in (NO_ADAPTER, CONNECTION_LOST), result
    assert f"{ring.adapter}: the adapter was removed" in result.err and "Fatal" not in result.err, result


def is_full(protocol) -> bool:
    """Whether what waits in a socket of this protocol does not become more any longer."""
    def waiting():
        with open(f"/proc/net/{protocol}") as sockets:
            return [int(line.split()[2]) for line in list(sockets)[1:]]  # sk, RefCnt, Rmem, ...

    before = waiting()
    time.sleep(1)  # a busy machine may stop the ring for shorter; meanwhile hundreds of packets are dropped
    return max(before) > 100_000 and waiting() == before


def test_what_the_kernel_drops_is_counted(halo, ready, way, tmp_path):
    """A program that is held up for longer than the kernel's buffer lasts: that is 530 packets for who may not raise it,
    ten times as many for root. Samples are numbered: each lost one is missed."""
    _, adapter = ready("--rate", 600)
    records = tmp_path / "records"

    def numbers():
        lines = records.read_text().split("\n")[:-1]
        return [json.loads(line)["raw"] for line in lines if '"ppg"' in line]

    def missing():
        found = numbers()
        return found[-1] - found[0] + 1 - len(found)

    with open(records, "w") as out:
        process = halo.start("stream", *JSON, adapter=adapter, stdout=out)
        wait_until(lambda: records.stat().st_size, "sample")
        process.send_signal(signal.SIGSTOP)
        wait_until(lambda: is_full("hci" if way else "l2cap"), "full buffer", timeout=180)
        process.send_signal(signal.SIGCONT)
        # What waited comes first.
        wait_until(lambda: missing() > 10, "sample after those that were dropped", timeout=60)
        process.send_signal(signal.SIGINT)
        summary = halo.wait(process).succeeded().err
    (dropped,) = map(int, re.findall(r"(\d+) packets dropped by the kernel", summary))
    assert abs(missing() - dropped / 3) <= 2, summary  # a sample of each sensor, in a packet of its own


def test_a_pause_of_a_second_loses_nothing(halo, ready, way, tmp_path):
    """Receive buffers are larger than the system allows, which root may ask for: the links' as well, which are made after
    the privileges were dropped. The system's limit lasts for 530 packets."""
    _, adapter = ready("--rate", 600)
    records = tmp_path / "records"

    def waiting() -> int:
        with open(f"/proc/net/{'hci' if way else 'l2cap'}") as sockets:
            return max(int(line.split()[2]) for line in list(sockets)[1:])  # sk, RefCnt, Rmem, ...

    with open(records, "w") as out:
        process = halo.start("stream", *JSON, adapter=adapter, stdout=out)
        wait_until(lambda: records.stat().st_size, "sample")
        process.send_signal(signal.SIGSTOP)
        # The kernel counts 800 bytes a packet.
        wait_until(lambda: waiting() > 1_200 * 800, "1200 packets in the buffer", timeout=60)
        process.send_signal(signal.SIGCONT)
        wait_until(lambda: not waiting(), "empty buffer")
        process.send_signal(signal.SIGINT)
        summary = halo.wait(process).succeeded().err
    values = [json.loads(line)["raw"] for line in records.read_text().splitlines() if '"ppg"' in line]
    assert len(values) > 400 and values == [ppg_raw(number) for number in range(len(values))]
    assert "\n0 packets dropped by the kernel" in summary


def test_the_monitor_agrees_with_our_recording(halo, ready, way, tmp_path):
    ring, adapter = ready()
    recording = tmp_path / "ours.btsnoop"
    with Monitor(tmp_path / "monitor.btsnoop", ring.kernel_adapter) as monitor:
        halo.run(
            "stream", "--ppg", "--count", 100, "--record", recording, *JSON, adapter=adapter).succeeded()
        ring.wait_for("disconnected")
    replayed = halo.run("replay", recording, "stream", "--ppg", "--count", 100, *JSON).succeeded()
    assert len(replayed.records()) == 100
    assert ("all as in the recording" if way else "at the level of ATT") in replayed.err
    if not way:
        at_hci = halo.run("replay", "--level", "hci", recording, "stream", "--ppg", "--count", 100, *JSON)
        at_hci.failed(REPLAY_DIFFERS, saying="made with --adapter hciN")
        assert "LE Create Connection (0x200d)" in at_hci.err and "Scan" not in at_hci.err
    ours = {0: [], 1: []}
    for pdu in tshark_check.read(recording)[1]:
        handle = b"" if pdu.handle is None else struct.pack("<H", pdu.handle)
        if pdu.opcode == tshark_check.ERROR:  # its handle is not the first field
            handle = None
        ours[pdu.direction].append((pdu.opcode, handle, pdu.value))
    for own, theirs in zip(ours.values(), monitor.att_pdus()):
        assert own
        for (opcode, handle, value), pdu in zip(own, theirs):
            assert opcode == pdu[0]
            if handle is not None:
                assert handle + value == pdu[1:]
    # All that we sent is on the air; of what came, the end may have come after we left.
    sent, received = monitor.att_pdus()
    assert len(sent) == len(ours[0])
    assert len(received) >= len(ours[1]) >= 300


def test_connection_parameters_are_as_asked(halo, ready, tmp_path):
    """The controller is told them, by the kernel, too, which otherwise takes its own."""
    ring, adapter = ready()
    with Monitor(tmp_path / "monitor.btsnoop", ring.kernel_adapter) as monitor:
        halo.run(
            "stream", "--ppg", "--count", 5, "--interval", "12.5..20ms", "--latency", 0, "--timeout", "3s",
            *JSON, adapter=adapter).succeeded()
        ring.wait_for("disconnected")
    (parameters,) = monitor.commands(CREATE_CONNECTION)
    # Behind scan interval and window, policy, the peer's address and our address's type.
    assert struct.unpack_from("<HHHH", parameters, 13) == (10, 16, 0, 300)


def test_connection_parameters_that_were_asked_for_stay(halo, ready, way, tmp_path):
    """The ring wants 25 to 50 ms, latency 4, timeout 5 s. The kernel grants it; that is taken back."""
    ring, adapter = ready("--parameter-request")
    with Monitor(tmp_path / "monitor.btsnoop", ring.kernel_adapter) as monitor:
        result = halo.run(
            "stream", "--ppg", "--count", 300, "--interval", "12.5..20ms", "--timeout", "3s", "-v", *JSON,
            adapter=adapter).succeeded()
        ring.wait_for("disconnected")
    updates = [struct.unpack_from("<HHHH", update, 2) for update in monitor.commands(CONNECTION_UPDATE)]
    granted = [event["result"] for event in ring.events("parameter request")]
    if way:
        assert (updates, granted) == ([], [1])
    else:
        assert (updates, granted) == ([(20, 40, 4, 500), (10, 16, 0, 300)], [0])
        assert "has changed what was requested" in result.err
    # Bumble makes a link with the shortest interval, and changes it to the longest.
    interval = "12.5" if way else "20"
    assert f"link: interval {interval} ms, latency 0, supervision timeout 3000 ms" in result.err


def test_a_stream_keeps_its_interval(halo, ready, way, tmp_path):
    ring, adapter = ready("--parameter-request")
    with Monitor(tmp_path / "monitor.btsnoop", ring.kernel_adapter) as monitor:
        result = halo.run("stream", "--ppg", "--count", 300, "-v", *JSON, adapter=adapter).succeeded()
        ring.wait_for("disconnected")
    updates = [struct.unpack_from("<HHHH", update, 2) for update in monitor.commands(CONNECTION_UPDATE)]
    assert updates == ([] if way else [(20, 40, 4, 500), (6, 12, 0, 400)])
    assert "latency 0, supervision timeout 4000 ms" in result.err


def test_the_ring_may_choose_where_nothing_was_asked_for(halo, ready, way, tmp_path):
    ring, adapter = ready("--parameter-request")
    with Monitor(tmp_path / "monitor.btsnoop", ring.kernel_adapter) as monitor:
        result = halo.run("events", "--duration", "3s", "-v", *JSON, adapter=adapter).succeeded()
        ring.wait_for("disconnected")
    updates = [struct.unpack_from("<HHHH", update, 2) for update in monitor.commands(CONNECTION_UPDATE)]
    assert updates == [(20, 40, 4, 500)]
    assert "interval 50 ms, latency 4, supervision timeout 5000 ms" in result.err


def test_long_packets_are_requested_where_the_adapter_is_ours(halo, ready, way, tmp_path):
    """The kernel does that for its own links."""
    ring, adapter = ready("--acl-length", 251)
    with Monitor(tmp_path / "monitor.btsnoop", ring.kernel_adapter) as monitor:
        result = halo.run("stream", "--ppg", "--count", 5, "-v", *JSON, adapter=adapter).succeeded()
        ring.wait_for("disconnected")
    if way:
        assert [command[2:4] for command in monitor.commands(SET_DATA_LENGTH)] == [b"\xfb\x00"]
        assert ", data length 251 bytes" in result.err


def test_what_the_kernel_does_not_let_programs_choose_is_refused(halo, ready, way):
    _, adapter = ready()
    if way:
        halo.run("battery", "--data-length", 100, "--phy", "1m", adapter=adapter).succeeded()
        return
    halo.run("battery", "--data-length", 100, adapter=adapter).failed(USAGE, saying="the kernel sets")
    # Since Linux 7.0 it may be chosen.
    refused = halo.run("battery", "--phy", "1m", adapter=adapter)
    if refused.code:
        refused.failed(USAGE, saying="does not let programs choose the phy")
