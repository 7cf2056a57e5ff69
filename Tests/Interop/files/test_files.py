"""What the program writes and keeps: devices stay devices, nothing is lost, and no file of ours can end it."""

import json
import os
import re
import resource
import shutil
import sqlite3
import stat
import struct
import subprocess
import tempfile
import threading
import zipfile
from pathlib import Path

import pytest
from program import BAD_DATA, IO_ERROR, NO_FILE, OK, ROOT, SYSTEM, USAGE
from simulation import Simulation
from stored import CLOCK, VIRTUAL, contents
from system_faults import CHANGES, kills, needs_strace

pytestmark = pytest.mark.usefixtures("from_the_repository")
CAPTURE = "captures/virtual-stream.btsnoop"
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of others")
OTHER = 12345


@pytest.fixture
def data_home(halo, tmp_path):
    halo.environment["XDG_DATA_HOME"] = str(tmp_path / "data")
    return tmp_path / "data"


def mode(path) -> int:
    return stat.S_IMODE(os.lstat(path).st_mode)


def writers(path) -> list[tuple]:
    """Every way to have a file written: the words, without the adapter for what needs none."""
    return [
        ("settings", "--export", path, "--adapter", VIRTUAL),
        ("decode", CAPTURE, "--html", path),
        ("battery", "--record", path, "--replace", "--adapter", VIRTUAL),
    ]


WAYS = pytest.mark.parametrize("way", [0, 1, 2], ids=["export", "html", "record"])


# --- what is there stays what it is

@WAYS
def test_new_files_are_their_users_alone(halo, tmp_path, way):
    path = tmp_path / "new"
    halo.run(*writers(path)[way], preexec_fn=lambda: os.umask(0)).succeeded()
    assert mode(path) == 0o600 and path.stat().st_size > 0
    assert os.listdir(tmp_path) == ["new"]


@WAYS
def test_files_keep_their_mode_and_links_stay_links(halo, tmp_path, way):
    path, link = tmp_path / "old", tmp_path / "link"
    path.write_text("x" * 1_000_000)
    path.chmod(0o640)
    link.symlink_to("old")
    halo.run(*writers(link)[way]).succeeded()
    assert link.is_symlink() and mode(path) == 0o640
    assert b"xxxx" not in path.read_bytes() and path.stat().st_size > 0


