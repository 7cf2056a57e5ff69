"""Runs the program `halo-raw`."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence


class ProgramError(Exception):
    """The program has ended with an error; `code` is its exit code (see the README of halo-raw)."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def find(program: str | os.PathLike[str] | None) -> str:
    """The path of the program: the argument, $HALO_RAW, or `halo-raw` on the path."""
    name = os.fspath(program or os.environ.get("HALO_RAW") or "halo-raw")
    path = shutil.which(name)
    if path is None:
        raise FileNotFoundError(f"{name} is not installed; give its path as `program`, or as $HALO_RAW")
    return path


def reason(errors: str, code: int) -> str:
    """The error message of the program: its last line on standard error."""
    lines = [line.removeprefix("halo-raw: ") for line in errors.split("\n") if line]
    return lines[-1] if lines else f"halo-raw ended with exit code {code}"


def run(
    arguments: Sequence[str | os.PathLike[str]], program: str | os.PathLike[str] | None = None, given: bytes = b"",
) -> str:
    """What the program prints, with `given` on its standard input.

    Raises ProgramError if it fails.
    """
    result = subprocess.run([find(program), *arguments], input=given, capture_output=True, check=False)
    if result.returncode:
        raise ProgramError(result.returncode, reason(result.stderr.decode(errors="replace"), result.returncode))
    # What it prints is UTF-8 in any locale, and its ends of lines are kept.
    return result.stdout.decode(errors="replace")
