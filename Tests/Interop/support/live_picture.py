"""docs/pictures/live.png and live-phone.png: the page of `stream --web` in Chromium, after most of a minute.

    live_picture.py PROGRAM FOLDER

Unlike the drawings they show a moment of a run, so that two runs differ.
"""

import base64
import http.client
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from browser import Browser

SECONDS = 50
# The name of a file, its width and height, and how many pixels one of CSS has.
PICTURES = [("live.png", 1100, 1060, 1), ("live-phone.png", 390, 700, 1)]


def main(program, folder):
    # The page shows the name of the machine.
    named = ["unshare", "--uts", "sh", "-c", 'hostname raspberrypi && exec "$0" "$@"'] if os.geteuid() == 0 else []
    process = subprocess.Popen(
        [*named, program, "stream", "--ppg", "--accel", "--web=0", "--adapter", "virtual"], stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True)
    try:
        link = process.stderr.readline().split()[1]
        browser = Browser(Path(tempfile.mkdtemp()))
        browser.open(link)
        time.sleep(SECONDS - 5)
        server = http.client.HTTPConnection(link.split("/")[2])
        server.request("POST", "/mark", "coffee")
        assert server.getresponse().status == 204
        time.sleep(5)
        for name, width, height, scale in PICTURES:
            browser.call(
                "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=width < 500)
            time.sleep(1.5)
            picture = browser.call("Page.captureScreenshot")["data"]
            (folder / name).write_bytes(base64.b64decode(picture))
        browser.close()
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
