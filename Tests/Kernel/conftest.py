"""The program under test, on adapters of a real kernel."""

import contextlib
import os
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

import adapters
from built import built
from event_lines import event_lines
from kernel_ring import KernelRing
from program import Halo

BLUETOOTHD = "/usr/libexec/bluetooth/bluetoothd"
SYSTEM_BUS = Path("/run/dbus/system_bus_socket")
NOBODY, NOGROUP = 65534, 65534
# Sample sets a second, of three notifications each. Without KVM, Bumble has no time for many more.
RATE = 200
# Where waiting takes no time, the seconds in which a file of the host is read for the first time pass quickly.
DEADLINE = 300
# What the rings of the core tests are like, and what their central's adapter is.
RINGS = {
    "bluetooth 4.2": ["--acl-length", 251],
    "bluetooth 5, ACL 27": ["--extended", "--acl-length", 27],
    "public address, MTU 23": ["--address-type", "public", "--mtu", 23, "--acl-length", 27],
}


def pytest_configure(config):
    if config.getoption("tx", None) and not hasattr(config, "workerinput"):
        return  # it has others run the tests
    if os.geteuid() != 0:
        pytest.exit("the kernel tests run as root; see Tests/Kernel/README.md", 2)
    if not Path("/dev/vhci").exists():
        pytest.exit("this kernel has no /dev/vhci; see Tests/Kernel/README.md", 2)
    if subprocess.run(["pidof", "bluetoothd"], stdout=subprocess.DEVNULL).returncode == 0:
        pytest.exit("bluetoothd is running and would meddle: systemctl stop bluetooth", 2)


LAST_REPORTS = {}


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report):
    """What --durations shows is of this machine's clock: those of virtual machines count instructions, and leap."""
    if machine := getattr(report, "node", None):
        now = time.monotonic()
        report.duration = now - LAST_REPORTS.get(machine, now)
        LAST_REPORTS[machine] = now


@pytest.fixture(autouse=True)
def deadline():
    """No test waits for ever, whatever it reads from."""
    def give_up(*_):
        pytest.fail(f"the test took more than {DEADLINE} s")

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(DEADLINE)
    yield
    signal.alarm(0)


# --- rings

class Rings:
    """The ring that is there: one at a time, so that its adapter is always the same."""

    def __init__(self, folder: Path):
        self.folder, self.count = folder, 0
        self.ring, self.options = None, None

    def with_options(self, options) -> KernelRing:
        """The ring that is there already, if it is such a one and none was broken."""
        options = ["--rate", RATE, *options]
        if (self.ring is None or self.options != options or "--vanish-after" in options
                or not self.ring.becomes_free()):
            self.remove()
            self.count += 1
            self.ring = KernelRing(self.folder / f"events{self.count}.jsonl", options)
            self.options = options
        self.ring.seen = len(event_lines(self.ring.events_file))
        return self.ring

    def remove(self):
        if self.ring:
            self.ring.close()
            self.ring = None


@pytest.fixture(scope="session")
def rings(tmp_path_factory):
    rings = Rings(tmp_path_factory.mktemp("rings"))
    yield rings
    rings.remove()


@pytest.fixture
def ring_with(rings):
    """A ring with options of its own, whose adapter is up. It may be the one of the test before."""
    made = []

    def make(*options) -> KernelRing:
        ring = rings.with_options(list(options))
        ring.kernel_adapter.up()
        made.append(ring)
        return ring

    yield make
    for ring in made:
        if ring is rings.ring:
            try:
                ring.check_conduct()
            except AssertionError:
                rings.remove()  # the next test shall have a good one
                raise


@pytest.fixture
def ring(ring_with) -> KernelRing:
    return ring_with(*RINGS["bluetooth 4.2"])


# --- the program

@pytest.fixture(scope="session")
def halo(tmp_path_factory) -> Halo:
    home = tmp_path_factory.mktemp("home")
    # An emulated machine may be several times slower when its host is busy.
    program = Halo(built(), home, patience=60)
    program.environment |= {"XDG_STATE_HOME": str(home), "XDG_RUNTIME_DIR": str(home)}
    yield program
    program.end_all()


@contextlib.contextmanager
def sudo(program: Halo, user=NOBODY, group=NOGROUP):
    """What is started meanwhile finds what sudo tells a program: it is root, and who has called sudo. Like sudo, this leaves out
    the folders of root; one that the user may enter is a test's own.
    """
    before = program.environment
    state = Path(before["XDG_STATE_HOME"])
    kept = before if state.exists() and state.stat().st_mode & 0o001 else {
        name: value for name, value in before.items() if name != "XDG_STATE_HOME"}
    program.environment = kept | {"SUDO_UID": str(user), "SUDO_GID": str(group), "SUDO_USER": "nobody"}
    try:
        yield
    finally:
        program.environment = before


