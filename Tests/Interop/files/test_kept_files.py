"""Each kind of file that the program keeps or reads, in each state that a file can be in: nothing traps or waits, the
message names the file, and what is there stays what it is."""

import os
import shutil
import sqlite3
import stat
import subprocess
import threading

import pytest
from program import BAD_DATA, IO_ERROR, NO_FILE, NOT_FOUND, OK, ROOT, TIMEOUT
from stored import VIRTUAL, contents
from test_files import OTHER, RING, as_root

CAPTURE = ROOT / "captures/virtual-stream.btsnoop"
ADDRESS = "C0:11:22:33:BE:EF"
BOND = """[General]
AddressType=static
[LongTermKey]
Key=D2681BEA8B2C177B1AB8786F22C89DBB
EncSize=16
EDiv=1
Rand=2
"""
PAUSED = '{"ring": "%s", "settings": {"spo2": {"enabled": 1}}}' % ADDRESS


def node(path, *device):
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(*device))
        open(path, "rb").close()
    except PermissionError:
        pytest.skip("no devices can be made here")


def damage(path):
    text = bytearray(path.read_bytes())
    for place in range(0, len(text), 7):
        text[place] ^= 0xFF
    path.write_bytes(text)


def replace(path, make):
    path.unlink()
    make(path)


def enlarge(path):
    """Sparse: a gigabyte of zeros behind what is there."""
    with open(path, "ab") as file:
        file.truncate(1 << 30)


STATES = {
    "damaged": damage,
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:len(path.read_bytes()) // 2]),
    "huge": enlarge,
    "mode 0000": lambda path: path.chmod(0),
    "folder": lambda path: replace(path, os.mkdir),
    "fifo": lambda path: replace(path, os.mkfifo),
    "zero": lambda path: replace(path, lambda path: node(path, 1, 5)),
    "null": lambda path: replace(path, lambda path: node(path, 1, 3)),
    "link": lambda path: (path.rename(f"{path}.real"), path.symlink_to(f"{path}.real")),
    "dangling": lambda path: replace(path, lambda path: path.symlink_to("nowhere")),
    "loop": lambda path: replace(path, lambda path: path.symlink_to(path.name)),
    "link to zero": lambda path: replace(path, lambda path: path.symlink_to("/dev/zero")),
}
in_each_state = pytest.mark.parametrize("make", STATES.values(), ids=STATES.keys())
# Root without its right to open whatever it likes.
PLAIN = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


def plain(halo, *words, environment=None):
    """Runs the program as a user to whom modes mean something."""
    prefix = PLAIN if os.geteuid() == 0 else []
    if prefix and shutil.which("setpriv") is None:
        pytest.skip("no setpriv")
    run = subprocess.run(
        [*prefix, halo.path, *map(str, words)], env=environment or halo.environment, capture_output=True,
        text=True, stdin=subprocess.DEVNULL, timeout=15)
    assert 0 <= run.returncode < 128 and "Fatal error" not in run.stderr, run
    return run


def kind(path):
    return stat.S_IFMT(os.lstat(path).st_mode)


# --- what it remembers: no command fails for it

@in_each_state
def test_what_is_remembered(halo, state, simulation, make):
    state.mkdir(parents=True, mode=0o700)
    path = state / "rings.json"
    path.write_text(RING % (1, 0))
    make(path)
    before = kind(path)
    run = plain(halo, "battery", "--adapter", simulation.adapter)
    assert run.returncode == OK, run
    assert len(run.stderr.splitlines()) <= 2
    assert all(str(path) in line for line in run.stderr.splitlines()), run
    assert kind(path) == before
    assert plain(halo, "forget").returncode == OK


