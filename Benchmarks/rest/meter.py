#!/usr/bin/env python3
"""Runs a program beside a ring, and prints what it costs a second once all is quiet: meter.py ring|none PROGRAM...

For the virtual machine of `bench`. The program and all that it starts are in the control group `measured`.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
GROUP = Path("/sys/fs/cgroup/measured")
SETTLING, MEASURING = 40, 60  # seconds


def begin(situation):
    """Starts the ring; the name of its adapter."""
    # Without the ring, another device advertises, as in any house.
    name = ["--name", "R02_A1B2"]
    if situation != "ring":
        name = ["--name", "TV", "--no-ring-service", "--address", "C0:FF:EE:00:00:01"]
    ring = subprocess.Popen(
        [sys.executable, ROOT / "Tests/Interop/peers/bumble_ring.py", "vhci", "--rate", "1", *name], stdout=subprocess.PIPE)
    return ring, ring.stdout.readline().decode().split()[1]


def cost():
    """CPU seconds and voluntary waits so far of all processes in the group."""
    usage = dict(line.split() for line in (GROUP / "cpu.stat").read_text().splitlines())
    waits = 0
    for process in (GROUP / "cgroup.procs").read_text().split():
        for task in Path(f"/proc/{process}/task").iterdir():
            fields = dict(line.split(":", 1) for line in (task / "status").read_text().splitlines())
            waits += int(fields["voluntary_ctxt_switches"])
    return int(usage["usage_usec"]) / 1e6, waits


def main():
    situation, *command = sys.argv[1:]
    ring, adapter = begin(situation)
    assert adapter == "hci0", adapter
    is_exclusive = "user:hci0" in command
    subprocess.run(["hciconfig", adapter, "down" if is_exclusive else "up"], check=True)
    lines = Path("/dev/shm/lines")
    with lines.open("w") as output:
        program = subprocess.Popen(
            command, stdout=output, preexec_fn=lambda: (GROUP / "cgroup.procs").write_text(str(os.getpid())))
    time.sleep(SETTLING)
    count = len(lines.read_text().splitlines())
    before, start = cost(), time.monotonic()
    time.sleep(MEASURING)
    after, end = cost(), time.monotonic()
    received = len(lines.read_text().splitlines()) - count
    assert program.poll() is None, "the program has ended"
    assert (received > MEASURING / 2) == (situation == "ring"), f"{received} lines"
    (GROUP / "cgroup.kill").write_text("1")
    ring.kill()
    ring.wait()
    while Path(f"/sys/class/bluetooth/{adapter}").exists():
        time.sleep(0.1)
    print(json.dumps({
        "cpu": (after[0] - before[0]) / (end - start), "wakeups": (after[1] - before[1]) / (end - start), "lines": received}))


if __name__ == "__main__":
    main()
