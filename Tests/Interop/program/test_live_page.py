"""The page of `stream --web` in Chromium, used as its reader does, on a phone and on a desk. It is served by a peer of its own,
from the protocol alone; test_page_script.py and test_page_style.py hold the rules of its parts."""

import json
import math
import re

import browser as browsers
import pytest
from live_peer import PERIOD, STOCK, LivePeer, Scene, acceleration, light, red, state_of
from program import wait_until

GREEN, RED, GROUND, TEXT = (0x24, 0x73, 0x3E), (0xB3, 0x26, 0x1E), (0xFB, 0xFB, 0xF9), (0x1D, 0x1F, 0x23)
PHONE, DESK = (390, 844), (1280, 900)
HOSTILE = "<script>document.title='taken'</script><img src=x onerror=alert(1)>\u202eevil\u2066\u0000 " + "W" * 10_000

browser = browsers.fixture()


@pytest.fixture
def peer():
    made = LivePeer(token="kOk1Jw")
    yield made
    made.close()


@pytest.fixture
def page(browser, peer):
    """Opens the page; afterwards it must have loaded nothing from elsewhere, and complained of nothing."""
    may_complain = []

    def open_page(size=PHONE, **media):
        width, height = size
        browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=size == PHONE)
        wanted = {"prefers-color-scheme": "light", "prefers-reduced-motion": "no-preference"} | media
        browser.call("Emulation.setEmulatedMedia", features=[{"name": name, "value": value} for name, value in wanted.items()])
        browser.open(peer.url)
        return browser

    open_page.may_complain = lambda: may_complain.append(True)
    yield open_page
    assert [url for url in browser.requests if not url.split("#")[0].startswith(peer.url)] == []
    if not may_complain:
        assert browser.messages == []
    browser.call("Page.navigate", url="about:blank")


def connected(browser, rings=1):
    browser.wait_for(f"live.connection.isOpen && live.session.rings.length === {rings}")
    return browser


def fast(peer, start, end, rate=25, **changes):
    """Sends the samples of a fast ring, from one time to before another."""
    times = [index / rate for index in range(math.ceil(start * rate), math.ceil(end * rate))]
    peer.send("samples", {"ring": 0} | {
        "ppg": [value for t in times for value in (t, light(t))], "spo2": [value for t in times for value in (t, red(t))],
        "accel": [value for t in times for value in (t, *acceleration(t))]} | changes)


RING = "live.session.rings[0]"
WAVE = "[...live.parts.values()][0].card.wave"
CHART = "[...live.parts.values()][0].chart"


# What a canvas shows, in a copy from which one may read often.
PIXELS = """const pixelsOf = (canvas, x, y, width, height) => {
  const context = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', {willReadFrequently: true});
  context.drawImage(canvas, 0, 0);
  return context.getImageData(x, y, width, height);
};"""


def drawn_until(browser, end):
    """Stops the scrolling, and draws the waves whose right edge is at a time."""
    browser.run(f"""(() => {{
      live.scrolling.pausedAt = {end};
      const wave = {WAVE};
      wave.draw({end} + {end} - wave.spanAt({end}).to, live.session.clock, true);
      wave.draw({end} + {end} - wave.spanAt({end}).to, live.session.clock, true);
    }})()""")


def columns(browser, color, top, bottom):
    """The columns of the waves with a color in a band, as parts of their width."""
    return browser.run(f"""(() => {{ {PIXELS}
      const canvas = {WAVE}.canvas, found = [];
      const {{data, width, height}} = pixelsOf(canvas, 0, {top}, canvas.width, {bottom - top});
      for (let x = 0; x < {WAVE}.width; x += 1) for (let y = 0; y < height; y += 1) {{
        const place = 4 * (y * width + x);
        if (data[place + 3] > 200 && {json.dumps(color)}.every((one, i) => Math.abs(one - data[place + i]) < 30)) {{
          found.push(x / {WAVE}.width);
          break;
        }}
      }}
      return found;
    }})()""")


def color_at(browser, time, end, value):
    """The color where the line of green light has a value at a time."""
    return browser.run(f"""(() => {{ {PIXELS}
      const wave = {WAVE}, {{low, high}} = wave.limits.ppg, canvas = wave.canvas;
      const x = (1 - ({end} - {time}) / wave.seconds) * wave.width;
      const y = 132 - 6 - ({value} - low) * (132 - 26) / (high - low);
      return [...pixelsOf(canvas, Math.round(x), Math.round(y), 1, 1).data].slice(0, 3);
    }})()""")


# --- waves


@pytest.mark.verdict
def test_waves_are_drawn(peer, page):
    peer.add(0, kinds=["ppg", "spo2", "accel"])
    browser = connected(page())
    fast(peer, 0, 12)
    browser.wait_for(f"{RING}.series.accel.last > 11.9")
    drawn_until(browser, 11)
    for color, top, bottom in [(GREEN, 20, 132), (RED, 152, 224), ((0x22, 0x57, 0xC5), 244, 300), ((0xA8, 0x34, 0x8F), 244, 300)]:
        found = columns(browser, color, top, bottom)
        assert len(found) > 100 and found[0] < 0.02 and found[-1] > 0.9, (color, len(found))


def test_waves_scroll_with_the_samples(peer, page):
    Scene(peer, "fast")
    browser = connected(page())
    browser.wait_for(f"{RING}.series.ppg.size > 50")
    first, later = (browser.run(f"{WAVE}.spanAt(live.session.clock.at(performance.now() / 1000)).to") for _ in range(2))
    assert later > first
    # The right edge is behind the newest sample, so that the line reaches it, but not by much.
    behind = browser.run(f"{RING}.series.ppg.last - {WAVE}.spanAt(live.session.clock.at(performance.now() / 1000)).to")
    assert -0.3 < behind < 0.8


