"""A line to a controller that breaks: it passes HCI packets on, and at chosen times closes, or adds a Hardware Error."""

import socket
import threading
import time

# How many bytes of each kind of packet precede its length, and the bytes of the length.
LENGTHS = {1: (3, 1), 2: (3, 2), 4: (2, 1)}
HARDWARE_ERROR = bytes.fromhex("04100142")
RESET = 0x0C03


def packets(stream):
    """The packets of a stream, until it ends."""
    while kind := stream.read(1):
        before, width = LENGTHS[kind[0]]
        head = stream.read(before - 1 + width)
        yield kind + head + stream.read(int.from_bytes(head[-width:], "little"))


class BrokenLine:
    """A host connects to `adapter`, as often as it likes. With `fails(opcode)`, called with each command, the line fails as `way`
    says: "closes" after the answer to it, or "reports" a Hardware Error after it."""

    def __init__(self, target: str, way: str, fails):
        _, host, port = target.split(":")
        self.target, self.way, self.fails = (host, int(port)), way, fails
        self.server = socket.create_server(("127.0.0.1", 0))
        self.adapter = f"tcp:127.0.0.1:{self.server.getsockname()[1]}"
        # When the host has connected, and when the line has failed.
        self.openings, self.failures = [], []
        threading.Thread(target=self.run, daemon=True).start()

    def close(self):
        self.server.close()

    def run(self):
        while True:
            try:
                host, _ = self.server.accept()
            except OSError:
                return
            self.openings.append(time.monotonic())
            self.carry(host)

    def carry(self, host):
        controller = socket.create_connection(self.target)
        failing = threading.Event()

        def answer():
            for packet in packets(controller.makefile("rb")):
                try:
                    host.sendall(packet)
                    if failing.is_set() and packet[0] == 4 and packet[1] in (0x0E, 0x0F):
                        failing.clear()
                        self.failures.append(time.monotonic())
                        if self.way == "closes":
                            host.shutdown(socket.SHUT_RDWR)
                            return
                        host.sendall(HARDWARE_ERROR)
                except OSError:
                    return

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        try:
            for packet in packets(host.makefile("rb")):
                if packet[0] == 1 and self.fails(int.from_bytes(packet[1:3], "little")):
                    failing.set()
                controller.sendall(packet)
        except OSError:
            pass
        controller.shutdown(socket.SHUT_RDWR)
        thread.join()
        controller.close()
        host.close()
