"""`decode --write`: a part of a capture as a capture, and one that can be shown to others.

What people asked for, in public: captures for an issue without the keys of a pairing and the addresses of all that was near
(the capture guide of eigger/hass-omron; whad-client issue 138: addresses lead to a house by way of wardriving maps); no IRKs in
what is attached to an issue (agittins/bermuda issue 839); and the IRK in the order in which Home Assistant wants it, which is
not the one in the packet (home-assistant.io pull request 37117).
"""

import struct
import subprocess

import air_frames as air
import air_session as session
import pytest
from air_frames import LINK_LAYER, NORDIC, PPI, WITH_HEADER, Connection
from program import BAD_DATA, OK, ROOT, USAGE

CAPTURES = sorted((ROOT / "captures").rglob("*.btsnoop"))
STREAM = ROOT / "captures" / "virtual-stream.btsnoop"
HEADER = bytes.fromhex("6274736e6f6f7000 00000001 000003ea")
SHAPE = ["frame.time_epoch", "frame.len", "bthci_evt.code", "bthci_cmd.opcode", "btatt.opcode", "btatt.handle",
         "btsmp.opcode", "btl2cap.cid"]
ADDRESSES = ["bthci_evt.bd_addr", "bthci_cmd.bd_addr", "btcommon.eir_ad.entry.bd_addr"]
NAMES = ["btcommon.eir_ad.entry.device_name", "bthci_evt.remote_name", "bthci_cmd.device_name"]
KEYS = ["btsmp.id_resolving_key", "btsmp.long_term_key", "btsmp.signature_key", "bthci_evt.link_key",
        "bthci_cmd.link_key"]

PHONE, BAND = bytes.fromhex("a11a1be2ffd2"), bytes.fromhex("b2a13322c14a")  # least significant byte first
IRK, LTK, CSRK = (bytes(range(start, start + 16)) for start in (0x21, 0x41, 0x61))


def fields(path, names):
    arguments = [part for name in names for part in ("-e", name)]
    result = subprocess.run(
        ["tshark", "-r", str(path), "-T", "fields", *arguments], capture_output=True, text=True, check=True)
    return [line.split("\t") for line in result.stdout.split("\n")[:-1]]


def capture(path, *packets):
    """A btsnoop file: each packet with its type byte, and whether it is received."""
    data = HEADER
    for number, (received, packet) in enumerate(packets):
        flags = received | (2 if packet[0] in (1, 4) else 0)
        data += struct.pack(">IIIIq", len(packet), len(packet), flags, 0, 0x00E2EB8A1F50A000 + number * 1000) + packet
    path.write_bytes(data)
    return path


def acl(cid, payload, size=251):
    """The packets of a frame, of at most `size` bytes each."""
    frame = struct.pack("<HH", len(payload), cid) + payload
    for start in range(0, len(frame), size):
        piece = frame[start:start + size]
        yield b"\x02" + struct.pack("<HH", 0x40 | (0x1000 if start else 0x2000), len(piece)) + piece


def connected(address=BAND):
    return (1, b"\x04\x3e\x13\x01\x00" + struct.pack("<HBB", 0x40, 0, 1) + address + bytes.fromhex("1800 0000 2a00 00"))


def advertisement(address, data):
    report = b"\x02\x01\x00\x01" + address + bytes([len(data)]) + data + b"\xc5"
    return (1, b"\x04\x3e" + bytes([len(report)]) + report)


def redacted(halo, tmp_path, path):
    copy = tmp_path / "redacted.btsnoop"
    halo.run("decode", path, "--write", copy, "--redact").succeeded()
    return copy


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: str(path.relative_to(ROOT / "captures")))
def test_a_copy_is_the_same_capture(halo, tmp_path, path):
    copy = tmp_path / "copy.btsnoop"
    halo.run("decode", path, "--write", copy).succeeded()
    assert copy.read_bytes() == path.read_bytes()


