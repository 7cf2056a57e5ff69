"""Encrypted captures of the air: what another library has encrypted is read with keys of each source.

What people have met: a pairing that is in the capture, and is not read (mikeryan/crackle 26, 29, 31, 38, 52), keys in the other
byte order and of Secure Connections (crackle 53), packets that a sniffer has missed (crackle pull request 8), packets that are
sent again (apache/mynewt-nimble 1378, TorstenRobitzki/bluetoe 70), the nRF Sniffer's own marks (Nordic DevZone 80250, 113465).
"""

import hashlib

import air_frames as air
import pytest
from air_frames import LINK_LAYER, NORDIC, PPI, WITH_HEADER, Connection
from air_session import ATT, CONNECTION, CRC_INIT, PHONE, RING, SMP, request
from bumble import crypto
from cryptography.hazmat.primitives.ciphers.aead import AESCCM
from program import NO_FILE

KINDS = {"link-layer": LINK_LAYER, "header": WITH_HEADER, "nordic": NORDIC, "ppi": PPI}
LTK = bytes(range(0x10, 0x20))
# IO capability, no OOB data, no bonding, a key of 16 bytes, and the LTK of the peripheral.
JUST_WORKS = "030000100001", "030000100001"
# The central's user types what the peripheral shows.
PASSKEY = "020004100001", "000004100001"


def made_up(text, count=16):
    return hashlib.sha256(text.encode()).digest()[:count]


class Encrypted(Connection):
    """A connection that is encrypted from `start` on: the numbers of both sides count, also for packets that are lost."""

    def start(self, key, name=bytes(10)):
        """The key as on the wire; its Rand and EDIV."""
        halves = [made_up(side + key.hex(), 12) for side in ("central", "peripheral")]
        self.exchange((3, b"\x03" + name + halves[0]), (1, b""))
        self.exchange((1, b""), (3, b"\x04" + halves[1]))
        self.exchange((1, b""), (3, b"\x05"))
        session = crypto.e(key, halves[0][:8] + halves[1][:8])
        self.cipher, self.vector = AESCCM(session[::-1], tag_length=4), halves[0][8:] + halves[1][8:]
        self.numbers = {"central": 0, "peripheral": 0}
        self.private((3, b"\x06"), (3, b"\x06"))

    def seal(self, side, llid, payload):
        if not payload:
            return llid, payload
        number = self.numbers[side]
        self.numbers[side] += 1
        nonce = number.to_bytes(4, "little") + (b"\x80" if side == "central" else b"\0") + self.vector
        return llid, self.cipher.encrypt(nonce, payload, bytes([llid]))

    def private(self, central=(1, b""), peripheral=(1, b"")):
        self.exchange(self.seal("central", *central), self.seal("peripheral", *peripheral), encrypted=True)


def smp(pdu):
    return 2, air.l2cap(SMP, pdu)


def att(text):
    return 2, air.l2cap(ATT, bytes.fromhex(text))


def link():
    return Encrypted(CONNECTION, CRC_INIT, start=310_000)


def connected():
    return request(air.connection_data(CONNECTION, CRC_INIT))


def read(one):
    """A read and its answer, on the encrypted link."""
    one.private(att("0a0300"), att("0b5230325f42454546"))


def pairing(one, features=JUST_WORKS, tk=bytes(16)):
    """LE legacy pairing: the peripheral distributes its key."""
    requested, answered = (bytes.fromhex(code + text) for code, text in zip(("01", "02"), features))
    values = [made_up("central"), made_up("peripheral")]
    confirms = [
        crypto.c1(tk, value, requested, answered, 0, 1, air.address(PHONE), air.address(RING))
        for value in values]
    one.exchange(smp(requested), smp(answered))
    one.exchange(smp(b"\x03" + confirms[0]), smp(b"\x03" + confirms[1]))
    one.exchange(smp(b"\x04" + values[0]), smp(b"\x04" + values[1]))
    one.start(crypto.s1(tk, values[1], values[0]))
    one.private(peripheral=smp(b"\x06" + LTK))
    one.private(peripheral=smp(b"\x07" + b"\x34\x12" + bytes(range(8))))


