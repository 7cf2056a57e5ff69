"""halo-raw as a service of systemd: what it sends to the service manager, and the units that are installed."""

import re
import signal
import socket
import subprocess

import pytest
from program import ROOT

UNITS = ["halo-raw-stream.service", "halo-raw-strap.service", "halo-raw-sync.service", "halo-raw-sync.timer"]


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
    for unit in UNITS[:3]:
        text = (units / unit).read_text()
        assert re.findall("^(?:User|DynamicUser|StateDirectory|StateDirectoryMode)=.*$", text, re.M) == [
            "User=halo", "StateDirectory=halo-raw", "StateDirectoryMode=0700"]


@pytest.mark.parametrize("unit", UNITS[:3])
def test_services_may_do_little(units, unit):
    result = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=30", units / unit], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout


def test_the_units_are_removed(units):
    subprocess.run([ROOT / "scripts/install-units", "--remove", units], check=True)
    assert not list(units.iterdir())