def for_the_verdict(path):
    return pytest.param(path, marks=[pytest.mark.verdict] if path.stem in ("virtual-stream", "bumble-inspect") else [])


@pytest.mark.parametrize(
    "path", map(for_the_verdict, CAPTURES), ids=lambda path: str(path.relative_to(ROOT / "captures")))
def test_a_redacted_copy_has_nothing_of_what_tshark_finds(halo, tmp_path, path):
    copy = redacted(halo, tmp_path, path)
    original = fields(path, SHAPE + ADDRESSES + NAMES)
    assert fields(copy, SHAPE) == [line[:len(SHAPE)] for line in original]
    data = copy.read_bytes()
    for line in original:
        for address in ",".join(line[len(SHAPE):-len(NAMES)]).split(","):
            raw = bytes.fromhex(address.replace(":", ""))
            if sum(byte not in (0, 255) for byte in raw) >= 3:
                assert raw not in data and raw[::-1] not in data
        for name in line[-len(NAMES):]:
            assert len(name) < 4 or name.encode() not in data
    assert copy.stat().st_mode & 0o777 == 0o600


@pytest.mark.verdict
def test_keys_names_and_addresses_are_replaced_in_every_form(halo, tmp_path):
    text = ":".join(f"{byte:02X}" for byte in reversed(BAND)).encode()
    system = BAND[:3] + b"\xfe\xff" + BAND[3:]
    path = capture(
        tmp_path / "pairing.btsnoop",
        advertisement(BAND, b"\x0a\x09Anna Band" + b"\x09\xff\x59\x00" + BAND[::-1]),
        (0, b"\x01\x05\x20\x06" + PHONE), connected(),
        *[(0, one) for one in acl(6, b"\x08" + IRK)], *[(0, one) for one in acl(6, b"\x09\x01" + PHONE)],
        *[(1, one) for one in acl(6, b"\x06" + LTK, size=9)], *[(1, one) for one in acl(6, b"\x0a" + CSRK)],
        # Handle, random number, diversifier, key.
        (0, b"\x01\x19\x20\x1c\x40\x00" + bytes(10) + LTK), (0, b"\x01\x27\x20\x27\x01" + BAND + IRK + bytes(16)),
        # A link key with its device, a PIN, and a command that only its manufacturer knows.
        (1, b"\x04\x18\x17" + PHONE + LTK[::-1] + b"\x04"), (0, b"\x01\x0d\x04\x17" + PHONE + b"\x06314159" + bytes(10)),
        (0, b"\x01\x55\xfd\x10" + IRK),
        # Values: the device's name in fragments, its System ID, its address as text, in reverse, and within more.
        *[(0, one) for one in acl(4, b"\x0a\x03\x00")],
        *[(1, one) for one in acl(4, b"\x1b\x03\x00this is Anna Band, " + text + b" or " + text.lower(), size=11)],
        *[(1, one) for one in acl(4, b"\x1b\x05\x00" + system)],
        *[(1, one) for one in acl(4, b"\x1b\x07\x00\x01" + BAND + b"\x02" + BAND[::-1] + b"\x03", size=8)],
        *[(1, one) for one in acl(4, b"\x1b\x09\x00" + BAND[::-1].hex().encode())])
    copy = redacted(halo, tmp_path, path)
    data = copy.read_bytes()
    assert b"\x06" + bytes(16) in data
    for secret in (IRK, LTK, CSRK, PHONE, BAND, BAND[:3] + b"\xfe", b"Anna", b"314159"):
        assert secret not in data and secret[::-1] not in data, secret
    for form in (text, text.lower(), BAND[::-1].hex().encode()):
        assert form not in data
    # What is no secret is there, and the made-up ones are the same everywhere.
    assert fields(copy, SHAPE) == fields(path, SHAPE)
    assert b"this is name00001, 42:00:00:00:00:01 or 42:00:00:00:00:01" in b"".join(
        bytes.fromhex(one[0]) for one in fields(copy, ["btatt.value"]) if one[0])
    assert {one for line in fields(copy, ADDRESSES) for one in ",".join(line).split(",") if one} == {
        "42:00:00:00:00:01", "c2:00:00:00:00:02"}
    assert redacted(halo, tmp_path / "..", path).read_bytes() == data