def decoded(halo, path, *options):
    records = halo.run("decode", path, "--format", "jsonl", *options).succeeded().records()
    values = [one["att"]["value"] for one in records if one.get("att", {}).get("opcode") == 0x0B]
    return values, [note["text"] for one in records for note in one.get("security", [])]


NAME = b"R02_BEEF".hex()


def test_a_pairing_in_the_capture_gives_all_its_keys(halo, tmp_path):
    """The short-term key opens the first link, and the key that was distributed over it the second one."""
    first, second = link(), link()
    pairing(first)
    read(first)
    second.time = first.time + 1_000_000
    second.start(LTK, bytes(range(8)) + b"\x34\x12")
    read(second)
    path = air.pcap(
        tmp_path / "session.pcap", WITH_HEADER, [connected(), *first.packets, connected(), *second.packets])
    values, said = decoded(halo, path)
    assert values == [NAME, NAME]
    assert said.count("the confirm value is right") == 2
    assert sum(text.startswith("decrypted with the short-term key of the pairing") for text in said) == 1
    assert sum(text.startswith("decrypted with the key of the pairing") for text in said) == 1


def test_a_passkey_is_found(halo, tmp_path):
    one = link()
    pairing(one, PASSKEY, (1234).to_bytes(16, "little"))
    read(one)
    path = air.pcap(tmp_path / "session.pcap", WITH_HEADER, [connected(), *one.packets])
    values, said = decoded(halo, path)
    assert values == []
    values, said = decoded(halo, path, "--try-passkeys")
    assert values == [NAME] and any(text.startswith("the passkey was 001234:") for text in said)


