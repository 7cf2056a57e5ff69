"""What the program may do, and that it keeps no more than it needs."""

import os
import shutil
import signal
import subprocess

import pytest
from conftest import NOBODY, NOGROUP, sudo
from program import NO_PERMISSION, Halo

JSON = ("--format", "jsonl")
CAP_NET_ADMIN, CAP_NET_RAW = 1 << 12, 1 << 13


class Unprivileged(Halo):
    """A copy of the program, run by somebody who is not root."""

    def start(self, *arguments, adapter=None, **options):
        as_nobody = {"user": NOBODY, "group": NOGROUP, "extra_groups": []}
        return super().start(*arguments, adapter=adapter, **as_nobody | options)


@pytest.fixture
def installed(halo, open_folder):
    """Makes a copy with these file capabilities; its folder is the user's home."""
    def make(capabilities=None) -> Unprivileged:
        copy = open_folder / "halo-raw"
        shutil.copy(halo.path, copy)
        if capabilities:
            subprocess.run(["setcap", capabilities, copy], check=True)
        program = Unprivileged(copy, open_folder)
        program.environment |= {"XDG_STATE_HOME": str(open_folder)}
        made.append(program)
        return program

    made = []
    yield make
    for program in made:
        program.end_all()


def statuses(process) -> list[dict[str, str]]:
    """Of all threads, since privileges are a thread's."""
    wanted = ("Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapAmb")
    threads = []
    for thread in os.listdir(f"/proc/{process.pid}/task"):
        with open(f"/proc/{process.pid}/task/{thread}/status") as lines:
            fields = dict(line.rstrip("\n").split(":\t", 1) for line in lines if ":\t" in line)
        threads.append({name: fields[name].strip() for name in wanted})
    return threads


def check_least(process, capabilities: int):
    for found in statuses(process):
        assert found["Uid"].split() == [str(NOBODY)] * 4
        assert found["Gid"].split() == [str(NOGROUP)] * 4
        assert "0" not in found["Groups"].split()
        for held in ("CapPrm", "CapEff"):
            assert int(found[held], 16) & ~capabilities == 0, found
        for passed_on in ("CapInh", "CapAmb"):
            assert int(found[passed_on], 16) == 0, found


def end(halo, process):
    process.send_signal(signal.SIGINT)
    halo.wait(process).succeeded()


@pytest.fixture(params=["hci0", "user:hci0"])
def way(request, ring):
    """The adapter, as the way wants it, and the capabilities that may be kept."""
    if request.param == "hci0":
        return ring.adapter, CAP_NET_RAW
    ring.kernel_adapter.down()
    return f"user:{ring.adapter}", 0


def test_file_capabilities(installed, way):
    adapter, kept = way
    program = installed("cap_net_raw,cap_net_admin+ep")
    process = program.start("stream", "--ppg", *JSON, adapter=adapter)
    assert '"ppg"' in process.stdout.readline(), process.stderr.read()
    check_least(process, kept)
    end(program, process)


@pytest.mark.parametrize("user_channel, missing", [(False, "CAP_NET_RAW"), (True, "CAP_NET_ADMIN")])
def test_without_capabilities(installed, ring, user_channel, missing):
    if user_channel:
        ring.kernel_adapter.down()
    adapter = f"user:{ring.adapter}" if user_channel else ring.adapter
    result = installed().run("stream", "--ppg", "--count", 1, adapter=adapter)
    assert result.code == NO_PERMISSION, result
    assert missing in result.err.upper()


def test_the_doctor_knows_the_remedy(installed, ring):
    program = installed()
    result = program.run("doctor")
    assert result.code == NO_PERMISSION, result
    assert "setcap" in result.out and str(program.path) in result.out


def test_started_by_sudo(halo, way, open_folder):
    adapter, kept = way
    recording = open_folder / "session.btsnoop"
    with sudo(halo):
        process = halo.start("stream", "--ppg", "--record", recording, *JSON, adapter=adapter)
    assert '"ppg"' in process.stdout.readline(), process.stderr.read()
    check_least(process, kept)
    end(halo, process)
    owner = recording.stat()
    assert (owner.st_uid, owner.st_gid) == (NOBODY, NOGROUP)
