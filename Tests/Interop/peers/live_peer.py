"""A server that speaks what the page of `stream --web` understands, with a made-up signal: written from the protocol alone, so
that the page is tested against something other than the program. By hand: `live_peer.py [SCENE]` serves a scene until it is ended."""

import base64
import hashlib
import json
import math
import queue
import re
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ASSETS = Path(__file__).resolve().parents[3] / "Sources/Program/ReportAssets"


def parts(name, suffix):
    """The files of a list in PageAssets.swift, in its order."""
    source = (ASSETS / "PageAssets.swift").read_text()
    names = re.search(rf"\b{name} = \[(.*?)\]", source, re.DOTALL)[1]
    found = re.findall(rf"PackageResources\.(\w+)_{suffix}\b", names)
    return [next(ASSETS.glob(f"*/{part.replace('_', '-')}.{suffix}")) for part in found]


def script():
    joined = "".join(path.read_text() for path in parts("liveModules", "js"))
    return re.sub(r"^export ", "", re.sub(r"^import .*\n", "", joined, flags=re.M), flags=re.M)


def style():
    return "".join(path.read_text() for path in parts("liveSheets", "css"))


def page():
    """The page, as PageAssets.swift joins it."""
    text = (ASSETS / "live.html").read_text()
    text = text.replace("\n<style></style>\n", f"\n<style>{style()}</style>\n")
    return text.replace('\n<script type="module"></script>\n', f'\n<script type="module">{script()}</script>\n')


def policy():
    """What the page may do: run its own script, with its own style, and load from here only."""
    script_hash, style_hash = (
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (script(), style()))
    return (f"default-src 'none'; script-src 'sha256-{script_hash}'; style-src 'sha256-{style_hash}'; img-src 'self' data:; "
            "connect-src 'self'; manifest-src 'self'")


# --- a made-up pulse


PERIOD = 0.83  # seconds from beat to beat


def light(t):
    """Green light in counts: a steep fall at each beat, a second wave, and a slow drift with the breath."""
    phase = t / PERIOD % 1
    wave = math.exp(-((phase - 0.18) / 0.09) ** 2) + 0.35 * math.exp(-((phase - 0.52) / 0.12) ** 2)
    return round(12200 - 420 * wave + 90 * math.sin(t / 2.1) + 8 * math.sin(t * 37))


def red(t):
    return round(9400 + 0.6 * (light(t - 0.02) - 12200))


def acceleration(t, moves=False):
    shake = 0.5 * math.sin(t * 9) if moves else 0
    return [round(value, 3) for value in
            (0.11 + 0.01 * math.sin(t) + shake, -0.32 + 0.012 * math.sin(t * 1.7) - shake / 2, 0.94 + 0.01 * math.cos(t) + shake / 3)]


def state_of(ring, **changes):
    """The state of a ring that counts its beats."""
    return {
        "ring": ring, "state": "streaming", "connected": True, "source": "counted", "rate": 25.0, "bpm": 72,
        "bpm_source": "light", "own_rate": False, "fault": None, "battery": 87, "charging": False, "interval_ms": 15.0, "lost": 0, "gaps": 0,
        "records": 1234, "variability": {"rmssd_ms": 28.1, "sdnn_ms": 40.2, "window_s": 60, "estimate": True}} | changes


STOCK = {
    "rate": 1.0, "bpm": 66, "bpm_source": "ring", "own_rate": True, "fault": "rate too low", "lost": None, "interval_ms": None, "variability": None,
    "source": "stock"}


