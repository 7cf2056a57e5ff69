"""Replays of recordings that are damaged: by a disk, by a copy that was cut, or by who made them. Other programs have met such
lengths, and loops, as well (appneta/tcpreplay 491, 557 and 278, Rup0rt/pcapfix 13).

Ten thousand are replayed by `scripts/test damaged-replays`.
"""

import struct

import btsnoop
import damaged_replays
import pytest
from program import BAD_DATA, REPLAY_DIFFERS, ROOT

pytestmark = pytest.mark.verdict


@pytest.mark.parametrize(("name", "command"), [
    ("virtual-battery", "battery"), ("virtual-stream", "stream --duration 3s --retry-for forever"),
    ("virtual-scan", "scan --duration 500ms"), ("bumble-inspect", "inspect")])
def test_a_record_that_is_too_long_is_final(halo, tmp_path, name, command):
    """It was replayed for ever, at the end of each recovery from the loss of its transport."""
    content = bytearray((ROOT / f"captures/{name}.btsnoop").read_bytes())
    places = damaged_replays.offsets(content)
    for number in (1, len(places) // 2, len(places) - 1):
        damaged = bytearray(content)
        struct.pack_into(">I", damaged, places[number] + 4, 0x406E_0000)
        path = tmp_path / f"{number}.btsnoop"
        path.write_bytes(damaged)
        result = halo.run("replay", path, "--level", "hci", *command.split())
        assert result.code == BAD_DATA, result
        assert result.err.endswith(f"damaged from here on (record at byte {places[number]})\n")


def test_another_original_length_is_named(halo, tmp_path):
    """The bytes are the same: the message showed them twice, and called them different."""
    content = bytearray((ROOT / "captures/virtual-battery.btsnoop").read_bytes())
    struct.pack_into(">I", content, damaged_replays.offsets(content)[1], 9)
    path = tmp_path / "longer.btsnoop"
    path.write_bytes(content)
    halo.run("replay", path, "--level", "hci", "battery").failed(
        REPLAY_DIFFERS, saying="(the same 4 bytes, of which the recording says that they are 9)")


def test_damaged_recordings_end(halo, tmp_path):
    assert damaged_replays.faults(halo.path, range(60), tmp_path, 2) == []


def test_the_damages_are_of_many_kinds():
    """Whole files with another session, and files that are not whole."""
    contents = [damaged_replays.damaged(seed).content for seed in range(300)]
    whole = 0
    for content in contents:
        try:
            whole += btsnoop.written(btsnoop.parsed(content)) == content
        except (struct.error, IndexError):
            pass
    assert len(set(contents)) > 290 and 60 < whole < 240
