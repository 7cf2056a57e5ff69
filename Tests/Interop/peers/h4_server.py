"""Offers a virtual controller to one host at a time, as an H4 byte stream over TCP or a Unix socket."""

import asyncio
import struct

# Packet type: length of the header behind the type byte, and where and how that holds the body's length.
HEADERS = {
    0x01: (3, 2, "<B"),  # command
    0x02: (4, 2, "<H"),  # ACL data
    0x03: (3, 2, "<B"),  # synchronous data
    0x05: (4, 2, "<H"),  # isochronous data
}


class H4Server:
    """Accepts one host after another. A newer host ends the session of an older one: the next command may
    well connect before the end of the one before it was noticed here."""

    def __init__(self, controller, journal):
        self.controller = controller
        self.journal = journal
        self.writer = None
        self.ended = asyncio.get_running_loop().create_future()  # never: there may always come another host

    async def listen(self, spec: str) -> str:
        """Listens as `tcp-server:HOST:PORT` or `unix-server:PATH` says; returns the port or the path."""
        kind, _, where = spec.partition(":")
        if kind == "tcp-server":
            host, _, port = where.rpartition(":")
            self.server = await asyncio.start_server(self.serve, host, int(port))
            return str(self.server.sockets[0].getsockname()[1])
        if kind == "unix-server":
            self.server = await asyncio.start_unix_server(self.serve, where)
            return where
        raise ValueError(f"neither tcp-server:HOST:PORT nor unix-server:PATH: {spec}")

    async def serve(self, reader, writer):
        if self.writer is not None:
            self.writer.close()
        self.writer = writer
        self.journal.note("host", attached=True)
        self.controller.attach(self)
        try:
            while True:
                self.controller.on_packet(await self.next_packet(reader))
        except asyncio.IncompleteReadError as end:
            if end.partial and self.writer is writer:
                self.journal.breach(f"the stream ended inside a packet: {end.partial.hex()}")
        except (ConnectionError, UnknownPacketType) as error:
            if isinstance(error, UnknownPacketType):
                self.journal.breach(str(error))
        finally:
            if self.writer is writer:
                self.writer = None
                self.controller.attach(None)
                self.journal.note("host", attached=False)
            writer.close()

    async def next_packet(self, reader) -> bytes:
        kind = await reader.readexactly(1)
        if kind[0] not in HEADERS:
            raise UnknownPacketType(f"byte {kind.hex()} where a packet type should be")
        size, offset, form = HEADERS[kind[0]]
        try:
            header = await reader.readexactly(size)
            (length,) = struct.unpack_from(form, header, offset)
            return kind + header + await reader.readexactly(length)
        except asyncio.IncompleteReadError as end:
            raise asyncio.IncompleteReadError(kind + end.partial, None) from None

    # What a controller expects of its host.
    def on_packet(self, packet: bytes):
        if self.writer is not None:
            self.writer.write(packet)

    def backlog(self) -> int:
        """Bytes that the host has not taken yet."""
        return self.writer.transport.get_write_buffer_size() if self.writer else 0


class UnknownPacketType(Exception):
    pass