@pytest.mark.parametrize("what", ["missing time", "a gap that is marked", "no value", "missed samples"])
def test_no_line_leads_across_a_gap(peer, page, what):
    peer.add(0, kinds=["ppg"])
    browser = connected(page())
    fast(peer, 0, 5, spo2=[], accel=[])
    match what:
        case "a gap that is marked":
            peer.send("mark", {"ring": 0, "t": 5.0, "kind": "gap", "note": "connection lost: timeout"})
            fast(peer, 5.1, 10, spo2=[], accel=[])
        case "no value":
            fast(peer, 5, 7, ppg=[value for index in range(125, 175) for value in (index / 25, None)], spo2=[], accel=[])
            fast(peer, 7, 10, spo2=[], accel=[])
        case "missed samples":
            peer.send("missed", {"samples": 50})
            fast(peer, 5.1, 10, spo2=[], accel=[])
        case _:
            fast(peer, 7, 10, spo2=[], accel=[])
    browser.wait_for(f"{RING}.series.ppg.last > 9.9")
    drawn_until(browser, 9.9)
    found = columns(browser, GREEN, 20, 132)
    begin, end = (5.0, 7.0) if what in ("missing time", "no value") else (4.97, 5.09)
    inside = [x for x in found if begin + 0.03 < 9.9 - 10 * (1 - x) < end - 0.03]
    assert inside == []
    assert any(9.9 - 10 * (1 - x) < begin - 0.1 for x in found) and any(9.9 - 10 * (1 - x) > end + 0.1 for x in found)
    if what == "missed samples":
        browser.wait_for("document.getElementById('missed').textContent.startsWith('This page was too slow for 50 samples')")


def test_beats_are_on_the_wave_and_others_are_hollow(peer, page):
    peer.add(0, kinds=["ppg"])
    browser = connected(page())
    fast(peer, 0, 10, spo2=[], accel=[])
    times = [4.08, 6.08]
    peer.send("beat", {"ring": 0, "t": times[0], "interval": PERIOD, "bpm": 60 / PERIOD, "quality": 0.93, "reason": "good"})
    peer.send("beat", {"ring": 0, "t": times[1], "interval": None, "bpm": None, "quality": 0.2, "reason": "motion"})
    browser.wait_for(f"{RING}.beats.length === 2")
    drawn_until(browser, 9.9)
    assert color_at(browser, times[0], 9.9, light(times[0])) == pytest.approx(GREEN, abs=3)
    assert color_at(browser, times[1], 9.9, light(times[1])) == pytest.approx(GROUND, abs=3)


def test_marks_are_on_the_waves(peer, page):
    peer.add(0, kinds=["ppg"])
    browser = connected(page())
    fast(peer, 0, 10, spo2=[], accel=[])
    peer.send("mark", {"ring": 0, "t": 5, "kind": "mark", "note": "coffee"})
    browser.wait_for(f"{RING}.marks.length === 1")
    drawn_until(browser, 9.9)
    assert columns(browser, TEXT, 60, 130) == pytest.approx([0.51], abs=0.01)


@pytest.mark.parametrize("rate, missing, runs", [
    (25, 0, 1), (25, 1, 1), (25, 20, 1), (25, 30, 2), (100, 80, 1), (100, 120, 2), (1, 0, 1), (1, 1, 1), (1, 3, 2)])
def test_line_leads_across_a_second_or_three_intervals_at_most(peer, page, rate, missing, runs):
    peer.add(0, kinds=["ppg"])
    browser = connected(page())
    times = [index / rate for index in range(60 + missing) if not 30 <= index < 30 + missing]
    # What arrives a bit later or earlier is no gap.
    times = [t + 0.1 / rate * (index % 3 - 1) for index, t in enumerate(times)]
    peer.send("samples", {"ring": 0, "ppg": [value for t in times for value in (t, 1000)]})
    browser.wait_for(f"{RING}.series.ppg.total >= 60")
    assert len(browser.run(f"{RING}.series.ppg.runs({{from: 0, to: 100}}, [])")) == runs


def test_quality_says_why_not_by_color_alone(peer, page):
    peer.add(0, kinds=["ppg"])
    browser = connected(page())
    fast(peer, 0, 10, spo2=[], accel=[])
    for t in range(10):
        bad = t in (3, 4, 5)
        peer.send("second", {"ring": 0, "t": t, "quality": 0.1 if bad else 0.9, "reason": "motion" if bad else "good"})
    browser.wait_for(f"{RING}.seconds.length === 10")
    browser.run("""void (CanvasRenderingContext2D.prototype.fillText = new Proxy(CanvasRenderingContext2D.prototype.fillText, {
      apply(target, self, values) { (globalThis.written ??= []).push(values[0]); return Reflect.apply(target, self, values); }}))""")
    drawn_until(browser, 9.9)
    assert "motion" in browser.run("written")
    solid = columns(browser, GREEN, 134, 146)
    assert not [x for x in solid if 3.1 < 9.9 - 10 * (1 - x) < 5.9] and [x for x in solid if 6.1 < 9.9 - 10 * (1 - x) < 6.9]


def test_slow_ring_is_shown_for_a_minute(peer, page):
    peer.add(0, kinds=["ppg"])
    browser = connected(page())
    peer.send("samples", {"ring": 0, "ppg": [value for t in range(70) for value in (t, light(t))]})
    browser.wait_for(f"{RING}.series.ppg.last === 69")
    assert browser.run(f"{WAVE}.seconds") == 60
    drawn_until(browser, 68)
    assert len(columns(browser, GREEN, 20, 132)) > 200


def test_what_is_sent_again_is_there_once(peer, page):
    """The last seconds come first on each connection: the clock is not that of the past, and nothing is lost or twice."""
    peer.begin -= 40
    peer.history = [("samples", {"ring": 0, "ppg": [value for t in range(10, 18) for value in (t, 1000)]}),
                    ("beat", {"ring": 0, "t": 12.5, "interval": None, "bpm": None, "quality": 0.2, "reason": "motion"}),
                    ("beat", {"ring": 0, "t": 9.0, "interval": None, "bpm": None, "quality": 0.2, "reason": "motion"})]
    peer.add(0, kinds=["ppg"])
    browser = connected(page())
    browser.wait_for(f"{RING}.beats.length === 2")
    clock = "live.session.clock.at(performance.now() / 1000)"
    assert browser.run(clock) == pytest.approx(peer.now, abs=2)
    peer.send("samples", {"ring": 0, "ppg": [value for t in range(18, 41) for value in (t, 1000)]})
    browser.wait_for(f"{RING}.series.ppg.last === 40")
    peer.drop()
    browser.wait_for("live.connection.lost !== null && live.connection.isOpen && live.connection.lost > 0")
    peer.send("second", {"ring": 0, "t": 30, "quality": 0.9, "reason": "good"})
    browser.wait_for(f"{RING}.seconds.length === 1")
    assert browser.run(f"[{RING}.beats.length, {RING}.series.ppg.total, {RING}.first]") == [2, 31, 10]
    assert browser.run(clock) == pytest.approx(peer.now, abs=2)
    # A beat, or a quality, before the first sample is not drawn.
    drawn = browser.run(f"""(() => {{
      let count = 0;
      const context = {WAVE}.canvas.getContext('2d'), arc = context.arc;
      context.arc = (...values) => {{ count += 1; arc.apply(context, values); }};
      live.scrolling.pausedAt = 15;
      {WAVE}.draw(15, live.session.clock, true);
      delete context.arc;
      return count;
    }})()""")
    assert drawn == 1


