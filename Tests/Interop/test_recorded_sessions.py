"""The sessions in captures/: what the stack sends is what it sent then, and what it prints is what it printed."""

import re

import pytest
import tshark_check
from conftest import PROTOCOL, ROOT

CAPTURES = ROOT / "captures"
ROW = re.compile(r"^\| `([\w-]+)` \| `([^`]+)` \| `([^`]+)` \|", re.MULTILINE)
SESSIONS = ROW.findall((CAPTURES / "README.md").read_text())


def test_every_capture_has_its_line():
    assert {name for name, _, _ in SESSIONS} == {path.stem for path in CAPTURES.glob("*.btsnoop")}


@pytest.mark.parametrize("name, adapter, command", SESSIONS, ids=[name for name, _, _ in SESSIONS])
def test_a_session_is_played_again(halo, name, adapter, command):
    path = CAPTURES / f"{name}.btsnoop"
    result = halo.run("replay", path, *command.split(), "--format", "jsonl")
    assert result.code == (PROTOCOL if "charging" in adapter else 0), result
    assert result.out == (CAPTURES / f"{name}.jsonl").read_text()


@pytest.mark.parametrize("name", [name for name, _, _ in SESSIONS])
def test_tshark_reads_a_session_as_we_do(name):
    tshark_check.check(CAPTURES / f"{name}.btsnoop")