@in_each_state
def test_bonds(halo, state, tmp_path, make):
    """Keys are not replaced by what is no file of keys: the command says why it can't know them."""
    (tmp_path / "bluetooth/00:1A:7D:DA:71:13" / ADDRESS).mkdir(parents=True)
    (tmp_path / "bluetooth/00:1A:7D:DA:71:13" / ADDRESS / "info").write_text(BOND)
    assert plain(halo, "bonds", "import", "--from", tmp_path / "bluetooth").returncode == OK
    path = state / "bonds.json"
    make(path)
    before = kind(path)
    run = plain(halo, "bonds")
    known = run.returncode == OK and ADDRESS in run.stdout
    assert known or run.returncode in (BAD_DATA, NO_FILE), run
    assert len(run.stderr.splitlines()) == (0 if known else 1) and (known or str(path) in run.stderr), run
    forgotten = plain(halo, "bonds", "forget", ADDRESS)
    assert forgotten.returncode == run.returncode, forgotten
    assert kind(path) == before


@in_each_state
def test_its_lock(halo, state, simulation, make):
    state.mkdir(parents=True, mode=0o700)
    path = state / "rings.json"
    (state / "rings.json.lock").touch()
    make(state / "rings.json.lock")
    run = plain(halo, "battery", "--adapter", simulation.adapter)
    assert run.returncode == OK, run
    assert all(str(path) in line for line in run.stderr.splitlines()), run


@in_each_state
def test_where_a_damaged_one_is_kept(halo, state, simulation, make):
    """The name that a damaged file gets is taken by something else."""
    state.mkdir(parents=True, mode=0o700)
    aside = state / "rings.json.damaged"
    aside.write_text("an earlier one")
    make(aside)
    (state / "rings.json").write_text("damaged")
    for _ in range(2):
        run = plain(halo, "battery", "--adapter", simulation.adapter)
        assert run.returncode == OK, run
    assert "damaged" in [path.read_text() for path in state.iterdir()
                         if path.is_file() and path.stat().st_size < 100 and os.access(path, os.R_OK)]


@in_each_state
def test_what_is_paused(halo, state, simulation, make):
    folder = state / "paused"
    folder.mkdir(parents=True, mode=0o700)
    state.chmod(0o700)
    path = folder / "C0-11-22-33-A1-B2-random.json"
    path.write_text(PAUSED.replace(ADDRESS, "C0:11:22:33:A1:B2"))
    make(path)
    run = plain(halo, "battery", "--adapter", simulation.adapter)
    assert run.returncode == OK, run
    assert all(str(folder) in line or "restoring" in line for line in run.stderr.splitlines()), run


# --- what it is given

@in_each_state
@pytest.mark.parametrize("words", [("decode", "%"), ("replay", "%", "battery")], ids=["decode", "replay"])
def test_a_recording(halo, tmp_path, make, words):
    path = tmp_path / "session.btsnoop"
    shutil.copy(CAPTURE, path)
    make(path)
    if make is enlarge:
        # All of it is decoded, and written.
        os.truncate(path, 1 << 20)
    if path.is_fifo():
        pytest.skip("a FIFO is waited for until the user ends it: test_never_hangs")
    run = plain(halo, *[str(path) if word == "%" else word for word in words])
    good = run.returncode in (OK, 78)
    assert good or run.returncode in (BAD_DATA, NO_FILE, IO_ERROR, 80), run
    assert good or str(path) in run.stderr and len(run.stderr.splitlines()) < 5, run


@in_each_state
def test_settings(halo, tmp_path, make):
    path = tmp_path / "ring.json"
    halo.run("settings", "--export", path, adapter=VIRTUAL).succeeded()
    make(path)
    run = plain(halo, "settings", "--import", path, "--adapter", VIRTUAL)
    assert run.returncode in (OK, BAD_DATA, NO_FILE), run
    if run.returncode != OK:
        (line,) = run.stderr.splitlines()
        assert str(path) in line, run


@in_each_state
@pytest.mark.parametrize("words", [("sync",), ("export", "steps"), ("history", "steps", "--stored")],
                         ids=["sync", "export", "history"])
def test_a_store(halo, tmp_path, make, words):
    path = tmp_path / "rings.sqlite"
    halo.run("sync", "--kind", "steps", "--store", path, adapter=VIRTUAL).succeeded()
    make(path)
    before = kind(path)
    run = plain(halo, *words, "--store", path, *(["--adapter", VIRTUAL] if words[0] == "sync" else []))
    assert run.returncode in (OK, BAD_DATA, NO_FILE, IO_ERROR, TIMEOUT, 79), run
    if run.returncode != OK:
        (line,) = run.stderr.splitlines()
        assert str(path) in line or "store" in line or "ring" in line, run
    assert kind(path) == before