def test_curves_stay_inside_while_the_scale_changes(peer, page):
    peer.add(0, kinds=["ppg"])
    browser = connected(page())
    fast(peer, 0, 5, spo2=[], accel=[])
    browser.wait_for(f"{RING}.series.ppg.last > 4.9")
    drawn_until(browser, 4.9)
    fast(peer, 5, 5.2, ppg=[5, 50_000, 5.04, 100], spo2=[], accel=[])
    browser.wait_for(f"{RING}.series.ppg.last > 5")
    limits = browser.run(f"({WAVE}.draw({WAVE}.drawn + .1, live.session.clock, false), {WAVE}.limits.ppg)")
    assert limits["low"] <= 100 and limits["high"] >= 50_000


def test_label_of_the_newest_mark_wins(peer, page):
    peer.add(0, kinds=["ppg"])
    browser = connected(page())
    fast(peer, 0, 10, spo2=[], accel=[])
    for t, note in [(5, "coffee"), (5.1, "one mark"), (5.2, "the newest of them")]:
        peer.send("mark", {"ring": 0, "t": t, "kind": "mark", "note": note})
    browser.wait_for(f"{RING}.marks.length === 3")
    browser.run("""void (CanvasRenderingContext2D.prototype.fillText = new Proxy(CanvasRenderingContext2D.prototype.fillText, {
      apply(target, self, values) { (globalThis.written ??= []).push(values[0]); return Reflect.apply(target, self, values); }}))""")
    drawn_until(browser, 9.9)
    written = set(browser.run("written"))
    assert "the newest of them" in written and "coffee" not in written
    # The line of the newest one is whole; that of one without a label is a tick.
    assert columns(browser, TEXT, 60, 130)[-1] == pytest.approx(0.53, abs=0.01)
    assert not [x for x in columns(browser, TEXT, 60, 130) if x < 0.515]


@pytest.mark.parametrize("scene", ["stock", "fast"])
def test_waves_are_as_high_as_the_numbers(peer, page, scene):
    made = Scene(peer, scene)
    browser = connected(page(DESK))
    heights = "[...document.querySelectorAll('.now, .waves')].map((e) => e.getBoundingClientRect().height)"
    browser.wait_for(f"document.querySelectorAll('dd').length > 0 && (([now, waves]) => waves > now - 4)({heights})")
    made.stop()


# --- the rate and the numbers


@pytest.mark.verdict
def test_rate_with_its_source_and_quality(peer, page):
    peer.add(0)
    browser = connected(page())
    peer.send("second", {"ring": 0, "t": peer.now - 4, "quality": 0.93, "reason": "good"})
    peer.send("state", state_of(0, lost=3))
    browser.wait_for("document.querySelector('.rate')?.textContent === '72'")
    assert browser.texts(".words") == ["From the light, quality 93 %"]
    assert browser.texts("dd > span") == ["87 %", "25", "15 ms", "3", "0", "1,234", "RMSSD 28.1 ms, SDNN 40.2 ms, 60 s"]
    assert browser.run("[...document.querySelectorAll('em')].map((e) => e.hidden)") == [True] * 6 + [False]


@pytest.mark.parametrize("changes, words", [
    ({"fault": "motion"}, "No pulse: motion"), ({"fault": "no contact"}, "No pulse: no contact with the skin"),
    ({"fault": None}, "No pulse is known yet."), ({"fault": "constructor"}, "No pulse: constructor"),
    ({"connected": False, "state": "connection lost: timeout"}, "The connection to the ring is lost.")])
def test_no_rate_is_said_in_words(peer, page, changes, words):
    peer.add(0)
    browser = connected(page())
    nothing = dict.fromkeys(["rate", "battery", "charging", "interval_ms", "lost", "variability", "bpm", "bpm_source"])
    peer.send("state", state_of(0, **nothing, **changes))
    browser.wait_for(f"document.querySelector('.words')?.textContent === {json.dumps(words)}")
    assert browser.texts(".rate") == ["–"]
    assert browser.texts("dd > span") == [
        "not known", "not known", "not known", "not counted", "0", "1,234", "not known"]


def test_stock_ring_says_that_the_rate_is_its_own(peer, page):
    peer.add(0)
    browser = connected(page())
    peer.send("state", state_of(0, **STOCK))
    browser.wait_for("document.querySelector('.rate')?.textContent === '66'")
    assert browser.texts(".words") == ["Measured by the ring"]


@pytest.mark.parametrize("kinds, changes, words", [
    (["ppg"], {"own_rate": False},
     "One sample a second shows no beats. halo-raw stream --measure heart-rate adds the ring’s own heart rate."),
    (["ppg"], {"own_rate": True}, "One sample a second shows no beats; the ring measures its heart rate from time to time."),
    (["ppg"], {"own_rate": True, "rate": 5.0}, "5 samples a second show no beats; the ring measures its heart rate from time to time."),
    (["accel"], {}, "No light is streamed; add --ppg.")])
def test_slow_or_dark_stream_says_what_helps(peer, page, kinds, changes, words):
    peer.add(0, kinds=kinds)
    browser = connected(page())
    peer.send("state", state_of(0, **(STOCK | {"bpm": None, "bpm_source": None} | changes)))
    browser.wait_for(f"document.querySelector('.words')?.textContent === {json.dumps(words)}")


