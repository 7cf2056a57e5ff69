"""Opens a file of SQLite for reading, wherever it is."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

#: How often a file is copied while another program writes it.
_ATTEMPTS = 5
#: In seconds: how long another program may have it locked.
_BUSY = 10.0


@contextlib.contextmanager
def opened(file: Path) -> Iterator[sqlite3.Connection]:
    """The database, also if it is in a folder in which nothing can be created, where SQLite wants to make a file to
    read a database with a write-ahead log. Then a copy is read: of the file, and of the log, which may have the last
    changes.

    Raises OSError if the file cannot be read.
    """
    # Otherwise SQLite says of each failure that it cannot open the file.
    file.open("rb").close()
    log = file.with_name(file.name + "-wal")
    with contextlib.ExitStack() as stack:
        uri = f"{file.absolute().as_uri()}?mode=ro"
        if not _reads(uri):
            journal = file.with_name(file.name + "-journal")
            with contextlib.suppress(FileNotFoundError):
                if journal.stat().st_size:
                    raise OSError(
                        f"cannot read {file}: a program was interrupted while it wrote to it, or somebody has put "
                        f"{journal} there; open the file with that program, or move the journal away")
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="halo-raw-")))
            uri = f"{_copied(file, log, folder).as_uri()}?mode=rw"
        yield stack.enter_context(contextlib.closing(sqlite3.connect(uri, uri=True, timeout=_BUSY)))


def _reads(uri: str) -> bool:
    """Whether the file is opened, be it a database or not."""
    with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=_BUSY)) as database:
        try:
            database.execute("PRAGMA user_version").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
                return False
            raise OSError(f"cannot read the store: {error}") from None
        except sqlite3.DatabaseError:
            pass
    return True


def _copied(file: Path, log: Path, folder: Path) -> Path:
    """A copy of the file and its log, of one moment."""
    for _ in range(_ATTEMPTS):
        before = _state(file, log)
        for path in (file, log):
            # The log may be gone: then all of it is in the file.
            with contextlib.suppress(FileNotFoundError) if path == log else contextlib.nullcontext():
                shutil.copyfile(path, folder / path.name)
        if _state(file, log) == before:
            return folder / file.name
        (folder / log.name).unlink(missing_ok=True)
    raise OSError(f"cannot read {file}: another program keeps writing it; try again later")


def _state(*paths: Path) -> list[tuple[int, int, int] | None]:
    states: list[tuple[int, int, int] | None] = []
    for path in paths:
        try:
            status = os.stat(path)
            states.append((status.st_ino, status.st_size, status.st_mtime_ns))
        except FileNotFoundError:
            states.append(None)
    return states
