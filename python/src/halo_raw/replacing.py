"""Replaces a file only by one that is complete."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Gives the path of a temporary file beside `path`, which replaces it if the block succeeds, and is deleted if not.

    A new file has mode 0600, as those of the program have. One that is replaced keeps its mode, and its owner as far as
    that is permitted. A link is followed, and stays one: the file that it names is replaced. In a folder that several
    users share, a link is refused, as anyone may have made it.

    Raises OSError for what is no regular file, and for such a link.
    """
    given = Path(path)
    if given.is_symlink() and _is_shared(given.parent):
        raise OSError(f"{given} is a symbolic link in a folder that others can write; give the path of the file itself")
    target = Path(os.path.realpath(given))
    try:
        status = target.stat()
    except FileNotFoundError:
        status = None
    if status is not None and not stat.S_ISREG(status.st_mode):
        raise OSError(f"{given} is no regular file and cannot be replaced; give another name")
    draft = target.with_name(f".halo-raw-{os.getpid()}-{secrets.token_hex(4)}{target.suffix}")
    # Created before a library opens it by its name: nobody else has made it, and nobody else can read it yet.
    os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
    try:
        yield draft
        descriptor = os.open(draft, os.O_RDWR | os.O_NOFOLLOW)
        try:
            if status is not None:
                with contextlib.suppress(PermissionError):
                    os.fchown(descriptor, status.st_uid, status.st_gid)
                os.fchmod(descriptor, stat.S_IMODE(status.st_mode) & 0o777)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def _is_shared(folder: Path) -> bool:
    status = folder.stat()
    return bool(status.st_mode & stat.S_IWOTH)