@WAYS
def test_devices_stay_devices(halo, tmp_path, way):
    """Copies of the real ones, so that a program that fails here breaks nothing."""
    null, full = tmp_path / "null", tmp_path / "full"
    try:
        os.mknod(null, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        os.mknod(full, stat.S_IFCHR | 0o666, os.makedev(1, 7))
        null.open("w").close()
    except PermissionError:
        pytest.skip("no devices can be made here")
    (tmp_path / "link").symlink_to("null")
    for path in (null, tmp_path / "link"):
        halo.run(*writers(path)[way]).succeeded()
        assert stat.S_ISCHR(os.stat(path).st_mode)
    halo.run(*writers(full)[way]).failed(IO_ERROR, saying="no space")
    assert stat.S_ISCHR(os.stat(full).st_mode)


@WAYS
def test_a_fifo_that_no_process_reads(halo, tmp_path, way):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    halo.run(*writers(path)[way], timeout=10).failed(NO_FILE, saying="no process reads this fifo")
    assert stat.S_ISFIFO(os.stat(path).st_mode)


@WAYS
def test_a_fifo_that_is_read(halo, tmp_path, way):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    process = subprocess.Popen(["cat", path], stdout=(tmp_path / "out").open("wb"))
    try:
        result = halo.run(*writers(path)[way])
        while result.code == NO_FILE:  # cat was not that far
            result = halo.run(*writers(path)[way])
        result.succeeded()
        process.wait(timeout=10)
        assert (tmp_path / "out").stat().st_size > 100
    finally:
        process.kill()
        process.wait()
    assert stat.S_ISFIFO(os.stat(path).st_mode)


def test_an_export_that_fails_leaves_the_old_one(halo, tmp_path):
    path = tmp_path / "ring.json"
    path.write_text("precious")
    halo.run(*writers(path)[0], **file_limit(100)).failed(IO_ERROR, saying="file too large")
    assert path.read_text() == "precious" and os.listdir(tmp_path) == ["ring.json"]


def limit(resource_, size):
    return {"preexec_fn": lambda: resource.setrlimit(resource_, (size, size))}


def file_limit(size):
    """`ulimit -f`, in bytes: beyond it, the kernel sends SIGXFSZ, which ends a program that does not expect it."""
    return limit(resource.RLIMIT_FSIZE, size)


@WAYS
def test_files_that_may_not_be_that_large(halo, tmp_path, way):
    result = halo.run(*writers(tmp_path / "new")[way], **file_limit(100))
    assert result.code == IO_ERROR and "file too large" in result.err.splitlines()[-1].lower(), result
    assert set(os.listdir(tmp_path)) <= {"new"}


@pytest.mark.parametrize("size", [0, 100, 20_000, 60_000])
def test_a_store_that_may_not_be_that_large(halo, tmp_path, size):
    store = tmp_path / "rings.sqlite"
    result = halo.run("sync", "--store", store, adapter=VIRTUAL, **file_limit(size))
    assert result.code == IO_ERROR and "the store" in result.err.splitlines()[-1], result
    halo.run("sync", "--store", store, adapter=VIRTUAL).succeeded()


def test_a_queue_that_may_not_be_that_large(halo, state):
    words = ("measure", "heart-rate", "--mqtt", "mqtt://127.0.0.1:9/x")
    halo.run(*words, adapter=VIRTUAL, **file_limit(0)).failed(IO_ERROR, saying="queue")


@as_root
@WAYS
@pytest.mark.parametrize("kind", ["file", "link", "fifo"])
def test_what_others_put_into_a_shared_folder(halo, tmp_path, way, kind):
    """By the rules of fs.protected_symlinks, _regular and _fifos, whatever they are set to."""
    shared, mine = tmp_path / "shared", tmp_path / "mine"
    shared.mkdir()
    os.chown(shared, OTHER + 1, OTHER + 1)
    mine.write_text("precious")
    path = shared / "bait"
    {"file": path.touch, "link": lambda: path.symlink_to(mine), "fifo": lambda: os.mkfifo(path)}[kind]()
    os.lchown(path, OTHER, OTHER)
    if kind != "link":
        os.chmod(path, 0o666)
    os.chmod(shared, 0o1777)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        halo.run(*writers(path)[way]).failed(NO_FILE, saying="belongs to another user")
    finally:
        os.close(reader)
    assert mine.read_text() == "precious"


# --- one file is not used twice

@pytest.mark.parametrize("words", [
    ("replay", "%", "--record", "%"), ("replay", "%", "stream", "--record", "%l"),
    ("stream", "--adapter", "replay:%", "--record", "%h"), ("decode", "%", "--html", "%"),
    ("decode", "%l", "--html", "%h"), ("settings", "--import", "%", "--record", "%", "--adapter", "virtual"),
    ("sync", "--store", "%", "--record", "%", "--adapter", "virtual:fast"),
])
def test_one_file_is_not_read_and_written(halo, tmp_path, words):
    path = tmp_path / "f"
    shutil.copy(CAPTURE, path)
    before = path.read_bytes()
    (tmp_path / "fl").symlink_to("f")
    os.link(path, tmp_path / "fh")
    words = [word.replace("%", str(path)) for word in words]
    halo.run(*words).failed(USAGE, saying="are the same file")
    assert path.read_bytes() == before


def test_two_outputs_into_one_new_file(halo, tmp_path):
    path = tmp_path / "new"
    halo.run("settings", "--export", path, "--record", tmp_path / "x" / ".." / "new", adapter=VIRTUAL)
    halo.run("settings", "--export", path, "--record", f"{tmp_path}/./new", adapter=VIRTUAL).failed(
        USAGE, saying="same file")
    assert not path.exists()


@pytest.mark.parametrize("words, stdin", [
    (("decode", "%"), False), (("decode", "-"), True), (("replay", "%"), False),
    (("stream", "--count", 1, "--adapter", "virtual:fast", "--record", "%"), False),
    (("export", "steps", "--store", "%"), False)])
def test_standard_output_is_a_file_too(halo, tmp_path, words, stdin):
    """`decode F >> F` would never end."""
    path = tmp_path / "f"
    shutil.copy(CAPTURE, path)
    before = path.read_bytes()
    words = [str(path) if word == "%" else str(word) for word in words]
    with path.open("ab") as out, path.open("rb") as source:
        code = subprocess.run(
            [halo.path, *words], stdout=out, stdin=source if stdin else subprocess.DEVNULL,
            stderr=subprocess.PIPE, env=halo.environment, timeout=20)
    assert code.returncode == USAGE and b"same file" in code.stderr, code
    assert path.read_bytes() == before


def test_output_does_not_go_to_a_descriptor_of_the_loop(halo, tmp_path):
    """With `<&- >&-`, the first two that are opened would be standard input and output."""
    def close():
        os.close(0)
        os.close(1)

    path = tmp_path / "session.btsnoop"
    result = halo.run("battery", "--record", path, adapter=VIRTUAL, preexec_fn=close)
    assert result.code == IO_ERROR and "bad file descriptor" in result.err, result
    halo.run("replay", path, "battery").succeeded()


def test_log_files_may_be_shared(halo, tmp_path):
    """`> log 2>&1` is one output, and two outputs to /dev/null harm nothing."""
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.run(
            [halo.path, "battery", "--adapter", VIRTUAL], stdout=log, stderr=log, env=halo.environment)
    assert process.returncode == OK
    halo.run("settings", "--export", "/dev/null", "--record", "/dev/null", adapter=VIRTUAL).succeeded()


# --- what is remembered

def test_twelve_at_once_remember_twelve_rings(halo, state):
    rings = [
        Simulation(halo, options=f"name=R02_{n:04X},address=C0:11:22:33:00:{n:02X}/random") for n in range(12)]
    try:
        processes = [halo.start("battery", adapter=ring.adapter) for ring in rings]
        for process in processes:
            assert halo.wait(process).succeeded().err == ""
        known = halo.run("forget", "--format", "jsonl").succeeded().records()
        assert {ring["name"] for ring in known} == {f"R02_{n:04X}" for n in range(12)}
        # And forgets them at once: none comes back.
        processes = [halo.start("forget", f"R02_{n:04X}") for n in range(12)]
        for process in processes:
            halo.wait(process).succeeded()
        assert json.loads((state / "rings.json").read_text()) == []
    finally:
        for ring in rings:
            ring.close()
    assert mode(state) == 0o700 and mode(state.parent) == 0o700
    assert {mode(path) for path in state.iterdir()} == {0o600}


RING = '[{"address":"C0:11:22:33:BE:EF","type":"random","name":"R02_BEEF","clock":{"policy":"utc","set":%s,"utcOffset":%s}}]'


@pytest.mark.parametrize("text", [
    RING % (2**63 - 1, 0), RING % (-2**63, 0), RING % (1, 2**63 - 1), RING % (1, -2**63), RING % (2**64, 0),
    "[" * 100_000, "", "\0" * 100, RING[:40], " " * 20_000_000,
    json.dumps(json.loads(RING % (1, 0)) * 100_000)],
    ids=["set max", "set min", "offset max", "offset min", "beyond", "deep", "empty", "zeros", "cut", "huge", "many"])
@pytest.mark.parametrize("words", [("time",), ("time", "--set"), ("battery",), ("forget",), ("decode", CAPTURE)])
def test_a_damaged_file_is_kept_and_not_used(halo, state, simulation, text, words):
    state.mkdir(parents=True)
    (state / "rings.json").write_text(text)
    adapter = None if words[0] in ("forget", "decode") else simulation.adapter
    result = halo.run(*words, adapter=adapter, timeout=10).succeeded()
    (line,) = result.err.splitlines()
    assert line.startswith("halo-raw: the file of known rings is damaged; it was renamed to "), line
    assert (state / "rings.json.damaged").stat().st_size == len(text)
    assert halo.run(*words, adapter=adapter).succeeded().err == ""


def test_a_newer_file_is_left_alone(halo, state, simulation):
    state.mkdir(parents=True)
    (state / "rings.json").write_text('{"version": 7, "rings": {}}')
    result = halo.run("battery", adapter=simulation.adapter).succeeded()
    assert "newer version" in result.err
    assert (state / "rings.json").read_text() == '{"version": 7, "rings": {}}'


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path)])
def test_what_is_no_file_is_not_waited_for(halo, state, simulation, make):
    state.mkdir(parents=True)
    make(state / "rings.json")
    result = halo.run("battery", adapter=simulation.adapter, timeout=10).succeeded()
    assert all("not regular" in line or "not a regular file" in line or "is a directory" in line
               for line in result.err.splitlines()), result


