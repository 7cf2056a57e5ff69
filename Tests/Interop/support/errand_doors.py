"""The doors by which the errands of Tests/Errands are run: the program of that folder for the libraries HaloRaw and
CoreBluetooth, and commands of halo-raw. Each gives the lines that the user gets, which are the same for each door, and
the seconds that an errand went on for after the user had interrupted it.
"""

import json
import signal
import subprocess
import time

from built import built
from event_lines import event_lines
from forked import adapter_at, start_peer
from program import OK, TIMEOUT, wait_until

LAMP, OTHER, NOBODY = (f"D2:5C:0A:1E:60:{number}" for number in ("01", "02", "7F"))
INTERRUPTED = 130
LONG = bytes(number % 251 for number in range(300))


class Peers:
    """A running script of bumble_errands.py or bumble_clients.py, and what it has seen."""

    def __init__(self, script, events, *options):
        self.events_file = events
        self.process = start_peer(script, "tcp-server:127.0.0.1:0", "--events", events, *options)
        self.adapter = adapter_at(*self.process.places())

    def events(self, kind=None) -> list[dict]:
        return [event for event in map(json.loads, event_lines(self.events_file))
                if kind in (None, event["event"])]

    def wait_for(self, is_met, what, seconds=20):
        """Returns when an event has happened; a program may know of it before its peer does."""
        wait_until(lambda: any(map(is_met, self.events())), what, seconds)

    def all_links_end(self):
        def have_ended():
            return len(self.events("connected")) == len(self.events("disconnected"))
        wait_until(have_ended, "end of all links", 20)

    def seen_by(self, name) -> list[str]:
        """What a device has seen of its links, without discovery, which has as many requests as a door finds useful."""
        seen = []
        for event in self.events():
            if event.get("name") == name and event["event"] in ("connected", "disconnected", "att"):
                text = event.get("text", event["event"])
                if "reason" in event:
                    text += f" {event['reason']:02X}"
                if text != "discover":
                    seen.append(text)
        return seen

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=60)


class LibraryDoor:
    """A program with one of the libraries. The user interrupts an errand when the peer has seen `sign`."""

    seconds = None

    def __init__(self, name, peers, state, environment):
        self.name, self.peers, self.state, self.environment = name, peers, state, environment

    def run(self, errand, argument="", sign=None) -> list[str]:
        process = subprocess.Popen(
            [built("errands"), "--door", self.name, "--adapter", self.peers.adapter, errand, argument],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
            env=self.environment | {"XDG_STATE_HOME": str(self.state)})
        lines = map(str.strip, process.stdout)
        try:
            result = []
            if sign:
                result.append(next(lines))
                self.peers.wait_for(sign, "sign to interrupt")
                process.send_signal(signal.SIGINT)
                begin = time.monotonic()
                for line in lines:
                    result.append(line)
                    if line.startswith("error "):
                        break
                self.seconds = time.monotonic() - begin
            result += lines
            code = process.wait(timeout=20)
        finally:
            process.kill()
            process.wait()
        assert code == 0 and result[-1:] == ["done"], (code, result)
        return [line for line in result if line not in ("begun", "done")]


