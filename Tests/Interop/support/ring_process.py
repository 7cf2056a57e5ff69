"""A ring on Bumble in a process of its own, and what it wrote about its hosts."""

import json
import signal
import time
from pathlib import Path

import pytest
from event_lines import event_lines
from forked import adapter_at, start_peer


class RingProcess:
    """A running bumble_ring.py, or a script that has its options, too."""

    address = "D2:5C:0A:1E:34:1C"
    name = "R02_341C"

    def __init__(self, events: Path, options, transport="tcp-server:127.0.0.1:0", script="bumble_ring.py"):
        self.events_file = events
        self.seen = 0
        self.process = start_peer(script, transport, "--events", events, *options)
        self.where, = self.process.places()

    @property
    def adapter(self) -> str:
        return adapter_at(self.where)

    def events(self, kind=None) -> list[dict]:
        """What happened since the test began."""
        lines = event_lines(self.events_file)[self.seen:]
        happened = [json.loads(line) for line in lines]
        return [event for event in happened if kind in (None, event["event"])]

    def wait_until(self, met, what: str):
        """What `met` returns, as soon as that is something."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if result := met():
                return result
            time.sleep(0.01)
        pytest.fail(f"no {what} among {self.events()}")

    def wait_for(self, kind: str, **facts) -> dict:
        """The first event of the kind that has these facts."""
        return self.wait_until(
            lambda: next((e for e in self.events(kind) if facts.items() <= e.items()), None),
            f"{kind} {facts}")

    def commands(self) -> list[str]:
        """The first two bytes of each frame that was written to the ring."""
        return [event["frame"][:4] for event in self.events("command")]

    def check_farewell(self):
        """Every host disconnected in order: reason 'remote user terminated connection'."""
        def all_gone():
            attached = [event["attached"] for event in self.events("host")]
            # The last host of the test before may have gone since then.
            attached = attached[attached.index(True):] if True in attached else []
            return attached and attached.count(True) == attached.count(False)

        self.wait_until(all_gone, "end of the last host")
        reasons = [event["reason"] for event in self.events("disconnected")]
        assert reasons and set(reasons) == {0x13}, self.events()

    def check_conduct(self):
        """No rule of the specification was broken."""
        assert self.process.poll() is None, "the ring's process died"
        assert self.events("breach") == []

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=30)
