"""What the outlet publishes, without LSL's network: its stamps and its rates.

A clock that is set while a stream runs: sccn/labstreaminglayer 102 and 131. A nominal rate that is not the real one, or
none: xdf-modules/pyxdf 34 and 80.
"""

import math
import sys
import types
from datetime import datetime, timedelta, timezone

import pytest

import halo_raw
from halo_raw import Record

pytestmark = pytest.mark.verdict

NOW = datetime(2026, 11, 21, 13, 45, tzinfo=timezone.utc)


class Lsl(types.ModuleType):
    """Stands in for pylsl: keeps what is pushed."""

    def __init__(self):
        super().__init__("pylsl")
        self.pushed = {}
        self.rates = {}
        self.types = {}
        self.now = 1000.0

    def local_clock(self):
        return self.now

    def StreamInfo(self, name, type, channels, rate, form, source):
        self.rates[source] = rate
        self.types[source] = (type, channels, form)
        node = types.SimpleNamespace()
        node.append_child = lambda _: node
        node.append_child_value = lambda *_: node
        return types.SimpleNamespace(desc=lambda: node, source=source)

    def StreamOutlet(self, info):
        stamps = self.pushed.setdefault(info.source, [])
        return types.SimpleNamespace(push_sample=lambda values, stamp: stamps.append((values, stamp)))


@pytest.fixture
def lsl(monkeypatch):
    module = Lsl()
    monkeypatch.setitem(sys.modules, "pylsl", module)
    monkeypatch.setattr("halo_raw.lsl.time", types.SimpleNamespace(time=lambda: NOW.timestamp()))
    return module


def record(t, ring="R", step=0.0, kind="ppg"):
    return Record(t, NOW + timedelta(seconds=t + step), ring, 0, kind, {"raw": 7})


def test_stamps_follow_t_and_not_a_clock_that_is_set(lsl):
    outlet = halo_raw.Outlet(rate_hz=25)
    for index in range(20):
        outlet.push(record(index / 25, step=-3600 if index >= 10 else 0))
    stamps = [stamp for _, stamp in lsl.pushed["halo-raw R ppg"]]
    assert stamps == pytest.approx([1000 + index / 25 for index in range(20)])


def test_a_sample_that_waited_has_the_stamp_of_its_arrival(lsl):
    outlet = halo_raw.Outlet(rate_hz=25)
    outlet.push(record(0, step=-2))
    assert lsl.pushed["halo-raw R ppg"][0][1] == pytest.approx(998)


def test_a_record_of_another_time_is_of_now(lsl):
    """Of a replay, or of a virtual clock: LSL has no stamps of last week."""
    outlet = halo_raw.Outlet(rate_hz=25)
    for step, ring in ((-1e6, "A"), (1e6, "B")):
        outlet.push(record(0, ring=ring, step=step))
        assert lsl.pushed[f"halo-raw {ring} ppg"][0][1] == pytest.approx(1000)


def test_another_stream_has_another_t(lsl):
    """The ring was streamed again, a minute later; another ring has a `t` of its own all the time."""
    outlet = halo_raw.Outlet(rate_hz=25)
    for t in (0, 10.0):
        outlet.push(record(t, "A"))
    lsl.now += 70
    for t in (0, 1.0):
        outlet.push(record(t, "A"))
        outlet.push(record(t, "B"))
    assert [stamp for _, stamp in lsl.pushed["halo-raw A ppg"]] == pytest.approx([1000, 1010, 1070, 1071])
    assert [stamp for _, stamp in lsl.pushed["halo-raw B ppg"]] == pytest.approx([1070, 1071])


def test_the_nominal_rate_is_measured_and_no_sample_is_lost(lsl):
    outlet = halo_raw.Outlet()
    for index in range(10):
        assert outlet.push(record(index / 6.5)) and not outlet.push(record(index / 6.5, kind="another"))
    assert lsl.rates == {"halo-raw R ppg": 6.5}
    stamps = [stamp for _, stamp in lsl.pushed["halo-raw R ppg"]]
    assert stamps == pytest.approx([1000 + index / 6.5 for index in range(10)])
    for _ in range(8):
        outlet.push(record(0, "all at once"))
    assert lsl.rates["halo-raw all at once ppg"] == 0


def test_beats_are_a_stream_with_the_times_of_the_beats(lsl):
    """A beat is known after the samples that follow it: its record is later than the beat."""
    outlet = halo_raw.Outlet(rate_hz=25)
    outlet.push(record(0))
    beats = [(2.0, 0.75, None, None, 0.2), (2.9, 1.6, 0.85, 70.5, 0.9)]
    for t, beat, interval, rate, quality in beats:
        values = {"beat_s": beat, "interval_s": interval, "bpm": rate, "quality": quality, "reason": "good"}
        assert outlet.push(Record(t, NOW + timedelta(seconds=t), "R", 0, "beat", values))
    (first, at), (second, later) = lsl.pushed["halo-raw R beat"]
    assert (at, later) == pytest.approx((1000.75, 1001.6))
    assert first[2] == 0.2 and all(math.isnan(value) for value in first[:2]) and second == [0.85, 70.5, 0.9]
    assert lsl.rates["halo-raw R beat"] == 0 and lsl.types["halo-raw R beat"] == ("BEAT", 3, "double64")


def test_marks_are_a_stream_of_texts(lsl):
    outlet = halo_raw.Outlet(rate_hz=25)
    outlet.push(record(0))
    marks = [
        ("mark", {"text": "drank a coffee"}), ("event", {"text": "button tap"}), ("gap", {"reason": "connection lost"}),
        ("lost", {"packet": 7, "count": 2, "reason": "lost"}), ("measured", {"heart_rate_bpm": 61})]
    for t, (kind, values) in enumerate(marks):
        assert outlet.push(Record(t, NOW + timedelta(seconds=t), "R", 0, kind, values))
    texts, stamps = zip(*lsl.pushed["halo-raw R markers"], strict=True)
    assert [text for (text,) in texts] == [
        "drank a coffee", "event: button tap", "gap: connection lost", "lost: lost: 2", "measured: heart_rate_bpm=61"]
    assert stamps == pytest.approx([1000, 1001, 1002, 1003, 1004])
    assert lsl.rates["halo-raw R markers"] == 0 and lsl.types["halo-raw R markers"] == ("Markers", 1, "string")
