"""docs/pictures/plot.svg: what `stream --plot` shows on a terminal, run for some seconds in an independent emulator.

    plot_picture.py PROGRAM FILE

Unlike the other drawings it shows a moment of a run, so that two runs differ.
"""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import time

import pyte

from svg import Picture

ROWS, COLUMNS, SECONDS = 20, 80, 11.5
WIDTH, HEIGHT, MARGIN = 8.0, 17.0, 14.0
# The places of the eight dots of a Braille character, by their bits.
DOTS = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)]


def screen(program) -> list[str]:
    end, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    process = subprocess.Popen(
        [program, "stream", "--ppg", "--accel", "--plot", "--adapter", "virtual:rate=25"], stdin=theirs, stdout=theirs,
        stderr=subprocess.DEVNULL, env=os.environ | {"TERM": "xterm", "LC_ALL": "C.UTF-8"})
    shown = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(shown)
    begin = time.monotonic()
    while time.monotonic() < begin + SECONDS:
        stream.feed(os.read(end, 1 << 16))
    lines = [line.rstrip() for line in shown.display]
    process.kill()
    process.wait()
    return lines


def draw(lines) -> str:
    picture = Picture(2 * MARGIN + COLUMNS * WIDTH, "The terminal during halo-raw stream --plot: the pulse, and the acceleration")
    picture.box(2, 2, 2 * MARGIN + COLUMNS * WIDTH - 4, 2 * MARGIN + len(lines) * HEIGHT - 4, round=8)
    picture.extend(2 * MARGIN + len(lines) * HEIGHT)
    dots = []
    for row, line in enumerate(lines):
        start = 0
        words = "".join(" " if "\u2800" <= character <= "\u28ff" else character for character in line)
        for part in words.split("  "):
            if part.strip():
                left = start + len(part) - len(part.lstrip())
                style = ("mono", "small", "strong") if row == 0 else ("mono", "small", "dim")
                picture.text(MARGIN + left * WIDTH, MARGIN + (row + 0.75) * HEIGHT, part.strip(), *style)
            start += len(part) + 2
        for column, character in enumerate(line):
            bits = ord(character) - 0x2800
            if 0 < bits < 256:
                dots += [
                    f"M{MARGIN + (column + 0.25 + x / 2) * WIDTH:g} {MARGIN + (row + 0.125 + y / 4) * HEIGHT:g}h0"
                    for bit, (x, y) in enumerate(DOTS) if bits >> bit & 1]
    picture.parts.append(
        f'<path class="line green-line" stroke-width="2.6" stroke-linecap="round" d="{"".join(dots)}"/>')
    return picture.svg()


if __name__ == "__main__":
    program, path = sys.argv[1:]
    with open(path, "w") as file:
        file.write(draw(screen(program)))
