"""What docs/adding.md says to add, in the places that it names, is all that is needed: it is built and used.

Commands that were there, and were missing in one list only: nrfconnect/sdk-nrf 3200, apache/mynewt-nimble 2291.
"""

import socket
import subprocess

import air_frames
import btsnoop
import docs_blocks
import pytest
import recipes
from built import whole_modules
from program import ROOT, Halo
from simulation import Simulation

FOLDER = ROOT / ".build/recipes"


@pytest.mark.verdict
def test_each_change_has_one_place():
    contents = recipes.applied(recipes.PAGE.read_text())
    assert len(contents) >= 10
    assert all(text != (ROOT / name).read_text() for name, text in contents.items() if (ROOT / name).exists())


@pytest.mark.verdict
def test_a_change_without_a_place_is_an_error():
    change = recipes.Change("a.swift", [[" one", "+two"]])
    assert change.apply("zero\none\n") == "zero\none\ntwo\n"
    for content in ("zero\n", "zero\none\none\n", "zero\n  one\n"):
        with pytest.raises(ValueError):
            change.apply(content)


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    """The program of the changed sources."""
    recipes.copy(FOLDER / "sources")
    subprocess.run(
        ["swift", "build", "--product", "halo-raw", "--scratch-path", FOLDER / "build", "-Xswiftc", "-gnone"]
        + whole_modules(),
        cwd=FOLDER / "sources", check=True)
    program = Halo(FOLDER / "build/debug/halo-raw", tmp_path_factory.mktemp("home"))
    yield program
    program.end_all()


def decoded(halo, path, *options) -> str:
    return halo.run("decode", path, *options).succeeded().out


def h4(path, packet: str, *, is_received: bool):
    """A recording of one packet, which begins with its H4 byte."""
    path.write_bytes(btsnoop.written([btsnoop.Record(0x00DCDDB30F2F8000, is_received, bytes.fromhex(packet))]))
    return path


def frames(path, *payloads: bytes):
    """A capture of the air with these L2CAP frames from the central."""
    link = air_frames.Connection(0x50656A9E, 0x1E5D3A, start=0)
    for payload in payloads:
        link.exchange((2, payload))
    return air_frames.pcap(path, air_frames.WITH_HEADER, link.packets)


@pytest.mark.recipes
def test_an_hci_command(changed, tmp_path):
    path = h4(tmp_path / "command.btsnoop", "011e2003132501", is_received=False)
    assert "LE Transmitter Test: TX channel 19, data length 37 bytes, packet payload 11110000" in decoded(changed, path)
    assert "Vol 4, Part E, 7.8.29" in decoded(changed, path, "-v")


@pytest.mark.recipes
def test_an_hci_event(changed, tmp_path):
    path = h4(tmp_path / "event.btsnoop", "043e05f040002c01", is_received=True)
    assert "LE Example Event: connection handle 0x0040, count 300" in decoded(changed, path)


@pytest.mark.recipes
def test_an_att_pdu(changed, tmp_path):
    path = frames(
        tmp_path / "att.pcap", air_frames.l2cap(4, bytes.fromhex("241200")), air_frames.l2cap(4, bytes.fromhex("252c01")))
    lines = decoded(changed, path, "--layer", "att").splitlines()
    assert "Read Length Request, handle 0x0012" in lines[0]
    assert "Read Length Response, length 300 bytes" in lines[1]
    assert "Vol 3, Part F, 3.4.4.13" in decoded(changed, path, "-v")


@pytest.mark.recipes
def test_a_signaling_command(changed, tmp_path):
    path = frames(tmp_path / "signaling.pcap", air_frames.l2cap(5, bytes.fromhex("1b07040040002c01")))
    assert "Pause Request, id 7: source CID 0x0040, time 300 ms" in decoded(changed, path)


@pytest.mark.recipes
def test_the_value_of_a_characteristic(changed, tmp_path):
    link = air_frames.Connection(0x50656A9E, 0x1E5D3A, start=0)
    link.exchange((2, air_frames.l2cap(4, bytes.fromhex("080100ffff7e2a"))))
    link.exchange((1, b""), (2, air_frames.l2cap(4, bytes.fromhex("0903120078"))))
    path = air_frames.pcap(tmp_path / "value.pcap", air_frames.WITH_HEADER, link.packets)
    assert "120 bpm" in decoded(changed, path)


@pytest.mark.recipes
def test_a_ring_command(changed):
    answer = changed.run("raw", "5E", "--count", 1, "--adapter", "virtual:fast", "--format", "text").succeeded().out
    assert "ambient light" in answer and "300" in answer
    listed = changed.run("ring-commands").succeeded().out
    assert "| 0x5e | ambient light | How bright it is around the ring. | single |" in listed
    assert docs_blocks.written("ring-commands.md", "old", changed.path) == listed


@pytest.mark.recipes
def test_a_transport(changed, tmp_path):
    ring = Simulation(changed, listen=f"unix:{tmp_path}/ring")
    with socket.socket(socket.AF_UNIX) as way:
        way.connect(f"{tmp_path}/ring")
        way.setblocking(False)
        number = way.fileno()
        level = changed.run("battery", "--format", "text", adapter=f"fd:{number}", pass_fds=[number]).succeeded()
    ring.close()
    assert level.out == "87 %\n"
    assert "use fd:3" in changed.run("battery", adapter="fd:").err
