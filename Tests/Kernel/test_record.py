"""record and --explain: what the kernel's monitor channel tells, with btmon beside it."""

import re
import signal
import struct
import subprocess

import pytest
from conftest import NOBODY, NOGROUP, sudo
from monitor import MONITOR_DATALINK, Monitor
from program import NO_ADAPTER, REPLAY_DIFFERS

JSON = ("--format", "jsonl")
LINE = re.compile(r"^ *\d+ +[\d.]+  (->|<-|--)  \w+ ")
FIELDS = ("hci_mon.adapter_id", "hci_mon.opcode", "bthci_cmd.opcode", "bthci_evt.code", "bthci_evt.status",
          "btatt.opcode", "btatt.handle", "btatt.value")


class Recording:
    """Runs `record` around a block; afterwards there is what it said."""

    def __init__(self, halo, path, *options):
        self.halo, self.path, self.options = halo, path, options

    def __enter__(self):
        self.process = self.halo.start("record", self.path, *self.options)
        # As soon as it says so, nothing is missed any more.
        self.first = self.process.stderr.readline()
        assert self.first.startswith(f"recording to {self.path}"), self.first
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.err = self.first + self.process.stderr.read()
        assert self.process.wait(timeout=10) == 0, self.err

    def packets(self) -> list[tuple]:
        """Adapter, opcode and bytes of each record."""
        data, position, packets = self.path.read_bytes(), 16, []
        assert struct.unpack_from(">II", data, 8) == (1, MONITOR_DATALINK)
        while position < len(data):
            _, length, flags, _, _ = struct.unpack_from(">IIIIq", data, position)
            packets.append((flags >> 16, flags & 0xFFFF, data[position + 24 : position + 24 + length]))
            position += 24 + length
        return packets


def as_tshark_sees(path) -> list[str]:
    """A line of fields for each HCI packet."""
    command = ["tshark", "-r", path, "-Y", "hci_mon.opcode >= 2 && hci_mon.opcode <= 5", "-T", "fields"]
    for field in FIELDS:
        command += ["-e", field]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_it_has_what_btmon_has(halo, ring, tmp_path):
    """Another program's session, seen by tshark in both recordings; explained live as decoded later."""
    with Monitor(tmp_path / "btmon.btsnoop", ring.kernel_adapter) as btmon:
        with Recording(halo, tmp_path / "ours.btsnoop", "--explain") as ours:
            halo.run("battery", *JSON, adapter=ring.adapter).succeeded()
    theirs = list(btmon.records())
    index = ring.kernel_adapter.index
    packets = [(opcode, data) for adapter, opcode, data in ours.packets() if adapter == index]
    assert [p for p in packets if 2 <= p[0] <= 5] == [p for p in theirs if 2 <= p[0] <= 5]
    # The adapter as it is announced to who begins to listen.
    assert [p for p in packets if p[0] == 0] == [p for p in theirs if p[0] == 0] != []
    seen = as_tshark_sees(ours.path)
    assert seen == as_tshark_sees(btmon.path)
    assert any(line.split("\t")[FIELDS.index("btatt.opcode")] for line in seen)
    count = len(ours.packets())
    assert f"{count} packets recorded, none lost" in ours.err
    explained = [line for line in ours.err.splitlines() if LINE.match(line)]
    assert explained == halo.run("decode", ours.path).succeeded().out.splitlines()
    assert len(explained) == count > 20
    shown = subprocess.run(["btmon", "-r", ours.path], capture_output=True, text=True, check=True).stdout
    assert "LE Meta Event" in shown and "ATT:" in shown


def test_one_adapter_and_a_time(halo, ring, tmp_path):
    path = tmp_path / "one.btsnoop"
    result = halo.run("record", path, "--adapter", ring.adapter, "--duration", "300ms").succeeded()
    assert "recorded, none lost" in result.err
    adapters = {adapter for adapter, _, _ in Recording(halo, path).packets()}
    assert adapters == {ring.kernel_adapter.index}
    halo.run("record", path, "--adapter", "hci77").failed(NO_ADAPTER, saying="record hci77")


