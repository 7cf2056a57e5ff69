"""Captures as phones and their owners give them: in bug reports, compressed, in several files, in old formats.

Each situation is one of a public report:
- logs below `FS/data/misc/bluetooth/logs` (8none1/lednetwf_ble, syssi/esphome-jk-bms issue 109), and below
  `FS/data/log/bt` on Samsung phones (home-assistant.io issue 40614), with the one of the run before (`.last`);
- a report with only `btsnooz_hci.log`, whose packets are cut (the one of a Xiaomi tablet), and one that has it beside the
  whole log (the capture guide of eigger/hass-omron);
- only the text of `dumpsys bluetooth_manager`, in base64, with bytes that are no UTF-8 (AOSP's btsnooz.py), or as
  PowerShell redirects it, in UTF-16;
- an iPhone's `sysdiagnose_*.tar.gz` with several `bluetoothd-hci-*.pklg` (jwoglom/PumpX2);
- files of `hcidump -w` (BTstack's default for years).
"""

import base64
import bz2
import contextlib
import gzip
import io
import lzma
import os
import signal
import struct
import subprocess
import tarfile
import time
import zipfile
import zlib

import pytest
from program import BAD_DATA, OK, ROOT, USAGE

STREAM = ROOT / "captures" / "virtual-stream.btsnoop"
HEADER = 16
EPOCH = 0x00DCDDB30F2F8000


def records(data):
    """The records of a btsnoop file, each with its header."""
    offset, found = HEADER, []
    while offset < len(data):
        length = struct.unpack_from(">I", data, offset + 4)[0]
        found.append(data[offset:offset + 24 + length])
        offset += 24 + length
    return found


DATA = STREAM.read_bytes()
RECORDS = records(DATA)
HALF = len(RECORDS) // 2
EARLIER = DATA[:HEADER] + b"".join(RECORDS[:HALF])
LATER = DATA[:HEADER] + b"".join(RECORDS[HALF:])


def packets(data=DATA):
    """Time in microseconds since 1970, whether it was received, and the packet with its type byte."""
    return [(struct.unpack_from(">q", one, 16)[0] - EPOCH, one[11] & 1, one[24:]) for one in records(data)]


def cut(data, length):
    """The same records, of which no packet has more than its first bytes."""
    result = data[:HEADER]
    for one in records(data):
        kept = one[24:24 + length]
        result += struct.pack(">II", len(one) - 24, len(kept)) + one[8:24] + kept
    return result


def android(path, entries, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("version.txt", "2.0")
        archive.writestr("bugreport-phone-2026.txt", entries.pop("text", "== dumpstate: 2026-09-01\n" + "x" * 300_000))
        for name, data in entries.items():
            archive.writestr(name, data)
        archive.writestr("FS/data/anr/trace_00", os.urandom(70_000))
    return path


def snooz(data, version=2, length=15):
    """What Android makes of the packets, in base64."""
    kinds = {(4, 1): 0x10, (2, 1): 0x11, (1, 0): 0x20, (2, 0): 0x21}
    body, before = b"", None
    for when, received, packet in packets(data):
        kept = packet[:length]
        body += struct.pack("<H", len(kept)) + (struct.pack("<H", len(packet)) if version == 2 else b"")
        body += struct.pack("<IB", 0 if before is None else when - before, kinds[packet[0], received]) + kept[1:]
        before = when
    return struct.pack("<BQ", version, before) + zlib.compress(body)


def dumpsys(data, **how):
    text = base64.b64encode(snooz(data, **how)).decode()
    lines = "\n".join(text[at:at + 128] for at in range(0, len(text), 128))
    return (
        "DUMP OF SERVICE bluetooth_manager:\nBluetooth Status\n  enabled: true\n"
        f"--- BEGIN:BTSNOOP_LOG_SUMMARY (21345 bytes in) ---\n{lines}\n--- END:BTSNOOP_LOG_SUMMARY ---\n---------\n")


def originals(length):
    """What decode says of packets of which no more is left."""
    return [len(packet) if len(packet) > length else None for _, _, packet in packets()]


def decoded(halo, *arguments):
    result = halo.run("decode", *arguments, "--format", "jsonl").succeeded()
    return result.records()


def whole(halo):
    return decoded(halo, STREAM)


@pytest.mark.verdict
@pytest.mark.parametrize("folder", ["FS/data/misc/bluetooth/logs", "FS/data/log/bt"])
@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_all_logs_of_a_bug_report_are_read_in_their_order(halo, tmp_path, folder, compression):
    report = android(tmp_path / "bugreport.zip", {
        f"{folder}/btsnoop_hci.log": LATER, f"{folder}/btsnoop_hci.log.last": EARLIER,
        f"{folder}/btsnooz_hci.log": cut(LATER, 15)}, compression)
    result = halo.run("decode", report, "--format", "jsonl").succeeded()
    assert result.records() == whole(halo)
    assert [line.split("(")[1] for line in result.err.splitlines()] == [
        f"{folder}/btsnoop_hci.log.last)", f"{folder}/btsnoop_hci.log)"]


def test_a_log_without_packets_is_no_damage(halo, tmp_path):
    folder = "FS/data/misc/bluetooth/logs"
    report = android(tmp_path / "bugreport.zip", {
        f"{folder}/btsnoop_hci.log": DATA, f"{folder}/btsnoop_hci.log.last": b"",
        f"{folder}/btsnooz_hci.log": DATA[:HEADER]})
    assert decoded(halo, report) == whole(halo)


def test_a_report_with_the_summary_only_is_read_and_its_packets_are_cut(halo, tmp_path):
    report = android(tmp_path / "bugreport.zip", {
        "FS/data/misc/bluetooth/logs/btsnooz_hci.log": cut(DATA, 15)})
    result = halo.run("decode", report, "--format", "jsonl").succeeded()
    assert "(btsnooz): most packets are cut" in result.err
    found = result.records()
    assert [one["time"] for one in found] == [one["time"] for one in whole(halo)]
    assert not [one for one in found if "problem" in one.get("hci", {})]
    assert [one.get("original_length") for one in found] == originals(15)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    "form", [pytest.param("text", marks=pytest.mark.verdict), "crlf", "utf-16", "no utf-8", "zip", "gz", "file"])