@pytest.mark.parametrize("fault", [None, "motion"])
def test_rate_of_before_is_dimmed(peer, page, fault):
    peer.add(0)
    browser = connected(page())
    peer.send("second", {"ring": 0, "t": peer.now - 4, "quality": 0.9 if fault else 0.1, "reason": "good" if fault else "motion"})
    peer.send("state", state_of(0, fault=fault))
    browser.wait_for("document.querySelector('.words')?.textContent === 'of the last 10 s; now: motion'")
    assert browser.texts(".rate.missing") == ["72"]


def test_connection_of_the_ring_comes_back(peer, page):
    peer.add(0)
    browser = connected(page())
    peer.send("state", state_of(0))
    browser.wait_for("document.querySelector('.link')?.textContent === 'streaming'")
    peer.send("state", state_of(0, connected=False, state="connection lost: timeout", bpm=None))
    browser.wait_for("document.querySelector('.link').textContent === 'connection lost: timeout'")
    peer.send("state", state_of(0))
    browser.wait_for("/^connected again after \\d+ s$/.test(document.querySelector('.link').textContent)")


def test_screen_reader_is_told_now_and_then(peer, page):
    """The rate at most each 15 seconds, and at once when it is lost; what the picture shows, at most each 5."""
    peer.add(0)
    browser = connected(page())
    peer.send("state", state_of(0))
    browser.wait_for("document.querySelector('.rate')?.textContent === '72'")
    said = browser.run("""(() => {
      const {card} = [...live.parts.values()][0], said = [];
      const at = (arrival, bpm) => {
        card.ring.state.bpm = bpm;
        card.update(0, true, arrival);
        said.push(card.spoken.textContent);
      };
      card.told = {time: -Infinity, number: null, wasKnown: false};
      at(999, null); at(1000, 72); at(1013, 72); at(1014, 75); at(1015, 76); at(1016, null); at(1017, 80); at(1030, 80); at(1031, 80);
      return said;
    })()""")
    known = "R02_BEEF: {} beats a minute. From the light".format
    lost = "R02_BEEF: No pulse is known yet."
    # The first rate is said at once; and what is said is never another number than the one that is shown.
    assert said == [lost, known(72), known(72), "", known(76), lost, "", "", known(80)]


# --- the connection to the program


def test_messages_in_pieces_and_garbage(peer, page):
    browser = page()
    browser.wait_for("live.connection.isOpen")
    ring = json.dumps({"ring": 0, "address": "", "name": "Ü", "kinds": ["ppg"], "firmware": None}).encode()
    for piece in [b": a comment\n\nevent: ring\r\nda", b"ta: " + ring[:20], ring[20:] + b"\r\n\r\n",
                  b"event: ring\ndata: {\n\nevent: state\ndata: null\n\nevent: constructor\ndata: {}\n\nevent: state\ndata: [1]\n\n"]:
        peer.send_raw(piece)
    for name, message in [
            ("ring", {"ring": 99}), ("ring", {"ring": "0"}), ("samples", {"ring": 7, "ppg": [1, 2]}), ("samples", {"ring": 0, "ppg": 5}),
            ("samples", {"ring": 0, "ppg": ["x", {}, 1e308, 5, -1e308, 5, 1e17, 5, 0.5, 1e300, 3]}),
            ("second", {"ring": 0, "t": 1e17, "quality": 1, "reason": "good"}), ("mark", {"ring": 0, "t": -1e300, "kind": "gap"}), ("second", {"ring": 0}), ("beat", {"ring": 0, "t": []}),
            ("mark", {"ring": 0, "t": 1, "kind": 5, "note": {}}), ("state", {"ring": 0, "bpm": "72", "variability": 5})]:
        peer.send(name, message)
    fast(peer, 1, 3, spo2=[], accel=[])
    browser.wait_for(f"live.session.rings.length === 1 && {RING}.series.ppg.last > 2.9")
    browser.wait_for("document.querySelector('h2').textContent === 'Ü'")
    drawn_until(browser, 2.9)
    assert columns(browser, GREEN, 20, 132)


def test_message_without_an_end_ends_the_connection(peer, page):
    browser = page()
    browser.wait_for("live.connection.isOpen")
    peer.send_raw(b"data: " + b"x" * (2 << 20))
    browser.wait_for("!live.connection.isOpen")


def test_lost_connection_keeps_the_waves_and_comes_back(peer, page):
    peer.add(0, kinds=["ppg"])
    browser = connected(page())
    fast(peer, 0, 3, spo2=[], accel=[])
    peer.send("state", state_of(0))
    peer.send("mark", {"ring": 0, "t": 1, "kind": "mark", "note": "coffee"})
    browser.wait_for("document.querySelector('.rate')?.textContent === '72'")
    peer.drop()
    browser.wait_for("document.getElementById('connection').textContent === 'The connection to halo-raw is lost. This page tries again every 2 s.'")
    assert_past(browser)
    browser.wait_for("document.getElementById('connection').textContent.startsWith('connected to halo-raw again after ')")
    assert browser.run("document.querySelector('.past')") is None
    assert browser.run(f"{RING}.series.ppg.total") == 75
    # What is sent again is there once.
    browser.wait_for(f"{RING}.marks.length === 1")


def assert_past(browser):
    """The last rate is not shown as if it were of now, nor are the other numbers."""
    assert browser.texts(".rate") == ["72"]
    assert re.fullmatch(r"Last news at \d\d:\d\d:\d\d", browser.texts(".words")[0])
    assert browser.texts(".link") == [""] and browser.texts(".spoken") == [""]
    quiet = "getComputedStyle(document.querySelector('.unit')).color"
    for selector in (".rate.missing", ".past dd"):
        assert browser.run(f"getComputedStyle(document.querySelector('{selector}')).color === {quiet}"), selector


def test_silent_connection_is_left_when_the_page_is_looked_at(peer, page):
    """A phone that slept has connections on which nothing comes any more."""
    peer.add(0)
    browser = connected(page())
    browser.run("live.stream.heard = -1e9; document.dispatchEvent(new Event('visibilitychange'))")
    browser.wait_for("live.connection.lost !== null && live.connection.isOpen")
    assert browser.run("live.connection.lost") < 1


