import Glibc
import HaloBluetoothCore
import HaloCommandLine
import HaloSystem
import HaloStorage

let statusCommand = CommandSpec(
  name: "status", summary: "show the streams and other live commands that run on this machine",
  options: [CommonOptions.pageFormat],
  examples: [
    ("halo-raw status", "what runs: its rings, their state, the records so far"),
    ("sudo halo-raw status --format jsonl", "the same of all users, a record for each ring"),
  ],
  details: """
    The commands that print records until they are ended answer: stream, measure, events, sport, subscribe and raw. Each
    answers its own user and root, so those of others are shown to root only. One that does not answer within a second hangs;
    report it.

    Exit code 79 means that none of this user runs, or none at all if root asks.
    """,
  usesAdapter: false
) { invocation in
  // Root needs its capabilities for the folders of others.
  let found = await RunningCommand.allWithStatus(within: answerDeadline)
  try Privileges.afterOpening(.other)
  guard let found else { throw Failure(.interrupted, "interrupted") }
  let shown = found.compactMap { CommandAnswer($0, $1) }
  guard !shown.isEmpty else { throw RunningCommand.noneRuns("status") }
  let format = OutputFormat(page: invocation)
  var printer = RecordPrinter(
    format,
    [
      "pid", "user", "command", "since", "ring", "name", "state", "state_since", "records", "last_record",
      "output", "page", "broker", "broker_connected", "broker_waiting", "broker_set_aside",
    ])
  for answer in shown {
    guard format != .text else {
      printer.print([], text: answer.text)
      continue
    }
    for record in answer.records { printer.print(record, text: "") }
  }
}

/// How long all commands together may take to answer, in milliseconds.
private let answerDeadline: Int32 = 1000

/// The answer of a running command.
private struct CommandAnswer: Sendable {
  let command: RunningCommand
  /// Null if it did not answer.
  private let facts: JSONValue

  /// - Parameter answer: nil if the command has ended, or another user than the owner of the folder made its socket
  init?(_ command: RunningCommand, _ answer: LocalSocket.Answer?) {
    guard let answer else { return nil }
    self.command = command
    facts = (try? JSONValue(parsing: answer.bytes)) ?? .null
  }

  /// Why there is nothing to say about a device.
  private var reason: String { facts == .null ? "does not answer" : "no ring is connected yet" }

  private var user: String { command.userName }

  private var commandLine: String? { facts.text("command").map { "halo-raw \($0)" } }

  private var devices: [JSONValue] {
    if case .array(let devices)? = facts.found("devices") { devices } else { [] }
  }

  private var broker: JSONValue { facts.found("broker") ?? .null }

  /// A record for each device; one without, if there is none.
  var records: [[Field]] {
    let none = JSONValue.object(["state": .string(reason)])
    return (devices.isEmpty ? [none] : devices).map { device in
      [
        .number(Int(command.process)), .text(user), .text(commandLine), .text(facts.text("since")),
        .text(device.text("address")), .text(device.text("name")), .text(device.text("state")),
        .text(device.text("state_since")), .number(device.number("records")),
        .text(device.text("last_record")), .text(facts.text("output")), .text(facts.text("page")),
        .text(broker.text("address")),
        .flag(broker.found("connected", as: Bool.self)), .number(broker.number("waiting")),
        .number(broker.number("set_aside")),
      ]
    }
  }

  /// Lines that fit on the terminal.
  var text: String {
    let since = facts.text("since").map { "  since \(Self.seconds($0))" } ?? ""
    var lines = ["\(command.process)  \(user)\(since)", "  \(commandLine?.printable ?? "halo-raw")"]
    if devices.isEmpty { lines.append("  \(reason)") }
    for device in devices {
      let last = device.text("last_record").map { ", the last at \(Self.seconds($0))" } ?? ""
      let names = [device.text("name"), device.text("address")].compactMap { $0?.printable }
      let records = Console.counted(device.number("records") ?? 0, "record")
      lines.append("  \(names.joined(separator: " "))  \(device.text("state")?.printable ?? "")")
      lines.append("    since \(Self.seconds(device.text("state_since") ?? "")), \(records)\(last)")
    }
    if let output = facts.text("output") { lines.append("  output: \(output.printable)") }
    if let page = facts.text("page") { lines.append("  page: \(page.printable)") }
    if let address = broker.text("address") {
      let isConnected = broker.found("connected", as: Bool.self) ?? false
      let waiting = Console.counted(broker.number("waiting") ?? 0, "message")
      lines.append(
        "  broker: \(address.printable), \(isConnected ? "connected" : "not connected"), \(waiting) waiting")
      if let aside = broker.number("set_aside"), aside > 0 {
        lines.append("    \(Console.counted(aside, "message")) set aside: see halo-raw queues")
      }
    }
    if Console.isTerminal {
      let width = Terminal.size(of: STDOUT_FILENO).columns
      lines = lines.map { $0.cut(to: width) }
    }
    return lines.joined(separator: "\n")
  }

  /// A time without the fraction and the offset.
  private static func seconds(_ time: String) -> String {
    String(time.prefix("2026-11-23T02:30:00".count)).replacing("T", with: " ").printable
  }
}

extension JSONValue {
  fileprivate func text(_ name: String) -> String? { found(name, as: String.self) }
  fileprivate func number(_ name: String) -> Int? { found(name, as: Int.self) }
}
