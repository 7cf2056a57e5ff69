"""--explain: what decode prints of a recording, while it happens."""

import re
import signal
import struct
import subprocess

import pytest
from program import REPLAY_DIFFERS, ROOT, USAGE

README = (ROOT / "captures" / "README.md").read_text()
BATTERY = ROOT / "captures" / "virtual-battery.btsnoop"
# Number, time, direction, layer.
LINE = re.compile(r"^ *(\d+) +([\d.]+)  (->|<-|--)  (\w+) ")


@pytest.mark.parametrize("command", [
    ("stream", "--ppg", "--count", 20), ("battery",), ("inspect",), ("scan", "--duration", "1s")],
    ids=lambda command: command[0])
@pytest.mark.parametrize("way", ["virtual:rate=50", "tcp"])
def test_explained_as_decoded(halo, ring, tmp_path, command, way):
    adapter = ring.adapter if way == "tcp" else way
    path = tmp_path / "session.btsnoop"
    result = halo.run(*command, "--explain", "--record", path, adapter=adapter).succeeded()
    decoded = halo.run("decode", path).succeeded()
    explained = [line for line in result.err.splitlines() if LINE.match(line)]
    # One clock: even the times are those of the recording.
    assert explained == decoded.out.splitlines() and len(explained) > 10
    assert "\x1b" not in result.err


def test_a_block_a_packet(halo, tmp_path):
    path = tmp_path / "session.btsnoop"
    result = halo.run("battery", "--explain=full", "--record", path, adapter="virtual").succeeded()
    assert result.err == halo.run("decode", path, "-v").succeeded().out


def test_nothing_of_it_is_on_standard_output(halo):
    plain = halo.run("battery", "--format", "jsonl", adapter="virtual:battery=64").succeeded()
    explained = halo.run("battery", "--format", "jsonl", "--explain", adapter="virtual:battery=64").succeeded()
    assert plain.err == "" and plain.out == explained.out
    assert re.search(r"battery.*64", explained.err)


@pytest.mark.parametrize("name", ["virtual-battery", "virtual-inspect", "bumble-stream"])
def test_a_replay_is_explained(halo, name):
    """As the recording is decoded, with its numbers and times, but for the remarks, which the stack never sees."""
    path = ROOT / "captures" / f"{name}.btsnoop"
    (command,) = re.findall(rf"^\| `{name}` \| `[^`]+` \| `([^`]+)` \|", README, re.MULTILINE)
    result = halo.run("replay", path, *command.split(), "--explain").succeeded()
    explained = [line for line in result.err.splitlines() if LINE.match(line)]
    decoded = halo.run("decode", path).succeeded().out.splitlines()
    remarks = [line for line in decoded if "note of halo-raw" in line]
    assert explained == [line for line in decoded if line not in remarks]


def test_a_simulation_explains_what_its_host_says(halo):
    """The controller's side sees the same, and calls the host's packets sent, too."""
    process = halo.start("simulate", "--listen", "tcp:127.0.0.1:0", "--explain")
    adapter = process.stderr.readline().removeprefix("listening on ").strip()
    host = halo.run("battery", "--explain", adapter=adapter).succeeded().err
    process.send_signal(signal.SIGINT)
    controller = halo.wait(process).succeeded().err

    def packets(text, arrow):
        lines = [line for line in text.splitlines() if LINE.match(line) and f"  {arrow}  " in line]
        # Each side counts its own packets: they differ by the advertisements that the host did not wait for.
        own = re.compile(r"after [\d.]+ ms \(packet \d+\)|never answered: packet \d+")
        without_times = [own.sub("", line.partition(arrow)[2]) for line in lines]
        return [line for line in without_times if "note of halo-raw" not in line]

    assert packets(host, "->") == packets(controller, "->") != []
    # Advertisements may still be under way when the host is done.
    received = packets(host, "<-")
    assert received == packets(controller, "<-")[:len(received)] and received


def test_a_form_that_is_none(halo):
    halo.run("battery", "--explain=no", adapter="virtual").failed(USAGE, saying="--explain wants full, lines")


# --- captures of others

