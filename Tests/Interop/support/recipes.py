"""The changes that docs/adding.md tells to make, applied to a copy of the sources.

A block of kind "diff" begins with the name of a file. Behind it are hunks, separated by "@@": lines to add begin with "+", those to
remove with "-", others with a space and stand in the file just so, once.
"""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from built import ROOT

PAGE = ROOT / "docs/adding.md"
BLOCK = re.compile(r"^```diff\n(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass
class Change:
    path: str
    hunks: list[list[str]]

    def apply(self, content: str | None) -> str:
        """The changed file. It raises ValueError if a hunk fits nowhere or in several places."""
        if content is None:
            return "".join(line[1:] + "\n" for hunk in self.hunks for line in hunk)
        for hunk in self.hunks:
            before = "".join(line[1:] + "\n" for line in hunk if line[0] != "+")
            if (count := len(re.findall(f"(?={re.escape(chr(10) + before)})", content))) != 1:
                raise ValueError(f"{self.path} has this {count} times:\n{before}")
            content = content.replace("\n" + before, "\n" + "".join(line[1:] + "\n" for line in hunk if line[0] != "-"))
        return content


def changes(page: str) -> list[Change]:
    return [
        Change(path, [hunk.splitlines() for hunk in re.split(r"^@@\n", body, flags=re.MULTILINE)])
        for path, body in BLOCK.findall(page)]


def applied(page: str, root: Path = ROOT) -> dict[str, str]:
    """The contents of all files that the page changes, or makes."""
    contents: dict[str, str] = {}
    for change in changes(page):
        path = root / change.path
        old = contents.get(change.path, path.read_text() if path.exists() else None)
        contents[change.path] = change.apply(old)
    return contents


def copy(target: Path) -> None:
    """Makes or updates a changed copy of the sources. What is the same is not written, so that a second build is short."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "Package.swift", "Sources", "Examples", "Tests",
         "docs", "captures"], cwd=ROOT, capture_output=True, check=True)
    changed = applied(PAGE.read_text())
    wanted = {name: (ROOT / name).read_bytes() for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()}
    wanted |= {name: text.encode() for name, text in changed.items()}
    for path in [one for one in (target / "Sources").rglob("*") if one.is_file()]:
        if str(path.relative_to(target)) not in wanted:
            path.unlink()
    for name, content in wanted.items():
        path = target / name
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
