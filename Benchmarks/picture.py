#!/usr/bin/env python3
"""Draws docs/pictures/performance.svg from what the benchmarks have written: docs/performance/stream.json and kernel.json.

A bar is the ratio to the floor in C, on a logarithmic scale. The benchmarks draw it anew with --write.
"""

import json
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import measure  # noqa: E402

FOLDER = measure.ROOT / "docs/performance"
PICTURE = measure.ROOT / "docs/pictures/performance.svg"
COLORS = {"halo-raw": "#1a7f37", "Python": "#bf8700", "Bumble": "#8c959f"}
# What is shown: its name in the picture, the file, the row.
ROWS = [
    ("instructions, hci0", "kernel", "hci0"), ("instructions, user:hci0", "kernel", "user:hci0"),
    ("CPU, flat out, H4", "stream", "CPU, flat out"), ("delay p50, 100/s, H4", "stream", "delay p50, 100/s"),
    ("delay p99, 100/s, H4", "stream", "delay p99, 100/s")]
LEFT, RIGHT, TOP, BAR, GAP, WIDTH = 190, 60, 58, 14, 12, 760
LOWEST, HIGHEST = 0.5, 128


def ratios():
    """Yields a row's name and its ratios by program."""
    for title, file, row in ROWS:
        path = FOLDER / f"{file}.json"
        values = json.loads(path.read_text())["results"].get(row, {}) if path.exists() else {}
        found = {name: measure.ratio(values.get(name, []), values.get("floor", [])) for name in COLORS}
        if found["halo-raw"] is not None:
            yield title, {name: ratio for name, ratio in found.items() if ratio is not None}


def position(ratio: float) -> float:
    part = math.log(ratio / LOWEST) / math.log(HIGHEST / LOWEST)
    return LEFT + (WIDTH - LEFT - RIGHT) * min(max(part, 0), 1)


def text(x, y, content, anchor="start", color="#57606a", size=13) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="{color}" font-size="{size}">{content}</text>\n'


def draw() -> str:
    body, y, names = "", TOP, set()
    for title, values in ratios():
        middle = y + len(values) * BAR / 2 + 4
        body += text(LEFT - 10, middle, title, "end", "#24292f")
        for name, ratio in values.items():
            names.add(name)
            start, end = sorted((position(1), position(ratio)))
            body += (f'<rect x="{start:.1f}" y="{y}" width="{max(end - start, 1):.1f}" height="{BAR - 2}"'
                     f' fill="{COLORS[name]}"/>\n')
            body += text(end + 5, y + BAR - 4, f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}", size=11)
            y += BAR
        y += GAP
    grid = ""
    for mark in (1, 2, 5, 10, 20, 50, 100):
        x = position(mark)
        color = "#24292f" if mark == 1 else "#d0d7de"
        grid += f'<line x1="{x:.1f}" y1="{TOP - 8}" x2="{x:.1f}" y2="{y - GAP + 6}" stroke="{color}"/>\n'
        grid += text(x, y + 12, "1 = C" if mark == 1 else mark, "middle", size=11)
    legend, x = "", LEFT
    for name, color in COLORS.items():
        if name in names:
            legend += f'<rect x="{x}" y="30" width="12" height="12" fill="{color}"/>\n' + text(x + 18, 41, name)
            x += 110
    title = text(LEFT, 18, "Cost of a notification, times that of a C program; less is better", color="#24292f", size=14)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y + 24}" font-family="sans-serif">\n'
            f'<rect width="100%" height="100%" fill="white"/>\n{title}{legend}{grid}{body}</svg>\n')


def main():
    PICTURE.write_text(draw())


if __name__ == "__main__":
    main()