def test_restarted_program_begins_anew(peer, page):
    page.may_complain()
    peer.add(0, kinds=["ppg"])
    browser = connected(page())
    fast(peer, 0, 3, spo2=[], accel=[])
    browser.wait_for(f"{RING}.series.ppg.total === 75")
    peer.close()
    browser.wait_for("!live.connection.isOpen")
    again = LivePeer(port=peer.port, token="kOk1Jw", age=-60)
    try:
        again.add(0, "R03_CAFE", ["ppg"])
        browser.wait_for("document.querySelector('h2')?.textContent === 'R03_CAFE'")
        assert browser.run(f"{RING}.series.ppg.total") == 0
        assert browser.texts("#rings h2") == ["R03_CAFE"]
    finally:
        again.close()


def test_refused_viewer_reads_why(peer, page):
    page.may_complain()
    peer.most = 0
    browser = page()
    browser.wait_for("document.getElementById('connection').textContent === '0 viewers watch already'")
    assert browser.run("document.getElementById('waiting').hidden")
    peer.most = 1
    browser.wait_for("live.connection.isOpen")


@pytest.mark.parametrize("reason, words", [
    ("the stream has ended", "The stream has ended"), ("", "The stream has ended"), (5, "The stream has ended"),
    ("the stream has ended: no ring was found", "The stream has ended: no ring was found"),
    ("no ring was found.", "The stream has ended: no ring was found")])
def test_end_is_said(peer, page, reason, words):
    peer.add(0)
    browser = connected(page())
    peer.send("state", state_of(0))
    browser.wait_for("document.querySelector('.rate')?.textContent === '72'")
    peer.send("end", {"reason": reason})
    said = f"document.getElementById('connection').textContent === '{words}. This page connects again when it starts.'"
    browser.wait_for(said)
    assert_past(browser)
    peer.drop()
    browser.wait_for("!live.connection.isOpen")
    assert browser.run(said)
    browser.wait_for("live.connection.isOpen && document.getElementById('connection').textContent.startsWith('connected to halo-raw')")


def test_link_that_is_no_longer_valid(peer, page):
    page.may_complain()
    peer.add(0)
    browser = connected(page())
    peer.token = "/another/"
    peer.drop()
    gone = "This link is no longer valid. halo-raw status shows the new one."
    browser.wait_for(f"document.getElementById('connection').textContent === '{gone}'")
    assert browser.run("live.connection.wait") == 10
    browser.run("live.day.ask()")
    browser.wait_for(f"live.day.mistake === '{gone}'")
    assert browser.texts("#day-mistake") == [""]


def test_page_without_a_ring(peer, page):
    browser = page()
    browser.wait_for("document.getElementById('connection').textContent === 'halo-raw looks for the ring'")
    assert browser.run("['pause', 'signs', 'day'].map((id) => document.getElementById(id).hidden)") == [True] * 3


def test_page_without_its_script_shows_only_that(peer, browser):
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(peer.url)
        browser.call("Emulation.setScriptExecutionDisabled", value=False)
        shown = browser.run("document.body.innerText.trim().split('\\n').filter(Boolean)")
        dot = browser.run("getComputedStyle(document.getElementById('connection'), '::before').content")
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)
    assert [line for line in shown if "JavaScript" not in line] == ["halo-raw"] and dot == "none"


# --- marks


@pytest.mark.verdict
def test_mark_is_sent_and_shown(peer, page):
    peer.add(0)
    browser = connected(page())
    browser.run("localStorage.clear()")
    browser.click("#mark-text")
    browser.type("coffee ☕")
    browser.click("#mark-set")
    browser.wait_for(f"{RING}.marks.some(({{note}}) => note === 'coffee ☕')")
    assert peer.posted == ["coffee ☕"]
    browser.wait_for("document.getElementById('mark-said').textContent === 'Marked: coffee ☕'")
    assert browser.run("document.getElementById('mark-text').value") == ""
    # It is there for the next time, also after the page is opened again.
    browser = connected(page())
    browser.click("#quick button")
    wait_until(lambda: peer.posted == ["coffee ☕"] * 2, "the second mark")


def test_refused_mark_stays_in_the_field(peer, page):
    page.may_complain()
    browser = page()
    peer.refusal = (507, "The disk is full.")
    browser.click("#mark-text")
    browser.type("run")
    browser.press("Enter", "\r")
    browser.wait_for("document.getElementById('mark-said').textContent === 'The disk is full.'")
    assert browser.run("document.getElementById('mark-text').value") == "run"


@pytest.mark.parametrize("kept", ["{", "5", '{"length": 3}', '["a", 5, null, ["b"], "<b>c</b>"]', "[" + '"x",' * 1000 + '"x"]'])
def test_what_the_browser_has_kept_is_harmless(peer, page, kept):
    browser = page()
    browser.run(f"localStorage.setItem('halo-raw marks', {json.dumps(kept)})")
    browser = page()
    browser.wait_for("live.connection.isOpen")
    assert len(browser.texts("#quick button")) <= 4
    assert browser.run("document.querySelectorAll('#quick b').length") == 0
    browser.run("localStorage.clear()")


def test_mark_says_what_is_missing_or_too_much(peer, page):
    for ring in range(2):
        peer.add(ring)
    browser = connected(page(), 2)
    said = "document.getElementById('mark-said').textContent"
    browser.click("#mark-set")
    assert browser.run(said) == "Write what happens now." and browser.run("document.activeElement.id") == "mark-text"
    browser.type("é" * 201)
    assert browser.run(said) == ""
    browser.press("Enter", "\r")
    assert browser.run(said) == "A mark has at most 200 characters; this text has 201."
    assert browser.run("document.getElementById('mark-text').value.length") == 201 and peer.posted == []
    browser.run("document.getElementById('mark-text').value = ''")
    browser.type("run")
    browser.press("Enter", "\r")
    browser.wait_for(f"{said} === 'Marked in the records of all rings: run'")
    # Both rings have it; the list has it once.
    browser.run("live.day.ask()")
    browser.wait_for("[...document.querySelectorAll('#day-marks li')].some((e) => e.textContent.endsWith('  run'))")
    browser.type("x")
    assert browser.run(said) == ""
    browser.run("localStorage.clear()")


