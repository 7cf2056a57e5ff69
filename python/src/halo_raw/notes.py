"""What a mark says: one text of the members that it has in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def note_of(kind: str, members: Mapping[str, Any]) -> str | None:
    """The text that csv has in the column `note`; None for a mark that says nothing."""
    if isinstance(members.get("note"), str):
        return str(members["note"])
    step = members.get("step_s")
    if kind == "clock" and isinstance(step, (int, float)):
        return f"{step:.6f}"
    if kind == "measured":
        parts = [f"{name}={value}" for name, value in members.items() if name.endswith(("_bpm", "_percent"))]
        return ", ".join(parts) or None
    last = members.get("bytes") if members.get("bytes") is not None else members.get("count")
    parts = [str(part) for part in (members.get("text"), members.get("reason"), last) if part is not None]
    return ": ".join(parts) or None


def label_of(kind: str, note: object) -> str:
    """The text of an annotation: that which a person has set, or the kind and the note."""
    if not isinstance(note, str):
        return kind
    return note if kind == "mark" else f"{kind}: {note}"
