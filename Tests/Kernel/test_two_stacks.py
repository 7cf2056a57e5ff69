"""Our Security Manager against the kernel's: user:hci1 and hci0 on one radio, each in both roles."""

import json
import signal
import subprocess

import management
import pytest
from pairing_program import ENDED, Program, end, lines_until, pair_by_bluetoothctl
from shared_air import SharedAir

pytestmark = [pytest.mark.usefixtures("no_kernel_fault"), pytest.mark.both_kernels]
KERNELS, OURS = "00:1B:DC:0A:10:01", "00:1B:DC:0A:10:02"
JSON = ("--format", "jsonl")
YES_OR_NO = 1


@pytest.fixture
def air(rings):
    """The first adapter is the kernel's, the second one ours."""
    rings.remove()
    made = SharedAir(count=2)
    kernels, ours = made.adapters
    kernels.up()
    management.set_bondable(kernels, False)
    kernels.down()
    kernels.up()
    ours.down()
    yield made
    made.close()


@pytest.fixture
def kernel(air, tmp_path):
    made = Program(air.adapters[0], tmp_path)
    yield made
    made.close()


@pytest.fixture
def ours(halo, air, tmp_path, monkeypatch):
    """A command on our adapter, with bonds of its own."""
    monkeypatch.setitem(halo.environment, "XDG_STATE_HOME", str(tmp_path / "state"))
    adapter = f"user:{air.adapters[1].name}"

    class Ours:
        def run(self, *arguments):
            return halo.run(*arguments, *JSON, adapter=adapter)

        def start(self, *arguments):
            return halo.start(*arguments, *JSON, adapter=adapter, stdin=subprocess.PIPE)

        def serve(self, *arguments):
            """A thermometer, as `inspect` has printed it."""
            table = tmp_path / "table.jsonl"
            table.write_text(halo.run("inspect", *JSON, adapter="virtual:fast").succeeded().out)
            process = self.start("serve", str(table), *arguments)
            line = process.stderr.readline()
            while "advertising at" not in line:
                assert line
                line = process.stderr.readline()
            return process

    return Ours()


@pytest.mark.parametrize("interface", ["none", "confirm"])
def test_we_pair_with_the_kernel(ours, kernel, interface):
    server = kernel.serve("just-works" if interface == "none" else f"ask:{YES_OR_NO}:yes")
    process = ours.start("pair", KERNELS, "--interface", interface)
    if interface == "confirm":
        line = process.stderr.readline()
        assert "Compare" in line
        print("yes", file=process.stdin, flush=True)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert json.loads(out)["authenticated"] == (interface == "confirm")
    for _ in range(2):
        [value] = ours.run("read", KERNELS, "--uuid", "2A1C").succeeded().records()
        assert value["value"] == "07"
    assert end(server)


@pytest.mark.parametrize("interface", ["none", "confirm"])
def test_the_kernel_pairs_with_us(halo, ours, kernel, interface):
    server = ours.serve("--interface", interface)
    client = kernel.start("just-works" if interface == "none" else f"ask:{YES_OR_NO}:yes", "read", OURS, 2)
    if interface == "confirm":
        while "Compare" not in (line := server.stderr.readline()):
            assert line
        print("yes", file=server.stdin, flush=True)
    lines = end(client)
    strength = "not authenticated" if interface == "none" else "authenticated"
    assert f"secured 2: {strength}, 16 bytes" in lines and lines[-1] == ENDED
    # The bond of both sides encrypts the next link.
    assert f"secured 2: {strength}, 16 bytes" in kernel.read("encrypt", 2, peer=OURS)
    server.send_signal(signal.SIGINT)
    halo.wait(server).succeeded()


def test_bluetoothctl_pairs_with_us(halo, ours, air, bluetoothd):
    """What users of a desktop do, and a restart of ours between."""
    # bluetoothd has switched on what was off.
    server = ours.serve("--take")
    pair_by_bluetoothctl(OURS, is_known=False)
    server.send_signal(signal.SIGINT)
    halo.wait(server).succeeded()
    [bond] = halo.run("bonds", *JSON).succeeded().records()
    assert bond["address"] == KERNELS
    server = ours.serve("--take")
    control = subprocess.Popen(
        ["stdbuf", "-oL", "bluetoothctl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    print(f"connect {OURS}", file=control.stdin, flush=True)
    lines_until(control, "Connection successful")
    control.kill()
    control.communicate()
    server.send_signal(signal.SIGINT)
    halo.wait(server).succeeded()
