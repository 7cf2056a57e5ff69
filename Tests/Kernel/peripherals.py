"""Programs on Bumble and bleak as forks of this process, which has imported them."""

import asyncio
import multiprocessing
import sys

# asyncio, bleak and Bumble import these only when they are used, which is too late in a fork: see refuse_imports().
import concurrent.futures.thread  # noqa: F401
import bleak.backends.bluezdbus.client  # noqa: F401
import bleak.backends.bluezdbus.scanner  # noqa: F401
import bumble.transport.hci_socket  # noqa: F401

from forked import Fork

FORK = multiprocessing.get_context("fork")


def refuse_imports(event, arguments):
    """An import reads files of the host. The guest's clock leaps meanwhile, and the two seconds in which the kernel waits for
    an answer of this process are over at once."""
    if event == "import":
        raise ImportError(f"a fork imports {arguments[0]}: import it in peripherals.py")


def run(program, options):
    sys.addaudithook(refuse_imports)
    asyncio.run(program(options))


class Peripheral(Fork):
    """A running peripheral, whose `names` are those of its adapters."""

    def __init__(self, program, options, takes_commands=False):
        super().__init__(FORK, run, program, options, takes_commands=takes_commands)
        self.names = self.places()

    def command(self, *words):
        """Writes a line to its standard input, and waits until it has been carried out."""
        print(*words, file=self.stdin, flush=True)
        assert self.stdout.readline() == "done\n"

    def close(self):
        """Also removes the adapter, like pulling it out."""
        self.terminate()
        self.wait()
        self.stdout.close()


def result_of(program, *arguments):
    """What a coroutine function returns, which runs in a fork."""
    def work():
        sys.addaudithook(refuse_imports)
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
