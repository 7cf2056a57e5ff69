"""Replay at the level of ATT: a recorded device answers by the meaning of requests, whoever made the capture."""

import re
import signal
import struct
import subprocess

import pytest
from forked import adapter_at, start_peer
from program import BAD_DATA, OK, REPLAY_DIFFERS, ROOT
from test_recorded_sessions import FAMILY_SESSIONS, SESSIONS

CAPTURES = ROOT / "captures"
BATTERY = CAPTURES / "virtual-battery.btsnoop"
INSPECT = CAPTURES / "virtual-inspect.btsnoop"
COMMAND, ACL, EVENT = 1, 2, 4
NOTES = re.compile(rb"^\x04\xff.halo-raw: ", re.DOTALL)


class Packet:
    """A record of a btsnoop file of H4 packets."""

    def __init__(self, data, flags, time):
        self.data, self.flags, self.time = data, flags, time

    @property
    def is_received(self):
        return bool(self.flags & 1)


def packets(path):
    data, position, found = path.read_bytes(), 16, []
    while position < len(data):
        _, length, flags, _, time = struct.unpack_from(">IIIIq", data, position)
        position += 24
        found.append(Packet(data[position:position + length], flags, time))
        position += length
    return found


def write_btsnoop(path, found, datalink=1002, with_type=True):
    with open(path, "wb") as file:
        file.write(b"btsnoop\0" + struct.pack(">II", 1, datalink))
        for packet in found:
            data = packet.data if with_type else packet.data[1:]
            file.write(struct.pack(">IIIIq", len(data), len(data), packet.flags, 0, packet.time) + data)


def write_monitor(path, found):
    opcodes = {(COMMAND, False): 2, (EVENT, True): 3, (ACL, False): 4, (ACL, True): 5}
    with open(path, "wb") as file:
        file.write(b"btsnoop\0" + struct.pack(">II", 1, 2001))
        for packet in found:
            opcode = opcodes[packet.data[0], packet.is_received]
            data = packet.data[1:]
            file.write(struct.pack(">IIIIq", len(data), len(data), opcode, 0, packet.time) + data)


def write_packet_logger(path, found):
    """As Apple's PacketLogger writes it; it has seconds since 1970 and microseconds."""
    kinds = {(COMMAND, False): 0, (EVENT, True): 1, (ACL, False): 2, (ACL, True): 3}
    origin = 0x00DCDDB30F2F8000  # btsnoop's epoch, the year 0, in microseconds before 1970
    with open(path, "wb") as file:
        for packet in found:
            seconds, microseconds = divmod(packet.time - origin, 1_000_000)
            body = bytes([kinds[packet.data[0], packet.is_received]]) + packet.data[1:]
            file.write(struct.pack(">III", len(body) + 8, seconds, microseconds) + body)


def convert(form, source, target):
    found = [packet for packet in packets(source) if not NOTES.match(packet.data)]
    if form in ("pcap", "pcapng"):
        subprocess.run(["editcap", "-F", form, source, target], check=True)
    elif form == "h1":
        write_btsnoop(target, found, datalink=1001, with_type=False)
    elif form == "monitor":
        write_monitor(target, found)
    elif form == "packetlogger":
        write_packet_logger(target, found)
    elif form == "filtered":
        write_btsnoop(target, [packet for packet in found if packet.data[0] == ACL])


def att(halo, path, *command, **options):
    return halo.run("replay", path, "--level", "att", *command, "--format", "jsonl", **options)


ROWS = [(name, command) for name, _, command in SESSIONS if name != "virtual-scan"] + FAMILY_SESSIONS


@pytest.mark.verdict
@pytest.mark.parametrize("name, command", ROWS, ids=[name for name, _ in ROWS])
def test_a_session_replays_by_its_meaning(halo, name, command):
    """What is printed is the same as with every packet compared, to the microsecond; only the time of day is the replay's."""
    path = CAPTURES / f"{name}.btsnoop"
    result = att(halo, path, *command.split())
    assert without_time(result.out) == without_time(path.with_suffix(".jsonl").read_text())
    assert result.code == halo.run("replay", path, *command.split()).code, result


def without_time(text: str) -> str:
    """Nor the address, which a filtered capture may lack."""
    return re.sub(r'"time":"[^"]*\.\d{6}[^"]*","ring":"[^"]*",', "", text)


