"""Our ring by `simulate --vhci`, behind an adapter of the kernel."""

import contextlib
import re
import signal

from adapters import KernelAdapter


class Simulation:
    def __init__(self, halo, options):
        self.process = halo.start("simulate", "--vhci", "--options", options)
        line = self.process.stderr.readline()
        match = re.search(r"(hci\d+) is a virtual adapter with the rings? ([^\s,]+)", line)
        assert match, line
        self.adapter, self.ring = match.groups()
        self.kernel_adapter = KernelAdapter(self.adapter)
        self.kernel_adapter.up()


@contextlib.contextmanager
def simulation(halo, options):
    made = Simulation(halo, options)
    try:
        yield made
    finally:
        made.process.send_signal(signal.SIGINT)
        halo.wait(made.process).succeeded()
    assert not made.kernel_adapter.exists
