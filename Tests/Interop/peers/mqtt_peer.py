"""A broker of MQTT 3.1.1 and 5 that does what no broker should, or what some do: it keeps the rules that it is told."""

import socket
import struct
import threading

CONNECT, CONNACK, PUBLISH, PUBACK, SUBSCRIBE, SUBACK, PINGREQ, DISCONNECT = 1, 2, 3, 4, 8, 9, 12, 14


def length_bytes(number: int) -> bytes:
    out = b""
    while True:
        number, digit = divmod(number, 128)
        out += bytes([digit | (0x80 if number else 0)])
        if not number:
            return out


def packet(kind: int, body: bytes, flags=0) -> bytes:
    return bytes([kind << 4 | flags]) + length_bytes(len(body)) + body


def text(value: str) -> bytes:
    return struct.pack(">H", len(value)) + value.encode()


class MQTTPeer:
    """Listens on a port of its own. `published` has topics and payloads, `versions` one for each connection."""

    def __init__(
            self, versions=(4, 5), silently=False, largest=None, refuses=None, code=0x87, mute=False, after=None,
            welcomes=None):
        """`silently`: ends the connection of another version without a word. `largest`: ends it at a larger packet.
        `refuses(topic)`: answers with `code`. `mute`: acknowledges nothing. `after(version)`: what follows CONNACK.
        `welcomes`: an event that CONNACK waits for."""
        self.wanted, self.silently, self.largest, self.refuses, self.code = versions, silently, largest, refuses, code
        self.mute, self.after, self.welcomes = mute, after, welcomes
        self.published, self.subscribed, self.versions = [], [], []
        self.sockets = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.sockets.append(client)
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            with client, client.makefile("rb") as stream:
                while self.take(client, stream):
                    pass
        except (OSError, EOFError):
            pass

    def take(self, client, stream) -> bool:
        first = stream.read(1)
        if not first:
            return False
        size = shift = 0
        while True:
            digit = stream.read(1)[0]
            size |= (digit & 0x7F) << shift
            shift += 7
            if not digit & 0x80:
                break
        if self.largest and size > self.largest:
            return False
        return self.answer(client, first[0] >> 4, first[0] & 15, stream.read(size))

    def answer(self, client, kind, flags, body) -> bool:
        if kind == CONNECT:
            return self.welcome(client, body[6])
        five = self.versions[-1] == 5
        if kind == PUBLISH:
            end = 2 + int.from_bytes(body[:2])
            topic, rest = body[2:end].decode(), body[end:]
            quality = flags >> 1 & 3
            number, rest = (rest[:2], rest[2:]) if quality else (b"", rest)
            if five:
                rest = rest[1 + rest[0]:]
            refused = self.refuses and self.refuses(topic)
            if not refused or not five:
                self.published.append((topic, rest))
            if quality and not self.mute:
                client.sendall(packet(PUBACK, number + (bytes([self.code, 0]) if refused and five else b"")))
        elif kind == SUBSCRIBE:
            start = 2 + (1 + body[2] if five else 0)
            size = int.from_bytes(body[start:start + 2])
            self.subscribed.append((body[start + 2:start + 2 + size].decode(), body[-1] & 3))
            client.sendall(packet(SUBACK, body[:2] + (b"\0" if five else b"") + b"\0"))
        elif kind == PINGREQ:
            client.sendall(b"\xd0\0")
        return kind != DISCONNECT

    def welcome(self, client, version) -> bool:
        self.versions.append(version)
        if version not in self.wanted:
            if not self.silently:
                client.sendall(packet(CONNACK, b"\0\1"))
            return False
        if self.welcomes:
            self.welcomes.wait(30)
        client.sendall(packet(CONNACK, b"\0\0\0" if version == 5 else b"\0\0"))
        if self.after:
            threading.Thread(target=self.flood, args=(client, version), daemon=True).start()
        return True

    def flood(self, client, version):
        try:
            for part in self.after(version):
                client.sendall(part)
        except OSError:
            pass

    def close(self):
        self.listener.close()
        for client in self.sockets:
            try:
                client.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def unfinished(version):
    """Messages of QoS 2 with ever new numbers, none of which is released."""
    properties = b"\0" if version == 5 else b""
    while True:
        yield b"".join(
            packet(PUBLISH, text("a") + struct.pack(">H", number) + properties, flags=4) for number in range(1, 65536))


def enormous(version):
    """One message of 256 MiB."""
    yield bytes([PUBLISH << 4]) + length_bytes((1 << 28) - 1) + text("a") + (b"\0" if version == 5 else b"")
    part = bytes(1 << 16)
    for _ in range((1 << 12) - 1):
        yield part