class CommandDoor:
    """Commands of halo-raw: a method for each errand, with `_` for a space."""

    # What commands cannot do, and why.
    MISSING = {
        "commands": "a command writes one value",
        "many subscriptions": "a command subscribes once",
        "two devices": "a command uses one device, and an H4 adapter has one program",
        "two users": "an H4 adapter has one program",
        "two users of a value": "the same",
        "two users of a change": "the same",
        "a user that is released": "a command ends with its process",
        "services change": "a command reads once; test_gatt.py has subscriptions that move",
        "serve three": "serve has no values of its own",
        "serve many": "the same",
        "both roles": "an H4 adapter has one program",
        "a served peripheral": "the same"}
    seconds = None

    def __init__(self, halo, peers):
        self.halo, self.peers = halo, peers

    def run(self, errand, argument="", sign=None) -> list[str]:
        self.sign = sign
        return getattr(self, errand.replace(" ", "_"))(*[argument] if argument else [])

    # --- what errands consist of

    def records(self, *arguments) -> list[dict]:
        return self.halo.run(*arguments, "--format", "jsonl", adapter=self.peers.adapter).succeeded().records()

    def battery(self, device, *options) -> str:
        arguments = ("read", device, "--uuid", "2A19", "--format", "jsonl", *options)
        result = self.halo.run(*arguments, adapter=self.peers.adapter)
        if result.code == TIMEOUT:
            return "error timedOut"
        (record,) = result.succeeded().records()
        return f"battery {record['value']}"

    def interrupted(self, *arguments) -> list[str]:
        """A command that is interrupted when the peer has seen the sign."""
        return self.end(self.halo.start(*arguments, adapter=self.peers.adapter))[1]

    def end(self, process):
        self.peers.wait_for(self.sign, "sign to interrupt")
        process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        result = self.halo.wait(process)
        self.seconds = time.monotonic() - begin
        assert result.code in (OK, INTERRUPTED), result
        return result, ["error cancelled"]

    # --- errands

    def find_by_name(self):
        return [self.battery("Lamp")]

    def find_by_address(self):
        return [self.battery(LAMP)]

    def find_by_service(self):
        """`read` takes a name or an address: `scan` finds it."""
        found = {record["address"] for record in self.records("scan", "--service", "A000", "--duration", "1s")}
        (address,) = found
        return [self.battery(address)]

    def long_read(self):
        return [f"A001 {record['value']}" for record in self.records("read", LAMP, "--uuid", "A001")]

    def long_write(self):
        value = bytes(7 * number % 256 for number in range(300)).hex()
        (record,) = self.records("write", LAMP, "--uuid", "A001", value)
        assert record["value"] == value
        return ["written"]

    def values(self):
        records = self.records("subscribe", LAMP, "--uuid", "A003", "--count", 4)
        return [f"A003 {record['value']}" for record in records]

    def links_that_end(self):
        process = self.halo.start(
            "subscribe", LAMP, "--uuid", "A004", "--format", "jsonl", adapter=self.peers.adapter)
        links, longest, last = [], 0, None
        for line in process.stdout:
            record = json.loads(line)
            if record["kind"] == "gap":
                continue
            if record["value"][:2] not in links:
                links.append(record["value"][:2])
            longest, last = max(longest, record["t"] - (last or record["t"])), record["t"]
            if len(links) == 4:
                break
        process.send_signal(signal.SIGINT)
        self.halo.wait(process).succeeded()
        return [f"links {''.join(links)}", f"longest gap {'short' if longest < 1.5 else longest}"]

    def many_links(self):
        return [f"{len([self.battery(LAMP) for _ in range(30)])} links"]

    def a_limit(self, seconds):
        lines = []
        for _ in range(2):
            lines.append(self.battery(LAMP, "--wait", f"{seconds}s"))
            if not lines[-1].startswith("error"):
                break
        return [*lines, self.battery(OTHER)]

    def cancelled_scan(self):
        return [*self.interrupted("scan", "--duration", "0"), self.battery(OTHER)]

    def cancelled_connection(self):
        return [*self.interrupted("read", NOBODY, "--uuid", "2A19"), self.battery(LAMP)]

    def cancelled_attempt(self):
        return [*self.interrupted("read", "Lamp", "--uuid", "2A19"), self.battery(OTHER)]

    def cancelled_reconnection(self):
        return self.cancelled_values()

    def cancelled_values(self):
        """Also of a link that is made again: subscribe does so."""
        process = self.halo.start("subscribe", LAMP, "--uuid", "A004", adapter=self.peers.adapter)
        next(line for line in process.stdout if line.startswith("0.0"))
        return [*self.end(process)[1], self.battery(OTHER)]

    def cancelled_request(self):
        return [*self.interrupted("read", LAMP, "--uuid", "2A19"), self.battery(OTHER)]

    def serve(self):
        """The table of the value that the libraries serve."""
        rows = [
            {"handle": 1, "kind": "service", "uuid": "1800", "end": 3},
            {"handle": 2, "kind": "characteristic", "uuid": "2A00", "value_handle": 3, "properties": ["read"],
             "value": b"Served".hex()},
            {"handle": 4, "kind": "service", "uuid": "B000", "end": 7},
            {"handle": 5, "kind": "characteristic", "uuid": "B001", "value_handle": 6,
             "properties": ["read", "write", "notify", "indicate"], "value": LONG.hex()},
            {"handle": 7, "kind": "descriptor", "uuid": "2902"}]
        table = self.peers.events_file.with_name("table.jsonl")
        table.write_text("".join(json.dumps(row) + "\n" for row in rows))
        result, end = self.end(
            self.halo.start("serve", table, "--format", "jsonl", adapter=self.peers.adapter))
        return [f"written {record['value']}" for record in result.records() if record["kind"] == "written"] + end