@pytest.mark.verdict
@pytest.mark.parametrize("form", ["pcap", "pcapng", "h1", "monitor", "packetlogger", "filtered"])
@pytest.mark.parametrize("name, command", [
    ("virtual-battery", "battery"), ("virtual-inspect", "inspect"), ("bumble-stream", "stream --ppg --count 50"),
    ("rt/history-sleep", "history sleep")])
def test_captures_of_every_form_replay(halo, tmp_path, form, name, command):
    path = tmp_path / "capture"
    convert(form, CAPTURES / f"{name}.btsnoop", path)
    result = att(halo, path, *command.split()).succeeded()
    lines = (CAPTURES / f"{name}.jsonl").read_text()
    if name.startswith("rt/"):
        # Without the notes of halo-raw, the day is that of the capture's times.
        assert result.out
    else:
        assert without_time(result.out) == without_time(lines)


def test_the_level_is_chosen(halo, tmp_path):
    ours = halo.run("replay", BATTERY, "battery").succeeded()
    assert "packets sent, all as in the recording" in ours.err
    filtered = tmp_path / "filtered.btsnoop"
    convert("filtered", BATTERY, filtered)
    by_meaning = halo.run("replay", filtered, "battery").succeeded()
    assert "at the level of ATT" in by_meaning.err and by_meaning.out == ours.out
    halo.run("replay", filtered, "--level", "hci", "battery").failed(
        REPLAY_DIFFERS, saying="begins mid-connection")
    assert halo.run("battery", "--adapter", f"replay:{BATTERY},level=att").succeeded().out == ours.out


def after_discovery(path, target):
    """The capture without what comes before the first subscription."""
    found = [packet for packet in packets(path) if packet.data[0] == ACL]
    first = next(
        index for index, packet in enumerate(found)
        if packet.data[9:10] == b"\x12" and len(packet.data) == 14 and packet.data[12:] == b"\x01\x00")
    write_btsnoop(target, found[first:])


def test_a_ring_is_known_by_its_traffic(halo, tmp_path):
    """A capture that begins after discovery has no UUIDs."""
    path = tmp_path / "late.btsnoop"
    after_discovery(BATTERY, path)
    result = halo.run("replay", path, "battery", "--format", "jsonl").succeeded()
    assert result.out == BATTERY.with_suffix(".jsonl").read_text()
    table = halo.run("replay", path, "inspect", "--format", "jsonl").succeeded().records()
    assert "6E400003-B5A3-F393-E0A9-E50E24DCCA9E" in [row["uuid"] for row in table]


def test_what_a_complete_discovery_does_not_have_is_not_there(halo):
    """All attributes are in the recording: that there is no second Device Name is the answer, and not a gap of the capture."""
    result = halo.run("replay", ROOT / "captures/virtual-inspect.btsnoop", "--level", "att", "read", "--uuid", "2A00").succeeded()
    assert "no answer" not in result.err and "--table" not in result.err
    # The included service, whose UUID was read from its declaration, is there under its own.
    table = halo.run("replay", ROOT / "captures/virtual-inspect.btsnoop", "--level", "att", "inspect", "--format", "jsonl")
    recorded = (ROOT / "captures/virtual-inspect.jsonl").read_text()
    assert table.succeeded().out == recorded and "UUID" not in table.err


def test_a_table_is_given(halo, tmp_path):
    """For another device, the table of `inspect` names the handles."""
    with heart_rate_sensor() as adapter:
        session, table = tmp_path / "session.btsnoop", tmp_path / "table.jsonl"
        command = ("subscribe", "Halo Strap", "--uuid", "2A37", "--count", 3)
        halo.run(*command, "--record", session, adapter=adapter).succeeded()
        table.write_text(halo.run("inspect", "Halo Strap", "--format", "jsonl", adapter=adapter).succeeded().out)
    late = tmp_path / "late.btsnoop"
    after_discovery(session, late)
    values = ("subscribe", "--uuid", "2A37", "--count", 3, "--format", "jsonl")
    without = halo.run("replay", late, *values)
    assert without.code == REPLAY_DIFFERS and "give --table FILE" in without.err, without
    result = halo.run("replay", late, "--table", table, *values).succeeded()
    assert [record["value"] for record in result.records()] == ["0040", "0041", "012c01"]
    missing = halo.run("replay", late, "--table", tmp_path / "none", *values)
    assert missing.code == 66 and "none" in missing.err
    (tmp_path / "bad").write_text('{"handle":1}\n')
    assert "line 1" in halo.run("replay", late, "--table", tmp_path / "bad", *values).failed(65).err