@pytest.mark.parametrize("both", [False, True], ids=["one", "both"])
def test_a_pairing_with_the_debug_key_is_open(halo, tmp_path, both):
    """Vol 3, Part H, 2.3.5.6.1: the private key of one side is public, as in zephyrproject-rtos/zephyr 9867."""
    debug = "3f49f6d4a3c55f3874c9b3e3d2103f504aff607beb40b7995899b8a6cd3c1abd"
    keys = [
        crypto.EccKey.from_private_key_bytes(one)
        for one in (bytes.fromhex(debug), bytes.fromhex(debug) if both else made_up("private", 32))]
    points = [(key.x[::-1], key.y[::-1]) for key in keys]
    requested, answered = bytes.fromhex("01030008100000"), bytes.fromhex("02030008100000")
    randoms = [made_up("central"), made_up("peripheral")]
    addresses = [air.address(PHONE) + b"\0", air.address(RING) + b"\1"]
    secret = keys[0].dh(keys[1].x, keys[1].y)[::-1]
    mac_key, ltk = crypto.f5(secret, *randoms, *addresses)
    checks = [
        crypto.f6(mac_key, *randoms, bytes(16), requested[1:4], *addresses),
        crypto.f6(mac_key, *randoms[::-1], bytes(16), answered[1:4], *addresses[::-1])]
    one = link()
    one.exchange(smp(requested), smp(answered))
    one.exchange(*(smp(b"\x0c" + x + y) for x, y in points))
    one.exchange(peripheral=smp(b"\x03" + crypto.f4(points[1][0], points[0][0], randoms[1], b"\0")))
    one.exchange(*(smp(b"\x04" + random) for random in randoms))
    one.exchange(*(smp(b"\x0d" + check) for check in checks))
    one.start(ltk)
    read(one)
    path = air.pcap(tmp_path / "session.pcap", WITH_HEADER, [connected(), *one.packets])
    values, said = decoded(halo, path)
    assert values == [NAME] and said.count("the DHKey Check is right") == 2
    assert sum(text.startswith("the debug key") for text in said) == (2 if both else 1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_given_key_opens_each_format(halo, tmp_path, kind):
    one = link()
    one.start(LTK)
    read(one)
    path = air.pcap(tmp_path / "session.pcap", KINDS[kind], [connected(), *one.packets])
    values, said = decoded(halo, path, "--ltk", LTK[::-1].hex())
    assert values == [NAME] and "decrypted with the given key" in said
    values, said = decoded(halo, path, "--ltk", LTK.hex())
    assert values == [NAME] and "decrypted with the given key, in the other byte order" in said
    values, said = decoded(halo, path, "--ltk", bytes(16).hex())
    assert values == [] and said.count("encrypted, and none of the known keys fits") == 1
    values, said = decoded(halo, path)
    assert values == [] and said.count("encrypted, and no key is known; --ltk or --bonds gives one") == 1


def test_another_key_after_a_pause(halo, tmp_path):
    """Vol 6, Part B, 5.1.3.2: the pause is encrypted but for its last PDU, and both sides count anew after it."""
    one, other = link(), bytes(range(0x40, 0x50))
    one.start(LTK)
    read(one)
    one.private((3, b"\x0a"), (3, b"\x0b"))
    one.exchange((3, b"\x0b"), (1, b""))
    one.start(other)
    read(one)
    path = air.pcap(tmp_path / "session.pcap", LINK_LAYER, [connected(), *one.packets])
    values, said = decoded(halo, path, "--ltk", f"{LTK[::-1].hex()},{other[::-1].hex()}")
    assert values == [NAME, NAME]
    assert [text for text in said if text.startswith("decrypted")] == [f"decrypted with given key {n}" for n in (1, 2)]


def after_missed_packets(halo, tmp_path, count, repeats=0) -> tuple[list, list]:
    """What is read of a link whose sniffer has missed some packets."""
    one = link()
    one.start(LTK)
    kept = list(one.packets)
    for _ in range(count):
        read(one)
    one.packets = one.packets[-2:]
    if repeats:
        one.repeat(repeats)
        read(one)
    path = air.pcap(tmp_path / "session.pcap", LINK_LAYER, [connected(), *kept, *one.packets])
    return decoded(halo, path, "--ltk", LTK[::-1].hex())


def test_missed_and_repeated_packets(halo, tmp_path):
    values, said = after_missed_packets(halo, tmp_path, 100, repeats=2)
    assert values == [NAME, NAME] and not any("MIC" in text for text in said)


def test_more_missed_packets_than_are_searched_are_said(halo, tmp_path):
    values, said = after_missed_packets(halo, tmp_path, 300)
    assert values == [] and sum("the MIC is wrong" in text for text in said) == 2


def test_the_users_bonds_are_used_only_if_asked(halo, state, tmp_path):
    """The peripheral of the capture is one that this user has paired with."""
    folder = tmp_path / "bluetooth/8C:68:AB:80:5F:F6" / RING
    folder.mkdir(parents=True)
    key = f"Key={LTK.hex().upper()}\nAuthenticated=2\nEncSize=16\nEDiv=0\nRand=0\n"
    (folder / "info").write_text(f"[General]\nName=Ring\nAddressType=static\n\n[PeripheralLongTermKey]\n{key}")
    (folder.parent / "settings").write_text("[General]\n")
    halo.run("bonds", "import", "--from", tmp_path / "bluetooth").succeeded()
    one = link()
    one.start(LTK)
    read(one)
    path = air.pcap(tmp_path / "session.pcap", LINK_LAYER, [connected(), *one.packets])
    assert decoded(halo, path)[0] == []
    values, said = decoded(halo, path, "--bonds")
    assert values == [NAME] and f"decrypted with the key of the bond with {RING}" in said


def test_a_copy_has_nothing_decrypted(halo, tmp_path):
    one = link()
    pairing(one)
    read(one)
    path, copy = air.pcap(tmp_path / "session.pcap", LINK_LAYER, [connected(), *one.packets]), tmp_path / "copy.pcap"
    halo.run("decode", path, "--write", copy).succeeded()
    assert copy.read_bytes()[24:] == path.read_bytes()[24:]
    halo.run("decode", path, "--write", copy, "--redact-keys").succeeded()
    assert decoded(halo, copy)[0] == []
    halo.run("decode", tmp_path / "none", "--ltk", LTK.hex()).failed(NO_FILE)
