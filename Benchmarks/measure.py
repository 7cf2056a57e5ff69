"""What all benchmarks share: CPU time and memory of a command, rounds that alternate, medians, Markdown tables.

Only ratios of runs side by side are compared: seconds depend on the machine and on what else runs on it.
"""

import os
import re
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Usage:
    seconds: float  # CPU time, user and system
    peak: int  # the largest resident set, in bytes
    status: int  # as of a shell: negative for a signal


def usage(command) -> Usage:
    """Runs a command without input and output."""
    with open(os.devnull, "r+b") as null:
        process = subprocess.Popen([str(part) for part in command], stdin=null, stdout=null, stderr=null)
        _, status, resources = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Usage(resources.ru_utime + resources.ru_stime, resources.ru_maxrss * 1024, process.returncode)


def program() -> Path:
    """The release build that is measured."""
    path = Path(os.environ.get("HALO_RAW", ROOT / ".build/release/halo-raw")).resolve()
    if not path.exists():
        sys.exit(f"there is no {path}; run: swift build --configuration release --product halo-raw")
    return path


def stripped(folder: Path) -> Path:
    """The program that is measured, without debugging information, which callgrind would read for each run."""
    target = folder / "halo-raw"
    subprocess.run(["strip", "-g", "-o", target, program()], check=True)
    return target


def bumble_python():
    """The Python that has Bumble: that of the tests' environment; None if it is missing."""
    python = ROOT / ".cache/venv/bin/python"
    if python.exists() and not subprocess.run([python, "-c", "import bumble"], stderr=subprocess.DEVNULL).returncode:
        return python
    print("Bumble is missing and left out; scripts/setup test installs it", file=sys.stderr)
    return None


def callgrind(output: Path) -> list:
    """What a command is begun with, so that its instructions are counted into a file."""
    return ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={output}"]


def callgrind_total(output: Path) -> int:
    return int(re.search(r"^(?:summary|totals): (\d+)", output.read_text(), re.MULTILINE)[1])


def compiled(source: Path, folder: Path) -> Path:
    """A C yardstick, compiled."""
    target = folder / source.stem
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        sys.exit("no C compiler; install gcc or set CC")
    subprocess.run([compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-o", target, source], check=True)
    return target


def rounds(measures: dict, count: int) -> dict:
    """Takes each measure `count` times, in turns, so that a change of the machine meets all of them.

    `measures` maps a name to a function that gives a number, or None if there is none. The result maps it to a list.
    """
    results = {name: [] for name in measures}
    for number in range(count):
        print(f"  round {number + 1} of {count}", file=sys.stderr)
        for name, measure in measures.items():
            results[name].append(measure())
    return results


def ratio(above: list, below: list):
    """The median of the ratios of each round; None if a round has none."""
    pairs = list(zip(above, below))
    if not pairs or any(not a or not b for a, b in pairs):
        return None
    return statistics.median(a / b for a, b in pairs)


def table(header: list, rows: list) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in lines)


def replace_block(page: Path, name: str, text: str):
    """Replaces what stands between the marks of a block of a page."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    before, _, rest = page.read_text().partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        sys.exit(f"{page} has no block {name}")
    page.write_text(before + begin + text + end + after)
