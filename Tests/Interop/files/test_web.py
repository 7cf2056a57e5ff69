"""The page of `stream --web`: who may read it, what it sends, and what becomes of those who read slowly, or not at all.

The situations are those of public reports: names that lead to this machine (quick-lint-js #951, canonry #1177), origins that
begin like allowed ones (quarkus-mcp-server #902), a reader slower than the stream (opencti #13908), tabs that take all
connections (quart #304, django-sse #12), and readers that vanish (misty-step/cortex #44).
"""

import csv
import ctypes.util
import http.client
import json
import os
import re
import signal
import socket
import time

import live_peer
import pytest
from program import OK, SYSTEM, USAGE, cpu_seconds, wait_until

pytestmark = pytest.mark.skipif(
    ctypes.util.find_library("microhttpd") is None, reason="no libmicrohttpd: run scripts/setup test")


class Web:
    """A stream with a page, and requests to it."""

    def __init__(self, halo, *arguments, adapter="virtual", address="127.0.0.1:0"):
        self.process = halo.start("stream", f"--web={address}", *arguments, adapter=adapter)
        self.lines = []
        while not self.lines or not self.lines[-1].startswith("live: "):
            line = self.process.stderr.readline()
            assert line, self.lines
            self.lines.append(line)
        self.link = self.lines[-1].split()[1]
        self.port, self.base = re.fullmatch(r"http://[^/]+:(\d+)(/.*)", self.link).groups()
        self.port = int(self.port)

    def request(self, path="", method="GET", body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request(
            method, path if path.startswith("/") else self.base + path, body,
            {name.replace("_", "-"): value for name, value in headers.items()})
        response = connection.getresponse()
        return response.status, response.headers, response.read()

    def day(self, query=""):
        status, _, body = self.request("day" + query)
        assert status == 200, body
        return json.loads(body)

    def viewer(self, **options):
        return Viewer(self, **options)

    def raw(self, request: bytes) -> bytes:
        """What comes of any bytes, up to the end of the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as link:
            try:
                link.sendall(request)
                pieces = []
                while piece := link.recv(65536):
                    pieces.append(piece)
            except ConnectionError:
                pass
            return b"".join(pieces)


class Viewer:
    """An open stream of events."""

    def __init__(self, web, buffer=None, status=200):
        self.link = socket.socket()
        if buffer:
            self.link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.link.settimeout(20)
        self.link.connect(("127.0.0.1", web.port))
        self.link.sendall(f"GET {web.base}events HTTP/1.1\r\nHost: 127.0.0.1:{web.port}\r\n\r\n".encode())
        self.response = http.client.HTTPResponse(self.link)
        self.response.begin()
        assert self.response.status == status

    def messages(self):
        """The name of each message, and what is in it."""
        name = None
        while line := self.response.readline():
            if line.startswith(b"event: "):
                name = line[7:].decode().strip()
            elif line.startswith(b"data: "):
                yield name, json.loads(line[6:])

    def until(self, wanted, most=100_000):
        """All messages up to the first that is wanted."""
        seen = []
        for name, data in self.messages():
            seen.append((name, data))
            if wanted(name, data):
                return seen
            assert len(seen) < most
        raise AssertionError(f"the stream of events has ended: {seen[-3:]}")

    def close(self):
        self.response.close()
        self.link.close()


@pytest.fixture
def web(halo):
    started = []

    def start(*arguments, **options):
        started.append(Web(halo, *arguments, **options))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.send_signal(signal.SIGINT)
            one.process.communicate(timeout=20)


def end(halo, web):
    web.process.send_signal(signal.SIGINT)
    return halo.wait(web.process)


def test_a_viewer_gets_every_sample_of_the_output(halo, web, tmp_path):
    page = web("--ppg", "--accel", "--output", tmp_path / "s.csv")
    viewer = page.viewer()
    seen = viewer.until(lambda name, data: name == "beat" and data["interval"] is not None)
    assert [name for name, _ in seen[:2]] == ["hello", "ring"]
    hello, ring = seen[0][1], seen[1][1]
    assert abs(hello["time"] / 1000 - time.time()) < 60 and hello["viewers"] == 1
    assert ring["name"] == "R02_BEEF" and ring["kinds"] == ["ppg", "accel"]
    shown = [pair for name, data in seen if name == "samples"
             for pair in zip(data.get("ppg", [])[::2], data.get("ppg", [])[1::2])]
    assert end(halo, page).code == OK
    rows = [row for row in csv.DictReader(open(tmp_path / "s.csv")) if row["kind"] == "ppg"]
    counts = [int(row["raw"]) if row["raw"] else None for row in rows]
    values = [value for _, value in shown]
    # A viewer comes into the middle of a stream, and misses nothing from then on.
    start = next(index for index in range(len(counts)) if counts[index:index + len(values)] == values)
    times = [float(row["t"]) for row in rows[start:start + len(values)]]
    shift = shown[0][0] - times[0]
    assert all(abs(t - shift - time_of_row) < 0.001 for (t, _), time_of_row in zip(shown, times))


def test_a_state_a_second_has_what_an_owner_asks_for(web):
    viewer = web("--ppg", "--accel").viewer()
    seen = viewer.until(lambda name, data: name == "state" and data["bpm"] and data["battery"] is not None)
    state = seen[-1][1]
    assert 40 < state["bpm"] < 120 and state["bpm_source"] == "light"
    assert state["state"] == "streaming" and state["connected"] is True and 20 < state["rate"] < 30
    assert 0 < state["battery"] <= 100 and state["interval_ms"] == 15 and state["gaps"] == 0 and state["lost"] is None


def test_losses_of_a_ring_that_is_not_ours_are_counted_on_the_page(halo, web, ring_with, tmp_path):
    ring = ring_with("--counted", "--lose", 5, "--rate", 100, "--seed", 3)
    page = web("--ppg", "--output", tmp_path / "s.csv", adapter=ring.adapter)
    viewer = page.viewer()
    seen = viewer.until(lambda name, data: name == "state" and (data["lost"] or 0) > 10)
    state = seen[-1][1]
    assert state["source"] == "counted" and state["own_rate"] is True and state["battery"] is not None
    assert any(name == "mark" and data["kind"] == "lost" for name, data in seen)
    shown = [value for name, data in seen if name == "samples" for value in data.get("ppg", [])[1::2]]
    assert end(halo, page).code == OK
    rows = list(csv.DictReader(open(tmp_path / "s.csv")))
    counts = [int(row["raw"]) for row in rows if row["kind"] == "ppg"]
    assert counts[:len(shown)] == shown or any(
        counts[start:start + len(shown)] == shown for start in range(len(counts)))
    assert sum(row["kind"] == "lost" for row in rows) > 5


def test_a_stock_ring_says_its_own_heart_rate(web):
    viewer = web("--ppg", adapter="virtual:rate=1,warm-up=1").viewer()
    seen = viewer.until(lambda name, data: name == "state" and data["bpm"] is not None)
    assert seen[-1][1]["bpm_source"] == "ring"
    assert not any(name == "beat" for name, _ in seen)


def test_a_lost_link_is_a_gap_and_goes_on(web):
    viewer = web("--ppg", "--retry-for", "30s", adapter="virtual:drop-after=60").viewer()
    seen = viewer.until(lambda name, data: name == "mark" and data["kind"] == "gap")
    assert "lost" in seen[-1][1]["note"]
    viewer.until(lambda name, data: name == "samples")


@pytest.mark.verdict
@pytest.mark.parametrize("headers", [
    {"Host": "evil.example"}, {"Host": "localhost.evil.example:80"}, {"Host": "127.0.0.1.evil.example"},
    {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec_Fetch_Site": "cross-site"},
], ids=str)
@pytest.mark.parametrize("path", ["", "events", "day", "mark", "icon.svg"])
def test_other_sites_read_nothing(web, headers, path):
    status, found, body = web("--ppg").request(path, **headers)
    assert status in (403, 421) and "Access-Control-Allow-Origin" not in found
    assert len(body) < 200


@pytest.mark.verdict
def test_the_page_lets_nothing_else_run(web):
    page = web("--ppg")
    status, headers, body = page.request()
    policy = headers["Content-Security-Policy"]
    assert status == 200 and "default-src 'none'" in policy and "unsafe" not in policy
    nonces = set(re.findall(r"nonce-(\w+)", policy))
    assert set(re.findall(rb'nonce="(\w+)"', body)) == {nonce.encode() for nonce in nonces} and len(nonces) == 1
    assert page.request()[1]["Content-Security-Policy"] != policy
    for name in ("X-Content-Type-Options", "Referrer-Policy", "Cross-Origin-Resource-Policy"):
        assert headers[name]
    # The tests of the page run it as another program serves it: it has to be the same.
    assert re.sub(rb' nonce="\w+"', b"", body).decode() == live_peer.page()


@pytest.mark.verdict
def test_another_address_needs_the_secret_of_its_link(web):
    page = web("--ppg", address="0.0.0.0:0")
    assert re.fullmatch(r"/[a-z2-9]{24}/", page.base)
    assert page.request()[0] == 200
    assert page.request(page.base[:-1])[0] == 308
    for path in ("/", "/events", "/day", page.base[:-2] + "/", page.base.upper(), "/../" + page.base, "//"):
        status, _, body = page.request(path)
        assert status == 404 and b"secret" in body, path
    assert "not encrypted" in page.process.stderr.readline()


def test_a_slow_viewer_loses_samples_and_the_stream_none(halo, web, tmp_path):
    page = web("--ppg", "--accel", "--spo2", "--output", tmp_path / "s.csv", adapter="virtual:rate=400")
    slow, quick = page.viewer(buffer=4096), page.viewer()
    # What the slow one does not read fills the kernel's buffers and its queue.
    began = time.monotonic()
    quick.until(lambda name, data: time.monotonic() - began > 9)
    before = resident(page.process)
    seen = slow.until(lambda name, data: name == "missed")
    assert seen[-1][1]["samples"] > 20
    assert resident(page.process) - before < 2 << 20
    slow.until(lambda name, data: name == "samples")
    result = end(halo, page)
    assert result.code == OK and ", 0 gaps" in result.err and "dropped" not in result.err


def resident(process):
    return int(open(f"/proc/{process.pid}/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_one_who_comes_sees_the_last_seconds(web):
    page = web("--ppg", "--accel")
    page.viewer().until(lambda name, data: name == "beat" and data["bpm"] is not None)
    seen = page.viewer().until(lambda name, data: name == "state")
    samples = next(data for name, data in seen if name == "samples")
    assert len(samples["ppg"]) > 100 and len(samples["accel"]) == 2 * len(samples["ppg"])
    assert [name for name, _ in seen].count("beat") >= 3 and "second" in [name for name, _ in seen]


def test_a_ninth_viewer_is_told_why_he_sees_nothing(web):
    page = web("--ppg")
    viewers = [page.viewer() for _ in range(8)]
    status, _, body = page.request("events")
    assert status == 503 and b"8 viewers" in body
    assert page.request()[0] == 200
    viewers.pop().close()
    wait_until(lambda: page.request("day")[0] == 200 and joined(page), "free place")


def joined(page, resets=False):
    """Whether there was a place for a viewer, who is gone again."""
    try:
        viewer = page.viewer()
    except AssertionError:
        return False
    if resets:
        viewer.link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    viewer.close()
    return True


def test_viewers_that_vanish_leave_nothing_behind(web):
    page = web("--ppg")
    page.viewer().close()
    files = lambda: len(os.listdir(f"/proc/{page.process.pid}/fd"))
    page.day()
    for _ in range(6):
        for _ in range(4):
            wait_until(lambda: joined(page, resets=True), "free place")
    wait_until(lambda: files() <= 24, "closed sockets", 20)


@pytest.mark.verdict
def test_a_stream_that_ends_says_so(halo, web):
    page = web("--ppg")
    viewer = page.viewer()
    viewer.until(lambda name, data: name == "samples")
    began = time.monotonic()
    page.process.send_signal(signal.SIGINT)
    seen = list(viewer.messages())
    assert seen[-1][0] == "end"
    assert halo.wait(page.process).code == OK and time.monotonic() - began < 5


@pytest.mark.parametrize("request_bytes", [
    b"\0" * 1000, b"GET", b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.0\r\n\r\n", b"GET http://evil/ HTTP/1.1\r\nHost: evil\r\n\r\n",
    b"POST /mark HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
    b"POST /mark HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 3\r\n\r\n\xff\xfe\xfd",
    b"GET /%00%ff HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /day?from=1e400&to=nan&columns=-5 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    b"GET /day?from=-99999999&to=99999999&columns=999999999 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    b"DELETE / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    b"HEAD /events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
], ids=lambda request: repr(request[:30]))
def test_hostile_requests_end_and_harm_nothing(halo, web, request_bytes):
    page = web("--ppg")
    link = socket.create_connection(("127.0.0.1", page.port), timeout=1)
    link.sendall(request_bytes)
    link.shutdown(socket.SHUT_WR)
    try:
        while link.recv(65536):
            pass
    except (ConnectionError, TimeoutError):
        pass
    link.close()
    page.viewer().until(lambda name, data: name == "samples")
    assert end(halo, page).code == OK


def test_those_who_ask_for_nothing_leave_room_for_others(web):
    """All connections are taken by programs that send a header now and then, and by others that ask for what is not there."""
    page = web("--ppg", address="0.0.0.0:0")
    links = [socket.create_connection(("127.0.0.1", page.port)) for _ in range(60)]
    for number, link in enumerate(links):
        try:
            link.sendall(b"GET / HTTP/1.1\r\n" + (b"" if number % 2 else b"Host: 127.0.0.1\r\n\r\n"))
        except ConnectionError:
            pass
    viewers = [page.viewer() for _ in range(8)]
    for viewer in viewers:
        viewer.until(lambda name, data: name == "samples")
    for link in links:
        link.close()


def test_a_request_that_ends_in_the_middle_holds_no_connection(web):
    page = web("--ppg")
    viewer = page.viewer()
    viewer.until(lambda name, data: name == "state")
    files = lambda: len(os.listdir(f"/proc/{page.process.pid}/fd"))
    before = files()
    for _ in range(20):
        link = socket.create_connection(("127.0.0.1", page.port))
        link.sendall(b"GET")
        link.close()
    # It is accepted after them.
    assert page.request()[0] == 200
    wait_until(lambda: files() <= before, "closed connections", 25)


def test_connections_that_ask_nothing_cost_nothing(halo, web):
    page = web("--ppg")
    idle = [socket.create_connection(("127.0.0.1", page.port)) for _ in range(30)]
    before = cpu_seconds(page.process)
    time.sleep(1)
    assert cpu_seconds(page.process) - before < 0.3
    assert page.request()[0] == 200
    for link in idle:
        link.close()


def test_the_day_goes_on_where_the_last_run_has_ended(halo, web, tmp_path):
    folder = tmp_path / "days"
    first = web("--ppg", "--accel", "--output", f"{folder}/")
    first.viewer().until(lambda name, data: name == "beat" and data["bpm"] is not None)
    assert first.request("mark", "POST", "coffee")[0] == 204
    assert end(halo, first).code == OK
    second = web("--ppg", "--accel", "--output", f"{folder}/")
    # The address of the virtual ring is the same.
    wait_until(lambda: not second.day()["reading"] and second.day()["from"] < 0, "earlier records")
    day = second.day()
    ring = day["rings"][0]
    assert len(ring["bpm"]) == len(ring["low"]) == len(ring["quality"]) == len(ring["motion"])
    earlier = [index for index in range(len(ring["low"])) if day["from"] + index * day["step"] < 0]
    assert sum(ring["low"][index] is not None for index in earlier) >= 5
    assert all(10_000 < low <= high < 13_000 for low, high in zip(ring["low"], ring["high"]) if low is not None)
    assert "coffee" in [mark["note"] for mark in day["marks"] if mark["t"] < 0]
    finer = second.day(f"?from={day['from']}&to={day['from'] + 5}&columns=2")
    assert finer["step"] == 3 and len(finer["rings"][0]["bpm"]) == 2


@pytest.mark.verdict
def test_a_mark_of_a_viewer_is_in_the_records_and_on_all_pages(halo, web, tmp_path):
    page = web("--ppg", "--output", tmp_path / "s.csv")
    assert page.request("mark", "POST", "too early")[0] in (204, 409)
    viewers = [page.viewer(), page.viewer()]
    viewers[0].until(lambda name, data: name == "samples")
    text = "coffee, black \N{HOT BEVERAGE} <b>"
    for origin in (None, f"http://127.0.0.1:{page.port}"):
        headers = {"Origin": origin} if origin else {}
        assert page.request("mark", "POST", text.encode(), **headers)[0] == 204
    for viewer in viewers:
        seen = viewer.until(lambda name, data: name == "mark" and data["kind"] == "mark" and data["note"] == text)
        assert seen[-1][1]["ring"] == 0
    # It is there for those who come later, and in the day so far.
    page.viewer().until(lambda name, data: name == "mark" and data["note"] == text)
    assert text in [mark["note"] for mark in page.day()["marks"]]
    assert end(halo, page).code == OK
    rows = list(csv.DictReader(open(tmp_path / "s.csv")))
    assert [row["note"] for row in rows if row["kind"] == "mark"][-2:] == [text] * 2


@pytest.mark.parametrize("text", [b"", b" ", b"a\nb", b"\xff", b"x" * 201, b"\x1b[2J", b"x" * 5000], ids=lambda text: repr(text[:9]))
def test_a_text_that_is_no_mark_is_refused_with_the_reason(web, text):
    page = web("--ppg")
    page.viewer().until(lambda name, data: name == "samples")
    status, _, body = page.request("mark", "POST", text)
    assert status in (400, 413) and len(body) > 20
    assert page.request("mark", "GET")[0] == 405


def test_several_rings_are_on_one_page(web):
    viewer = web("R02_BEEF", "R02_BEF0", "--ppg", adapter="virtual:rings=2").viewer()
    found = set()
    viewer.until(lambda name, data: name == "samples" and (found.add(data["ring"]) or found == {0, 1}))


def test_a_page_of_several_fast_rings_can_be_opened(web, tmp_path):
    """What they have sent in the last seconds is more than a viewer may leave unread later."""
    page = web("--all", "--wait", "2s", "--output", tmp_path / "s.csv", adapter="virtual:rings=4,rate=200")
    page.viewer().until(lambda name, data: name == "state" and data["ring"] == 3 and data["records"] > 5000)
    began = time.monotonic()
    seen = page.viewer().until(lambda name, data: name == "state" and time.monotonic() > began + 1)
    assert {data["ring"] for name, data in seen if name == "samples"} == {0, 1, 2, 3}
    assert not any(name == "missed" for name, _ in seen)


def test_a_port_that_is_taken_is_said_with_a_way_out(halo, web):
    page = web("--ppg")
    result = halo.run("stream", "--ppg", f"--web={page.port}", adapter="virtual")
    result.failed(SYSTEM, saying="address already in use")
    assert f"--web=127.0.0.1:{page.port + 1}" in result.err


def test_a_page_that_can_not_be_served_leaves_no_file(halo, web, tmp_path):
    page = web("--ppg")
    for output in ("s.csv", "days/"):
        halo.run("stream", f"--web={page.port}", "--output", f"{tmp_path}/{output}", adapter="virtual").failed(SYSTEM)
    assert not list(tmp_path.glob("*.csv*")) and not list(tmp_path.glob("days/*"))


@pytest.mark.parametrize("arguments", [["--web=foo"], ["--web=1.2.3"], ["--web", "--ppg", "8642"], ["--web=host:99999"], ["--web=[::1]"], ["--web="]], ids=str)
def test_an_address_that_is_none_is_an_error_of_usage(halo, arguments):
    halo.run("stream", *arguments, adapter="virtual").failed(USAGE, saying="port")


@pytest.mark.parametrize("value", ["127.0.0.1:0", "localhost:0", "[::1]:0", "0"])
def test_the_address_may_follow_the_option(halo, value):
    process = halo.start("stream", "--ppg", "--web", value, "--duration", "1s", adapter="virtual")
    result = halo.wait(process).succeeded()
    assert result.err.startswith("live: http://")