@pytest.mark.parametrize("size, most", [(PHONE, 0.18), ((844, 390), 0.18)])
def test_bars_leave_room_for_the_waves(peer, page, size, most):
    peer.add(0)
    browser = page(size)
    browser.run("localStorage.setItem('halo-raw marks', '[\"coffee\", \"stairs\"]')")
    browser = connected(page(size))
    sticky = browser.run("""['top', 'marking'].map((id) => document.getElementById(id))
      .filter((e) => getComputedStyle(e).position === 'sticky').reduce((sum, e) => sum + e.getBoundingClientRect().height, 0)""")
    assert 40 < sticky <= most * size[1]
    browser.run("localStorage.clear()")


# --- the day


def day_shown(browser):
    browser.wait_for("live.day.data !== null")
    return browser.run("live.day.span()")


def asked_for(peer, wanted):
    wait_until(lambda: any("from" in one and wanted(float(one["from"]), float(one["to"])) for one in peer.asked), "a question")


def test_day_is_drawn_and_gaps_in_it_are_not_bridged(peer, page):
    peer.add(0)
    browser = connected(page(DESK))
    span = day_shown(browser)
    found = browser.run("(() => {" + PIXELS + """
      const canvas = document.querySelector('#days canvas'), found = [];
      const {width} = [...live.parts.values()][0].chart, {data} = pixelsOf(canvas, 0, 20, width, 90);
      for (let x = 0; x < width; x += 1) for (let y = 0; y < 90; y += 1) {
        const place = 4 * (y * width + x);
        if (data[place + 3] > 200 && data[place] > 150 && data[place + 1] < 90) { found.push(x / width); break; }
      }
      return found;
    })()""")
    times = [span["from"] + x * (span["to"] - span["from"]) for x in found]
    assert len(found) > 800
    assert [t for t in times if -5370 < t < -4530] == []
    assert "gap: connection lost: supervision timeout" in browser.texts("#day-marks li")[0]


def test_day_is_zoomed_by_keys(peer, page):
    peer.add(0)
    browser = connected(page(DESK))
    first = day_shown(browser)
    length = first["to"] - first["from"]
    browser.run("document.querySelector('#days canvas').focus()")
    browser.press("+", "+")
    asked_for(peer, lambda start, end: end - start == pytest.approx(length / 2, rel=0.01))
    before = browser.run("live.day.span()")
    browser.press("ArrowLeft")
    after = browser.run("live.day.span()")
    assert after["from"] == pytest.approx(before["from"] - length / 8, rel=0.01)
    assert browser.run("live.day.follows") is False
    browser.press("-", "-")
    browser.press("0", "0")
    assert browser.run("live.day.range") is None


def test_day_is_zoomed_by_dragging_and_finer_data_comes(peer, page):
    peer.add(0)
    browser = connected(page(DESK))
    first = day_shown(browser)
    step = browser.run("live.day.data.step")
    x, y = browser.place("#days canvas")
    browser.mouse("mousePressed", x - 100, y)
    browser.mouse("mouseMoved", x, y)
    browser.mouse("mouseMoved", x + 100, y)
    browser.mouse("mouseReleased", x + 100, y)
    width = browser.run(f"{CHART}.width")
    length = (first["to"] - first["from"]) * 200 / width
    asked_for(peer, lambda start, end: end - start == pytest.approx(length, rel=0.02))
    browser.wait_for(f"live.day.data.step < {step / 3}")


def test_day_is_zoomed_by_a_finger(peer, page):
    peer.add(0)
    browser = connected(page())
    first = day_shown(browser)
    x, y = browser.place("#days canvas")
    for kind, points in [("touchStart", [x - 80]), ("touchMove", [x]), ("touchMove", [x + 80]), ("touchEnd", [])]:
        browser.call("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": at, "y": y} for at in points])
    width = browser.run(f"{CHART}.width")
    length = (first["to"] - first["from"]) * 160 / width
    asked_for(peer, lambda start, end: end - start == pytest.approx(length, rel=0.05))


def test_day_is_zoomed_by_buttons_and_now_follows(peer, page):
    peer.add(0)
    browser = connected(page())
    day_shown(browser)
    browser.click("#zoom-in")
    browser.click("#earlier")
    assert browser.run("live.day.follows") is False
    browser.click("#to-now")
    assert browser.run("live.day.follows") is True
    assert browser.texts("#day-range")[0].endswith("– now")
    end = browser.run("live.day.range.to")
    browser.run("live.day.ask()")
    browser.wait_for(f"live.day.range.to > {end}")
    browser.click("#all-day")
    assert browser.run("live.day.range") is None


def test_buttons_that_can_do_nothing_are_disabled(peer, page):
    peer.add(0)
    browser = connected(page(DESK))
    day_shown(browser)
    enabled = "[...document.querySelectorAll('#day-tools button')].filter((e) => !e.disabled).map((e) => e.id).join(' ')"
    browser.wait_for(f"{enabled} === 'zoom-in'")
    browser.click("#zoom-in")
    # It zooms towards now.
    assert browser.run("live.day.follows") is True
    assert browser.run(enabled) == "earlier zoom-out zoom-in all-day"
    # The keys are heard where the buttons are, too; the focus does not fall from one that can do nothing any more.
    browser.run("document.getElementById('zoom-in').focus()")
    for _ in range(12):
        browser.press("+", "+")
    assert browser.run(enabled) == "earlier zoom-out all-day"
    assert browser.run("document.activeElement.localName") == "canvas"
    browser.press("ArrowLeft")
    assert browser.run(enabled) == "earlier later zoom-out all-day to-now"
    browser.press("0", "0")
    assert browser.run(f"[{enabled}, live.day.follows]") == ["zoom-in", True]


def test_what_is_read_goes_with_the_range(peer, page):
    peer.add(0)
    browser = connected(page(DESK))
    day_shown(browser)
    browser.point("#days canvas")
    browser.wait_for("document.getElementById('day-read').textContent.includes('R02_BEEF: heart rate')")
    browser.run("document.querySelector('#days canvas').focus()")
    browser.press("+", "+")
    assert browser.texts("#day-read") == [""]


