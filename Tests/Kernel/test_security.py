"""What `make install` leaves, tried by two users who are not root: a member of the group, and one who is not.

docs: SECURITY.md, which names these tests.
"""

import contextlib
import grp
import os
import shutil
import stat
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from conftest import NOBODY, NOGROUP, sudo
from program import NO_PERMISSION, ROOT, Halo
from test_privileges import CAP_NET_RAW, JSON, end, statuses

GROUP = "halo-raw-test"
STRANGER = 65533
NO_FILE = 66


class User(Halo):
    """The installed program, run by a user who is not root."""

    def __init__(self, path, home, user, groups):
        super().__init__(path, home)
        self.identity = {"user": user, "group": NOGROUP, "extra_groups": groups}
        self.environment |= {"XDG_STATE_HOME": str(home), "XDG_RUNTIME_DIR": str(home)}

    def start(self, *arguments, adapter=None, **options):
        return super().start(*arguments, adapter=adapter, **self.identity | options)


class Installation:
    """What `make install` leaves. Its users' homes are made anew for each test: see `for_users`."""

    def __init__(self, halo, folder: Path, group, *options):
        self.folder, self.prefix, self.group_name = folder, folder / "usr", group
        self.words = [f"PREFIX={self.prefix}", f"GROUP={group}", f"BUILT={halo.path}"]
        folder.chmod(0o755)
        self.make("install", *options)
        self.program = self.prefix / "bin/halo-raw"
        self.privileged = self.prefix / "lib/halo-raw/halo-raw"
        self.group = grp.getgrnam(group).gr_gid

    def make(self, *words):
        subprocess.run(["make", *words, *self.words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)

    @contextlib.contextmanager
    def for_users(self):
        """Meanwhile, there are two users with empty homes."""
        self.member = self.user("member", NOBODY, [self.group])
        self.stranger = self.user("stranger", STRANGER, [])
        try:
            yield self
        finally:
            for user in (self.member, self.stranger):
                user.end_all()
                shutil.rmtree(user.home)

    def user(self, name, user, groups) -> User:
        home = self.folder / name
        home.mkdir(mode=0o700)
        os.chown(home, user, NOGROUP)
        made = User(self.program, home, user, groups)
        made.home = home
        return made

    def remove(self):
        self.make("uninstall")
        assert not self.program.exists() and not self.privileged.parent.exists()
        with pytest.raises(KeyError):
            grp.getgrnam(self.group_name)


@contextlib.contextmanager
def installation(halo, group, *options):
    # What is there may have capabilities, unlike in a /tmp mounted nosuid.
    folder = Path(tempfile.mkdtemp(dir="/var/tmp", prefix="halo-raw-test."))
    made = Installation(halo, folder, group, *options)
    try:
        yield made
    finally:
        made.remove()
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def installed_once(halo):
    with installation(halo, GROUP) as made:
        yield made


@pytest.fixture
def installed(installed_once) -> Installation:
    with installed_once.for_users() as made:
        yield made


@pytest.fixture
def installed_with_net_admin(halo) -> Installation:
    with installation(halo, f"{GROUP}-admin", "NET_ADMIN=1") as made, made.for_users():
        yield made


def capabilities(path) -> str:
    return subprocess.run(["getcap", path], capture_output=True, text=True).stdout.partition(" ")[2].strip()


def program_of(process) -> str:
    return os.readlink(f"/proc/{process.pid}/exe")


# --- the installation

def test_what_is_installed(installed):
    plain, privileged = installed.program.stat(), installed.privileged.stat()
    assert stat.S_IMODE(plain.st_mode) == 0o755 and capabilities(installed.program) == ""
    assert stat.S_IMODE(privileged.st_mode) == 0o750 and capabilities(installed.privileged) == "cap_net_raw=ep"
    assert (privileged.st_uid, privileged.st_gid) == (0, installed.group)
    assert grp.getgrnam(GROUP).gr_mem == []


# --- the two users

def test_a_member_streams_with_one_capability(installed, ring):
    process = installed.member.start("stream", "--ppg", *JSON, adapter=ring.adapter)
    assert '"ppg"' in process.stdout.readline(), process.stderr.read()
    assert program_of(process) == str(installed.privileged)
    for thread in statuses(process):
        assert thread["Uid"].split() == [str(NOBODY)] * 4
        assert int(thread["CapPrm"], 16) & ~CAP_NET_RAW == 0, thread
        assert int(thread["CapInh"], 16) == int(thread["CapAmb"], 16) == 0
    end(installed.member, process)


@pytest.mark.parametrize("words", [("stream", "--ppg"), ("scan", "--duration", "1s"), ("record", "x.btsnoop")])
def test_others_can_do_none_of_it(installed, ring, words):
    words = [str(installed.stranger.home / word) if word.startswith("x.") else word for word in words]
    result = installed.stranger.run(*words, adapter=None if words[0] == "record" else ring.adapter)
    assert result.code == NO_PERMISSION, result
    assert "CAP_NET_RAW" in result.err and f"usermod -aG {GROUP}" in result.err
    with pytest.raises(PermissionError):
        subprocess.run([installed.privileged, "--version"], **installed.stranger.identity)
    # The folder of the session is the user's own.
    assert [path.relative_to(installed.stranger.home) for path in installed.stranger.home.rglob("*")] == [Path("runtime")]


def test_others_can_do_what_needs_no_radio(installed):
    installed.stranger.run("stream", "--count", 3, adapter="virtual:fast").succeeded()
    installed.stranger.run("decode", ROOT / "captures/virtual-battery.btsnoop").succeeded()


def test_the_doctor_names_the_group(installed, ring):
    result = installed.stranger.run("doctor")
    assert result.code == NO_PERMISSION and f"usermod -aG {GROUP}" in result.out, result
    result = installed.member.run("doctor").succeeded()
    assert f"sudo setcap 'cap_net_raw,cap_net_admin+ep' {installed.privileged}" in result.out


def test_a_member_switches_and_takes_nothing(installed, ring):
    name = ring.kernel_adapter.name
    for words, adapter in ((("adapters", "down", name), None), (("battery", "--take"), f"user:{name}")):
        result = installed.member.run(*words, adapter=adapter)
        assert result.code == NO_PERMISSION and "CAP_NET_ADMIN" in result.err, result
    assert ring.kernel_adapter.is_up


def test_with_net_admin_a_member_takes_and_gives_back(installed_with_net_admin, ring):
    assert set(capabilities(installed_with_net_admin.privileged).removesuffix("=ep").split(",")) == {
        "cap_net_raw", "cap_net_admin"}
    name = ring.kernel_adapter.name
    installed_with_net_admin.member.run("battery", "--take", adapter=f"user:{name}").succeeded()
    ring.kernel_adapter.wait_until(True)


# --- the loader, the environment, the path

def test_the_loader_loads_nothing_of_a_user(installed, ring):
    """LD_PRELOAD works on the program without privileges, and not on the other."""
    library = next(Path("/usr/lib").glob("*/libz.so.1")).resolve()
    bait = installed.member.home / "bait.so"
    shutil.copy(library, bait)
    bait.chmod(0o755)
    member = installed.member
    member.environment |= {"LD_PRELOAD": str(bait), "LD_LIBRARY_PATH": str(member.home), "LD_AUDIT": str(bait)}
    for adapter, is_loaded in (("virtual", True), (ring.adapter, False)):
        process = member.start("stream", "--ppg", *JSON, adapter=adapter)
        assert '"ppg"' in process.stdout.readline(), process.stderr.read()
        assert ("bait.so" in Path(f"/proc/{process.pid}/maps").read_text()) == is_loaded
        end(member, process)


def test_a_copy_does_not_run_what_a_user_has_put_beside_it(installed, ring):
    """The same program in a user's folder, with another beside it where the privileged one would be."""
    home = installed.member.home
    (home / "bin").mkdir()
    (home / "lib/halo-raw").mkdir(parents=True)
    shutil.copy(installed.program, home / "bin/halo-raw")
    bait = home / "lib/halo-raw/halo-raw"
    bait.write_text(f"#!/bin/sh\ntouch {home}/taken\n")
    bait.chmod(0o755)
    for path in (home / "bin", home / "lib", home / "lib/halo-raw", bait):
        os.chown(path, NOBODY, NOGROUP)
    program = User(home / "bin/halo-raw", home, NOBODY, [installed.group])
    result = program.run("stream", "--ppg", "--count", 1, adapter=ring.adapter)
    assert result.code == NO_PERMISSION, result
    assert not (home / "taken").exists()


def test_the_environment_names_no_program(installed, ring):
    member = installed.member
    member.environment |= {"PATH": str(member.home), "HALO_RAW": "/bin/sh", "HALO_ADAPTER": ring.adapter}
    member.run("stream", "--ppg", "--count", 3).succeeded()


# --- files

def test_files_are_opened_with_the_users_rights(installed, ring, tmp_path):
    """The capabilities open no file that the user could not open."""
    tmp_path.chmod(0o755)
    secret = tmp_path / "secret.btsnoop"
    shutil.copy(ROOT / "captures/virtual-battery.btsnoop", secret)
    secret.chmod(0o600)
    member = installed.member
    before = secret.read_bytes()
    for words in (("battery", "--record", secret), ("battery", "--record", tmp_path / "new")):
        member.run(*words, adapter=ring.adapter).failed(NO_FILE, saying="permission denied")
    member.run("record", secret).failed(NO_FILE, saying="permission denied")
    member.run("decode", secret).failed(NO_FILE, saying="permission denied")
    member.run("stream", adapter=f"replay:{secret}").failed(NO_FILE, saying="permission denied")
    member.run("settings", "--import", secret, adapter=ring.adapter).failed(NO_FILE)
    assert secret.read_bytes() == before and os.listdir(tmp_path) == ["secret.btsnoop"]


def test_recordings_are_their_users_alone(installed, ring):
    path = installed.member.home / "session.btsnoop"
    installed.member.run("battery", "--record", path, adapter=ring.adapter).succeeded()
    found = path.stat()
    assert (found.st_uid, stat.S_IMODE(found.st_mode)) == (NOBODY, 0o600)


@pytest.mark.parametrize("words", [
    ("decode", "-"), ("replay", "-"), ("history", "sleep", "--stored", "--store", "FIFO"), ("decode", "FIFO")])
@pytest.mark.parametrize("by_sudo", [False, True])
def test_what_needs_no_privilege_has_none(halo, open_folder, words, by_sudo):
    """Started by root, too: while it reads a stranger's file, all capabilities are gone, and with sudo root is."""
    fifo = open_folder / "fifo"
    os.mkfifo(fifo)
    fifo.chmod(0o666)
    read_end, write_end = os.pipe()
    options = {"stdin": read_end} if "-" in words else {}
    words = [str(fifo) if word == "FIFO" else word for word in words]
    process = None
    try:
        command = [str(halo.path), *words]
        environment = halo.environment | (
            {"SUDO_UID": str(NOBODY), "SUDO_GID": str(NOGROUP), "SUDO_USER": "nobody"} if by_sudo else {})
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        deadline = time.monotonic() + 20
        found = []
        # The loop's thread is made when the privileges are gone.
        while len(found) < 2 and process.poll() is None:
            assert time.monotonic() < deadline
            found = statuses(process)
        if process.poll() is not None:  # refused at once: a store is no FIFO, and - no recording to be replayed
            assert process.returncode in (64, 65, 66), process.stderr.read()
            return
        for thread in found:
            assert int(thread["CapPrm"], 16) == int(thread["CapEff"], 16) == 0, thread
            if by_sudo:
                assert thread["Uid"].split() == [str(NOBODY)] * 4
    finally:
        os.close(write_end)
        os.close(read_end)
        if process:
            process.kill()
            process.communicate()


# --- the note of an adapter that was taken

def test_no_user_can_lock_roots_note(halo, ring):
    """Who can't open it can't hold its lock, and so can't keep root from giving the adapter back."""
    adapter = ring.kernel_adapter
    Path("/run/halo-raw").mkdir(exist_ok=True)
    Path("/run/halo-raw").chmod(0o755)  # as earlier versions left it
    process = halo.start("stream", "--ppg", *JSON, "--take", adapter=f"user:{adapter.name}")
    assert '"ppg"' in process.stdout.readline(), process.stderr.read()
    process.kill()
    process.communicate()
    note = Path(f"/run/halo-raw/taken-{adapter.name}")
    assert stat.S_IMODE(note.stat().st_mode) == 0o600 and stat.S_IMODE(note.parent.stat().st_mode) == 0o700
    attempt = subprocess.run(
        ["flock", "--nonblock", str(note), "true"], user=NOBODY, group=NOGROUP, extra_groups=[],
        capture_output=True, text=True)
    assert attempt.returncode != 0 and "Permission denied" in attempt.stderr, attempt
    result = halo.run("battery", "--take", adapter=f"user:{adapter.name}").succeeded()
    assert f"{adapter.name} is up again" in result.err
    adapter.wait_until(True)


def test_a_note_of_another_user_is_not_believed(halo, ring):
    """Root reads no note that a user has put where it looks, and empties no file by way of one."""
    adapter, folder = ring.kernel_adapter, Path(halo.environment["XDG_STATE_HOME"]) / "halo-raw"
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    folder.mkdir(exist_ok=True)
    note = folder / f"taken-{adapter.name}"
    address = Path(f"/sys/class/bluetooth/{adapter.name}/address")
    text = f"{boot}\n{address.read_text().strip().upper() if address.exists() else ''}\n"
    note.write_text(text)
    os.chown(note, NOBODY, NOGROUP)
    adapter.down()
    try:
        result = halo.run("battery", adapter=f"user:{adapter.name}").succeeded()
        assert "is up again" not in result.err
        assert note.read_text() == text
    finally:
        note.unlink()


def test_sudo_remembers_for_its_caller(halo, ring, open_folder):
    """What is kept and written by way of sudo belongs to who has called it, and is closed to others."""
    environment = halo.environment
    halo.environment = environment | {"XDG_STATE_HOME": str(open_folder / "state")}
    (open_folder / "state").mkdir()
    os.chown(open_folder / "state", NOBODY, NOGROUP)
    try:
        with sudo(halo):
            halo.run("battery", adapter=ring.adapter).succeeded()
    finally:
        halo.environment = environment
    found = (open_folder / "state/halo-raw/rings.json").stat()
    assert (found.st_uid, stat.S_IMODE(found.st_mode)) == (NOBODY, 0o600)
    assert stat.S_IMODE((open_folder / "state/halo-raw").stat().st_mode) == 0o700
