"""Marks that a person sets with halo-raw mark, and those of the ring's button, on their way through the data.

Other tests of this machine stream at the same time: each mark is for rings of a name of its own.
"""

import csv
import json
import os
import signal
import socket
import subprocess
import time
from datetime import datetime, timezone
from pathlib import Path

import pytest
from program import NOT_FOUND, USAGE, cpu_seconds, wait_until

TEXT = "went up the stairs, \"fast\" \\o/ 🪜"


def named(name, options="") -> str:
    return f"virtual:name={name}{options}"


def runs(halo, process, name, records=3):
    """Waits until a command has records of a ring."""

    def has_records():
        shown = halo.run("status", "--format", "jsonl").records()
        return [one for one in shown if one["pid"] == process.pid and one["name"] == name
                and (one["records"] or 0) >= records]

    wait_until(has_records, f"records of {name}")
    return process


def goes_on(halo, process, name):
    """Waits for more records than there are."""
    (now,) = [one for one in halo.run("status", "--format", "jsonl").records() if one["pid"] == process.pid]
    runs(halo, process, name, records=now["records"] + 3)


def ended(halo, process):
    process.send_signal(signal.SIGINT)
    return halo.wait(process).succeeded()


def rows(file, kind=None) -> list[dict]:
    """The records of a file, csv or jsonl, of one kind or of all."""
    lines = file.read_text().splitlines()
    found = [json.loads(line) for line in lines] if file.suffix == ".jsonl" else list(csv.DictReader(lines))
    return [row for row in found if kind in (None, row["kind"])]


def stream(halo, file, name, *options, adapter=""):
    process = halo.start("stream", "--ppg", "--accel", "--output", file, *options, adapter=named(name, f",rate=50{adapter}"))
    return runs(halo, process, name)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.txt"])
def test_a_mark_is_a_record_with_the_time_of_the_command(halo, tmp_path, name):
    file, ring = tmp_path / name, f"R02_{name[2:].upper()}"
    process = stream(halo, file, ring)
    before = datetime.now(timezone.utc)
    result = halo.run("mark", TEXT, "--ring", ring.lower()).succeeded()
    after = datetime.now(timezone.utc)
    assert result.out == f"marked: {ring}, halo-raw stream, process {process.pid}\n" and result.err == ""
    goes_on(halo, process, ring)
    ended(halo, process)
    if file.suffix == ".txt":
        (line,) = [line for line in file.read_text().splitlines() if " s  mark " in line]
        assert line.endswith(TEXT)
        return
    (mark,) = rows(file, "mark")
    assert mark["note" if file.suffix == ".csv" else "text"] == TEXT and int(mark["seq"]) == 0
    assert before <= datetime.fromisoformat(mark["time"]) <= after
    # It stands between the samples of its time: the stream goes on.
    times = [float(row["t"]) for row in rows(file)]
    place = times.index(float(mark["t"]))
    assert 3 < place < len(times) - 1 and abs(times[place - 1] - times[place]) < 0.3
    assert {row["ring"] for row in rows(file)} == {"30:35:38:41:BE:EF"}


def test_a_mark_is_for_all_rings_of_a_name_or_for_one_address(halo, tmp_path):
    one, other = (tmp_path / name for name in ("one.csv", "other.csv"))
    addresses = ("C0:11:22:33:00:A1", "C0:11:22:33:00:A2")
    streams = [
        stream(halo, file, "R02_TWIN", adapter=f",address={address}/random")
        for file, address in zip((one, other), addresses, strict=True)]
    assert len(halo.run("mark", "both", "--ring", "R02_TWIN").succeeded().out.splitlines()) == 2
    (record,) = halo.run("mark", "only one", "--ring", addresses[1], "--format", "jsonl").succeeded().records()
    assert record["ring"] == "R02_TWIN" and record["command"] == "stream" and record["pid"] == streams[1].pid
    for process in streams:
        ended(halo, process)
    assert [mark["note"] for mark in rows(one, "mark")] == ["both"]
    assert [(mark["seq"], mark["note"]) for mark in rows(other, "mark")] == [("0", "both"), ("1", "only one")]


