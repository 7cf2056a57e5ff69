"""Programs in Python as forks of a process that has imported what they need: an import of Bumble takes longer than most tests
on a PC, and seconds in a virtual machine without KVM.
"""

import functools
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
from multiprocessing import forkserver

import pytest
from program import PEERS


def live(work, arguments, out, commands):
    """The life of a fork whose standard output is a pipe, and its standard input another, if there is one."""
    for number in (signal.SIGALRM, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    sys.stdout = os.fdopen(os.dup(out.fileno()), "w")  # pytest has one of its own
    if commands:
        sys.stdin = os.fdopen(os.dup(commands.fileno()))
    work(*arguments)


class Fork:
    """A running fork that does some work. What has its name in subprocess.Popen does the same."""

    def __init__(self, context, work, *arguments, takes_commands=False):
        ours, theirs = context.Pipe(duplex=False)
        commands, written = context.Pipe(duplex=False) if takes_commands else (None, None)
        self.process = context.Process(target=live, args=(work, arguments, theirs, commands), daemon=True)
        self.process.start()
        theirs.close()
        self.stdout = os.fdopen(os.dup(ours.fileno()))
        ours.close()
        self.stdin = None
        if takes_commands:
            commands.close()
            self.stdin = os.fdopen(os.dup(written.fileno()), "w")
            written.close()

    def places(self) -> list[str]:
        """Where it can be reached, which it prints when it is ready: ports, paths, or adapters of this machine."""
        ready, *places = self.stdout.readline().split() or [None]
        assert ready == "ready", f"{self.process} did not start; see standard error"
        return places

    def poll(self) -> int | None:
        return self.process.exitcode

    def wait(self, timeout=None) -> int:
        self.process.join(timeout)
        if self.process.exitcode is None:
            raise subprocess.TimeoutExpired(str(self.process), timeout)
        return self.process.exitcode

    def send_signal(self, number):
        os.kill(self.process.pid, number)

    def terminate(self):
        self.process.terminate()

    def kill(self):
        self.process.kill()


def adapter_at(place) -> str:
    """The specification of an adapter at a port or a path of this machine."""
    return f"unix:{place}" if "/" in place else f"tcp:127.0.0.1:{place}"


def run_script(path, arguments):
    sys.argv = [path, *arguments]
    runpy.run_path(path, run_name="__main__")


@functools.cache
def server():
    """Forks of a process that has imported what is in the folder `peers`, once for each worker of pytest."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([path.stem for path in PEERS.glob("bumble_*.py")])
    with pytest.MonkeyPatch.context() as patch:
        # The server does not have pytest's path.
        patch.setenv("PYTHONPATH", str(PEERS), prepend=os.pathsep)
        forkserver.ensure_running()
    return context


def start_peer(script, *arguments, takes_commands=False) -> Fork:
    """A running script of the folder `peers`."""
    return Fork(
        server(), run_script, str(PEERS / script), [str(each) for each in arguments], takes_commands=takes_commands)
