import BluetoothCore
import EventLoop
import Glibc
import JSON
import LineOutput
import SystemCalls

let statusCommand = CommandSpec(
  name: "status", summary: "show the streams and other live commands that run on this machine",
  positionals: 0...0,
  options: [CommonOptions.format],
  examples: [
    ("halo-raw status", "what runs: its rings, their state, the records so far"),
    ("sudo halo-raw status --format jsonl", "the same of all users, a record for each ring"),
  ],
  details: """
    The commands that print records until they are ended answer: stream, measure, events, sport, subscribe and raw. Each
    answers its own user and root. One that does not answer within a second hangs; report it.

    Exit code 79 means that none runs.
    """,
  usesAdapter: false
) { invocation throws(Failure) in
  let isRoot = geteuid() == 0
  let found = await offTheLoop {
    RunningCommand.all.map { ($0, LocalSocket.answer(of: $0.socket, within: patience)) }
  }
  try Privileges.afterOpening(.other)
  guard let found else { throw Failure(.interrupted, "interrupted") }
  let shown = found.compactMap { CommandAnswer($0, $1, isRoot: isRoot) }
  guard !shown.isEmpty else { throw Failure(.notFound, "no command of halo-raw runs that answers") }
  let printer = StatusPrinter(OutputFormat(invocation))
  for answer in shown { printer.print(answer) }
}

/// In milliseconds.
private let patience: Int32 = 1000

/// What a running command says.
private struct CommandAnswer: Sendable {
  let command: RunningCommand
  /// nil if it did not answer.
  let facts: JSONValue?
  /// Whether it answers whoever asks here.
  private let isAllowed: Bool

  /// - Returns: nil if the command has ended, or another user than the one in its name made its socket
  init?(_ command: RunningCommand, _ answer: LocalSocket.Answer?, isRoot: Bool) {
    guard let answer, answer.user == command.user else { return nil }
    self.command = command
    facts = try? JSONValue(parsing: answer.bytes)
    isAllowed = isRoot || command.user == geteuid()
  }

  /// Why there is nothing to say about a device.
  var reason: String {
    guard facts == nil else { return "no ring is connected yet" }
    return isAllowed ? "does not answer" : "answers only its user and root"
  }

  var user: String {
    getpwuid(command.user).map { String(cString: $0.pointee.pw_name) } ?? String(command.user)
  }
}

@BluetoothActor
private final class StatusPrinter {
  private let format: OutputFormat
  private var printer: RecordPrinter

  init(_ format: OutputFormat) {
    self.format = format
    printer = RecordPrinter(
      format,
      [
        "pid", "user", "command", "since", "ring", "name", "state", "state_since", "records", "last_record",
        "output", "broker", "broker_connected", "broker_waiting",
      ].map { ($0, nil) })
  }

  func print(_ answer: CommandAnswer) {
    let command = text(answer.facts, "command").map { "halo-raw \($0)" }
    let own: [Field] = [
      .number(Int(answer.command.process)), .text(answer.user), .text(command),
      .text(text(answer.facts, "since")),
    ]
    let broker = member(answer.facts, "broker")
    let ends: [Field] = [
      .text(text(answer.facts, "output")), .text(text(broker, "address")),
      .optionalFlag(broker.flatMap { try? $0.optionalMember("connected") }),
      .number(number(broker, "waiting")),
    ]
    let devices = self.devices(answer)
    guard format != .text else { return printText(answer, command, devices, broker) }
    let none = JSONValue.object(["state": .string(answer.reason)])
    for device in devices.isEmpty ? [none] : devices {
      let fields: [Field] = [
        .text(text(device, "address")), .text(text(device, "name")), .text(text(device, "state")),
        .text(text(device, "state_since")), .number(number(device, "records")),
        .text(text(device, "last_record")),
      ]
      printer.print(own + fields + ends, text: "")
    }
  }

  private func printText(
    _ answer: CommandAnswer, _ command: String?, _ devices: [JSONValue], _ broker: JSONValue?
  ) {
    let since = text(answer.facts, "since").map { " since \(Self.seconds($0))" } ?? ""
    var lines = ["\(answer.command.process)  \(answer.user)  \(command?.printable ?? "halo-raw")\(since)"]
    if devices.isEmpty { lines.append("  \(answer.reason)") }
    for device in devices {
      let last = text(device, "last_record").map { ", the last at \(Self.seconds($0))" } ?? ""
      let names = [text(device, "name"), text(device, "address")].compactMap { $0?.printable }
      let records = Console.counted(number(device, "records") ?? 0, "record")
      lines.append("  \(names.joined(separator: " "))  \(text(device, "state")?.printable ?? "")")
      lines.append("    since \(Self.seconds(text(device, "state_since") ?? "")), \(records)\(last)")
    }
    if let output = text(answer.facts, "output") { lines.append("  output: \(output.printable)") }
    if let broker, let address = text(broker, "address") {
      let isConnected: Bool = (try? broker.optionalMember("connected")) ?? false
      let waiting = Console.counted(number(broker, "waiting") ?? 0, "message")
      lines.append(
        "  broker: \(address.printable), \(isConnected ? "connected" : "not connected"), \(waiting) waiting")
    }
    if Console.isTerminal {
      let width = Terminal.size(of: STDOUT_FILENO).columns
      lines = lines.map { $0.cut(to: width) }
    }
    printer.print([], text: lines.joined(separator: "\n"))
  }

  /// A time without the fraction and the offset.
  private static func seconds(_ time: String) -> String {
    String(time.prefix("2026-11-23T02:30:00".count)).replacing("T", with: " ").printable
  }

  private func devices(_ answer: CommandAnswer) -> [JSONValue] {
    guard case .array(let devices)? = member(answer.facts, "devices") else { return [] }
    return devices
  }

  private func member(_ value: JSONValue?, _ name: String) -> JSONValue? {
    guard case .object(let members)? = value else { return nil }
    return members[name]
  }

  private func text(_ value: JSONValue?, _ name: String) -> String? {
    guard case .string(let text)? = member(value, name) else { return nil }
    return text
  }

  private func number(_ value: JSONValue?, _ name: String) -> Int? {
    guard case .integer(let number)? = member(value, name) else { return nil }
    return number
  }
}