def test_it_belongs_to_who_called_sudo(halo, ring, open_folder):
    path = open_folder / "all.btsnoop"
    with sudo(halo):
        with Recording(halo, path) as recording:
            with open(f"/proc/{recording.process.pid}/status") as status:
                text = status.read()
    assert re.search(r"^CapEff:\t0+$", text, re.MULTILINE), "no capability is kept"
    owner = path.stat()
    assert (owner.st_uid, owner.st_gid) == (NOBODY, NOGROUP)


@pytest.mark.parametrize("way", ["hci0", "user:hci0"])
def test_explained_as_decoded(halo, ring, tmp_path, way):
    adapter = way.removesuffix("hci0") + ring.adapter
    if way != "hci0":
        ring.kernel_adapter.down()
    path = tmp_path / "session.btsnoop"
    result = halo.run("battery", "--explain", "--record", path, adapter=adapter).succeeded()
    explained = [line for line in result.err.splitlines() if LINE.match(line)]
    assert explained == halo.run("decode", path).succeeded().out.splitlines() and len(explained) > 20
    # Without a recording: there is nothing that it would depend on.
    alone = halo.run("battery", "--explain", adapter=adapter).succeeded()
    assert sum(bool(LINE.match(line)) for line in alone.err.splitlines()) > 10


def test_btmons_recording_is_replayed(halo, ring, tmp_path):
    """What btmon saw of a session on the user channel drives our stack again."""
    ring.kernel_adapter.down()
    # With scan and discovery: what is known of a ring is in no recording but our own.
    halo.run("forget", ring.address)
    with Monitor(tmp_path / "btmon.btsnoop", ring.kernel_adapter) as btmon:
        session = halo.run("battery", *JSON, adapter=f"user:{ring.adapter}").succeeded()
    options = ("--index", ring.kernel_adapter.index)
    replayed = halo.run("replay", *options, btmon.path, "battery", *JSON).succeeded()
    assert replayed.out == session.out and "all as in the recording" in replayed.err


def without_times(record):
    return {key: value for key, value in record.items() if key not in ("t", "time")}


@pytest.mark.parametrize("way", ["hciN", "user:hciN", "record"])
@pytest.mark.parametrize("command", [
    ("battery",), ("inspect",), ("stream", "--ppg", "--count", 20)], ids=lambda command: command[0])
def test_every_way_of_recording_replays(halo, ring, tmp_path, way, command):
    """What the kernel's host, or ours, was recorded doing is a device that answers again."""
    path = tmp_path / "session.btsnoop"
    if way == "record":
        with Recording(halo, path):
            session = halo.run(*command, *JSON, adapter=ring.adapter).succeeded()
    else:
        if way != "hciN":
            ring.kernel_adapter.down()
        adapter = way.removesuffix("hciN") + ring.adapter
        session = halo.run(*command, *JSON, "--record", path, adapter=adapter).succeeded()
    replayed = halo.run("replay", path, *command, *JSON).succeeded()
    again = halo.run("replay", path, "--level", "att", *command, *JSON).succeeded()
    assert "at the level of ATT" in again.err
    for result in (replayed, again):
        # The times of a stream are those of each machine.
        shown = [without_times(record) for record in result.records()]
        assert shown == [without_times(record) for record in session.records()]


def test_a_session_on_hciN_answers_another_command(halo, ring, tmp_path):
    path = tmp_path / "session.btsnoop"
    table = halo.run("inspect", *JSON, "--record", path, adapter=ring.adapter).succeeded()
    assert table.records()
    model = halo.run("replay", path, "read", "--uuid", "2A24", *JSON).succeeded().records()
    assert model == halo.run("read", ring.name, "--uuid", "2A24", *JSON, adapter=ring.adapter).succeeded().records()
    halo.run("replay", path, "battery", *JSON).failed(REPLAY_DIFFERS, saying="nothing was written to it")
