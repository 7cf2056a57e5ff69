"""The programs in Examples/CoreBluetooth, run as they are."""

import contextlib
import os
import subprocess
import sys

import pytest
from built import built


class Example:
    """A running example, whose lines are read as they are printed."""

    def __init__(self, name, adapter, state, *arguments, before=()):
        self.process = subprocess.Popen(
            [*before, "stdbuf", "-oL", built(name), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
            env=os.environ | {"HALO_ADAPTER": adapter, "XDG_STATE_HOME": str(state), "HOME": str(state)})
        self.lines = []

    def until(self, text) -> list[str]:
        """The lines up to the first one that contains a text."""
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            if text in line:
                return self.lines
        pytest.fail(f"no {text!r} in {self.lines}; {self.process.stderr.read()}")

    def exit_code(self) -> int:
        out, _ = self.process.communicate(timeout=20)
        self.lines += out.splitlines()
        return self.process.returncode

    def close(self):
        if self.process.poll() is None:
            self.process.terminate()
        _, errors = self.process.communicate(timeout=20)
        print(errors, file=sys.stderr)  # pytest shows it if the test fails


@contextlib.contextmanager
def examples(state):
    """A function that starts an example; all that it has started have one place for what is stored, and end at the end."""
    started = []

    def start(name, adapter, *arguments, before=()) -> Example:
        """before: a command that runs it"""
        started.append(Example(name, adapter, state, *arguments, before=before))
        return started[-1]

    try:
        yield start
    finally:
        for one in started:
            one.close()
