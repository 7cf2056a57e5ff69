"""The sessions in captures/: what the stack sends is what it sent then, and what it prints is what it printed."""

import re

import pytest
import tshark_check
from program import PROTOCOL, ROOT, TIMEOUT

pytestmark = pytest.mark.verdict

CAPTURES = ROOT / "captures"
README, _, TABLES = (CAPTURES / "README.md").read_text().partition("## Families")
FAMILIES, _, COMMANDS = TABLES.partition("## Commands")
ROW = re.compile(r"^\| `([\w-]+)` \| `([^`]+)` \| `([^`]+)` \|", re.MULTILINE)
SHORT_ROW = re.compile(r"^\| `([\w-]+)` \| `([^`]+)` \|$", re.MULTILINE)
SESSIONS = ROW.findall(README)
# Every command of every family: the name of the file, and the command.
FAMILY_SESSIONS = [
    (f"{family}/{name}", command)
    for family, _ in SHORT_ROW.findall(FAMILIES) for name, command in SHORT_ROW.findall(COMMANDS)]
# The files that scripts make, each with its script.
MADE = dict(re.findall(r"^\| `([\w/-]+\.\w+)` \| `([^`]+)` \|", README + TABLES, re.MULTILINE))


def test_every_capture_has_its_line():
    recorded = [name for name, _, _ in SESSIONS] + [name for name, _ in FAMILY_SESSIONS]
    lines = {f"{name}.btsnoop" for name in recorded} | set(MADE)
    files = {path for kind in ("btsnoop", "pcap", "pcapng") for path in CAPTURES.rglob(f"*.{kind}")}
    assert lines == {str(path.relative_to(CAPTURES)) for path in files}
    assert len(MADE) >= 4 and all((ROOT / script).exists() for script in MADE.values())


@pytest.mark.parametrize("name, command", FAMILY_SESSIONS, ids=[name for name, _ in FAMILY_SESSIONS])
def test_a_command_of_a_family_is_played_again(halo, name, command):
    result = halo.run("replay", CAPTURES / f"{name}.btsnoop", *command.split(), "--format", "jsonl")
    assert result.out == (CAPTURES / f"{name}.jsonl").read_text()
    # What the family does not know is refused, or not answered.
    assert result.code == 0 if result.out else result.code in (PROTOCOL, TIMEOUT), result


@pytest.mark.parametrize("name, adapter, command", SESSIONS, ids=[name for name, _, _ in SESSIONS])
def test_a_session_is_played_again(halo, name, adapter, command):
    path = CAPTURES / f"{name}.btsnoop"
    result = halo.run("replay", path, *command.split(), "--format", "jsonl")
    assert result.code == (PROTOCOL if "charging" in adapter else 0), result
    assert result.out == (CAPTURES / f"{name}.jsonl").read_text()


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name, _, _ in SESSIONS])
def test_tshark_reads_a_session_as_we_do(name):
    tshark_check.check(CAPTURES / f"{name}.btsnoop")
