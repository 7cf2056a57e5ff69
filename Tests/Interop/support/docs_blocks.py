"""The console blocks of docs/: what each command in them prints. `scripts/docs` writes it there, test_docs.py compares.

A block holds commands, each a line that begins with "$ ", and under each what a terminal shows: what it prints on standard
output and on standard error. The commands of
a page run one after the other in a folder of their own, in which captures/ is that of the project.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from built import ROOT, built

PAGES = sorted((ROOT / "docs").glob("*.md"))
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


# An indented block; its lines begin with at least four spaces.
INDENTED = re.compile(r"(?:^ {4}.*\n(?:^\n(?=^ {4}))*)+", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
# What the first line of an indented block of commands begins with.
COMMAND = re.compile(
    r"(?:halo-raw|sudo|make|swift|export|pip|scp|ssh|curl|systemctl|\S*scripts/\S+|Tests/\S+|Benchmarks/\S+)(?: |$)")


def indented(page: str) -> tuple[list[str], list[str]]:
    """The commands in the indented blocks of a page, without their comments; and the first lines of the other blocks."""
    listed, others = [], []
    for block in INDENTED.findall(FENCED.sub("", page)):
        lines = [line.strip() for line in block.splitlines() if line.strip()]
        if COMMAND.match(lines[0]):
            listed += [re.sub(r"\s+# .*", "", line) for line in lines]
        else:
            others.append(lines[0])
    return listed, others


def commands(block: str) -> list[str]:
    return [line[2:] for line in block.splitlines() if line.startswith("$ ")]


def run(command: str, folder: Path) -> str:
    """What a command prints, on standard error too; it must succeed."""
    # Nothing of the user's, and nothing left there.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HALO_")} | {
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "TZ": "UTC", "HOME": str(folder),
        "XDG_CACHE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "XDG_STATE_HOME": "/dev/null",
        "XDG_RUNTIME_DIR": str(folder)}
    result = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=20)
    assert result.returncode == 0, f"`{command}` ended with {result.returncode}: {result.stdout}"
    return result.stdout


def rewritten(page: str, program: Path) -> str:
    """A page with what the program prints now."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bin").mkdir()
        (folder / "bin/halo-raw").symlink_to(program.absolute())
        (folder / "captures").symlink_to(ROOT / "captures")

        def block(match: re.Match) -> str:
            text = "".join(f"$ {command}\n{run(command, folder)}" for command in commands(match[1]))
            return f"```console\n{text}```"

        return BLOCK.sub(block, page)


def written(name: str, page: str, program: Path) -> str:
    """A page as it has to be: the list of the ring's commands is what the program prints, others have blocks."""
    if name == "ring-commands.md":
        return subprocess.run([program, "ring-commands"], capture_output=True, text=True, timeout=20, check=True).stdout
    return rewritten(page, program)


if __name__ == "__main__":
    try:
        program = built()
    except FileNotFoundError as error:
        sys.exit(str(error))
    for path in [Path(name) for name in sys.argv[1:]] or PAGES:
        old = path.read_text()
        new = written(path.name, old, program)
        if new != old:
            path.write_text(new)
            print(f"{path}: rewritten")