def test_a_key_that_is_cut_is_left_out(halo, tmp_path):
    """Of a frame that never ends, and of a packet that a snap length has cut."""
    pieces = list(acl(6, b"\x08" + IRK, size=12))
    path = capture(tmp_path / "cut.btsnoop", connected(), (0, pieces[0]), *[(0, one) for one in acl(4, b"\x0a\x03\x00")])
    data = redacted(halo, tmp_path, path).read_bytes()
    assert IRK[:4] not in data and bytes.fromhex("0a0300") in data
    whole = next(acl(6, b"\x06" + LTK))
    kept = whole[:18]
    path.write_bytes(HEADER + struct.pack(">IIIIq", len(whole), len(kept), 1, 0, 0x00E2EB8A1F50A000) + kept)
    assert LTK[:4] not in redacted(halo, tmp_path, path).read_bytes()


def pairing(tmp_path):
    """A capture with keys of each kind."""
    return capture(
        tmp_path / "pairing.btsnoop", connected(), *[(0, one) for one in acl(6, b"\x08" + IRK)],
        *[(0, one) for one in acl(6, b"\x06" + LTK)], *[(0, one) for one in acl(6, b"\x0a" + CSRK)],
        (0, b"\x01\x19\x20\x1c\x40\x00" + bytes(10) + LTK))


def test_keys_are_printed_in_the_order_of_key_stores_if_asked(halo, tmp_path):
    path = pairing(tmp_path)
    lines = halo.run("decode", path, "--show-keys").succeeded().out
    for name, key in (("Identity Information: IRK", IRK), ("Encryption Information: LTK", LTK),
                      ("Signing Information: CSRK", CSRK), ("long term key", LTK)):
        assert f"{name} {key[::-1].hex()}" in lines
    records = halo.run("decode", path, "--show-keys", "--format", "jsonl").succeeded().records()
    named = [{one["name"]: one["text"] for one in record.get("smp", {}).get("fields", []) if "text" in one}
             for record in records]
    assert [one["IRK"] for one in named if "IRK" in one] == [IRK[::-1].hex()]


@pytest.mark.parametrize("form", [(), ("-v",), ("--format", "jsonl"), ("--html", "OUT")], ids=lambda form: "".join(form))
def test_no_form_shows_a_key_unasked(halo, tmp_path, form):
    out = tmp_path / "page.html"
    text = halo.run("decode", pairing(tmp_path), *(out if one == "OUT" else one for one in form)).succeeded().out
    if out.exists():
        text = out.read_text()
    # The first bytes are enough to recognize one.
    for key in (IRK, LTK, CSRK):
        for part in (key[:6], key[:-7:-1]):
            assert part.hex() not in text and part.hex(" ") not in text
    assert "(16 bytes, not shown)" in text


def test_only_keys_are_replaced(halo, tmp_path):
    path, copy = pairing(tmp_path), tmp_path / "copy.btsnoop"
    halo.run("decode", path, "--write", copy, "--redact-keys").succeeded()
    data = path.read_bytes()
    for key in (IRK, LTK, CSRK):
        data = data.replace(key, bytes(16))
    assert copy.read_bytes() == data
    halo.run("decode", path, "--redact-keys").failed(USAGE, saying="--write")
    halo.run("decode", path, "--write", copy, "--redact", "--redact-keys").failed(USAGE)


def test_the_parts_of_a_frame_go_with_its_end(halo, tmp_path):
    other = [(0, one) for one in acl(4, b"\x0a\x03\x00")]
    path = capture(
        tmp_path / "parts.btsnoop", connected(), *other, *[(1, one) for one in acl(4, b"\x1b\x20\x00" + bytes(40), size=10)],
        *other)
    copy = tmp_path / "copy.btsnoop"
    result = halo.run("decode", path, "--filter", "handle=0x0020", "--write", copy).succeeded()
    assert result.out == "" and result.err == f"{copy}: 5 packets\n"
    assert [one["att"]["handle"] for one in halo.run("decode", copy, "--format", "jsonl").succeeded().records()
            if "att" in one] == [0x20]