class heart_rate_sensor:
    """A peripheral that is no ring, on Bumble."""

    def __enter__(self):
        self.process = start_peer("bumble_heart_rate.py", "tcp-server:127.0.0.1:0")
        return adapter_at(*self.process.places())

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=30)


def test_a_recording_on_h4_replays_at_both_levels(halo, tmp_path):
    path = tmp_path / "session.btsnoop"
    with heart_rate_sensor() as adapter:
        command = ("subscribe", "Halo Strap", "--uuid", "2A37", "--count", 4, "--format", "jsonl")
        original = halo.run(*command, "--record", path, adapter=adapter).succeeded()
    assert halo.run("replay", path, *command).succeeded().out == original.out
    replayed = halo.run("replay", path, "--level", "att", *command).succeeded()
    assert [record["value"] for record in replayed.records()] == [
        record["value"] for record in original.records()]
    # A scan finds it by what it advertised.
    (device, *_) = att(halo, path, "scan", "--name", "strap").succeeded().records()
    assert device["address"] == "D2:5C:0A:1E:48:52" and device["name"] == "Halo Strap"


@pytest.mark.verdict
@pytest.mark.parametrize("way", ["virtual:rate=100", "ring"])
def test_a_recorded_stream_replays(halo, ring, tmp_path, way):
    path = tmp_path / "session.btsnoop"
    command = ("stream", "--ppg", "--count", 50, "--format", "jsonl")
    original = halo.run(
        *command, "--record", path, adapter=ring.adapter if way == "ring" else way).succeeded()
    replayed = halo.run("replay", path, "--level", "att", *command).succeeded()
    assert [record["raw"] for record in replayed.records()] == [
        record["raw"] for record in original.records()]
    # More than was recorded.
    more = halo.run("replay", path, "--level", "att", "stream", "--ppg", "--count", 500, "--format", "jsonl")
    # What asks why no sample comes was not recorded.
    assert more.code in (OK, BAD_DATA, REPLAY_DIFFERS), more


def test_a_replay_is_recorded_and_replays_itself(halo, tmp_path):
    path = tmp_path / "again.btsnoop"
    first = att(halo, BATTERY, "battery", "--record", path, "--explain").succeeded()
    assert re.search(r"battery, from the ring", first.err)
    again = halo.run("replay", path, "battery", "--format", "jsonl").succeeded()
    assert again.out == first.out and "at the level of ATT" in again.err


@pytest.mark.verdict
def test_a_recording_of_a_busy_machine_replays_at_the_level_of_hci(halo, tmp_path):
    """The peer's request was received, and answered, before our own first request went out."""
    path = tmp_path / "stream.btsnoop"
    command = ["stream", "--ppg", "--count", 20, "--format", "jsonl"]
    live = halo.run(*command, "--record", path, adapter="virtual:rate=200").succeeded()
    found = packets(path)

    def place(is_received, opcode):
        return next(index for index, packet in enumerate(found) if packet.data[0] == ACL
                    and packet.is_received == is_received and packet.data[7:10] == bytes([4, 0, opcode]))

    mtu_request, answer = place(False, 0x02), place(False, 0x01)
    assert place(True, 0x06) < answer
    # Beside other programs, the recording may be like that already.
    if mtu_request < answer:
        found.insert(answer, found.pop(mtu_request))
        found[answer].time = found[answer - 1].time
        write_btsnoop(path, found)
    replayed = halo.run("replay", path, "--level", "hci", *command).succeeded()
    assert without_time(replayed.out) == without_time(live.out) and "all as in the recording" in replayed.err


def test_what_is_missing_is_named_with_its_place(halo):
    result = att(halo, BATTERY, "measure", "heart-rate")
    assert result.code == REPLAY_DIFFERS, result
    assert re.search(r"Write Request of 0x0010 \(6E400002-\S+\): 69 01 .* was not written to it", result.err)
    assert re.search(r"nearest is packet \d+", result.err)
    lenient = halo.run("replay", BATTERY, "--level", "att", "--lenient", "measure", "heart-rate")
    assert lenient.code not in (0, REPLAY_DIFFERS), lenient