def day_of(**rows):
    def answer(start, end, columns):
        columns = {name: [None] * 10 for name in ("bpm", "quality", "low", "high", "motion")} | rows
        return {"now": 100, "from": 0, "to": 100, "step": 10, "rings": [{"ring": 0} | columns], "marks": []}
    return answer


def test_movement_begins_at_0_and_rows_without_values_are_left_out(peer, page):
    peer.add(0, kinds=["accel"])
    peer.day = day_of(motion=[0] * 10)
    browser = connected(page(DESK))
    browser.run("""void (CanvasRenderingContext2D.prototype.fillText = new Proxy(CanvasRenderingContext2D.prototype.fillText, {
      apply(target, self, values) { (globalThis.written ??= []).push(values[0]); return Reflect.apply(target, self, values); }}))""")
    day_shown(browser)
    browser.run("(globalThis.written = [], live.day.draw())")
    written = browser.run("written")
    assert {"Movement", "0.2 g", "0 g"} <= set(written) and not [text for text in written if "Heart rate" in text or "light" in text]


@pytest.mark.parametrize("answer", [
    5, {}, {"now": 1, "from": 0, "to": 1, "step": 0, "rings": []}, {"now": 1, "from": 0, "to": 1, "step": -1, "rings": 7},
    {"now": "x", "from": 0, "to": 1, "step": 1, "rings": []}, {"now": 1e17, "from": 0, "to": 1e17, "step": 1, "rings": []}])
def test_day_that_cannot_be_read(peer, page, answer):
    peer.add(0)
    peer.day = lambda *_: answer
    browser = connected(page())
    browser.wait_for("document.getElementById('day-mistake').textContent === 'The program’s answer cannot be read.'")


# --- several rings, and texts of others


