"""Captures taken apart: the same as tshark sees, whatever the file's format, and however damaged it is."""

import gzip
import json
import os
import struct
import subprocess
import time

import decode_check
import pytest
from program import BAD_DATA, NO_FILE, ROOT, SYSTEM, USAGE

CAPTURES = sorted((ROOT / "captures").rglob("*.btsnoop"))
STREAM = ROOT / "captures" / "virtual-stream.btsnoop"


def capture_name(path) -> str:
    return str(path.relative_to(ROOT / "captures").with_suffix(""))


def decode(halo, path, *options):
    return halo.run("decode", path, "--format", "jsonl", *options).succeeded().records()


def verdict(path):
    """A parameter of test_tshark_sees_the_same; not every family of rings has to be seen for the verdict."""
    return pytest.param(path, marks=[pytest.mark.verdict] if path.parent == ROOT / "captures" else [])


@pytest.mark.parametrize("path", map(verdict, CAPTURES), ids=capture_name)
def test_tshark_sees_the_same(path):
    unexplained = [str(one) for one in decode_check.differences(path) if one.reason is None]
    assert not unexplained
    assert decode_check.counts(path)["packets"] > 0


@pytest.mark.parametrize("kind", ["pcap", "pcapng", "btsnoop"])
@pytest.mark.parametrize("path", CAPTURES, ids=capture_name)
def test_other_formats_say_the_same(halo, path, kind, tmp_path):
    copy = tmp_path / f"copy.{kind}"
    subprocess.run(["editcap", "-F", kind, str(path), str(copy)], check=True, capture_output=True)
    assert decode(halo, copy) == decode(halo, path)


def test_an_att_pdu_has_all_that_was_promised(halo):
    records = decode(halo, STREAM)
    reply = next(one for one in records if one.get("att", {}).get("opcode") == 0x03)
    request = records[reply["gatt"]["request"]["frame"] - 1]
    assert request["att"]["opcode"] == 0x02
    assert request["direction"] == "sent" and reply["direction"] == "received"
    assert reply["gatt"]["procedure"] == "Exchange MTU"
    assert reply["gatt"]["request"]["seconds"] == pytest.approx(reply["time"] - request["time"], abs=2e-6)
    assert reply["gatt"]["mtu"] == 247
    samples = [one["ring"] for one in records if one.get("ring", {}).get("form") == "PPG"]
    printed = [json.loads(line) for line in STREAM.with_suffix(".jsonl").read_text().splitlines()]
    ppg = [one["raw"] for one in printed if one["kind"] == "ppg"]
    assert [one["fields"]["raw"] for one in samples][: len(ppg)] == ppg


def test_filters_and_layers(halo):
    everything = decode(halo, STREAM)
    att = decode(halo, STREAM, "--layer", "att")
    assert att == [one for one in everything if "att" in one]
    one_handle = decode(halo, STREAM, "--layer", "smp,ring", "--filter", "handle=0x0012,opcode=0x1b")
    assert one_handle == [
        one for one in everything
        if "ring" in one and one["att"]["handle"] == 0x12 and one["att"]["opcode"] == 0x1B]
    assert decode(halo, STREAM, "--filter", "packet=3..5") == everything[2:5]


def test_text_has_a_line_a_packet_and_fields_on_demand(halo):
    lines = halo.run("decode", STREAM).succeeded().out.splitlines()
    assert len(lines) == len(decode(halo, STREAM))
    assert "note of halo-raw" in lines[0] and "Reset" in lines[1] and "\x1b" not in "".join(lines)
    block = halo.run("decode", STREAM, "-v", "--filter", "opcode=0x200d|0x2043").succeeded().out
    assert "Vol 4, Part E, 7.8.66" in block and "supervision timeout" in block


@pytest.mark.parametrize("name", ["virtual-stream", "virtual-stream-1hz", "bumble-stream"])
def test_samples_are_those_that_were_streamed(halo, name):
    path = ROOT / "captures" / f"{name}.btsnoop"
    kinds = ["--ppg"] if name == "bumble-stream" else []
    out = halo.run("decode", path, "--samples", "--format", "jsonl", *kinds).succeeded().out
    printed = path.with_suffix(".jsonl").read_text()
    # The ring sends on until it has read that it should stop.
    assert out.startswith(printed) and printed


def test_the_summary_counts_what_tshark_counts(halo):
    out = halo.run("decode", STREAM, "--summary").succeeded().out
    counts = decode_check.counts(STREAM)
    assert out.startswith(f"{counts['packets']} packets in ")
    assert f"{counts['commands']} commands" in out and f"{counts['events']} events" in out
    assert "0x0012 ring command notify" in out and "interval 50 ms, latency 4" in out
    halo.run("decode", STREAM, "--summary", "--format", "csv").failed(USAGE, saying="--format")


