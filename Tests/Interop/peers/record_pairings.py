#!/usr/bin/env python3
"""Records halo-raw pairing with the lock on Bumble, once by each method: captures/pair-*.btsnoop, for docs/11-security.md.

    .cache/venv/bin/python Tests/Interop/peers/record_pairings.py PROGRAM captures

The keys are new each time, so that two recordings are never the same.
"""

import os
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

PEERS = Path(__file__).parent
# What the lock can do, and what the host can.
SESSIONS = {
    "just-works": (["--interface", "none"], "none"), "comparison": (["--interface", "confirm"], "confirm"),
    "passkey": (["--interface", "display"], "keyboard"), "legacy": (["--interface", "none", "--legacy"], "none")}


def record(program, path, options, interface):
    with tempfile.TemporaryDirectory() as state, subprocess.Popen(
            [sys.executable, "-u", "bumble_lock.py", "tcp-server:127.0.0.1:0", "--events", "/dev/stderr", *options],
            cwd=PEERS, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as lock:
        try:
            port = lock.stdout.readline().split()[1]
            path.unlink(missing_ok=True)
            with subprocess.Popen(
                    [program, "pair", "Lock", "--adapter", f"tcp:127.0.0.1:{port}", "--interface", interface, "--record", path,
                     "--wait", "20"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                    env={**os.environ, "XDG_STATE_HOME": state}) as host:

                def answer(text):
                    host.stdin.write(text + "\n")
                    host.stdin.flush()

                def read_display():
                    for line in lock.stderr:
                        if number := re.search(r'"shown".*?(\d{6})', line):
                            answer(number[1])

                threading.Thread(target=read_display, daemon=True).start()
                for line in host.stderr:
                    if line.startswith("Compare"):
                        answer("yes")
            assert host.returncode == 0, f"{path}: ended with {host.returncode}"
        finally:
            lock.terminate()


if __name__ == "__main__":
    for name, (options, interface) in SESSIONS.items():
        record(sys.argv[1], Path(sys.argv[2]) / f"pair-{name}.btsnoop", options, interface)
