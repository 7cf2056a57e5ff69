"""The program under test, and how it ended."""

import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from built import ROOT

PEERS = ROOT / "Tests/Interop/peers"

# The documented exit codes.
OK, USAGE, BAD_DATA, NO_FILE, NO_ADAPTER, SYSTEM, IO_ERROR = 0, 64, 65, 66, 69, 71, 74
TIMEOUT, PROTOCOL, NO_PERMISSION, REPLAY_DIFFERS, NOT_FOUND, CONNECTION_LOST = 75, 76, 77, 78, 79, 80


def wait_until(met, what, seconds=10):
    """Returns when `met` returns something; fails after this time."""
    deadline = time.monotonic() + seconds
    while not met():
        assert time.monotonic() < deadline, f"no {what} in {seconds} s"
        time.sleep(0.02)


def cpu_seconds(process) -> float:
    """What a process has used of the processors."""
    fields = open(f"/proc/{process.pid}/stat").read().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


class Result:
    """How a run of the program ended."""

    def __init__(self, arguments, code, out, err):
        self.arguments, self.code, self.out, self.err = arguments, code, out, err

    def records(self) -> list[dict]:
        """Standard output as JSON lines, of which the last one must be whole, too."""
        assert self.out == "" or self.out.endswith("\n"), f"half a line: {self.out[-80:]!r}"
        return [json.loads(line) for line in self.out.splitlines()]

    def succeeded(self) -> "Result":
        assert self.code == OK, self
        return self

    def failed(self, *codes, saying="") -> "Result":
        """One line on standard error says why, and nothing looks like a crash."""
        assert self.code in codes, self
        lines = self.err.splitlines()
        assert len(lines) == 1, self
        assert saying.lower() in lines[0].lower(), self
        for sign in ("Fatal error", "Stack dump", "Thread 0", "Backtrace", "0x00007"):
            assert sign not in self.err, self
        return self

    def __repr__(self):
        return (
            f"`halo-raw {' '.join(map(str, self.arguments))}` ended with {self.code}\n"
            f"stdout: {self.out[-500:]}\nstderr: {self.err[-2000:]}")


class Halo:
    """The program under test. `patience`: how many seconds a command may take, where a test does not say it."""

    def __init__(self, path: Path, home: Path, patience=20):
        self.path, self.patience = path, patience
        self.processes = []
        # The sockets of the programs that run: the others that run on this machine have theirs elsewhere.
        runtime = home / "runtime"
        runtime.mkdir(mode=0o700, exist_ok=True)
        # Nothing of the user's, and nothing left there.
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith("HALO_")
        } | {"HOME": str(home), "XDG_CACHE_HOME": str(home), "XDG_CONFIG_HOME": str(home),
            "XDG_RUNTIME_DIR": str(runtime),
            # Rings of one address and different kinds: nothing is remembered, unless a test asks for it.
            "XDG_STATE_HOME": "/dev/null"}

    def start(self, *arguments, adapter=None, **options) -> subprocess.Popen:
        command = [str(self.path), *map(str, arguments)]
        if adapter:
            command += ["--adapter", adapter]
        options = {
            "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
        process = subprocess.Popen(command, env=self.environment, **options)
        self.processes.append(process)
        return process

    def end_all(self):
        """Ends what a failed test left running."""
        for process in self.processes:
            if process.poll() is None:
                process.kill()
                process.wait()
        self.processes.clear()

    def run(self, *arguments, adapter=None, timeout=None, **options) -> Result:
        process = self.start(*arguments, adapter=adapter, **options)
        return self.wait(process, timeout)

    def wait(self, process, timeout=None) -> Result:
        timeout = timeout or self.patience
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            try:
                out, err = process.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                # The kernel's fault on the program's way out (docs/08-the-kernel.md).
                self.processes.remove(process)
                pytest.fail("SIGKILL does not end it")
            pytest.fail(f"still running after {timeout} s: "
                        f"{Result(process.args[1:], None, out or '', err or '')}")
        return Result(process.args[1:], process.returncode, out or "", err or "")
