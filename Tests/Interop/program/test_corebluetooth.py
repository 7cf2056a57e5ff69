"""What programs rely on, against peripherals and a central over H4."""

import json

import pytest
from example_program import examples
from forked import adapter_at, start_peer

pytest.register_assert_rewrite("corebluetooth_points")

from corebluetooth_points import Points, check, neighbourhood  # noqa: E402, F401


@pytest.fixture(scope="module")
def around(tmp_path_factory):
    with neighbourhood("tcp-server:127.0.0.1:0", tmp_path_factory.mktemp("around") / "events.jsonl") as around:
        around.adapter = adapter_at(around.where)
        yield around


@pytest.mark.verdict
class TestPoints(Points):
    pass


@pytest.mark.verdict
def test_a_bird_is_found_read_changed_and_watched(tmp_path):
    """By another stack's central, which comes again after it has gone."""
    watcher = start_peer("bumble_birdwatcher.py", "tcp-server:127.0.0.1:0", "--turns", "2")
    try:
        with examples(tmp_path / "state") as start:
            bird = start("bird-peripheral", adapter_at(*watcher.places()))
            turns = [json.loads(watcher.stdout.readline()) for _ in range(2)]
            lines = [bird.until("not watched") for _ in range(2)][-1]
    finally:
        watcher.terminate()
        watcher.wait(timeout=20)
    service = bytes.fromhex("B12D00005C8E4E0B9D556F2A7C31E804")
    for turn, colour in zip(turns, ["weiß", "rot"]):
        # Flags, the service in 16 bytes, and the name of the scan response.
        assert bytes.fromhex(turn["data"]) == bytes([2, 1, 6, 17, 7]) + service[::-1] + b"\x05\x09Bird"
        assert turn["services"] == ["1800", "1801", "B12D0000-5C8E-4E0B-9D55-6F2A7C31E804"] and turn["mtu"] == 185
        assert turn["read"][:2] == ["Möwe", colour] and turn["changed"] == "rot"
        # Write Not Permitted, and the program's own error.
        assert turn["refusals"] == [0x03, 0x80]
        first, second, third = (round(4 * alpha) for alpha in turn["notified"])
        assert [(first + 1) % 5, (second + 1) % 5] == [second, third]
    assert lines == ["advertising", *2 * ["colour: rot", "watched, 182 bytes at once", "not watched"]]