def connection(values, reason, link=0x40, time=0):
    """A link to a bonded device: a subscription, a command, what the device notified on 0x0010, and the end of the link."""
    def att(pdu, is_received):
        frame = struct.pack("<HH", len(pdu), 4) + pdu
        return b"\x02" + struct.pack("<HH", link | (0x2000 if is_received else 0), len(frame)) + frame, is_received

    connected = b"\x04\x3e\x13\x01\x00" + struct.pack("<HBB", link, 0, 0) + bytes.fromhex("060504030201")
    pdus = [
        (connected + struct.pack("<HHHB", 24, 0, 500, 0), 3),
        att(b"\x12\x11\x00\x01\x00", 0), att(b"\x13", 1), att(b"\x52\x10\x00\xa1", 0),
        *[att(b"\x1b\x10\x00" + value, 1) for value in values],
        (b"\x04\x05\x04\x00" + struct.pack("<HB", link, reason), 3)]
    return [Packet(data, flags, 1_000_000_000 + time + 1000 * index) for index, (data, flags) in enumerate(pdus)]


@pytest.mark.verdict
@pytest.mark.parametrize("reason", [0x08, 0x13, 0x16], ids=["radio", "device", "host"])
def test_a_listener_gets_all_of_a_short_capture(halo, tmp_path, reason):
    """Of a lock (cnrd/yeelock) and of a bed (danisla/iot-bed), the last values were lost when the device left; without a
    discovery, as in logs of phones, the handle is there all the same."""
    path = tmp_path / "short.btsnoop"
    values = [b"\xa1\x00", b"\x00", b"\xa1\x01"]
    write_btsnoop(path, connection(values, reason))
    result = att(halo, path, "subscribe", "--handle", "0x10").succeeded()
    assert [one["value"] for one in result.records() if one["kind"] == "value"] == ["a100", "00", "a101"]
    inspected = att(halo, path, "inspect").failed(REPLAY_DIFFERS, saying="no discovery")
    assert "--table" in inspected.err and "68616C6F-2D72-4177-A072-65706C610010" in inspected.out


def test_the_end_names_connections_with_more(halo, tmp_path):
    path = tmp_path / "two.btsnoop"
    write_btsnoop(path, connection([b"\x01"], 0x16) + connection([b"\x02", b"\x03"], 0x16, 0x41, 60_000_000))
    subscribe = ("subscribe", "--handle", "0x10")
    best = att(halo, path, *subscribe).succeeded()
    assert [one["value"] for one in best.records() if one["kind"] == "value"] == ["02", "03"]
    first = att(halo, path, "--connection", 1, *subscribe).succeeded()
    assert "1 notification (connection 2 has 2)" in first.err, first


def test_a_connection_is_chosen(halo, tmp_path):
    """Two devices in one capture: a ring, and after it another one."""
    other = [
        Packet(bytes(packet.data), packet.flags, packet.time + 100_000_000)
        for packet in packets(CAPTURES / "bumble-inspect.btsnoop")]
    path = tmp_path / "two.btsnoop"
    write_btsnoop(path, [p for p in packets(BATTERY) + other if not NOTES.match(p.data)])
    first = att(halo, path, "inspect").succeeded().records()
    second = halo.run(
        "replay", path, "--connection", 2, "inspect", "--format", "jsonl").succeeded().records()
    by_address = halo.run(
        "replay", path, "--connection", "D2:5C:0A:1E:34:1C", "inspect", "--format", "jsonl").succeeded().records()
    assert second == by_address != first
    assert "48414C4F-0003-4000-8000-52494E470000" in [row["uuid"] for row in second]
    missing = halo.run("replay", path, "--connection", 3, "inspect").failed(65)
    assert "no such connection" in missing.err and "1: 30:35:38:41:BE:EF" in missing.err
    halo.run("replay", path, "--connection", "ring", "inspect").failed(64, saying="--connection")


@pytest.mark.parametrize("words", [("--lenient", "%"), ("%", "--lenient"), ("%", "--lenient", "stream")])
def test_a_lenient_replay_of_an_equal_session_succeeds(halo, words):
    """Also of a stream without its count, which ends where the recording ends; the option may follow the file."""
    path = CAPTURES / "virtual-stream.btsnoop"
    result = halo.run("replay", *[path if word == "%" else word for word in words]).succeeded()
    assert "all as in the recording" in result.err


def test_a_capture_without_att_says_so(halo, tmp_path):
    path = tmp_path / "commands.btsnoop"
    write_btsnoop(path, [packet for packet in packets(BATTERY) if packet.data[0] == COMMAND][1:])
    halo.run("replay", path, "inspect").failed(65, saying="no ATT traffic")