@as_root
@pytest.mark.parametrize("what", ["halo-raw", "halo-raw/rings.json", "halo-raw/rings.json.lock"])
def test_what_is_anothers_is_not_used(halo, state, simulation, what):
    state.mkdir(parents=True)
    (state / "rings.json").write_text("[]")
    (state / "rings.json.lock").touch()
    for path in (state, state / "rings.json", state / "rings.json.lock"):
        os.chmod(path, 0o777)
    os.chown(state.parent / what, OTHER, OTHER)
    result = halo.run("battery", adapter=simulation.adapter).succeeded()
    assert "belongs to another user" in result.err
    assert (state / "rings.json").read_text() == "[]"


@pytest.mark.parametrize("home", [None, "", "relative", "/dev/null", "read-only"])
def test_any_home_will_do(halo, simulation, tmp_path, home):
    environment = dict(halo.environment)
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        environment.pop(name, None)
    if home == "read-only":
        (tmp_path / "home").mkdir(mode=0o500)
        home = str(tmp_path / "home")
    if home is not None:
        environment["HOME"] = home
    for words in (("battery",), ("time", "--set")):
        process = subprocess.run(
            [halo.path, *words, "--adapter", simulation.adapter], env=environment, cwd=tmp_path,
            capture_output=True, timeout=20)
        assert process.returncode == OK and process.stderr == b"", process
    assert os.listdir(tmp_path) == (["home"] if (tmp_path / "home").exists() else [])