def test_one_device_is_cut_out_of_a_capture_of_many(halo, tmp_path):
    path, copy = ROOT / "captures" / "kernel-several.btsnoop", tmp_path / "copy.btsnoop"
    if not path.exists():
        path = STREAM
    lines = halo.run("decode", path, "--filter", "peer=R02").succeeded().out.splitlines()
    halo.run("decode", path, "--filter", "peer=R02", "--write", copy).succeeded()
    assert len(fields(copy, ["frame.number"])) == len(lines)


@pytest.mark.parametrize("kind", ["pcap", "pcapng"])
def test_a_capture_of_another_format_becomes_btsnoop(halo, tmp_path, kind):
    other, copy = tmp_path / f"copy.{kind}", tmp_path / "copy.btsnoop"
    subprocess.run(["editcap", "-F", kind, str(STREAM), str(other)], check=True, capture_output=True)
    halo.run("decode", other, "--write", copy).succeeded()
    assert fields(copy, SHAPE) == fields(STREAM, SHAPE)


AIR = [LINK_LAYER, WITH_HEADER, NORDIC, PPI]


def jsonl(halo, path):
    return halo.run("decode", path, "--format", "jsonl").succeeded().records()


@pytest.mark.parametrize("kind", AIR)
@pytest.mark.parametrize("form", [air.pcap, air.pcapng])
def test_a_copy_of_the_air_is_the_same_capture(halo, tmp_path, kind, form):
    """With what the sniffer says of each packet (Sniffle issue 14 asks for a part of a capture)."""
    path, copy = form(tmp_path / "session", kind, session.session()), tmp_path / "copy.pcap"
    result = halo.run("decode", path, "--write", copy).succeeded()
    assert copy.read_bytes()[24:] == air.pcap(tmp_path / "session.pcap", kind, session.session()).read_bytes()[24:]
    assert f"(pcap, link type {kind} (" in result.err
    halo.run("decode", path, "--filter", "link=0x50655bda", "--write", copy).succeeded()
    own = [one for one in jsonl(halo, path) if one["ll"]["access_address"] == session.CONNECTION]
    if kind == NORDIC:
        # Without CONNECT_IND the addresses are not known, but all PDUs are.
        assert [one["att"]["opcode"] for one in jsonl(halo, copy) if "att" in one] == [
            one["att"]["opcode"] for one in own if "att" in one]
    assert len(jsonl(halo, copy)) == len(own)


def without(record, *names):
    return {key: value for key, value in record.get("ll", {}).items() if key not in names}


@pytest.mark.parametrize("kind", AIR)
def test_a_redacted_copy_of_the_air_tells_nothing(halo, tmp_path, kind):
    """Addresses, names and keys; what is encrypted, as its key can be guessed; and what was received wrongly."""
    link = Connection(session.SECOND ^ 1, session.CRC_INIT, start=2_000_000)
    link.exchange((2, air.l2cap(session.SMP, b"\x06" + LTK)), (2, air.l2cap(session.SMP, b"\x08" + IRK)))
    link.repeat()
    name = air.l2cap(session.ATT, b"\x1b\x03\x00this is R02_BEEF, " + air.address(session.RING)[::-1])
    link.exchange((1, b""), (2, name[:20]))
    link.repeat()
    link.exchange((1, b""), (1, name[20:]))
    packets = [*session.session(), *link.packets]
    path, copy = air.pcap(tmp_path / "session.pcap", kind, packets), tmp_path / "copy.pcap"
    halo.run("decode", path, "--write", copy, "--redact").succeeded()
    data = copy.read_bytes()
    for one in (session.RING, session.PHONE, session.OTHER, "C0:11:22:33:A1:B3"):
        assert air.address(one) not in data and air.address(one)[::-1] not in data
    for secret in (b"R02_BEEF", b"BEEF", LTK, IRK, bytes(range(0xA0, 0xA5)), bytes(range(0xA3, 0xB0))):
        assert secret not in data, secret
    before, after = jsonl(halo, path), jsonl(halo, copy)
    assert [one["info"] if "info" in one else one["time"] for one in before] == [one["time"] for one in after]
    hidden = ("fields", "central", "peripheral", "peripheral_name", "bytes", "payload")
    assert [without(one, *hidden) for one in after] == [without(one, *hidden) for one in before]
    for layer in ("att", "smp", "l2cap"):
        assert [layer in one for one in after] == [layer in one for one in before]


