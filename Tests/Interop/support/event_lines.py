"""The events that a peripheral of bumble_device.py writes to a file, a line of JSON each."""

from pathlib import Path


def event_lines(path: Path) -> list[str]:
    """Its lines. The last one is left out while only half of it is written: the kernel shows a reader the pages of a file
    one after the other."""
    text = path.read_text()
    return text[:text.rfind("\n") + 1].splitlines()