@pytest.mark.parametrize("form", ["pcap", "pcapng"])
def test_other_formats_are_replayed(halo, tmp_path, form):
    """A session that Wireshark has saved in its own format drives the stack as before."""
    path = tmp_path / f"session.{form}"
    subprocess.run(["editcap", "-F", form, BATTERY, path], check=True)
    replayed = halo.run("replay", path, "battery", "--format", "jsonl").succeeded()
    assert replayed.out == BATTERY.with_suffix(".jsonl").read_text()


def h4_packets(path):
    """Packet, whether it was sent, and when, of each record of a capture of ours."""
    data, position = path.read_bytes(), 16
    while position < len(data):
        _, length, flags, _, time = struct.unpack_from(">IIIIq", data, position)
        position += 24
        yield data[position : position + length], not flags & 1, time
        position += length


SESSION = list(h4_packets(BATTERY))
BEGINNING = SESSION[0][2]


def monitor_capture(path, packets):
    """A file as btmon writes it, of (adapter, H4 packet, whether it was sent, when)."""
    opcodes = {(1, True): 2, (4, False): 3, (2, True): 4, (2, False): 5}
    with open(path, "wb") as file:
        file.write(b"btsnoop\0" + struct.pack(">II", 1, 2001))
        for adapter, packet, sent, time in packets:
            flags = adapter << 16 | opcodes[packet[0], sent]
            file.write(struct.pack(">IIIIq", len(packet) - 1, len(packet) - 1, flags, 0, time) + packet[1:])


def test_one_adapter_of_several_is_replayed(halo, tmp_path):
    path = tmp_path / "two.btsnoop"
    packets = [
        (0, b"\x01\x03\x0c\x00", True, BEGINNING), (0, b"\x04\x0e\x04\x01\x03\x0c\x00", False, BEGINNING)]
    monitor_capture(path, packets + [(5, *packet) for packet in SESSION])
    for command in (
            ("replay", "--index", 5, path, "battery"), ("battery", "--adapter", f"replay:{path},index=5")):
        result = halo.run(*command, "--format", "jsonl").succeeded()
        assert result.out == BATTERY.with_suffix(".jsonl").read_text()
    first = halo.run("replay", path, "battery").failed(REPLAY_DIFFERS, saying="at the end of")
    assert "halo-raw sent one more packet, Read Local Version Information" in first.err
    missing = halo.run("replay", "--index", 7, path, "battery")
    assert missing.code == 65 and "no HCI packet of hci7, only those of hci0, hci5" in missing.err, missing


@pytest.mark.parametrize("wanted", ["", "--from"])
def test_the_first_difference_is_told_in_words(halo, tmp_path, wanted):
    """Another host's beginning, then ours."""
    path = tmp_path / "other.btsnoop"
    other = [
        (0, b"\x01\x03\x0c\x00", True, BEGINNING), (0, b"\x04\x0e\x04\x01\x03\x0c\x00", False, BEGINNING),
        (0, b"\x01\x05\x10\x00", True, BEGINNING)]
    # Without the note at its beginning, by which it is known as ours.
    monitor_capture(path, other + [(0, *packet) for packet in SESSION[1:]])
    beginning = len(other) + 1
    if wanted:
        halo.run("replay", wanted, beginning, path, "battery").succeeded()
        return
    result = halo.run("replay", "--level", "hci", path, "battery").failed(REPLAY_DIFFERS)
    assert f"packet 3 of {path} is Read Buffer Size, and halo-raw sent Read Local Version" in result.err
    assert "of another host" in result.err and f"try replay --from {beginning} " in result.err


def test_a_capture_from_within_a_connection(halo, tmp_path):
    path = tmp_path / "late.btsnoop"
    late = [(0, *packet) for packet in SESSION][-12:]
    data = next(number for number, (_, packet, *_) in enumerate(late, 1) if packet[0] == 2)
    monitor_capture(path, late)
    result = halo.run("replay", "--level", "hci", path, "battery").failed(
        REPLAY_DIFFERS, saying="begins mid-connection")
    assert f"packet {data} has data" in result.err and "halo-raw sent Reset" in result.err


def test_other_options_than_recorded(halo):
    result = halo.run("replay", BATTERY, "info").failed(REPLAY_DIFFERS, saying="the recording is of another command")
    assert re.search(r"packet \d+ of \S+ is .*, and halo-raw sent ", result.err)
    assert re.search(r"the \d+ packets before it are equal", result.err)