@pytest.fixture(autouse=True)
def nothing_left_running(request):
    yield
    if "halo" in request.fixturenames:
        request.getfixturevalue("halo").end_all()


# --- others on the machine

@pytest.fixture(scope="session")
def system_bus():
    """D-Bus, which bluetoothd talks with its clients on."""
    if SYSTEM_BUS.exists():  # on a host that runs it already
        yield
        return
    bus = subprocess.Popen(
        ["dbus-daemon", "--system", "--nofork", "--nopidfile", "--nosyslog"], stderr=subprocess.DEVNULL)
    wait_until(SYSTEM_BUS.exists, "a system bus")
    yield
    bus.terminate()
    bus.wait()


def asked(program, path, method, *arguments) -> str:
    """What a program on the system bus answers to a method of D-Bus itself."""
    return subprocess.run(
        ["dbus-send", "--system", "--print-reply", f"--dest={program}", path, f"org.freedesktop.DBus.{method}",
         *(f"string:{each}" for each in arguments)], capture_output=True, text=True).stdout


@pytest.fixture
def bluetoothd(system_bus, tmp_path):
    """Starts Debian's bluetoothd, and ends it after the test.

    It has its name on the bus long before it has taken the adapters that are there. Then it listens on ATT, which would take the
    links of a peripheral that began earlier, and removes what is advertised; that it knows how many advertisements there may be
    is the last it learns.

    It forgets what it has found when a search has ended and nobody connects within TemporaryTimeout, half a minute if nothing
    else is set (hbldh/bleak 1176). The clock of an idle guest leaps so far while it waits for its host: it forgets nothing here.
    """
    settings = tmp_path / "main.conf"
    settings.write_text("[General]\nTemporaryTimeout = 86400\n")
    with open(tmp_path / "bluetoothd.log", "w") as log:
        daemon = subprocess.Popen(
            [BLUETOOTHD, "--nodetach", "--configfile", settings], stdout=log, stderr=log)

    def owns_its_name():
        assert daemon.poll() is None, (tmp_path / "bluetoothd.log").read_text()
        return "boolean true" in asked("org.freedesktop.DBus", "/org/freedesktop/DBus", "NameHasOwner", "org.bluez")

    def has_taken(adapter):
        answer = asked(
            "org.bluez", f"/org/bluez/{adapter}", "Properties.Get", "org.bluez.LEAdvertisingManager1", "SupportedInstances")
        return re.search(r"byte [1-9]", answer)

    try:
        wait_until(owns_its_name, "bluetoothd on the bus", timeout=200)
        try:
            # One that the test before has left may still be going away.
            wait_until(lambda: all(map(has_taken, adapters.names())), "bluetoothd on all adapters", timeout=200)
        except AssertionError:
            state = subprocess.run(["hciconfig", "-a"], capture_output=True, text=True).stdout
            pytest.fail(f"bluetoothd does not take all adapters:\n{state}\n{(tmp_path / 'bluetoothd.log').read_text()}")
        yield daemon
    finally:
        # One that is left would switch on the adapters of other tests.
        daemon.terminate()
        daemon.wait()


@pytest.fixture
def open_folder():
    """A folder that everybody may enter; what is in it may have capabilities, unlike in a /tmp mounted nosuid."""
    path = Path(tempfile.mkdtemp(dir="/var/tmp", prefix="halo-raw-test."))
    path.chmod(0o777)
    yield path
    shutil.rmtree(path)


def wait_until(met, what: str, timeout=60):
    deadline = time.monotonic() + timeout
    while not (result := met()):
        assert time.monotonic() < deadline, f"no {what} after {timeout} s"
        time.sleep(0.05)
    return result


def kernel_faults() -> int:
    """How often the kernel has killed a thread of ours for its own fault (docs/08-the-kernel.md) since it started."""
    log = subprocess.run(["busybox", "dmesg"], capture_output=True, text=True).stdout
    return len(re.findall(r"kernel BUG at .*?Comm: halo-raw", log, re.DOTALL)) if "kernel BUG" in log else 0


@pytest.fixture
def no_kernel_fault():
    before = kernel_faults()
    yield
    assert kernel_faults() == before, "the kernel's fault was met"


def rfkill(is_blocked: bool):
    """Switches all Bluetooth radios off or on (include/uapi/linux/rfkill.h: index, type, operation, soft, hard)."""
    bluetooth, change_all = 2, 3
    with open("/dev/rfkill", "wb", buffering=0) as file:
        file.write(struct.pack("<IBBBB", 0, bluetooth, change_all, is_blocked, 0))


def pytest_sessionfinish():
    left = adapters.names() if adapters.CLASS.exists() else set()
    if left and os.environ.get("HALO_KERNEL_TESTS") != "host":
        print(f"\nadapters left behind: {left}")