def test_the_summary_begins_with_the_device_that_was_used(halo, tmp_path):
    """And not with who else was there: what was written to which handle is what an app's log is read for."""
    connected = bytes.fromhex("043e1301004000000006050403020118000000480000")
    report = bytes([2, 1, 0, 0, *range(6, 12), 11, 10, 9]) + b"Neighbour" + b"\xc5"
    pdus = [pair for value in range(40) for pair in ((f"52100001{value:02x}", True), ("1b120001", False))]
    pdus += [("1210000203", True), ("13", False), *[("1d140007", False), ("1e", True)] * 5]
    capture = [(False, bytes([4, 0x3E, len(report)]) + report), (False, connected)]
    capture += [acl(bytes.fromhex(pdu), is_sent) for pdu, is_sent in pdus]
    path = tmp_path / "used.btsnoop"
    capture_of(path, capture)
    out = halo.run("decode", path, "--summary").succeeded().out
    device, bystanders, procedures = out.split("\n\n")[1:4]
    assert device.startswith("01:02:03:04:05:06\n  hci0 0x0040, ")
    assert """
  written
    0x0010
      40 write commands: 01 .. (40 distinct, byte 1 varies)
        answered by 40 notifications of 0x0012: 01
      1 write request: 02 03
        answered by 5 indications of 0x0014: 07
""" in device
    assert bystanders == 'Bystanders: 1 advertiser (0B:0A:09:08:07:06 "Neighbour" 1 report)'
    assert "Indications: 5 indications, round trip" in procedures and "Write Without Response: 40 commands" in procedures
    records = halo.run("decode", path, "--summary", "--format", "jsonl").succeeded().records()
    writes = [one for one in records if one["kind"] == "writes"]
    assert [(one["handle"], one["operation"], one["count"], one["value"], one["varying"]) for one in writes] == [
        (16, "Write Command", 40, "0100", [1]), (16, "Write Request", 1, "0203", [])]
    assert writes[0]["answers"][0]["handle"] == 18 and writes[0]["answers"][0]["count"] == 40


def test_a_packet_of_an_unknown_type_is_not_damaged(halo, tmp_path):
    """A vendor's: what it has is not described, and may be whole."""
    path = tmp_path / "vendor.btsnoop"
    capture_of(path, [(False, bytes.fromhex("1d0102")), (True, bytes.fromhex("01030c00"))])
    out = halo.run("decode", path, "--summary").succeeded().out
    assert "1 command, 1 packet of an unknown type" in out and "damaged" not in out
    halo.run("decode", path, "--html", tmp_path / "page.html").succeeded()
    assert '"damaged"' not in (tmp_path / "page.html").read_text().split('id="packets"')[1].split("</script>")[0]


