"""Two programs of both roles on one air, which find each other, connect and tell each other something; after `kill -9`, too."""

import itertools

import pytest
from example_program import Example
from shared_radio import SharedRadio


class Person:
    """A program with an adapter and a place for what it stores. It tells something else each time it is started."""

    def __init__(self, name, kind, adapter, state):
        self.name, self.kind, self.adapter, self.state = name, kind, adapter, state
        self.turns = itertools.count(1)
        self.program = None

    def start(self):
        self.text = f"{self.name} {next(self.turns)}"
        self.program = Example("contact-tracing", self.adapter, self.state, self.kind, self.text)

    def end(self):
        """By `kill -9`. What is wrong for a program is on its standard error: nothing is."""
        if self.program is None:
            return
        self.program.process.kill()
        _, errors = self.program.process.communicate(timeout=20)
        self.program = None
        assert errors == "", errors

    def until(self, *lines):
        for line in lines:
            if line not in self.program.lines:
                self.program.until(line)


@pytest.fixture
def pair(request, tmp_path):
    radio = SharedRadio()
    made = [Person(name, request.param, adapter, tmp_path / name) for name, adapter in zip("AB", radio.adapters)]
    yield made
    for person in made:
        person.end()
    radio.close()


@pytest.mark.verdict
@pytest.mark.parametrize("pair", ["messages"], indirect=True)
def test_two_that_scan_in_windows_meet_after_each_end(pair):
    """As opentrace-ios: each reads the other's message and writes its own, and leaves. One that stays meets the new one."""
    one, other = pair
    for ended in ["AB", "AB", "A", "B", "AB", "AB"]:
        for person in pair:
            if person.name in ended:
                person.end()
                person.start()
        one.until(f"read {other.text}", f"written {other.text}")
        other.until(f"read {one.text}", f"written {one.text}")
        # What was offered before the end is there again, until the program offers its service anew.
        restored = [person for person in pair if not person.text.endswith(" 1") and person.name in ended]
        assert all("restored 1 services" in person.program.lines for person in restored)


@pytest.mark.parametrize("pair", ["numbers"], indirect=True)
def test_two_that_read_each_other_once_meet_after_each_end(pair):
    """As tcn-client-ios: each cancels what was restored, and reads the other's number."""
    for _ in range(6):
        for person in pair:
            person.end()
        for person in pair:
            person.start()
        for person, met in zip(pair, reversed(pair)):
            person.until(f"read {met.text}")
