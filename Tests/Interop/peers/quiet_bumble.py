"""Bumble without a log. It writes each packet as text, in colours, before it knows that nobody reads the log: a third of its
time."""

import sys

from bumble import colors, hci


def plain(text, *_, **__):
    return text


# What is imported later takes it from `colors`.
for module in [colors, *(module for name, module in sys.modules.items() if name.startswith("bumble."))]:
    if hasattr(module, "color"):
        module.color = plain
hci.HCI_Object.format_fields = staticmethod(lambda *_, **__: "")