def test_the_summary_in_a_text_is_found(halo, tmp_path, version, form):
    text = dumpsys(DATA, version=version)
    path = tmp_path / "dumpsys_out.txt"
    match form:
        case "crlf": path.write_bytes(text.replace("\n", "\r\n").encode())
        case "utf-16": path.write_bytes(b"\xff\xfe" + text.replace("\n", "\r\n").encode("utf-16-le"))
        case "no utf-8": path.write_bytes(b"name: M\xfcller\n" * 10_000 + text.encode() + b"\xc3(")
        case "zip": path = android(tmp_path / "bugreport.zip", {"text": "x\n" * 300_000 + text})
        case "gz":
            path = tmp_path / "dumpstate.txt.gz"
            path.write_bytes(gzip.compress(text.encode()))
        case "file":
            path = tmp_path / "btsnooz_hci.log"
            path.write_bytes(snooz(DATA, version=version))
        case _: path.write_text(text)
    result = halo.run("decode", path, "--format", "jsonl").succeeded()
    assert "(btsnooz): most packets are cut" in result.err
    found = result.records()
    assert [(one["time"], one["direction"]) for one in found] == [
        (one["time"], one["direction"]) for one in whole(halo)]
    assert [one["hci"]["type"] for one in found] == [one["hci"]["type"] for one in whole(halo)]
    assert [one.get("original_length") for one in found] == originals(15)
    assert not [one for one in found if "problem" in one["hci"]]


def test_the_packets_of_a_summary_are_those_that_tshark_sees(halo, tmp_path):
    """The conversion is judged by another reader: `--write` makes a btsnoop file of it."""
    path, copy = tmp_path / "dumpsys.txt", tmp_path / "copy.btsnoop"
    path.write_text(dumpsys(DATA, length=4000))
    halo.run("decode", path, "--write", copy).succeeded()
    fields = ["-T", "fields", "-e", "frame.time_epoch", "-e", "btatt.opcode", "-e", "btatt.value"]
    seen = [subprocess.run(["tshark", "-r", str(one), *fields], capture_output=True, check=True).stdout
            for one in (STREAM, copy)]
    assert seen[0] == seen[1] and seen[0].count(b"\n") == len(RECORDS)


@pytest.mark.parametrize("end", ["damaged", "unfinished"])
def test_a_damaged_summary_is_reported(halo, tmp_path, end):
    text = dumpsys(DATA)
    path = tmp_path / "dumpsys.txt"
    if end == "damaged":
        at = text.index("in) ---\n") + 400
        path.write_text(text[:at] + "AAAA" * 8 + text[at + 32:])
        halo.run("decode", path).failed(BAD_DATA, saying="summary of the bug report is damaged")
    else:
        path.write_text(text[:text.index("--- END")])
        halo.run("decode", path).failed(BAD_DATA, saying="PacketLogger capture")


