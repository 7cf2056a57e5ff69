"""What pairs by the kernel: `kernel-pairing` (Tests/KernelPairing) and bluetoothd's bluetoothctl."""

import subprocess

import bumble_bonder
import pytest
from built import built

ENDED = "ended disconnected"


class Program:
    """The program that pairs. Its bonds outlive it."""

    def __init__(self, adapter, folder):
        self.adapter, self.bonds, self.started = adapter, folder / "bonds", []

    def start(self, policy, *arguments) -> subprocess.Popen:
        process = subprocess.Popen(
            [built("kernel-pairing"), self.adapter.name, self.bonds, policy, *map(str, arguments)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.started.append(process)
        return process

    def read(self, policy, *levels, peer=bumble_bonder.ADDRESS) -> list[str]:
        """The lines of a central, which raises the security of its link to each level and reads the value."""
        out, errors = self.start(policy, "read", peer, *levels).communicate(timeout=200)
        return out.splitlines() + errors.splitlines()

    def serve(self, policy, *level) -> subprocess.Popen:
        process = self.start(policy, "serve", *level)
        lines_until(process, "advertises")
        return process

    def close(self):
        for process in self.started:
            process.kill()
            process.communicate()


def lines_until(process, text) -> list[str]:
    lines = []
    for line in process.stdout:
        lines.append(line.rstrip("\n"))
        if text in line:
            return lines
    pytest.fail(f"no {text!r} in {lines}")


def end(process) -> list[str]:
    out, _ = process.communicate(timeout=60)
    return out.splitlines()


def pair_by_bluetoothctl(peer, is_known=True):
    """It is bluetoothd's agent as long as it runs. A peer that is not known has to be heard first."""
    control = subprocess.Popen(
        ["stdbuf", "-oL", "bluetoothctl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    lines_until(control, "Agent registered")

    def command(text, expected):
        print(text, file=control.stdin, flush=True)
        lines_until(control, expected)

    try:
        command("scan le", "Discovery started" if is_known else f"Device {peer}")
        command(f"pair {peer}", "Pairing successful")
        command(f"disconnect {peer}", "Successful disconnected")
    finally:
        control.kill()
        control.communicate()
