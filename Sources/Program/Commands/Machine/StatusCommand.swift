import Glibc
import HaloBluetoothCore
import HaloCommandLine
import HaloEventLoop
import HaloJSON
import HaloLineOutput
import HaloSystemCalls

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
    answers its own user and root, so those of others are shown to root only. One that does not answer within a second hangs;
    report it.

    Exit code 79 means that none of this user runs, or none at all if root asks.
    """,
  usesAdapter: false
) { invocation in
  let isRoot = geteuid() == 0
  // Root needs its capabilities for the folders of others.
  let found = await offTheLoop(privileges: .ofTheLoop) {
    let all = RunningCommand.all
    let answers = LocalSocket.answers(of: all.map(\.user), atMost: most, within: answerDeadline) {
      socket, index in
      all[index].connect(socket)
    }
    return Array(zip(all, answers))
  }
  try Privileges.afterOpening(.other)
  guard let found else { throw Failure(.interrupted, "interrupted") }
  let shown = found.compactMap { CommandAnswer($0, $1) }
  guard !shown.isEmpty else {
    throw Failure(
      .notFound,
      isRoot
        ? "no halo-raw command is running"
        : "no halo-raw command of this user is running; sudo halo-raw status shows those of all users")
  }
  let printer = StatusPrinter(OutputFormat(invocation))
  for answer in shown { printer.print(answer) }
}

/// How long all commands together may take to answer, in milliseconds.
private let answerDeadline: Int32 = 1000
/// How many commands of one user are asked.
private let most = 64

/// What a running command says.
private struct CommandAnswer: Sendable {
  let command: RunningCommand
  /// nil if it did not answer.
  let facts: JSONValue?

  /// - Parameter answer: nil if the command has ended, or another user than the owner of the folder made its socket
  init?(_ command: RunningCommand, _ answer: LocalSocket.Answer?) {
    guard let answer else { return nil }
    self.command = command
    facts = try? JSONValue(parsing: answer.bytes)
  }

  /// Why there is nothing to say about a device.
  var reason: String {
    facts == nil ? "does not answer" : "no ring is connected yet"
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
        "output", "broker", "broker_connected", "broker_waiting", "broker_set_aside",
      ])
  }

  func print(_ answer: CommandAnswer) {
    let command = answer.facts?.found("command", as: String.self).map { "halo-raw \($0)" }
    let own: [Field] = [
      .number(Int(answer.command.process)), .text(answer.user), .text(command),
      .text(answer.facts?.found("since", as: String.self)),
    ]
    let broker = answer.facts?.found("broker")
    let ends: [Field] = [
      .text(answer.facts?.found("output", as: String.self)), .text(broker?.found("address", as: String.self)),
      .flag(broker?.found("connected", as: Bool.self)),
      .number(broker?.found("waiting", as: Int.self)), .number(broker?.found("set_aside", as: Int.self)),
    ]
    let devices = self.devices(answer)
    guard format != .text else { return printText(answer, command, devices, broker) }
    let none = JSONValue.object(["state": .string(answer.reason)])
    for device in devices.isEmpty ? [none] : devices {
      let fields: [Field] = [
        .text(device.found("address", as: String.self)), .text(device.found("name", as: String.self)),
        .text(device.found("state", as: String.self)),
        .text(device.found("state_since", as: String.self)), .number(device.found("records", as: Int.self)),
        .text(device.found("last_record", as: String.self)),
      ]
      printer.print(own + fields + ends, text: "")
    }
  }

  private func printText(
    _ answer: CommandAnswer, _ command: String?, _ devices: [JSONValue], _ broker: JSONValue?
  ) {
    let since = answer.facts?.found("since", as: String.self).map { "  since \(Self.seconds($0))" } ?? ""
    var lines = [
      "\(answer.command.process)  \(answer.user)\(since)", "  \(command?.printable ?? "halo-raw")",
    ]
    if devices.isEmpty { lines.append("  \(answer.reason)") }
    for device in devices {
      let last =
        device.found("last_record", as: String.self).map { ", the last at \(Self.seconds($0))" } ?? ""
      let names = [device.found("name", as: String.self), device.found("address", as: String.self)].compactMap
      { $0?.printable }
      let records = Console.counted(device.found("records", as: Int.self) ?? 0, "record")
      lines.append(
        "  \(names.joined(separator: " "))  \(device.found("state", as: String.self)?.printable ?? "")")
      lines.append(
        "    since \(Self.seconds(device.found("state_since", as: String.self) ?? "")), \(records)\(last)")
    }
    if let output = answer.facts?.found("output", as: String.self) {
      lines.append("  output: \(output.printable)")
    }
    if let broker, let address = broker.found("address", as: String.self) {
      let isConnected = broker.found("connected", as: Bool.self) ?? false
      let waiting = Console.counted(broker.found("waiting", as: Int.self) ?? 0, "message")
      lines.append(
        "  broker: \(address.printable), \(isConnected ? "connected" : "not connected"), \(waiting) waiting")
      if let aside = broker.found("set_aside", as: Int.self), aside > 0 {
        lines.append("    \(Console.counted(aside, "message")) set aside: see halo-raw queues")
      }
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
    guard case .array(let devices)? = answer.facts?.found("devices") else { return [] }
    return devices
  }
}