@pytest.mark.skipif(os.geteuid() != 0, reason="a network of its own needs root")
def test_a_mark_is_for_all_that_runs(halo, tmp_path, monkeypatch):
    """It finds commands by their folder, and by the sockets of its network: here, those of other tests are in another one."""
    monkeypatch.setitem(halo.environment, "XDG_RUNTIME_DIR", str(tmp_path))

    def mark(*arguments):
        process = subprocess.Popen(
            ["unshare", "--net", str(halo.path), "mark", *arguments], env=halo.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        halo.processes.append(process)
        return halo.wait(process)

    none = mark("x")
    assert none.code == NOT_FOUND and "no halo-raw command is running" in none.err
    files = [tmp_path / name for name in ("a.csv", "b.csv")]
    streams = [stream(halo, file, "R02_ALL") for file in files]
    assert sorted(mark("went up the stairs").succeeded().out.splitlines()) == sorted(
        f"marked: R02_ALL, halo-raw stream, process {process.pid}" for process in streams)
    for process, file in zip(streams, files, strict=True):
        ended(halo, process)
        assert [row["note"] for row in rows(file, "mark")] == ["went up the stairs"]


def test_each_ring_of_a_group_has_its_marks(halo, tmp_path):
    file = tmp_path / "all.jsonl"
    adapter = "virtual:rings=2,rate=50,ring=1,name=R02_GRP1,ring=2,name=R02_GRP2"
    process = halo.start("stream", "R02_GRP1", "R02_GRP2", "--ppg", "--output", file, adapter=adapter)
    for name in ("R02_GRP1", "R02_GRP2"):
        runs(halo, process, name)
    halo.run("mark", "the second", "--ring", "R02_GRP2").succeeded()
    ended(halo, process)
    (mark,) = rows(file, "mark")
    (ring,) = {row["ring"] for row in rows(file, "ppg")} - {mark["ring"]}
    assert mark["text"] == "the second" and ring


@pytest.mark.parametrize(("command", "options", "columns"), [
    (["events"], ",events=0.2", ("event", "note")),
    (["measure", "heart-rate", "--continuous"], ",warm-up=1", ("kind", "note")),
    (["raw", "03", "--duration", "20s"], "", ("direction", "name")),
    (["subscribe", "RING", "--uuid", "2A19"], "", None),
])
def test_commands_that_print_records_take_marks(halo, tmp_path, command, options, columns):
    file, ring = tmp_path / "x.jsonl", f"R02_{command[0].upper()}"
    process = halo.start(*[word.replace("RING", ring) for word in command], "--output", file, adapter=named(ring, options))
    wait_until(lambda: not halo.run("mark", "here", "--ring", ring).code, "command that takes a mark")
    assert f"halo-raw {command[0]}, process {process.pid}" in halo.run("mark", "again", "--ring", ring).succeeded().out
    process.send_signal(signal.SIGINT)
    halo.wait(process)
    kind, text = columns or ("kind", "note")
    marks = [row for row in map(json.loads, file.read_text().splitlines()) if row[kind] == "mark"]
    assert [(mark["seq"], mark[text]) for mark in marks] == [(0, "here"), (1, "again")]


@pytest.mark.parametrize(("text", "words"), [
    ("", "empty"), ("  ", "empty"), ("x" * 201, "at most 200 characters; this one has 201"), ("a\nb", "control characters"),
    ("\x1b[31mred", "control characters"), ("left\u202eright", "control characters"), ("bell\x07", "control characters"),
])
def test_what_is_no_mark_is_said(halo, text, words):
    result = halo.run("mark", text)
    assert result.code == USAGE and words in result.err and "\x1b" not in result.err, result


def test_nobody_takes_it(halo):
    result = halo.run("mark", "x", "--ring", "R02_NOWHERE")
    assert result.code == NOT_FOUND and result.out == "", result


def test_peers_do_not_harm_a_stream(halo, tmp_path):
    """They send nothing, half a mark, too much, invalid UTF-8, and what is no mark; and they go away."""
    file = tmp_path / "a.jsonl"
    process = stream(halo, file, "R02_PEER")
    name = str(Path(halo.environment["XDG_RUNTIME_DIR"]) / f"halo-raw/status/{process.pid}.mark")
    mode = os.stat(os.path.dirname(name)).st_mode & 0o777
    assert mode == 0o700
    used = cpu_seconds(process)

    def peer(data=b"", end=True):
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        made.setblocking(False)
        # Its queue may be full for a moment.
        wait_until(lambda: not made.connect_ex(name), "place in the queue")
        made.settimeout(10)
        try:
            made.sendall(data)
            if end:
                made.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        return made

    def request(**members) -> bytes:
        return json.dumps({"text": "x", "monotonic_ns": 0} | members).encode()

    def answer(made):
        try:
            return made.recv(4096)
        except ConnectionResetError:
            return b""

    silent = [peer(end=False) for _ in range(20)]
    peer(request(text="cut off")[:-4], end=False).close()
    for data in (b"x" * 5000, b"{}", b"[" * 3000, b"\xff\xfe", request(text="\u202e"), request(text="x" * 900),
                 request(monotonic_ns=1e300), request(monotonic_ns="now"), request(text=7), b'{"text":"\xff","monotonic_ns":0}'):
        with peer(data) as made:
            reply = answer(made)
            assert reply in (b"", b"null\n") or json.loads(reply)["rings"] == [], (data[:40], reply)
    # Those that say nothing are ended after a second, and hold up nobody.
    begin = time.monotonic()
    halo.run("mark", "in between", "--ring", "R02_PEER").succeeded()
    assert time.monotonic() - begin < 3
    for made in silent:
        assert answer(made) == b""
        made.close()
    # A clock that is not this machine's counts as none: the mark is one of now.
    with peer(request(text="of another clock", monotonic_ns=-(1 << 62))) as made:
        assert json.loads(answer(made)) == {"command": "stream", "rings": ["R02_PEER"]}
    assert cpu_seconds(process) - used < 2
    ended(halo, process)
    marks = rows(file, "mark")
    assert [mark["text"] for mark in marks] == ["in between", "of another clock"]
    assert all(mark["t"] > 0 for mark in marks) and not Path(name).exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="another user is needed")
