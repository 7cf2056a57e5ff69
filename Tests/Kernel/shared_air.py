"""Adapters of the kernel on one radio, and a phone on Bumble: bumble_radio.py as a fork of this process."""

import json
import os
from argparse import Namespace

import bumble_radio
import peripherals
from adapters import KernelAdapter


class SharedAir:
    def __init__(self, count=2, extended=False):
        self.fork = peripherals.Peripheral(
            bumble_radio.run, Namespace(transport=["vhci"] * count, extended=extended), takes_commands=True)
        self.adapters = [KernelAdapter(name) for name in self.fork.names]

    def ask(self, *words):
        """What the phone has to say."""
        print(*words, file=self.fork.stdin, flush=True)
        return json.loads(self.fork.stdout.readline())

    def close(self):
        self.fork.close()
