"""Programs on Bumble and bleak as forks of this process, which has imported them.

In a virtual machine without KVM, an import takes seconds each time.
"""

import asyncio
import multiprocessing
import os
import signal
import sys

FORK = multiprocessing.get_context("fork")


def live(program, options, out, commands=None):
    """The life of a fork whose standard output is a pipe, and its standard input another, if there is one."""
    for number in (signal.SIGALRM, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    sys.stdout = os.fdopen(os.dup(out.fileno()), "w")  # pytest has one of its own
    if commands:
        sys.stdin = os.fdopen(os.dup(commands.fileno()))
    asyncio.run(program(options))


class Peripheral:
    """A running peripheral, whose `name` is that of its adapter."""

    def __init__(self, program, options, takes_commands=False):
        ours, theirs = FORK.Pipe(duplex=False)
        commands, self.commands = FORK.Pipe(duplex=False) if takes_commands else (None, None)
        self.fork = FORK.Process(target=live, args=(program, options, theirs, commands))
        self.fork.start()
        theirs.close()
        self.output = os.fdopen(os.dup(ours.fileno()))
        ours.close()
        if commands:
            commands.close()
        ready, _, self.name = self.output.readline().strip().partition(" ")
        assert ready == "ready", "the peripheral did not start"

    def command(self, *words):
        """Writes a line to its standard input, and waits until it has been carried out."""
        os.write(self.commands.fileno(), (" ".join(words) + "\n").encode())
        assert self.output.readline() == "done\n"

    def close(self):
        """Also removes the adapter, like pulling it out."""
        self.fork.terminate()
        self.fork.join()
        self.output.close()


def result_of(program, *arguments):
    """What a coroutine function returns, which runs in a fork."""
    def work():
        theirs.send(asyncio.run(program(*arguments)))

    ours, theirs = FORK.Pipe(duplex=False)
    fork = FORK.Process(target=work)
    fork.start()
    theirs.close()
    try:
        return ours.recv()
    except EOFError:
        raise AssertionError(f"{program.__module__} failed; see standard error") from None
    finally:
        fork.join()
