"""A program on a terminal of a given size, and what an independent emulator (pyte) shows of it."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time

import pyte


class Terminal:
    """A program on a terminal, and what an independent emulator shows of it."""

    def __init__(self, halo, *arguments, rows=24, columns=80, is_its_own=False, **environment):
        """`is_its_own`: the terminal is the controlling one, with the program in its foreground."""
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.shown = b""
        self.end, theirs = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(theirs)
        self.attributes = lambda: termios.tcgetattr(theirs)
        environment = halo.environment | {"TERM": "xterm", "LC_ALL": "C.UTF-8"} | environment
        self.process = subprocess.Popen(
            [halo.path, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environment,
            start_new_session=is_its_own,
            preexec_fn=(lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) if is_its_own else None)
        halo.processes.append(self.process)
        # The kernel keeps what a terminal has, as long as somebody has it open.
        self.theirs = theirs

    def resize(self, rows, columns):
        fcntl.ioctl(self.end, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)

    def read(self, wait=0.5):
        while select.select([self.end], [], [], wait)[0]:
            piece = os.read(self.end, 1 << 16)
            self.shown += piece
            self.stream.feed(piece)
            wait = 0

    def wait_for(self, met):
        limit = time.monotonic() + 15
        while not met(self.screen.display):
            assert time.monotonic() < limit, "\n".join(self.screen.display)
            self.read()

    def wait_for_the_end(self):
        while self.process.poll() is None:
            self.read()
        self.read(wait=0)

    def until_the_end(self):
        """What the program shows until it ends."""
        self.wait_for_the_end()
        return self.shown.decode()

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.end)
        os.close(self.theirs)
