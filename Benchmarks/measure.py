"""What all benchmarks share: CPU time and memory of a command, rounds that alternate, medians, Markdown tables.

Only ratios of runs side by side are compared: seconds depend on the machine and on what else runs on it.
"""

import json
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# How programs use an adapter of a Linux kernel, and what it is when they start.
WAYS = {"hci0": "up", "user:hci0": "down"}
# An instruction takes 2^SHIFT ns of the time of a machine that counts them.
SHIFT = 1


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


def program(product="halo-raw", variable="HALO_RAW") -> Path:
    """The release build that is measured, or what the environment variable names."""
    path = Path(os.environ.get(variable, ROOT / ".build/release" / product)).resolve()
    if not path.exists():
        sys.exit(f"there is no {path}; run: swift build --configuration release --product {product}")
    return path


def server() -> Path:
    return program("benchmark-server", "HALO_SERVER")


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


def command(parts, **values) -> str:
    """A command for a shell. Its parts have the names of values in braces."""
    return shlex.join(str(part).format(**values) for part in parts)


def in_machine(script: str, folder: Path, *options) -> list[str]:
    """Runs a shell script in the virtual machine, with a control group for the program that is measured; its lines."""
    path = folder / "script"
    path.write_text(
        "export XDG_STATE_HOME=/dev/shm/state\nmkdir -p $XDG_STATE_HOME\n"
        f"mount -t cgroup2 cgroup2 /sys/fs/cgroup && mkdir /sys/fs/cgroup/measured || exit\n{script}")
    machine = [ROOT / "Tests/VM/vm", "--timeout", "900", *options, "--", "sh", path]
    result = subprocess.run(machine, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"the virtual machine has failed: {result.stderr}")
    return result.stdout.splitlines()


def counted(commands: list[str], folder: Path) -> list[dict]:
    """Runs controllers one after the other in a virtual machine whose clock counts instructions; what they print."""
    script = "".join(f"{line} 2>/dev/shm/errors || {{ cat /dev/shm/errors >&2; exit 1; }}\n" for line in commands)
    return [json.loads(line) for line in in_machine(script, folder, "--icount", str(SHIFT))]


def instructions(seconds: float) -> float:
    """In such a machine."""
    return seconds * 1e9 / 2**SHIFT


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
