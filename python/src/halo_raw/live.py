"""A running `halo-raw stream`, as an asynchronous iterator."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from . import program as halo
from .schema import SAMPLES

#: In bytes; a line of the program has some hundreds.
_LONGEST_LINE = 1 << 20
#: In seconds: how long the program may take to stop the ring's stream and to end.
_FAREWELL = 10


@dataclass(frozen=True, slots=True)
class Record:
    """A sample, a beat, or a mark between samples (`gap`, `dropped`, `rejected`, `clock`, `lost`, `mark`, `event`)."""

    #: Seconds since the first record.
    t: float
    #: The receive time, with the offset from UTC.
    time: datetime
    #: The address of the ring.
    ring: str
    #: Counts the records of each kind from 0.
    seq: int
    kind: str
    #: The other fields, with their units in their names.
    values: Mapping[str, float | int | str | None]


def parsed(line: str | bytes) -> Record:
    """A line of jsonl as a record."""
    fields = json.loads(line)
    return Record(
        fields.pop("t"), datetime.fromisoformat(fields.pop("time")), fields.pop("ring"), fields.pop("seq"),
        fields.pop("kind"), fields)


async def stream(
    ring: str | None = None, *, kinds: Sequence[str] = (), adapter: str | None = None, arguments: Sequence[str] = (),
    program: str | os.PathLike[str] | None = None,
) -> AsyncIterator[Record]:
    """Streams from a ring until the iterator is closed, or the program ends.

        async with contextlib.aclosing(halo_raw.stream(kinds=["ppg"])) as records:
            async for record in records:
                print(record.time, record.values)

    `kinds` are `ppg`, `accel` and `spo2`, all without one; `arguments` are other options of `halo-raw stream`, such as
    `["--duration", "10s"]`, and nothing else is taken for an option. If the iterator is closed, the ring's stream is
    stopped.

    Raises ValueError for another kind, and ProgramError if the program fails.
    """
    unknown = set(kinds) - set(SAMPLES)
    if unknown:
        raise ValueError(f"there is no kind {', '.join(sorted(unknown))}; use {', '.join(SAMPLES)}")
    command = ["stream", "--format=jsonl", *(f"--{kind}" for kind in kinds), *arguments]
    command += [f"--adapter={adapter}"] if adapter else []
    # A name that begins with a dash is no option.
    command += ["--", ring] if ring else []
    process = await asyncio.create_subprocess_exec(
        halo.find(program), *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE, limit=_LONGEST_LINE)
    assert process.stdout is not None and process.stderr is not None
    errors = asyncio.ensure_future(process.stderr.read())
    try:
        async for line in process.stdout:
            yield parsed(line)
        code = await process.wait()
        if code:
            raise halo.ProgramError(code, halo.reason((await errors).decode(errors="replace"), code))
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGINT)
            # Its output must be read, or it would wait for that.
            drained = asyncio.ensure_future(process.stdout.read())
            try:
                await asyncio.wait_for(asyncio.gather(process.wait(), drained), _FAREWELL)
            except (TimeoutError, asyncio.CancelledError):
                if process.returncode is None:
                    process.kill()
                    await process.wait()
        errors.cancel()
