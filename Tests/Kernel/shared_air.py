"""Adapters of the kernel on one radio, and a phone on Bumble: bumble_radio.py as a fork of this process."""

import json
import os
from argparse import Namespace

import bumble_radio
import forked
from adapters import KernelAdapter


class SharedAir:
    def __init__(self, count=2, extended=False):
        self.fork = forked.Peripheral(
            bumble_radio.run, Namespace(transport=["vhci"] * count, extended=extended), takes_commands=True)
        self.adapters = [KernelAdapter(name) for name in self.fork.name.split()]

    def ask(self, *words):
        """What the phone has to say."""
        os.write(self.fork.commands.fileno(), (" ".join(map(str, words)) + "\n").encode())
        return json.loads(self.fork.output.readline())

    def close(self):
        self.fork.close()
