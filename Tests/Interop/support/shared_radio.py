"""A radio on which two runs of the program meet, and a phone on Bumble: bumble_radio.py in a process of its own."""

import json
import subprocess
import sys

from program import PEERS


class SharedRadio:
    """Adapters of one radio, by their specifications."""

    def __init__(self, *options, listening=("tcp-server:127.0.0.1:0",) * 2):
        self.process = subprocess.Popen(
            [sys.executable, PEERS / "bumble_radio.py", *listening, *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        ready, *places = self.process.stdout.readline().split()
        assert ready == "ready", "bumble_radio.py did not start"
        self.adapters = [f"unix:{place}" if "/" in place else f"tcp:127.0.0.1:{place}" for place in places]

    def ask(self, *words):
        """What the phone has to say."""
        print(*words, file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        assert line, "bumble_radio.py has ended; see standard error"
        return json.loads(line)

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=20)
        self.process.stdin.close()
        self.process.stdout.close()