class LivePeer:
    """The server. Tests send messages by hand; a scene sends them by the clock."""

    def __init__(self, port=0, token="", most=8, age=0.0):
        """- age: how long ago the program began, in seconds"""
        self.begin = time.time() - age
        self.policy = policy()
        self.token = f"/{token}/" if token else "/"
        self.rings: list[dict] = []
        self.marks: list[dict] = []
        self.posted: list[str] = []
        self.asked: list[dict] = []
        self.viewers: list[queue.Queue] = []
        self.most = most
        self.refusal: tuple[int, str] | None = None
        self.history: list[tuple[str, dict]] = []
        self.day = self.made_up_day
        self.lock = threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}{self.token}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def now(self):
        return time.time() - self.begin

    def add(self, ring, name="R02_BEEF", kinds=("ppg", "accel"), address="30:34:00:00:BE:EF"):
        message = {"ring": ring, "address": address, "name": name, "kinds": list(kinds), "firmware": "R02_3.00.06"}
        self.rings.append(message)
        self.send("ring", message)

    def send(self, name, message):
        if name == "mark":
            self.marks.append(message)
        text = f"event: {name}\ndata: {json.dumps(message)}\n\n".encode()
        with self.lock:
            for viewer in self.viewers:
                viewer.put(text)

    def send_raw(self, data: bytes):
        with self.lock:
            for viewer in self.viewers:
                viewer.put(data)

    def drop(self):
        """Ends all connections, as a network does."""
        with self.lock:
            for viewer in self.viewers:
                viewer.put(None)
            self.viewers.clear()

    def close(self):
        self.drop()
        self.server.shutdown()
        self.server.server_close()

    def made_up_day(self, start, end, columns):
        now = self.now
        start = -3 * 3600 if start is None else start
        end = now if end is None else end
        step = max(1, (end - start) / columns)
        times = [start + (index + 0.5) * step for index in range(math.ceil((end - start) / step))]

        def at(t, value):
            return None if -5400 < t < -4500 or t > now else value

        rings = [{
            "ring": ring["ring"],
            "bpm": [at(t, round(66 + 12 * math.sin(t / 1900) + 5 * math.sin(t / 140) + 2 * math.sin(t / 17), 1)) for t in times],
            "quality": [at(t, 0.2 if -7600 < t < -7000 else round(0.86 + 0.1 * math.sin(t / 300), 2)) for t in times],
            "low": [at(t, round(11650 + 100 * math.sin(t / 2500))) for t in times],
            "high": [at(t, round(12250 + 110 * math.sin(t / 2500))) for t in times],
            "motion": [at(t, round(0.02 + 0.3 * max(0, math.sin(t / 700)) ** 8, 3)) for t in times]} for ring in self.rings]
        marks = [{"ring": 0, "t": -5400, "kind": "gap", "note": "connection lost: supervision timeout"},
                 {"ring": 0, "t": -2400, "kind": "mark", "note": "coffee"}, *self.marks]
        return {"now": now, "from": start, "to": end, "step": step, "rings": rings,
                "marks": [mark for mark in marks if start <= mark["t"] <= end]}

    def _handler(peer):  # noqa: N805
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self, status, kind="text/plain; charset=utf-8", body=b""):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Content-Security-Policy", peer.policy)
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                address = urllib.parse.urlsplit(self.path)
                if not address.path.startswith(peer.token):
                    return self.answer(404, body=b"There is nothing here.")
                match address.path[len(peer.token):]:
                    case "":
                        self.answer(200, "text/html; charset=utf-8", page().encode())
                    case "manifest.webmanifest":
                        self.answer(200, "application/manifest+json", (ASSETS / "live.webmanifest").read_bytes())
                    case "icon.svg":
                        self.answer(200, "image/svg+xml", (ASSETS / "live-icon.svg").read_bytes())
                    case "icon.png":
                        self.answer(200, "image/png", (ASSETS / "live-icon.png").read_bytes())
                    case "events":
                        self.events()
                    case "day":
                        query = dict(urllib.parse.parse_qsl(address.query))
                        peer.asked.append(query)
                        start, end = (float(query[name]) if name in query else None for name in ("from", "to"))
                        answer = peer.day(start, end, int(query["columns"]))
                        self.answer(200, "application/json", json.dumps(answer).encode())
                    case _:
                        self.answer(404, body=b"There is nothing here.")

            def do_POST(self):
                text = self.rfile.read(int(self.headers["Content-Length"])).decode()
                if self.path != f"{peer.token}mark":
                    return self.answer(404, body=b"There is nothing here.")
                if len(text) > 200 or not text:
                    return self.answer(400, body=b"A mark has 1 to 200 characters.")
                if peer.refusal:
                    return self.answer(peer.refusal[0], body=peer.refusal[1].encode())
                peer.posted.append(text)
                self.send_response(204)
                self.end_headers()
                for ring in peer.rings:
                    peer.send("mark", {"ring": ring["ring"], "t": peer.now, "kind": "mark", "note": text})

            def events(self):
                viewer = queue.Queue()
                with peer.lock:
                    if len(peer.viewers) >= peer.most:
                        return self.answer(503, body=f"{peer.most} viewers watch already".encode())
                    peer.viewers.append(viewer)
                    hello = {"program": "halo-raw 0.2.0", "host": "raspberrypi", "now": peer.now,
                             "time": round(time.time() * 1000), "viewers": len(peer.viewers)}
                    first = [("hello", hello), *[("ring", ring) for ring in peer.rings], *peer.history,
                             *[("mark", mark) for mark in peer.marks[-50:]]]
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Cache-Control", "no-store")
                self.send_header("Connection", "close")
                self.end_headers()
                self.close_connection = True
                try:
                    for name, message in first:
                        self.wfile.write(f"event: {name}\ndata: {json.dumps(message)}\n\n".encode())
                    while (data := viewer.get()) is not None:
                        self.wfile.write(data)
                except OSError:
                    pass
                finally:
                    with peer.lock:
                        if viewer in peer.viewers:
                            peer.viewers.remove(viewer)

        return Handler


