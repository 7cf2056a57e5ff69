"""`kill -9` at each change that the program makes to files: strace puts the faults in."""

import signal
import subprocess

import pytest
from program import OK


def strace_works() -> bool:
    try:
        return subprocess.run(["strace", "-f", "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


needs_strace = pytest.mark.skipif(not strace_works(), reason="no strace: apt-get install strace")
# `write` is also what wakes the loop; that it was cut short is what fsync and rename come after.
CHANGES = ["mkdir", "pwrite64", "ftruncate", "unlink", "unlinkat", "fsync", "fdatasync", "rename", "renameat",
           "fchmod", "flock"]


def kills(halo, words, changes=CHANGES, step=1):
    """Runs the program again and again, and kills it before its first change to a file, its second, and so on, for
    each kind of change. Yields after each run; the caller puts everything back."""
    for change in changes:
        for number in range(1, 1000, step):
            command = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={change}",
                       "-e", f"inject={change}:signal=KILL:when={number}", halo.path, *map(str, words)]
            code = subprocess.run(command, env=halo.environment, capture_output=True, timeout=30).returncode
            assert code in (OK, -signal.SIGKILL, 128 + signal.SIGKILL), code
            yield change, number
            if code == OK:
                break
