"""Chromium without a window, driven over its DevTools protocol: a pipe, lines that end with a zero byte."""

import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PATIENCE = 25  # seconds


def require():
    """Skips the tests without Chromium; in CI they fail, so that none is left out unseen."""
    if PROGRAM is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("no Chromium: run scripts/setup test")


def fixture(*options: str, kind=None):
    """A fixture of pytest: a browser for the tests of a file."""

    @pytest.fixture(scope="module")
    def browser(tmp_path_factory):
        require()
        one = (kind or Browser)(tmp_path_factory.mktemp("profile"), *options)
        yield one
        one.close()

    return browser


class Browser:
    """A browser with one page."""

    def __init__(self, profile: Path, *options: str):
        # Chromium reads from descriptor 3 and writes to 4; ours are moved out of their way first.
        (theirs_in, self.out), (self.inp, theirs_out) = self._pipe(), self._pipe()

        def give_descriptors():
            os.dup2(theirs_in, 3)
            os.dup2(theirs_out, 4)

        self.process = subprocess.Popen(
            [PROGRAM, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--mute-audio",
             "--disable-background-networking", "--remote-debugging-pipe", f"--user-data-dir={profile}",
             "--window-size=1400,900", *options],
            close_fds=False, preexec_fn=give_descriptors, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.pending = b""
        self.last = 0
        self.session = None
        self.requests: list[str] = []
        self.messages: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    @staticmethod
    def _pipe():
        ends = os.pipe()
        moved = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
        for end in ends:
            os.close(end)
        return moved

    # --- the protocol

    def call(self, method: str, **parameters) -> dict:
        return self._call(self.session, method, parameters)

    def _call(self, session: str | None, method: str, parameters: dict) -> dict:
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        answer = self._read_until(lambda message: message.get("id") == self.last)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def _read_until(self, wanted) -> dict:
        deadline = time.monotonic() + PATIENCE
        while True:
            while b"\0" in self.pending:
                line, _, self.pending = self.pending.partition(b"\0")
                message = json.loads(line)
                self._note(message)
                if wanted(message):
                    return message
            ready, _, _ = select.select([self.inp], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"Chromium is silent for {PATIENCE} s"
            piece = os.read(self.inp, 1 << 20)
            assert piece, "Chromium has ended"
            self.pending += piece

    def _note(self, message: dict):
        parameters = message.get("params", {})
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(parameters["request"]["url"])
            # The icon of a page that was left: about:blank has none.
            case "Log.entryAdded" if parameters["entry"].get("url") == "about:blank":
                pass
            case "Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded":
                self.messages.append(json.dumps(parameters))

    def processor_time(self, action) -> float:
        """The seconds that an action computes in the processes that show pages, however busy the machine is."""
        def so_far() -> dict[int, float]:
            processes = self._call(None, "SystemInfo.getProcessInfo", {})["processInfo"]
            return {process["id"]: process["cpuTime"] for process in processes if process["type"] == "renderer"}

        before = so_far()
        action()
        return sum(seconds - before.get(number, 0) for number, seconds in so_far().items())

    # --- a page

    def open(self, page: Path | str, fragment: str = ""):
        """Loads a page: a file, or an address."""
        url = page if isinstance(page, str) else f"file://{page}"
        self.call("Page.navigate", url="about:blank")
        self.requests.clear()
        self.messages.clear()
        self.call("Page.navigate", url=f"{url}#{fragment}")
        self._read_until(lambda message: message.get("method") == "Page.loadEventFired")
        self.run("0")

    def run(self, script: str):
        """What an expression of JavaScript comes to, awaited."""
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True,
            allowUnsafeEvalBlockedByCSP=False)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def texts(self, selector: str) -> list[str]:
        return self.run(f"Array.from(document.querySelectorAll({json.dumps(selector)}), e => e.textContent)")

    def press(self, key: str, text: str = ""):
        for kind in ("keyDown", "keyUp"):
            extra = {"text": text} if text and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, **extra)

    def type(self, text: str):
        self.call("Input.insertText", text=text)

    def place(self, selector: str, index: int = 0) -> tuple[float, float]:
        """The middle of an element, after it was scrolled to."""
        return tuple(self.run(
            f"(() => {{ const e = document.querySelectorAll({json.dumps(selector)})[{index}];"
            " e.scrollIntoView({block: 'nearest'}); const b = e.getBoundingClientRect();"
            " return [b.x + b.width / 2, b.y + b.height / 2]; })()"))

    def mouse(self, kind: str, x: float, y: float):
        button = "none" if kind == "mouseMoved" else "left"
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=1, buttons=1)

    def point(self, selector: str, index: int = 0):
        x, y = self.place(selector, index)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector: str, index: int = 0):
        x, y = self.place(selector, index)
        self.mouse("mousePressed", x, y)
        self.mouse("mouseReleased", x, y)

    def wait_for(self, script: str):
        """What the expression comes to, as soon as that is something."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if value := self.run(script):
                return value
            time.sleep(0.02)
        raise AssertionError(f"never true: {script}")

    def close(self):
        os.close(self.out)
        os.close(self.inp)
        self.process.terminate()
        self.process.wait(timeout=30)