@pytest.mark.verdict
def test_all_logs_of_a_sysdiagnose_are_read_in_their_order(halo, tmp_path):
    def pklg(data):
        kinds = {(1, 0): 0, (4, 1): 1, (2, 0): 2, (2, 1): 3}
        return b"".join(
            struct.pack(">III", len(packet) - 1 + 9, when // 1_000_000, when % 1_000_000)
            + bytes([kinds[packet[0], received]]) + packet[1:] for when, received, packet in packets(data))

    folder = "sysdiagnose_2026.05.07/logs/Bluetooth"
    path = tmp_path / "sysdiagnose_2026.05.07.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, data in [("log.txt", b"text\n" * 200_000), ("bluetoothd-hci-latest.pklg", pklg(LATER)),
                           ("bluetoothd-hci-2026-05-06_10-00-00.pklg", pklg(EARLIER)),
                           ("system_logs.tracev3", os.urandom(300_000))]:
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
        link = tarfile.TarInfo(f"{folder}/another.pklg")
        link.type, link.linkname = tarfile.SYMTYPE, "bluetoothd-hci-latest.pklg"
        archive.addfile(link)
    assert decoded(halo, path) == whole(halo)


@pytest.mark.parametrize("program", ["gzip", "xz", "bzip2", "zstd", "lz4"])
def test_a_compressed_capture_is_read(halo, tmp_path, program):
    path = tmp_path / "capture.btsnoop.compressed"
    match program:
        case "gzip": path.write_bytes(gzip.compress(DATA))
        case "xz": path.write_bytes(lzma.compress(DATA))
        case "bzip2": path.write_bytes(bz2.compress(DATA))
        case _:
            # An archive of one file, as bsdtar compresses nothing else.
            subprocess.run(["bsdtar", f"--{program}", "-cf", str(path), "-C", str(STREAM.parent), STREAM.name], check=True)
    assert decoded(halo, path) == whole(halo)
    # What a replay reads twice as well.
    assert "6E400003" in halo.run("replay", path, "--level", "att", "inspect").succeeded().out


@pytest.mark.verdict
def test_several_files_are_one_capture(halo, tmp_path):
    earlier, later, empty = tmp_path / "a.log.last", tmp_path / "a.log", tmp_path / "empty.log"
    earlier.write_bytes(EARLIER)
    later.write_bytes(LATER)
    empty.write_bytes(b"")
    assert decoded(halo, empty, earlier, later) == whole(halo)
    assert decoded(halo, earlier, empty, later) == whole(halo)
    summary = halo.run("decode", earlier, later, "--summary").succeeded().out
    assert summary == halo.run("decode", STREAM, "--summary").succeeded().out
    # The name of the device is in the second file only.
    named = [one["frame"] for one in decoded(halo, earlier, later, "--filter", "peer=R02")]
    assert named == [one["frame"] for one in decoded(halo, STREAM, "--filter", "peer=R02")]


def test_a_damaged_file_does_not_hide_those_after_it(halo, tmp_path):
    damaged, later = tmp_path / "a.log.last", tmp_path / "a.log"
    damaged.write_bytes(EARLIER + b"\xff" * 40)
    later.write_bytes(LATER)
    result = halo.run("decode", damaged, later, "--format", "jsonl")
    assert result.code == BAD_DATA and str(damaged) in result.err
    assert len(result.records()) == len(RECORDS)
    damaged.write_bytes(EARLIER[:-3])
    result = halo.run("decode", damaged, later, "--format", "jsonl")
    assert result.code == BAD_DATA and "ends in the middle of a record" in result.err
    assert len(result.records()) == len(RECORDS) - 1


@pytest.mark.parametrize("kind", ["btsnoop", "pcap", "pcapng"])
def test_files_that_were_put_together_are_read(halo, tmp_path, kind):
    parts = [tmp_path / "earlier", tmp_path / "later"]
    for part, data in zip(parts, (EARLIER, LATER)):
        part.write_bytes(data)
        if kind != "btsnoop":
            subprocess.run(["editcap", "-F", kind, str(part), f"{part}.{kind}"], check=True, capture_output=True)
            os.replace(f"{part}.{kind}", part)
    both = tmp_path / "both"
    both.write_bytes(b"".join(part.read_bytes() for part in parts))
    assert decoded(halo, both) == whole(halo)


