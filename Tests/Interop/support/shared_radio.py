"""A radio on which two runs of the program meet, and a phone on Bumble: bumble_radio.py in a process of its own."""

import json

from forked import adapter_at, start_peer


class SharedRadio:
    """Adapters of one radio, by their specifications."""

    def __init__(self, *options, listening=("tcp-server:127.0.0.1:0",) * 2):
        self.process = start_peer("bumble_radio.py", *listening, *options, takes_commands=True)
        self.adapters = [adapter_at(place) for place in self.process.places()]

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