def test_a_copy_goes_on_behind_damage(halo, tmp_path):
    """And says where; a copy of a damaged log is a whole one."""
    whole = STREAM.read_bytes()
    place = 16
    for _ in range(10):
        place += 24 + struct.unpack(">I", whole[place + 4:place + 8])[0]
    length = 24 + struct.unpack(">I", whole[place + 4:place + 8])[0]
    path, copy = tmp_path / "damaged.btsnoop", tmp_path / "copy.btsnoop"
    path.write_bytes(whole[:place] + b"\xff" * 8 + whole[place + 8:])
    said = f"(record at byte {place}); the file is damaged there, {length} bytes are left out, and what follows is read"
    result = halo.run("decode", path, "--write", copy)
    assert result.code == BAD_DATA and said in result.err
    assert copy.read_bytes() == whole[:place] + whole[place + length:]
    lines = halo.run("decode", path)
    assert lines.code == BAD_DATA and said in lines.err
    assert len(lines.out.splitlines()) == len(halo.run("decode", STREAM).succeeded().out.splitlines()) - 1
    page = tmp_path / "page.html"
    halo.run("decode", path, "--html", page).failed(BAD_DATA, saying=said)
    assert said in page.read_text() and "The capture ends here" not in page.read_text()


def test_what_is_left_out_has_a_name(halo, tmp_path):
    """'3 records left out' did not say which (a capture of btmon has what programs say to the kernel)."""
    path, copy = tmp_path / "btmon.btsnoop", tmp_path / "copy.btsnoop"
    data = HEADER[:12] + struct.pack(">I", 2001)
    for opcode, body in ((12, b"Linux\0"), (13, b"\x06\x02x\0text\0"), (13, b"\x06\x02x\0more\0"), (16, bytes(6)),
                         (2, b"\x03\x0c\x00"), (3, b"\x0e\x04\x01\x03\x0c\x00")):
        data += struct.pack(">IIIIq", len(body), len(body), opcode, 0, 0x00E2EB8A1F50A000) + body
    path.write_bytes(data)
    result = halo.run("decode", path, "--write", copy, "--redact").succeeded()
    assert "2 packets; 4 records left out, which may tell more than a redacted copy should" in result.err
    assert "2 texts of programs, 1 record of the management interface, 1 text of the kernel" in result.err
    assert "left out" not in halo.run("decode", path, "--write", copy).succeeded().err


def test_what_cannot_be_written_is_said(halo, tmp_path):
    halo.run("decode", STREAM, "--redact").failed(USAGE, saying="--write")
    halo.run("decode", STREAM, "--write", STREAM).failed(USAGE, saying="are the same file")
    halo.run("decode", STREAM, "--write", tmp_path / "x", "--summary").failed(USAGE)
    with STREAM.open("rb") as file:
        process = subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE)
        halo.run("decode", "-", "--write", tmp_path / "x", "--redact", stdin=process.stdout).failed(
            USAGE, saying="reads the capture twice")
        process.wait()
    assert not (tmp_path / "x").exists()
    assert halo.run("decode", STREAM, "--write", "/dev/full").code not in (OK,)