@pytest.mark.verdict
def test_hcidump_is_read_as_tshark_reads_it(halo, tmp_path):
    path = tmp_path / "hci_dump.log"
    path.write_bytes(b"".join(
        struct.pack("<HBBII", len(packet), received, 0, when // 1_000_000, when % 1_000_000) + packet
        for when, received, packet in packets()))
    assert decoded(halo, path) == whole(halo)
    fields = ["-T", "fields", "-e", "frame.time_epoch", "-e", "hci_h4.direction", "-e", "btatt.value"]
    seen = [subprocess.run(["tshark", "-r", str(one), *fields], capture_output=True, check=True).stdout
            for one in (STREAM, path)]
    assert seen[0] == seen[1] and seen[0].count(b"\n") == len(RECORDS)


def test_a_bug_report_replays(halo, tmp_path):
    report = android(tmp_path / "bugreport.zip", {
        "FS/data/misc/bluetooth/logs/btsnoop_hci.log": LATER,
        "FS/data/misc/bluetooth/logs/btsnoop_hci.log.last": EARLIER})
    options = ("--level", "att", "inspect")
    assert halo.run("replay", report, *options).succeeded().out == halo.run("replay", STREAM, *options).succeeded().out


@pytest.mark.verdict
def test_an_archive_without_a_capture_says_so(halo, tmp_path):
    report = android(tmp_path / "bugreport.zip", {"FS/data/anr/anr_1": "text"})
    halo.run("decode", report).failed(BAD_DATA, saying="has no Bluetooth capture in it; a phone's report has one if")


def test_an_archive_that_is_cut_is_read_as_far_as_it_goes(halo, tmp_path):
    path = tmp_path / "capture.gz"
    # The last block of a file that is cut is lost.
    path.write_bytes(gzip.compress(DATA + DATA * 8)[:-500])
    result = halo.run("decode", path, "--format", "jsonl")
    assert result.code == BAD_DATA and "can't be decompressed: truncated gzip input" in result.err
    seen = result.records()
    assert len(RECORDS) < len(seen) < 9 * len(RECORDS) and seen[:len(RECORDS)] == whole(halo)


def test_an_encrypted_archive_says_so(halo, tmp_path):
    path = tmp_path / "report.zip"
    subprocess.run(
        ["bsdtar", "-a", "-cf", str(path), "--options", "zip:encryption=zipcrypt", "--passphrase", "secret",
         "-C", str(STREAM.parent), STREAM.name], check=True)
    halo.run("decode", path).failed(BAD_DATA, saying="passphrase")


@pytest.mark.parametrize("kind", ["gz", "tar"])
def test_a_bomb_ends_soon(halo, tmp_path, kind):
    """A thousand times larger than the file, which is more than captures are."""
    path = tmp_path / f"bomb.{kind}"
    zeros = b"\0" * (1 << 20)
    with gzip.open(path, "wb", compresslevel=9) as file:
        if kind == "gz":
            file.write(DATA[:HEADER])
        else:
            entry = tarfile.TarInfo("zeros")
            entry.size = 150 << 20
            file.write(entry.tobuf())
        for _ in range(150):
            file.write(zeros)
    halo.run("decode", path, timeout=60).failed(BAD_DATA, saying="MiB when it is decompressed")


def test_what_comes_from_a_pipe_or_is_followed_is_not_decompressed(halo, tmp_path):
    path = tmp_path / "capture.gz"
    path.write_bytes(gzip.compress(DATA))
    with path.open("rb") as file:
        halo.run("decode", "-", stdin=file).failed(BAD_DATA, saying="zcat FILE | halo-raw decode -")
    halo.run("decode", "--follow", path).failed(BAD_DATA, saying="save it as a file")


def test_nothing_is_left_on_the_disk(halo, tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    path = tmp_path / "capture.gz"
    path.write_bytes(gzip.compress(DATA))
    for place in (folder, tmp_path / "nowhere"):
        halo.environment["TMPDIR"] = str(place)
        assert decoded(halo, path) == whole(halo)
    assert not list(folder.iterdir())


def opened(process):
    names = set()
    for number in os.listdir(f"/proc/{process.pid}/fd"):
        with contextlib.suppress(OSError):
            names.add(os.readlink(f"/proc/{process.pid}/fd/{number}"))
    return names


def test_an_interruption_ends_the_search_through_an_archive(halo, tmp_path):
    path = tmp_path / "large.tar.gz"
    noise = os.urandom(1 << 20)
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for index in range(80):
            entry = tarfile.TarInfo(f"entry-{index}")
            entry.size = len(noise)
            archive.addfile(entry, io.BytesIO(noise))
    process = halo.start("decode", path)
    while str(path) not in opened(process):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    process.communicate(timeout=20)
    assert process.returncode == OK and time.monotonic() - begin < 10


def test_a_file_is_not_written_over_one_that_is_read(halo, tmp_path):
    one, other = tmp_path / "a.log", tmp_path / "b.log"
    one.write_bytes(EARLIER)
    other.write_bytes(LATER)
    halo.run("decode", one, other, "--html", other).failed(USAGE, saying="are the same file")
    assert other.read_bytes() == LATER
