"""Our virtual ring, offered to others: it lives on between its hosts."""

import re
import signal

import pytest


class Simulation:
    def __init__(self, halo, listen="tcp:127.0.0.1:0", options="rate=100,seed=7,advertising=20"):
        self.halo = halo
        self.process = halo.start("simulate", "--listen", listen, "--options", options)
        line = self.process.stderr.readline()
        match = re.search(r"listening on ((tcp|unix):\S+)", line)
        if match is None:
            self.process.kill()
            pytest.fail(f"no `listening on ...` but {line!r}")
        self.adapter = match[1]

    def close(self):
        self.process.send_signal(signal.SIGINT)
        self.halo.wait(self.process).succeeded()