def test_a_pipe_is_a_file(halo):
    with subprocess.Popen(
            [halo.path, "decode", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        out, _ = process.communicate(STREAM.read_bytes(), timeout=20)
    assert process.returncode == 0
    assert out.decode() == halo.run("decode", STREAM).succeeded().out


def test_a_file_that_grows_is_followed(halo, tmp_path):
    data = STREAM.read_bytes()
    path = tmp_path / "growing.btsnoop"
    with open(path, "wb", buffering=0) as file:
        file.write(data[:1000])
        process = halo.start("decode", path, "--follow", "--format", "jsonl")
        first = json.loads(process.stdout.readline())
        assert first["frame"] == 1
        file.write(data[1000:])
        last = len(decode(halo, STREAM))
        deadline = time.monotonic() + 30
        while json.loads(process.stdout.readline())["frame"] < last:
            assert time.monotonic() < deadline
    process.send_signal(2)
    assert process.wait(timeout=30) == 0


def test_a_reader_that_goes_is_no_error(halo):
    run = subprocess.run(
        f"'{halo.path}' decode '{STREAM}' | head -n 1; echo ${{PIPESTATUS[0]}}", shell=True, executable="/bin/bash",
        capture_output=True, text=True, timeout=20)
    assert run.stdout.splitlines()[-1] == "0" and run.stderr == ""


def damaged_files():
    data = STREAM.read_bytes()
    header, record = data[:16], data[16:40 + int.from_bytes(data[20:24], "big")]
    yield "empty", b"", 0, "empty"
    yield "header-cut", data[:10], 0, "header"
    yield "magic", b"nonsense" + data[8:], 0, "not a btsnoop"
    yield "version", data[:8] + struct.pack(">I", 9) + data[12:], 0, "version 9"
    yield "datalink", data[:12] + struct.pack(">I", 1234) + data[16:], 0, "1234"
    yield "cut", data[:1000], None, "middle of a record"
    yield "four-gigabytes", header + record + struct.pack(
        ">IIIIq", 2**32 - 1, 2**32 - 1, 0, 0, 0), 1, f"byte {16 + len(record)}"


@pytest.mark.parametrize("name, data, shown, saying", damaged_files(), ids=lambda value: str(value)[:14])
def test_damaged_files_are_shown_as_far_as_they_can_be(halo, tmp_path, name, data, shown, saying):
    path = tmp_path / f"{name}.btsnoop"
    path.write_bytes(data)
    result = halo.run("decode", path).failed(BAD_DATA, saying=saying)
    assert shown is None or len(result.out.splitlines()) == shown


def test_a_record_may_be_longer_than_it_states_and_losses_are_shown(halo, tmp_path):
    data, reset = STREAM.read_bytes(), bytes.fromhex("01030c00")
    path = tmp_path / "strange.btsnoop"
    path.write_bytes(
        data[:16] + struct.pack(">IIIIq", 0, 4, 2, 0, 0) + reset + struct.pack(">IIIIq", 4, 4, 2, 3, 0) + reset)
    lines = halo.run("decode", path).succeeded().out.splitlines()
    assert len(lines) == 2
    assert "states a length of 0 bytes" in lines[0]
    assert "3 packets before it lost by the recorder" in lines[1]
    records = decode(halo, path)
    assert records[0]["original_length"] == 0 and records[1]["dropped"] == 3
    assert "the recorder lost 3 packets" in halo.run("decode", path, "--summary").succeeded().out


def test_a_library_that_is_damaged_is_not_called_missing(halo, tmp_path):
    path = tmp_path / "capture.btsnoop"
    path.write_bytes(gzip.compress(STREAM.read_bytes()))
    (tmp_path / "libarchive.so.13").write_bytes(b"")
    halo.environment["LD_LIBRARY_PATH"] = str(tmp_path)
    halo.run("decode", path).failed(SYSTEM, saying="libarchive.so.13: file too short; raise the limit")


def test_a_directory_can_not_be_opened(halo, tmp_path):
    halo.run("decode", tmp_path).failed(NO_FILE, saying="is a directory")
    halo.run("replay", tmp_path, "battery").failed(NO_FILE, saying="is a directory")


@pytest.mark.parametrize("change, saying", [("shrink", "shrank from"), ("replace", "another file")])
def test_a_file_that_is_followed_and_changes_is_reported(halo, tmp_path, change, saying):
    path, other = tmp_path / "growing.btsnoop", tmp_path / "other.btsnoop"
    path.write_bytes(STREAM.read_bytes())
    other.write_bytes(STREAM.read_bytes())
    process = halo.start("decode", path, "--follow")
    while "Reset" not in process.stdout.readline():
        pass
    time.sleep(0.2)
    if change == "shrink":
        os.truncate(path, 100)
    else:
        other.rename(path)
    _, error = process.communicate(timeout=30)
    assert process.returncode == BAD_DATA and saying in error and "start again" in error


def test_only_a_header_is_a_capture_of_nothing(halo, tmp_path):
    path = tmp_path / "nothing.btsnoop"
    path.write_bytes(STREAM.read_bytes()[:16])
    assert halo.run("decode", path).succeeded().out == ""


def test_times_may_go_back_and_packets_may_be_cut(halo, tmp_path):
    data, epoch = STREAM.read_bytes(), 0x00DCDDB30F2F8000
    reset, done = bytes.fromhex("01030c00"), bytes.fromhex("040e0401030c00")
    path = tmp_path / "strange.btsnoop"
    path.write_bytes(
        data[:16] + struct.pack(">IIIIq", 4, 4, 2, 0, epoch + 5_000_000) + reset
        + struct.pack(">IIIIq", 7, 7, 3, 0, epoch) + done + struct.pack(">IIIIq", 7, 4, 3, 0, epoch) + done[:4])
    records = decode(halo, path)
    assert [one["time"] for one in records] == [5.0, 0.0, 0.0]
    assert records[1]["hci"]["answers"] == {"frame": 1}
    assert records[2]["original_length"] == 7
    assert "capture has 4 of 7 bytes" in halo.run("decode", path).succeeded().out


@pytest.mark.parametrize("options, saying", [
    (["--filter", "foo=1"], "knows no"), (["--filter", "handle=x"], "0x0012"), (["--layer", "l3"], "l2cap"),
    (["--format", "csv"], "jsonl")])
def test_wrong_options_are_told_in_a_line(halo, options, saying):
    halo.run("decode", STREAM, *options).failed(USAGE, saying=saying)


def test_a_capture_of_something_else_is_no_capture(halo, tmp_path):
    """tcpdump's captures of a network: pcapng says the kind for each packet, pcap for the file."""
    path = tmp_path / "network.pcapng"
    block = struct.pack("<IIHHI", 1, 20, 1, 0, 0) + struct.pack("<I", 20)
    header = struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
    packet = struct.pack("<IIIIIII", 6, 36, 0, 0, 0, 4, 4) + b"abcd" + struct.pack("<I", 36)
    path.write_bytes(header + block + packet)
    halo.run("decode", path).failed(BAD_DATA, saying="link type 1 has no Bluetooth that is read")
    halo.run("decode", path, "--summary").failed(BAD_DATA, saying="link type 1")


def test_a_name_selects_what_came_before_it(halo):
    """The name is read on the link; a pipe can't be read twice."""
    path = ROOT / "captures" / "bumble-inspect.btsnoop"
    by_address = [one["frame"] for one in decode(halo, path, "--filter", "peer=D2:5C:0A:1E:34:1C")]
    name = next(word for word in ("Halo", "R02") if decode(halo, path, "--filter", f"peer={word}"))
    assert [one["frame"] for one in decode(halo, path, "--filter", f"peer={name}")] == by_address


def capture_of(path, packets):
    """Writes a btsnoop file of packets, with whether the host sent them."""
    with open(path, "wb") as file:
        file.write(b"btsnoop\0" + struct.pack(">II", 1, 1002))
        for number, (is_sent, packet) in enumerate(packets):
            flags = (0 if is_sent else 1) | (2 if packet[0] in (1, 4) else 0)
            file.write(struct.pack(
                ">IIIIq", len(packet), len(packet), flags, 0, 0x00DCDDB30F2F8000 + 1000 * number) + packet)


def acl(pdu, is_sent, link=0x40):
    return is_sent, struct.pack(
        "<BHHHH", 2, link | (0 if is_sent else 0x2000), len(pdu) + 4, len(pdu), 4) + pdu


def test_where_tshark_errs_the_difference_has_a_reason(tmp_path):
    path = tmp_path / "errors.btsnoop"
    enhanced = bytes.fromhex("043e22290040000000efbe41383530") + bytes(12) + bytes.fromhex(
        "1800000048000000ffff")[:10]
    capture_of(path, [
        (False, enhanced), acl(bytes.fromhex("1b120041"), False, link=0x0EDC),
        acl(bytes.fromhex("0a0300"), True)])
    found = decode_check.differences(path)
    assert {one.frame for one in found} == {1, 2}
    assert all(one.reason for one in found), [str(one) for one in found]


@pytest.mark.parametrize("pdu", [
    "0900", "0907", "0501", "050300", "07", "0d", "1703000000", "1e", "ff00", "01", "1b12", "0a", "23120005", "5201",
    "d2030041", "2103004142", "08010002000102030405", "1000", "0c0300"])
def test_strange_pdus_are_seen_as_tshark_sees_them(tmp_path, pdu):
    path = tmp_path / "strange.btsnoop"
    capture_of(path, [acl(bytes.fromhex("020502"), True), acl(bytes.fromhex(pdu), False)])
    unexplained = [str(one) for one in decode_check.differences(path) if one.reason is None]
    assert not unexplained


def test_the_summary_keeps_attributes_in_their_services(halo, tmp_path):
    """A read of a handle behind a service that was discovered does not put that attribute into it; and an include names
    its service, as Zephyr's and bluetoothctl's listings do."""
    path = tmp_path / "attributes.btsnoop"
    connected = bytes.fromhex("043e1301004000000030353841beef18000000480000")

    def asked(request, response):
        return [acl(bytes.fromhex(request), True), acl(bytes.fromhex(response), False)]

    capture_of(path, [
        (False, connected), *asked("100100ffff0028", "110601000400 0f18"),
        *asked("100500ffff0028", "01100500 0a"), *asked("08010004000328", "09070300120400192a"),
        *asked("080100ffff0228", "0908020010001400 0a18"),
        *asked("0420002100", "0501200002292100012a")])
    out = halo.run("decode", path, "--summary").succeeded().out
    lines = out[out.index("  attributes\n"):].split("\n\n")[0].splitlines()[1:]
    assert [line[2:].rstrip() for line in lines] == [
        "  0x0001...0x0004 service Battery (180F)",
        "      0x0002 includes Device Information (180A), 0x0010...0x0014",
        "    0x0004 Battery Level (2A19) (read, notify)",
        "  in services that were not discovered",
        "      0x0020 Client Characteristic Configuration (2902)",
        "      0x0021 Appearance (2A01)"], out
    records = halo.run("decode", path, "--summary", "--format", "jsonl").succeeded().records()
    include = next(one for one in records if one.get("type") == "include")
    assert (include["uuid"], include["included"], include["included_end"], include["included_uuid"]) == (
        "2802", 0x10, 0x14, "180A")


def test_a_file_that_is_not_there(halo):
    halo.run("decode", "/nonexistent").failed(NO_FILE, saying="cannot open")
