import HaloBluetoothCore

/// The errands of the central role.
let expectedErrands: [String: ExpectedErrand] = {
  typealias Expected = ExpectedErrand
  let (opening, end, read) = (Expected.opening, Expected.end, Expected.read)
  let battery = ["battery 64"]
  let (count, lengths) = (Expected.subscribed("A004"), Expected.subscribed("A003"))
  let commands = (0..<500).map { "command A002 " + hex([UInt8($0 >> 8), UInt8($0 & 0xFF)]) }
  let counted = opening + count + [end]
  return [
    "find by name": Expected(lines: battery, lamp: read),
    "find by service": Expected(lines: battery, lamp: read),
    "find by address": Expected(lines: battery, lamp: read),
    "read": Expected(lines: ["2A19 64", "2A19 64"], lamp: opening + ["read 2A19", "read 2A19", end]),
    "long read": Expected(
      lines: ["A001 " + hex(Lamp.long)], lamp: opening + ["read A001", "read on A001 from 246", end]),
    "long write": Expected(
      lines: ["written"],
      lamp: opening + ["prepare A001 from 0", "prepare A001 from 242", "execute 1", end]),
    "commands": Expected(lines: battery, lamp: opening + commands + ["read 2A19", end]),
    "values": Expected(
      lines: [1, 20, 100, 244].map { "A003 " + hex(Lamp.long.prefix($0)) }, lamp: opening + lengths + [end],
      habit: .pauses),
    "many subscriptions": Expected(
      lines: ["200 subscriptions"], lamp: opening + Expected.repeated(200, lengths) + [end], habit: .hurries),
    "two devices": Expected(lines: ["lamp 10 other 10"], lamp: counted, other: counted),
    "links that end": Expected(
      lines: ["links 01020304", "longest gap short"],
      lamp: Expected.repeated(3, opening + [count[0], "disconnected 16"]) + counted, habit: .leaves),
    "many links": Expected(lines: ["30 links"], lamp: Expected.repeated(30, read)),
    "two users": Expected(
      lines: ["first 64", "second 64"], lamp: opening + ["read 2A19", "read 2A19", end]),
    "two users of a value": Expected(lines: ["first 5 second 20"], lamp: counted),
    "two users of a change": Expected(
      lines: ["A101 00", "A101 01", "A101 01", "A101 01"],
      lamp: opening + ["read A101", "confirm", "read A101", "read A101", "read A101", end],
      habit: .changesLater),
    "a user that is released": Expected(lines: battery + battery, lamp: read + read, refusals: 1),
    "a link that ends at a read": Expected(
      lines: ["error linkLost"] + battery + battery, lamp: read.dropLast() + ["disconnected 16"] + read,
      other: read, does: "a limit", argument: "2", habit: .leavesAtARead),
    "a change at once": Expected(
      lines: ["A101 01"], lamp: opening + ["confirm", "read A101", end], does: "services change",
      argument: "1", habit: .changesAtOnce),
    "a change during the discovery": Expected(
      lines: ["A101 01"], lamp: opening + ["confirm", "read A101", end], does: "services change",
      argument: "1", habit: .changesWhileDiscovered),
    "a change during a read": Expected(
      lines: ["A101 01"], lamp: opening + ["read A101", "confirm", "read A101", end],
      does: "services change", argument: "1", habit: .changesDuringARead),
    "a change before a read": Expected(
      lines: ["A101 01"], lamp: opening + ["read A101", "confirm", "read A101", end],
      does: "services change", argument: "1", habit: .changesBeforeARead),
    "a change after a read": Expected(
      lines: ["A101 00", "A101 01"], lamp: opening + ["read A101", "confirm", "read A101", end],
      does: "services change", argument: "1", habit: .changesLater),
    "two changes in a row": Expected(
      lines: ["A101 00", "A101 02"], lamp: opening + ["read A101", "confirm", "confirm", "read A101", end],
      does: "services change", argument: "2", habit: .changesTwice),
    "an MTU without an answer": Expected(
      lines: battery + battery,
      lamp: ["connected", "mtu", end, "connected", opening[2], "read 2A19", end], other: read,
      does: "a limit", argument: "8", habit: .silentMTU),
    "a watch without an answer": Expected(
      lines: ["error timedOut"] + battery + battery,
      lamp: opening + [end, "connected", "mtu", "read 2A19", end], other: read, does: "a limit",
      argument: "8", habit: .silentWatch),
    "a discovery without an answer": Expected(
      lines: ["error timedOut", "error timedOut"] + battery, lamp: Expected.repeated(2, opening + [end]),
      other: read, does: "a limit", argument: "2", habit: .silentDiscovery),
    "a read without an answer": Expected(
      lines: ["error timedOut", "error timedOut"] + battery, lamp: read + read, other: read,
      does: "a limit", argument: "2", habit: .silentRead),
  ]
}()

/// What the user interrupts.
let expectedInterruptions: [String: ExpectedErrand] = {
  typealias Expected = ExpectedErrand
  let (opening, end, read) = (Expected.opening, Expected.end, Expected.read)
  let lines = ["error cancelled", "battery 64"]
  let count = Expected.subscribed("A004")
  return [
    "cancelled scan": Expected(lines: lines, other: read, sign: { $0.text == "scan on" }),
    "cancelled connection": Expected(
      lines: lines, lamp: read, sign: { $0.text == "scan on" || $0.text == "connecting" }),
    "cancelled discovery": Expected(
      lines: lines, lamp: opening + [end], other: read, does: "cancelled request", habit: .silentDiscovery,
      sign: { $0.isUnanswered }),
    "cancelled read": Expected(
      lines: lines, lamp: read, other: read, does: "cancelled request", habit: .silentRead,
      sign: { $0.isUnanswered }),
    "cancelled attempt": Expected(
      lines: lines, other: read, habit: .deaf, sign: { $0.text == "connecting" }),
    "cancelled values": Expected(
      lines: lines, lamp: opening + count + [end], other: read, sign: { $0.text == count[0] }),
    "cancelled exchange": Expected(
      lines: lines, lamp: ["connected", "mtu", end], other: read, does: "cancelled attempt",
      habit: .silentMTU, sign: { $0.isUnanswered }),
    "cancelled reconnection": Expected(
      lines: lines, lamp: opening + [count[0], "disconnected 16"], other: read, habit: .leavesForGood,
      sign: { $0.text.hasPrefix("disconnected") }),
  ]
}()

func hex(_ bytes: some Sequence<UInt8>) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
