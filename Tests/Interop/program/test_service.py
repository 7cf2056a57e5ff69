"""halo-raw as a service of systemd: what it sends to the service manager, and the units that are installed."""

import ctypes
import errno
import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from program import NO_PERMISSION, ROOT

UNITS = ["halo-raw-stream.service", "halo-raw-measure.service", "halo-raw-strap.service", "halo-raw-sync.service",
         "halo-raw-sync.timer"]
SERVICES = UNITS[:4]


@pytest.fixture
def manager(tmp_path):
    """The socket of a service manager, and what arrives on it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
        end.bind(str(tmp_path / "notify"))
        end.settimeout(20)
        yield end


def until(end, text):
    """The messages up to one with this text."""
    messages = []
    while not messages or text not in messages[-1]:
        messages.append(end.recv(4096).decode())
    return messages


@pytest.fixture
def service(halo, monkeypatch, manager):
    """Starts the program as a service."""

    def start(*arguments, **environment):
        for name, value in ({"NOTIFY_SOCKET": manager.getsockname()} | environment).items():
            monkeypatch.setitem(halo.environment, name, value)
        return halo.start(*arguments)

    return start


def test_a_service_is_ready_reports_and_stops(halo, manager, service):
    process = service("stream", "--ppg", "--adapter", "virtual:drop-after=30", WATCHDOG_USEC="200000")
    messages = until(manager, "connected again 1 time")
    assert messages[0] == "READY=1" and "WATCHDOG=1" in messages
    status = [message for message in messages if message.startswith("STATUS=")]
    assert status[0] == "STATUS=R02_BEEF: streaming" and "connection lost" in status[1]
    process.send_signal(signal.SIGTERM)
    assert until(manager, "STOPPING=1")
    assert halo.wait(process).code == 0


@pytest.mark.parametrize("microseconds", ["1", "3", str(2**63 - 1)])
def test_an_odd_watchdog_keeps_nobody_busy(halo, manager, service, microseconds):
    process = service("stream", "--ppg", "--duration", "1s", "--adapter", "virtual", WATCHDOG_USEC=microseconds)
    messages = until(manager, "STOPPING=1")
    halo.wait(process).succeeded()
    # One each fifty milliseconds at most, on a machine that may be slow.
    assert 1 <= messages.count("WATCHDOG=1") < 80


def test_the_watchdog_of_another_process_is_not_fed(halo, manager, service):
    arguments = ("stream", "--ppg", "--count", "3", "--adapter", "virtual")
    process = service(*arguments, WATCHDOG_USEC="1000", WATCHDOG_PID="1")
    assert "WATCHDOG=1" not in until(manager, "STOPPING=1")
    halo.wait(process).succeeded()


@pytest.mark.parametrize("name", ["/nowhere/notify", "@", "relative", "/" + "x" * 200])
def test_a_service_manager_that_is_not_there_is_ignored(halo, service, name):
    result = halo.wait(service("battery", "--adapter", "virtual", NOTIFY_SOCKET=name)).succeeded()
    assert not result.err


@pytest.fixture(scope="module")
def units(halo, tmp_path_factory):
    folder = tmp_path_factory.mktemp("root") / "units"
    subprocess.run([ROOT / "scripts/install-units", halo.path.parent, folder], check=True)
    return folder


@pytest.mark.parametrize("unit", UNITS)
def test_systemd_can_read_the_units(units, unit):
    result = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--recursive-errors=one", units / unit], capture_output=True, text=True
    )
    assert not re.findall(f".*{unit}.*", result.stderr) and result.returncode == 0


def test_the_services_are_one_user(units):
    """With DynamicUser, a start of one gave the files of the other another owner."""
    for unit in SERVICES:
        text = (units / unit).read_text()
        assert re.findall("^(?:User|DynamicUser|StateDirectory|StateDirectoryMode)=.*$", text, re.M) == [
            "User=halo", "StateDirectory=halo-raw", "StateDirectoryMode=0700"]


def settings(unit: Path, name: str) -> list[str]:
    """The values of a setting, one for each line that has it."""
    return re.findall(f"^{name}=(.*)$", unit.read_text(), re.M)


@pytest.mark.parametrize("unit", SERVICES)
def test_the_services_are_what_is_said_of_them(units, unit):
    """SECURITY.md: the capabilities, and the exposure. Other versions of systemd count otherwise, and may ask for more."""
    name = unit.removesuffix(".service")
    text = (ROOT / "SECURITY.md").read_text()
    capabilities, exposure = re.search(rf"^\| `{name}` \| (.+) \| (\d\.\d) \|$", text, re.M).groups()
    for setting in ("AmbientCapabilities", "CapabilityBoundingSet"):
        assert settings(units / unit, setting) == re.findall(r"`(\w+)`", capabilities)
    (documented,) = re.findall(r"`systemd-analyze security` (\d+)", text)
    (version,) = re.findall(r"^systemd (\d+)", subprocess.run(
        ["systemd-analyze", "--version"], capture_output=True, text=True, check=True).stdout)
    result = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=20", units / unit], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout
    (found,) = re.findall(r"Overall exposure level for .*: (\d\.\d)", result.stdout)
    assert version != documented or found == exposure


@pytest.mark.parametrize("unit", SERVICES)
def test_services_write_one_folder_and_have_no_network(units, unit):
    path = units / unit
    assert settings(path, "ProtectSystem") == ["strict"] and settings(path, "StateDirectory") == ["halo-raw"]
    assert settings(path, "ReadWritePaths") == settings(path, "BindPaths") == []
    assert settings(path, "PrivateTmp") == settings(path, "PrivateMounts") == ["yes"]
    assert settings(path, "IPAddressDeny") == ["any"] and settings(path, "IPAddressAllow") == []
    assert settings(path, "RestrictAddressFamilies") == ["AF_BLUETOOTH AF_UNIX"]
    assert settings(path, "LimitCORE") == ["0"]


def system_calls(words: list[str]) -> set[str]:
    """The names in a line of SystemCallFilter, and those in the sets that it names."""
    names = set()
    for word in words:
        if word.startswith("@"):
            text = subprocess.run(
                ["systemd-analyze", "syscall-filter", word], capture_output=True, text=True, check=True).stdout
            names |= system_calls([line.strip() for line in text.splitlines()[1:] if line.strip()[:1] not in ("", "#")])
        else:
            names.add(word)
    return names


def allowed_calls(unit: Path) -> set[str]:
    """What is left of the first line by those that begin with ~, and added by the others (systemd.exec(5))."""
    allowed = system_calls(["@default"])
    for line in settings(unit, "SystemCallFilter"):
        names = system_calls(line.removeprefix("~").split())
        allowed = allowed - names if line.startswith("~") else allowed | names
    return allowed


class Filter:
    """A filter of system calls as systemd sets it for a service: others fail with EPERM (SystemCallErrorNumber)."""

    FAIL, ALLOW = 0x00050000 | errno.EPERM, 0x7FFF0000

    def __init__(self, names: set[str]):
        self.library = library = ctypes.CDLL("libseccomp.so.2")
        library.seccomp_init.restype = ctypes.c_void_p
        library.seccomp_load.argtypes = [ctypes.c_void_p]
        library.seccomp_rule_add.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint]
        self.context = library.seccomp_init(self.FAIL)
        for name in names:
            number = library.seccomp_syscall_resolve_name(name.encode())
            # Negative: another machine's, or none that the library knows.
            assert number < 0 or library.seccomp_rule_add(self.context, self.ALLOW, number, 0) == 0

    def load(self):
        assert self.library.seccomp_load(self.context) == 0


@pytest.mark.parametrize("without", [None, "capset"])
def test_the_program_runs_with_the_system_calls_of_a_service(halo, units, tmp_path, monkeypatch, without):
    """capset, by which it drops its capabilities, is the only privileged one that it makes: without that it would end."""
    allowed = allowed_calls(units / "halo-raw-stream.service")
    assert "capset" in allowed and not allowed & (system_calls(["@privileged", "@resources"]) - {"capset"})
    monkeypatch.setitem(halo.environment, "XDG_STATE_HOME", str(tmp_path))
    result = halo.run(
        "stream", "--count", "200", "--output", f"{tmp_path}/stream/", "--rotate", "1h", adapter="virtual",
        preexec_fn=Filter(allowed - {without}).load)
    if without:
        result.failed(NO_PERMISSION, saying="cannot drop privileges")
    else:
        result.succeeded()
        assert "can't" not in result.err, result


def test_the_units_are_removed(units):
    subprocess.run([ROOT / "scripts/install-units", "--remove", units], check=True)
    assert not list(units.iterdir())