@pytest.mark.parametrize("size", [PHONE, DESK])
@pytest.mark.parametrize("scene", ["fast", "stock", "contact", "eight", "hostile"])
def test_nothing_is_wider_than_the_window(peer, page, size, scene):
    made = Scene(peer, "eight" if scene == "hostile" else scene)
    browser = connected(page(size), len(peer.rings))
    if scene == "hostile":
        for ring in range(8):
            peer.send("ring", {"ring": ring, "address": HOSTILE, "name": HOSTILE, "kinds": ["ppg"], "firmware": HOSTILE})
            peer.send("mark", {"ring": ring, "t": peer.now, "kind": "mark", "note": HOSTILE})
            peer.send("state", state_of(ring, state=HOSTILE, fault=HOSTILE, bpm=1e20, battery=1e300, rate=1e300, gaps=-1e300, lost=1e300))
    browser.wait_for("document.querySelectorAll('dd').length > 0 && live.day.data !== null")
    wide = """[...document.querySelectorAll('body *')].filter((e) => !e.closest('.spoken, #quick button') &&
      e.getBoundingClientRect().right > document.documentElement.clientWidth + .5).map((e) => e.outerHTML.slice(0, 80))"""
    assert browser.run(wide) == []
    assert browser.run("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    small = """[...document.querySelectorAll('button, input, a, summary')].map((e) => e.getBoundingClientRect())
      .filter(({width, height}) => width > 0 && (width < 44 || height < 44)).length"""
    assert browser.run(small) == 0
    made.stop()


def test_hostile_texts_stay_texts(peer, page):
    peer.add(0, HOSTILE)
    browser = connected(page())
    peer.send("mark", {"ring": 0, "t": peer.now, "kind": "mark", "note": HOSTILE})
    peer.send("mark", {"ring": 0, "t": peer.now, "kind": HOSTILE, "note": HOSTILE})
    peer.send("state", state_of(0, state=HOSTILE, fault=HOSTILE, bpm=None))
    peer.send("end", {"reason": HOSTILE})
    browser.wait_for("document.querySelector('.words')?.textContent.startsWith('No pulse: <script>')")
    browser.run("live.day.ask()")
    browser.wait_for("document.querySelectorAll('#day-marks li').length > 1")
    assert browser.run("document.title") == "halo-raw on raspberrypi"
    assert browser.run("[document.scripts.length, document.images.length]") == [1, 0]
    shown = browser.run("document.body.innerText")
    assert "<script>document.title=" in shown and "\u202e" not in shown and "\u2066" not in shown and "W" * 250 not in shown


def test_each_of_eight_rings_is_reached_on_a_phone(peer, page):
    made = Scene(peer, "eight")
    browser = connected(page(), 8)
    assert [text.split()[0] for text in browser.texts("#jumps a")] == [ring["name"] for ring in peer.rings]
    browser.click("#jumps a", 7)
    browser.wait_for("""(() => { const box = document.getElementById('ring-7').getBoundingClientRect();
      return box.top >= 0 && box.top < innerHeight / 2; })()""")
    # Only what is seen is drawn.
    browser.wait_for("[...live.parts.values()].filter(({card}) => card.isSeen).length < 5")
    made.stop()


# --- for everybody


def test_signs_are_explained_on_demand(peer, page):
    peer.add(0)
    browser = connected(page())
    shown = "document.getElementById('signs').innerText"
    assert "hang" not in browser.run(shown)
    browser.click("#signs summary")
    text = " ".join(browser.run(shown).split())
    for words in ("A beat that counts", "not counted, for the reason in the strip", "the waves hang downwards", "ends 3 s before the waves",
                  "there are no samples", "Dashed line in the day", "the least and the greatest count"):
        assert words in text


def test_every_control_and_picture_has_a_name(peer, page):
    made = Scene(peer, "two")
    browser = connected(page(), 2)
    browser.run("localStorage.setItem('halo-raw marks', '[\"coffee\"]')")
    browser = connected(page(), 2)
    browser.wait_for("live.day.data !== null && document.querySelector('.rate').textContent !== '–'")
    browser.wait_for("document.querySelector('canvas').getAttribute('aria-label').includes('Green light 1')")
    nodes = [node for node in browser.call("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]]
    named = {"button", "textbox", "image", "link", "group", "region", "form", "navigation", "img", "DisclosureTriangle"}
    found = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if node["role"]["value"] in named]
    assert [role for role, name in found if not name] == []
    names = {name for _, name in found}
    assert {"Pause", "Zoom in", "Signs", "Mark", "Text of the mark", "Mark “coffee”"} <= names
    pictures = [name for role, name in found if role in ("image", "img")]
    assert len(pictures) == 4 and any(name.startswith("Waveforms of the last 10 s of R02_BEEF: Green light 1") for name in pictures)
    browser.run("localStorage.clear()")
    made.stop()


def test_everything_is_reached_by_keyboard(peer, page):
    peer.add(0)
    browser = connected(page(DESK))
    day_shown(browser)
    browser.wait_for("!document.getElementById('day-happened').hidden")
    order = []
    for _ in range(9):
        browser.call("Input.dispatchKeyEvent", type="keyDown", key="Tab", code="Tab", windowsVirtualKeyCode=9)
        browser.call("Input.dispatchKeyEvent", type="keyUp", key="Tab", code="Tab", windowsVirtualKeyCode=9)
        order.append(browser.run("document.activeElement.id || document.activeElement.localName"))
        assert order[-1] == "body" or browser.run("getComputedStyle(document.activeElement).outlineStyle") == "solid", order[-1]
    # The whole day is shown, and follows: there is nothing to go back to.
    assert order[0:3] == ["pause", "summary", "zoom-in"] and order[3:] == ["canvas", "summary", "mark-text", "mark-set", "body", "pause"]


def test_space_and_the_button_pause(peer, page):
    Scene(peer, "fast")
    browser = connected(page())
    two_frames = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    browser.wait_for(f"{WAVE}.drawn > 0")
    browser.press(" ", " ")
    drawn = browser.run(f"{WAVE}.drawn")
    browser.run(f"{two_frames}.then(() => 0)")
    assert browser.run(f"{WAVE}.drawn") == drawn
    assert browser.texts("#pause") == ["Resume"]
    assert re.fullmatch(r"paused at \d\d:\d\d:\d\d; the numbers go on", browser.texts("#paused")[0])
    browser.click("#pause")
    assert browser.texts("#paused") == [""]
    browser.wait_for(f"{WAVE}.drawn > {drawn}")
    # In the field, the space is a space.
    browser.click("#mark-text")
    browser.press(" ", " ")
    assert browser.texts("#pause") == ["Pause"]


def test_hidden_page_draws_nothing_and_catches_up(peer, page):
    Scene(peer, "fast")
    browser = connected(page())
    browser.wait_for(f"{WAVE}.drawn > 0")
    hide = "Object.defineProperty(document, 'hidden', {{value: {}, configurable: true}});" \
        "document.dispatchEvent(new Event('visibilitychange'));"
    browser.run(hide.format("true"))
    drawn = browser.run(f"{WAVE}.drawn")
    count = browser.run(f"{RING}.series.ppg.total")
    browser.wait_for(f"{RING}.series.ppg.total > {count + 25}")
    assert browser.run(f"{WAVE}.drawn") == drawn
    browser.run(hide.format("false"))
    browser.wait_for(f"{WAVE}.drawn > {drawn + 0.9}")


def test_less_motion_draws_once_a_second(peer, page):
    Scene(peer, "fast")
    browser = connected(page(**{"prefers-reduced-motion": "reduce"}))
    # It is drawn anew when the numbers come, which takes room.
    browser.wait_for("document.querySelector('.rate')?.textContent !== '–'")
    times = browser.run(f"""new Promise((done) => {{
      const times = [];
      (function look() {{
        if (times.at(-1) !== {WAVE}.drawn) times.push({WAVE}.drawn);
        if (times.length > 3) done(times); else requestAnimationFrame(look);
      }})();
    }})""")
    assert times[-1] - times[0] > 2


@pytest.mark.parametrize("scheme, ground", [("light", GROUND), ("dark", (0x14, 0x16, 0x1A))])
def test_light_and_dark(peer, page, scheme, ground):
    browser = page(**{"prefers-color-scheme": scheme})
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb({}, {}, {})".format(*ground)


def test_page_can_be_installed(peer, page):
    browser = page()
    manifest = browser.call("Page.getAppManifest")
    assert manifest["errors"] == [] and manifest["url"] == f"{peer.url}manifest.webmanifest"
    told = json.loads(manifest["data"])
    assert (told["start_url"], told["scope"], told["display"]) == ("./", "./", "standalone")
    size = browser.run("""fetch(document.querySelector('[rel=apple-touch-icon]').href).then((answer) => answer.blob())
      .then(createImageBitmap).then(({width, height}) => [width, height])""")
    assert size == [180, 180]


# --- for a day


def test_memory_is_bounded(peer, page):
    """An hour of 100 samples a second takes what a minute and a half does."""
    peer.add(0, kinds=["ppg", "spo2", "accel"])
    browser = connected(page())
    feed = f"""(() => {{
      for (let second = %d; second < %d; second += 1) {{
        const send = (name, message) => live.session.receive(name, {{ring: 0, ...message}}, second);
        const times = Array.from({{length: 100}}, (_, index) => second + index / 100);
        send('samples', {{ppg: times.flatMap((t) => [t, 1000 + second %% 7]), spo2: times.flatMap((t) => [t, 900]),
          accel: times.flatMap((t) => [t, 0, 0, 1])}});
        for (const part of [0, .3, .6]) send('beat', {{t: second + part, bpm: 190, quality: .9, reason: 'good'}});
        send('second', {{t: second, quality: .9, reason: 'good'}});
        send('mark', {{t: second, kind: second %% 2 ? 'gap' : 'mark', note: `number ${{second}}`}});
      }}
      const {{series, beats, seconds, marks, cuts}} = {RING};
      return [series.ppg.total, series.ppg.size, series.accel.size, beats.length, seconds.length, marks.length, cuts.length];
    }})()"""

    def used():
        browser.call("HeapProfiler.collectGarbage")
        return browser.call("Runtime.getHeapUsage")["usedSize"]

    browser.run(feed % (0, 200))
    before = used()
    counts = browser.run(feed % (200, 3800))
    assert counts[0] >= 380_000 and counts[1:] == [8192, 8192, 256, 128, 200, 64]
    assert used() - before < 2_000_000