def test_a_stranger_marks_nothing(halo, tmp_path):
    process = stream(halo, tmp_path / "a.csv", "R02_MINE")
    attempt = halo.start(
        "mark", "x", "--ring", "R02_MINE", preexec_fn=lambda: (os.setgid(65534), os.setuid(65534)))
    assert halo.wait(attempt).code == NOT_FOUND
    ended(halo, process)
    assert rows(tmp_path / "a.csv", "mark") == []


def test_the_rings_button_marks_the_recording(halo, tmp_path):
    """Values are for those who listen, and no records of a stream."""
    file = tmp_path / "a.csv"
    adapter = "virtual:fast,events=0.2"
    halo.run("stream", "--ppg", "--duration", "10s", "--output", file, adapter=adapter).succeeded()
    notes = [row["note"] for row in rows(file, "event")]
    assert notes[:4] == ["key next", "find-phone begins", "button tap", "heart-rate-alarm too-high 131"]
    assert set(notes) == set(notes[:4]) and len(notes) >= 12


def test_events_are_heard_again_on_a_new_link(halo, tmp_path):
    file = tmp_path / "a.jsonl"
    adapter = "virtual:fast,events=0.2,drop-after=150"
    halo.run("stream", "--ppg", "--duration", "30s", "--output", file, adapter=adapter).succeeded()
    gaps = [row["t"] for row in rows(file, "gap")]
    events = [row["t"] for row in rows(file, "event")]
    assert len(gaps) >= 2 and any(t < gaps[0] for t in events) and any(t > gaps[1] for t in events)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.txt"])
def test_marks_do_not_interrupt_the_pulse(halo, tmp_path, name):
    """Whatever their text is: in a line of text it stands where the kind of another line does."""
    file, without = tmp_path / name, tmp_path / f"without-{name}"
    halo.run("stream", "--ppg", "--accel", "--duration", "40s", "--output", without, adapter="virtual:fast").succeeded()
    lines = without.read_text().splitlines()
    columns = lines[0].split(",")
    marked = []
    for number, line in enumerate(lines):
        marked.append(line)
        if number % 100 != 50:
            continue
        text = "gap x 1 y 2 z 3"
        if name.endswith("txt"):
            marked.append(f"{line.split()[0]} s  mark          {text}")
        elif name.endswith("csv"):
            fields = dict.fromkeys(columns, "") | dict(zip(columns[:4], line.split(",")[:4], strict=True))
            marked.append(",".join((fields | {"kind": "mark", "note": text}).values()))
        else:
            record = {member: json.loads(line)[member] for member in ("t", "time", "ring", "seq")}
            marked.append(json.dumps(record | {"kind": "mark", "text": text}))
    file.write_text("\n".join(marked) + "\n")
    beats = halo.run("beats", file, "--format", "csv").succeeded()
    assert "left out" not in beats.err and len(beats.out.splitlines()) > 30
    assert beats.out == halo.run("beats", without, "--format", "csv").out