# --- scenes


class Scene:
    """Sends what happens, by the clock, until it is stopped."""

    def __init__(self, peer, name):
        self.peer, self.name = peer, name
        self.stopped = threading.Event()
        self.sent = peer.now - 14
        if name != "none":
            peer.add(0, kinds=["ppg"] if name == "stock" else ["ppg", "spo2", "accel"])
        if name in ("two", "eight"):
            for ring in range(1, 2 if name == "two" else 8):
                peer.add(ring, f"R0{ring + 2}_00{ring}{ring}", ["ppg"], f"30:34:00:00:00:0{ring}")
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def stop(self):
        self.stopped.set()
        self.thread.join()

    def is_quiet(self, t):
        return self.name == "gaps" and 6 <= t % 20 < 9

    def run(self):
        last = math.floor(self.sent)
        while not self.peer.viewers and not self.stopped.wait(0.02):
            pass
        while not self.stopped.wait(0.05):
            now = self.peer.now
            self.samples(now)
            for second in range(last + 1, math.floor(now) + 1):
                self.second(second)
                last = second
            self.sent = now

    def samples(self, now):
        for ring in self.peer.rings:
            rate = 1 if self.name == "stock" else 25 if ring["ring"] == 0 else 1
            times = [index / rate for index in range(math.floor(self.sent * rate) + 1, math.floor(now * rate) + 1)]
            times = [t for t in times if not self.is_quiet(t)]
            if not times:
                continue
            message = {"ring": ring["ring"]}
            if "ppg" in ring["kinds"]:
                message["ppg"] = [value for t in times for value in (t, light(t))]
            if "spo2" in ring["kinds"]:
                message["spo2"] = [value for t in times for value in (t, red(t))]
            if "accel" in ring["kinds"]:
                message["accel"] = [value for t in times for value in (t, *acceleration(t))]
            self.peer.send("samples", message)

    def second(self, t):
        send = self.peer.send
        bad = self.name == "contact" or t % 17 in (4, 5)
        reason = "no contact" if self.name == "contact" else "motion" if bad else "good"
        for ring in self.peer.rings:
            index = ring["ring"]
            if self.name == "stock" or index > 0:
                send("second", {"ring": index, "t": t - 3, "quality": 0.1, "reason": "rate too low"})
                send("state", state_of(index, **STOCK))
                continue
            send("second", {"ring": index, "t": t - 3, "quality": 0.1 if bad else 0.93 - 0.02 * (t % 5), "reason": reason})
            beat = (math.floor((t - 2.3) / PERIOD) + 0.11) * PERIOD
            while beat < t - 1.3:
                if beat >= t - 2.3 and not self.is_quiet(beat):
                    send("beat", {"ring": index, "t": beat, "interval": None if bad else PERIOD, "bpm": None if bad else 60 / PERIOD,
                                  "quality": 0.2 if bad else 0.93, "reason": reason})
                beat += PERIOD
            if self.is_quiet(t):
                if not self.is_quiet(t - 1):
                    send("mark", {"ring": index, "t": t - 0.04, "kind": "gap", "note": "connection lost: supervision timeout"})
                send("state", state_of(index, state="connection lost: supervision timeout", connected=False, bpm=None, bpm_source=None))
            elif self.name == "contact":
                send("state", state_of(index, bpm=None, bpm_source=None, fault="no contact", variability=None))
            else:
                send("state", state_of(index, bpm=72 + t // 4 % 3))


if __name__ == "__main__":
    peer = LivePeer(port=8123)
    Scene(peer, sys.argv[1] if len(sys.argv) > 1 else "fast")
    print(peer.url, flush=True)
    threading.Event().wait()
