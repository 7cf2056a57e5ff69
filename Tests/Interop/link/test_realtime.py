"""Real-time scheduling: one thread has it, its memory stays in RAM, and without the rights it says so."""

import os
import resource
import subprocess
from pathlib import Path

import pytest
from program import OK, USAGE

NO_PERMISSION = 77

needs_rights = pytest.mark.skipif(
    subprocess.run(["chrt", "--fifo", "20", "true"], capture_output=True).returncode != 0,
    reason="real-time scheduling is not permitted here")


@needs_rights
def test_only_the_thread_of_the_loop_is_a_real_time_thread(halo):
    process = halo.start("stream", "--ppg", "--realtime", "--format", "csv", adapter="virtual")
    for _ in range(3):
        process.stdout.readline()
    threads = [int(name) for name in os.listdir(f"/proc/{process.pid}/task")]
    policies = sorted(os.sched_getscheduler(thread) for thread in threads)
    status = Path(f"/proc/{process.pid}/status").read_text()
    locked = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmLck"))
    process.terminate()
    process.communicate(timeout=20)
    assert policies == [os.SCHED_OTHER] * (len(threads) - 1) + [os.SCHED_FIFO]
    assert len(threads) > 1 and locked > 1000


@needs_rights
def test_a_busy_program_prints_the_same(halo):
    quiet, busy = (
        halo.run("stream", "--ppg", "--count", "3", "--format", "csv", *options, adapter="virtual")
        for options in ([], ["--realtime", "--busy-poll"]))
    assert (quiet.code, busy.code) == (OK, OK)
    assert len(busy.out.splitlines()) == len(quiet.out.splitlines()) == 4


def test_without_rights_it_says_what_to_do(halo):
    def take_rights():
        # The group first. Memory may be locked, so that scheduling is what is refused.
        resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)

    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    result = halo.run("stream", "--ppg", "--realtime", "--count", "1", adapter="virtual", preexec_fn=take_rights)
    assert result.code == NO_PERMISSION and result.out == ""
    assert "use sudo, or raise the limit with: ulimit -" in result.err


def test_busy_polling_alone_is_refused(halo):
    result = halo.run("stream", "--busy-poll", "--count", "1", adapter="virtual")
    assert result.code == USAGE and "needs --realtime" in result.err


def test_a_program_in_the_background_writes_a_file(halo, tmp_path):
    """SCHED_IDLE, which a process without the rights can't leave: its threads have it, too."""
    with open(tmp_path / "manual", "w") as file:
        process = subprocess.run(["chrt", "--idle", "0", halo.path, "manual", "--all"], stdout=file, timeout=60)
    assert process.returncode == OK and len((tmp_path / "manual").read_text()) > 10000