# --- the store

def test_folders_are_only_made_for_the_default_store(halo, tmp_path, data_home):
    halo.run("sync", "--store", tmp_path / "x" / "y.sqlite", adapter=VIRTUAL).failed(
        NO_FILE, saying="no such file or directory")
    assert os.listdir(tmp_path) == []
    halo.run("sync", "--kind", "steps", adapter=VIRTUAL, preexec_fn=lambda: os.umask(0)).succeeded()
    assert mode(data_home) == mode(data_home / "halo-raw") == 0o700
    assert {mode(path) for path in (data_home / "halo-raw").iterdir()} == {0o600}


@pytest.mark.parametrize("path", ["/dev/null", "fifo", "folder"])
@pytest.mark.parametrize("words", [("sync",), ("export", "steps")])
def test_only_a_regular_file_is_a_store(halo, tmp_path, path, words):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    halo.run(*words, "--store", tmp_path / path, adapter=VIRTUAL if words[0] == "sync" else None,
             timeout=10).failed(NO_FILE)


def test_a_store_where_nothing_can_be_written(halo, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    store = folder / "a ?#%.sqlite"
    halo.run("sync", "--store", store, adapter=VIRTUAL).succeeded()
    expected = halo.run("export", "all", "--store", store).succeeded().out
    store.chmod(0o400)
    folder.chmod(0o500)
    try:
        assert halo.run("export", "all", "--store", store).succeeded().out == expected != ""
        halo.run("sync", "--store", store, adapter=VIRTUAL).failed(NO_FILE, saying="permission denied")
    finally:
        folder.chmod(0o700)


def journal(victim) -> bytes:
    """A rollback journal that SQLite plays back: it puts zeros over the first page of the file beside it, and then SQLite
    deletes the file that it names, as its super-journal (sqlite.org/fileformat.html)."""
    magic, name = bytes.fromhex("d9d505f920a163d7"), os.fsencode(victim)
    header = (magic + struct.pack(">5I", 1, 0, 1, 512, 4096)).ljust(512, b"\0")
    end = name + struct.pack(">II", len(name), sum(name)) + magic
    return header + struct.pack(">I", 1) + bytes(4096 + 4) + struct.pack(">I", 2**30 // 4096 + 1) + end


@pytest.mark.parametrize("words", [("export", "all"), ("store", "list"), ("store", "export"),
                                   ("history", "steps", "--stored"), ("sync",), ("store", "delete", "--yes", "R02_BEEF")])
def test_a_store_that_comes_with_a_journal(halo, tmp_path, words):
    """As somebody hands it on, in a folder: SQLite is not asked. Without the journal of a program that was interrupted, half of what
    it has written would be read."""
    folder, victim = tmp_path / "handed on", tmp_path / "victim"
    folder.mkdir()
    store = folder / "rings.sqlite"
    halo.run("sync", "--store", store, adapter=VIRTUAL).succeeded()
    adapter = VIRTUAL if words[0] == "sync" else None
    victim.write_text("precious")
    (folder / "rings.sqlite-journal").write_bytes(journal(victim))
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    halo.run(*words, "--store", store, adapter=adapter).failed(
        NO_FILE, saying="rings.sqlite-journal: a program was interrupted while it wrote")
    assert victim.read_text() == "precious"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_reading_does_not_wait_for_a_writer_and_changes_nothing(halo, tmp_path):
    store = tmp_path / "rings.sqlite"
    halo.run("sync", "--kind", "steps", "--store", store, adapter=VIRTUAL).succeeded()
    expected = halo.run("export", "steps", "--store", store).succeeded().out
    writer = sqlite3.connect(store)
    writer.execute("UPDATE rings SET name = 'R02_0001'")
    writer.commit()
    writer.execute("BEGIN IMMEDIATE")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(before) == {"rings.sqlite", "rings.sqlite-wal", "rings.sqlite-shm"}
    assert halo.run("export", "steps", "--store", store).succeeded().out == expected
    # The change is in the log alone.
    assert halo.run("store", "--format", "csv", "--store", store).succeeded().out.count("R02_0001") == 1
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    writer.close()


@pytest.mark.parametrize("minutes", [2**63 - 1, -2**63, -1, 65536, "'x'", "NULL"])
@pytest.mark.parametrize("form", ["text", "csv", "jsonl"])
def test_impossible_stages_of_sleep(halo, tmp_path, minutes, form):
    store = tmp_path / "rings.sqlite"
    halo.run("sync", "--kind", "sleep", "--store", store, adapter=VIRTUAL).succeeded()
    file = sqlite3.connect(store)
    file.execute("PRAGMA writable_schema = ON")
    file.execute("UPDATE sqlite_schema SET sql = replace(sql, 'duration_min INTEGER NOT NULL', 'duration_min INTEGER')")
    file.commit()
    file.close()
    file = sqlite3.connect(store)
    file.execute(f"UPDATE sleep_stages SET duration_min = {minutes} WHERE position = 0")
    file.commit()
    file.close()
    words = ("history", "sleep", "--stored", "--from", "2026-11-01", "--to", "2026-11-21", "--format", form)
    if form != "text":
        halo.run("export", "sleep", "--store", store, "--format", form).failed(
            BAD_DATA, saying="there is a duration_min of")
    halo.run(*words, "--store", store).failed(BAD_DATA, saying="there is a duration_min of")


def test_damaged_stores_end_with_a_line(halo, tmp_path):
    """Bytes all over the file changed, one at a time: it is read or refused, and never traps."""
    good = tmp_path / "good.sqlite"
    halo.run("sync", "--store", good, adapter=VIRTUAL).succeeded()
    contents_of = bytearray(good.read_bytes())
    store, codes = tmp_path / "bad.sqlite", set()
    for place in range(0, len(contents_of), len(contents_of) // 60):
        damaged = bytearray(contents_of)
        damaged[place] ^= 0xFF
        store.write_bytes(damaged)
        for suffix in ("-wal", "-shm"):
            (tmp_path / f"bad.sqlite{suffix}").unlink(missing_ok=True)
        result = halo.run("export", "all", "--include-estimates", "--store", store)
        assert result.code in (OK, BAD_DATA, IO_ERROR, NO_FILE, 79), result
        codes.add(result.code)
    for length in (0, 1, 99, 100, 4096, len(contents_of) // 2):
        store.write_bytes(contents_of[:length])
        assert halo.run("export", "all", "--store", store).code in (BAD_DATA, IO_ERROR, 79)
    assert len(codes) > 1


def test_syncs_at_once(halo, tmp_path):
    """In real time: with `fast`, who waits for another's lock would find the ring's clock hours later."""
    store, words = tmp_path / "rings.sqlite", ("sync", "--kind", "heart-rate")
    in_real_time = ("--wait", "20s")
    processes = [halo.start(*words, *in_real_time, "--store", store, adapter=f"virtual:{CLOCK}") for _ in range(4)]
    for process in processes:
        halo.wait(process, timeout=30).succeeded()
    halo.run(*words, "--store", tmp_path / "alone.sqlite", adapter=VIRTUAL).succeeded()
    assert contents(store) == contents(tmp_path / "alone.sqlite")


def test_a_store_that_another_program_holds(halo, tmp_path):
    """It is waited for, and given up in time; Ctrl-C ends the wait."""
    store = tmp_path / "rings.sqlite"
    halo.run("sync", "--kind", "spo2", "--store", store, adapter=VIRTUAL).succeeded()
    other = sqlite3.connect(store)
    other.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(1, other.rollback)
    other_thread = sqlite3.connect(store, check_same_thread=False)
    other.rollback()
    other_thread.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(1, other_thread.rollback)
    timer.start()
    halo.run("sync", "--kind", "steps", "--store", store, adapter=VIRTUAL).succeeded()
    timer.join()
    other.execute("BEGIN IMMEDIATE")
    halo.run("sync", "--store", store, adapter=VIRTUAL).failed(75, saying="locked")
    other.rollback()


# --- killed at every moment

@needs_strace
def test_sync_killed_at_every_change(halo, tmp_path):
    words = ("sync", "--kind", "spo2", "--adapter", VIRTUAL, "--store")
    halo.run(*words, tmp_path / "whole.sqlite").succeeded()
    whole, count = contents(tmp_path / "whole.sqlite"), 0
    store = tmp_path / "killed.sqlite"
    for moment in kills(halo, (*words, store), step=3):
        if store.exists():
            assert mode(store) == 0o600, moment
        halo.run(*words, store).succeeded()
        assert contents(store) == whole, moment
        for path in tmp_path.glob("killed.sqlite*"):
            path.unlink()
        count += 1
    assert count > 2 * len(CHANGES), "hardly ever killed"


@needs_strace
def test_what_is_remembered_killed_at_every_change(halo, state, simulation):
    """The file holds what was there before, or what is there after, and nothing stands in the way of the next."""
    path, count = state / "rings.json", 0
    before = (RING % (1, 0)).replace("BE:EF", "00:01").replace("R02_BEEF", "R02_0001")

    def put_back():
        shutil.rmtree(state, ignore_errors=True)
        state.mkdir(parents=True, mode=0o700)
        path.write_text(before)

    put_back()
    changes = ("flock", "fchmod", "fsync", "renameat")
    for moment in kills(halo, ("battery", "R02_BEEF", "--adapter", simulation.adapter), changes):
        assert path.read_text() == before or len(json.loads(path.read_text())) == 2, moment
        assert halo.run("battery", "R02_BEEF", adapter=simulation.adapter).succeeded().err == "", moment
        put_back()
        count += 1
    assert count > len(changes) + 3, "hardly ever killed"


@needs_strace
def test_an_export_killed_at_every_change(halo, tmp_path):
    path, count = tmp_path / "ring.json", 0
    halo.run("settings", "--export", tmp_path / "whole.json", adapter=VIRTUAL).succeeded()
    whole = (tmp_path / "whole.json").read_text()
    path.write_text("precious")
    for moment in kills(halo, ("settings", "--export", path, "--adapter", VIRTUAL)):
        assert path.read_text() in ("precious", whole), moment
        path.write_text("precious")
        count += 1
    assert count > len(CHANGES) + 2, "hardly ever killed"


# --- too few descriptors

@pytest.mark.parametrize("limit", range(4, 16))
def test_few_descriptors(halo, limit, tmp_path):
    def lower():
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

    for words in (("decode", CAPTURE), ("battery", "--adapter", VIRTUAL),
                  ("sync", "--store", tmp_path / "s", "--adapter", VIRTUAL), ("--help",)):
        result = halo.run(*words, preexec_fn=lower)
        assert result.code >= 0 and "Fatal" not in result.err, result
        assert result.code == OK or len(result.err.splitlines()) == 1, result
    if limit < 8:
        halo.run("decode", CAPTURE, preexec_fn=lower).failed(SYSTEM, saying="descriptors")


@pytest.fixture
def many(tmp_path):
    """An archive with more captures than a process may have files open, by the usual limit."""
    with zipfile.ZipFile(tmp_path / "many.zip", "w") as archive:
        for number in range(1100):
            archive.writestr(f"{number}.btsnoop", Path(CAPTURE).read_bytes()[:40 + 24 + 4])
    return tmp_path / "many.zip"


@pytest.mark.parametrize("number", [20, 1024])
def test_more_captures_than_descriptors(halo, many, number):
    halo.run("decode", many, **limit(resource.RLIMIT_NOFILE, number)).failed(SYSTEM, saying="too many open files")


def test_little_memory_is_not_a_missing_library(halo, tmp_path):
    """`ulimit -v`: at some of these sizes the program starts, and the library has no room."""
    with zipfile.ZipFile(tmp_path / "one.zip", "w") as archive:
        archive.write(CAPTURE, "a.btsnoop")
    codes = set()
    for size in range(40, 240, 4):
        result = halo.run("decode", tmp_path / "one.zip", **limit(resource.RLIMIT_AS, size << 20))
        assert "not installed" not in result.err, result
        if "libarchive.so.13 can't be loaded: " in result.err:
            codes.add(result.code)
    assert codes == {SYSTEM}


# --- the rights of the user who has called sudo

@as_root
@pytest.mark.parametrize("words", [("serve", "%"), ("settings", "--import", "%")], ids=["serve", "settings"])
@pytest.mark.parametrize("owner", [0, OTHER])
def test_a_file_is_read_with_the_rights_of_who_calls_sudo(halo, simulation, words, owner):
    """Not with root's, which the adapter may need: the message about it would show what is in the file."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        path = Path(folder) / "file"
        path.write_text("secret")
        path.chmod(0o600)
        os.chown(path, owner, owner)
        halo.environment |= {"SUDO_UID": str(OTHER), "SUDO_GID": str(OTHER)}
        result = halo.run(*(word.replace("%", str(path)) for word in words), adapter=simulation.adapter)
        if owner == OTHER:
            result.failed(BAD_DATA)
        else:
            result.failed(NO_FILE, saying="permission denied")


# --- names from the air

NAMES = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "=\u0301", "＝1", "\x1b]0;taken\x07", "\x9b31m",
         "\u202egnp", "a\r\nb", "\x1b[2J", "../../../etc/passwd", "\"'</script>", "%s%n", "a,\u0301b", "\x00", "-",
         "a\u3164b", "a\u034fb", "a\ufe0fb", "a\U000e0041b", "a\u2060b", "a" + "\u0301" * 8]
INVISIBLE = "\u3164\u034f\ufe0f\U000e0041\u2060"


@pytest.mark.parametrize("name", NAMES, ids=[ascii(name) for name in NAMES])
def test_a_name_is_only_text(halo, state, name):
    if name in ("\x00",):
        pytest.skip("no argument can hold it; the unit tests can")
    simulation = Simulation(halo, options=f"name={name},address=C0:11:22:33:BE:EF/random") if "," not in name else None
    if simulation is None:
        pytest.skip("the simulation's options can't; the unit tests can")
    try:
        table = halo.run("scan", "--duration", "1s", "--format", "csv", adapter=simulation.adapter).succeeded().out
        halo.run("battery", adapter=simulation.adapter).succeeded()
        known = halo.run("forget", "--format", "csv").succeeded().out
        for text in (table, known):
            for field in text.replace("\n", ",").split(","):
                assert field.strip('"')[:1] not in tuple("=+@\t\r＝"), text
        for text in (table, known, halo.run("forget", "--format", "text").succeeded().out,
                     halo.run("scan", "--duration", "1s", "--format", "text", adapter=simulation.adapter).out):
            assert not any(ord(letter) < 32 and letter != "\n" or 127 <= ord(letter) < 160 for letter in text), text
            assert "\u202e" not in text
            assert not set(INVISIBLE) & set(text) and "\u0301" * 5 not in text
    finally:
        simulation.close()
    # No file is named after a ring.
    assert {path.name for path in state.rglob("*")} <= {"rings.json", "rings.json.lock"}


def test_each_promise_names_a_test_that_exists():
    """SECURITY.md: what a promise is backed by is there."""
    tests = "\n".join(path.read_text() for kind in ("py", "swift") for path in (ROOT / "Tests").rglob(f"*.{kind}"))
    text = (ROOT / "SECURITY.md").read_text()
    files = set(re.findall(r"\b(test_\w+\.py)", text))
    functions = set(re.findall(r"\b(test_\w+)\b(?!\.py)", text))
    suites = re.findall(r"\b(\w+Tests)(?:\.(\w+))?`", text)
    assert len(files) >= 3 and len(functions) > 20 and len(suites) > 8
    assert {name for name in files if not list((ROOT / "Tests").rglob(name))} == set()
    assert {name for name in functions if f"def {name}(" not in tests} == set()
    assert {pair for pair in suites if f"struct {pair[0]}" not in tests or f"func {pair[1]}" not in tests} == set()