# --- changed while it is used

def test_what_is_remembered_changes_all_the_time(halo, state, simulation):
    """Another program writes the file in place, half of it at times: no command fails, and none reads what is not there."""
    state.mkdir(parents=True, mode=0o700)
    path, stop = state / "rings.json", threading.Event()

    def disturb():
        texts = [RING % (1, 0), "", "[", "x" * 300_000, RING[:40]]
        while not stop.is_set():
            for text in texts:
                path.write_text(text)

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        for _ in range(10):
            result = halo.run("battery", adapter=simulation.adapter).succeeded()
            assert all(str(path) in line for line in result.err.splitlines()), result
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("change", ["removed", "cut", "replaced"])
def test_a_store_that_changes_during_a_sync(halo, tmp_path, change):
    path = tmp_path / "rings.sqlite"
    halo.run("sync", "--kind", "spo2", "--store", path, adapter=VIRTUAL).succeeded()
    other = tmp_path / "other.sqlite"
    sqlite3.connect(other).execute("CREATE TABLE music (title)")
    process = halo.start("sync", "--kind", "heart-rate", "--store", path, adapter="virtual")
    threading.Timer(1, {"removed": path.unlink, "cut": lambda: os.truncate(path, 100),
                        "replaced": lambda: other.rename(path)}[change]).start()
    result = halo.wait(process)
    assert result.code in (OK, BAD_DATA, NO_FILE, IO_ERROR, TIMEOUT), result
    assert "Fatal" not in result.err


def test_a_recording_that_is_cut_while_it_is_read(halo, tmp_path):
    path = tmp_path / "session.btsnoop"
    data = CAPTURE.read_bytes()
    path.write_bytes(data + data[16:] * 200)
    process = halo.start("decode", path, stdout=subprocess.DEVNULL)
    os.truncate(path, 100_000)
    result = halo.wait(process)
    assert result.code in (OK, BAD_DATA), result


# --- folders

@as_root
def test_folders_that_belong_to_others(halo, tmp_path, simulation):
    """$XDG_STATE_HOME and $XDG_DATA_HOME of another user: nothing is written there."""
    (tmp_path / "theirs" / "halo-raw").mkdir(parents=True)
    for path in (tmp_path / "theirs", tmp_path / "theirs" / "halo-raw"):
        os.chown(path, OTHER, OTHER)
        path.chmod(0o777)
    environment = halo.environment | {name: str(tmp_path / "theirs") for name in ("XDG_STATE_HOME", "XDG_DATA_HOME")}
    run = plain(halo, "battery", "--adapter", simulation.adapter, environment=environment)
    assert run.returncode == OK and "belongs to another user" in run.stderr, run
    run = plain(halo, "sync", "--adapter", simulation.adapter, environment=environment)
    assert run.returncode == NO_FILE and "--store FILE" in run.stderr, run
    assert os.listdir(tmp_path / "theirs" / "halo-raw") == []


@pytest.mark.parametrize("home", [None, "read-only", "missing", "file"])
def test_a_store_without_a_home(halo, tmp_path, home):
    """The error says what to do; with a file of its own it works."""
    environment = {name: value for name, value in halo.environment.items() if name not in ("HOME", "XDG_DATA_HOME")}
    if home:
        environment["HOME"] = str(tmp_path / home)
    if home == "read-only":
        (tmp_path / home).mkdir(mode=0o500)
    if home == "file":
        (tmp_path / home).touch()
    if home == "missing":
        tmp_path.chmod(0o500)
    run = plain(halo, "sync", "--adapter", VIRTUAL, environment=environment)
    tmp_path.chmod(0o700)
    assert run.returncode in (NO_FILE, 64) and "--store FILE" in run.stderr, run
    path = tmp_path / "mine.sqlite"
    run = plain(halo, "sync", "--store", path, "--adapter", VIRTUAL, environment=environment)
    assert run.returncode == OK and contents(path)["steps"], run
