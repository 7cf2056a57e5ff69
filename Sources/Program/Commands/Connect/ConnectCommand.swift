import ATT
import GAP
import HaloBluetoothCore
import HaloCommandLine
import HaloGATT
import HaloViews

private enum ConnectOption {
  static let keepGoing = Flag(
    "--keep-going", help: "go on after a line that fails, also where lines come from a pipe or a file")
}

let connectCommand = CommandSpec(
  name: "connect", arguments: "[DEVICE]", summary: "a session: read, write and listen over one connection",
  options: [ConnectOption.keepGoing, CommonOptions.retryTime] + LiveOption.all,
  examples: [
    (
      "halo-raw connect R02_BEEF --adapter virtual",
      "type lines; Tab completes handles and UUIDs, help lists the commands"
    ),
    (
      "printf 'subscribe 6E400003-B5A3-F393-E0A9-E50E24DCCA9E\\nsend battery\\nwait 1s\\n' | halo-raw connect R02_BEEF --adapter virtual",
      "a script: subscribe, write, and print what the device answers"
    ),
  ],
  details: """
    Lines come from the terminal, a pipe or a file. # begins a comment.

    The commands are services, read WHAT, write WHAT HEX (or --text TEXT), command WHAT HEX (a write without response),
    subscribe WHAT [--indicate], unsubscribe WHAT, wait TIME, wait WHAT [TIME], send NAME or HEX (a frame of a ring), pair, mtu,
    help and quit; help says what each does. WHAT is a handle, such as 0x0012, or a UUID, such as 2A19.
    Values are printed with the time, the handle, the name, the bytes and what they say; a frame of a ring by its name and its
    fields. csv and jsonl have a record for each: "kind" is read, write, value (of a subscription), service, characteristic,
    link, gap or error.

    On a terminal, a line that fails is said, and the session goes on. In a script it ends the session, with the exit code of its
    failure, unless --keep-going is given. The end of the script ends the session: wait for answers before it.

    If the connection is lost, it is made again within --retry-for, and what was subscribed to is subscribed to again. The line
    that the loss has ended fails.
    """
) { invocation in
  try await Session.run(invocation, endsInOrder: true, pairs: true) { session in
    let live = try await LiveOutput(invocation, session)
    let device = DeviceSession(live, session, keepsGoing: invocation[ConnectOption.keepGoing])
    let link = session.keepDevice(ReconnectPolicy.Budget(invocation, isSteady: true)) { connection in
      try await device.begin(connection)
    }
    device.onData = link.dataFlow
    // Also if the link is lost permanently.
    defer { device.stop() }
    _ = try await link.open()
    try await live.complete(link) {
      try await link.listen { connection in
        guard let loss = try await device.run(connection) else { return }
        device.markGap("connection lost: \(loss)")
        throw Failure(.connectionLost, "the connection was lost: \(loss)", .link)
      }
      try device.finish()
    }
    await device.unsubscribe()
    await link.close()
  }
}

/// The output of a session: records, above the line that is being typed if there is a terminal.
@BluetoothActor
final class SessionOutput {
  private let live: LiveOutput
  private var printer: TimedPrinter?
  /// Whether values may be a ring's frames.
  var isOfRing = false
  /// Nil for a script.
  var editor: LineEditor?

  private let onFailure: () -> Void

  /// - Parameter onFailure: called when the output takes nothing any more
  init(_ live: LiveOutput, onFailure: @escaping () -> Void) {
    self.live = live
    self.onFailure = onFailure
  }

  /// Describes the records, when the device is known.
  func begin(_ connection: GATTLink) async throws(Failure) {
    guard printer == nil else { return }
    printer = try await TimedPrinter(live, of: connection, ["kind"] + valueColumns + ["note"])
  }

  func markGap(_ reason: String) { above { printer?.markGap(reason) } }

  func above(_ print: () -> Void) {
    if let editor { editor.above(print) } else { print() }
  }

  /// - Parameter kind: `read`, `write`, `value`
  func printValue(
    _ kind: String, _ handle: AttributeHandle, _ uuid: BluetoothUUID?, _ value: [UInt8], note: String? = nil,
    at time: Instant? = nil
  ) {
    var meaning = DecodedValue(value, of: uuid)
    if isOfRing, let words = uuid.flatMap({ RingFrames.words(value, of: $0) }) {
      (meaning.words, meaning.text) = (words, nil)
    }
    let name = uuid.flatMap { GATTUUID.attributeName(of: $0) ?? $0.description }
    let title = [kind, handle.description, name].compactMap { $0 }
    print(
      kind, fields(handle, uuid, value, meaning), note: note, at: time,
      text: "\(title.joined(separator: " "))\n    \(meaning.description)" + (note.map { "  (\($0))" } ?? ""))
  }

  func print(
    _ kind: String, _ fields: [String: Field] = [:], note: String?, at time: Instant? = nil, text: String?
  ) {
    let own: [String: Field] = ["kind": .text(kind), "note": .text(note)]
    above { printer?.print(kind, own.merging(fields) { $1 }, at: time, text: text) }
    if printer?.hasFailed == true { onFailure() }
  }

  func print(_ table: AttributeList) {
    for entry in table.entries {
      let fields: [String: Field] = [
        "handle": .number(Int(entry.handle.rawValue)), "uuid": .text(entry.uuid.description),
        "name": .text(entry.name),
      ]
      print(entry.kind, fields, note: entry.note, text: entry.text)
    }
  }

  /// Prints the MTU and the other properties of a link.
  func printLink(_ connection: GATTLink) async {
    let rssi = try? await connection.readRSSI()
    let parts = [
      "MTU \(connection.mtu)", connection.parameters?.description, connection.phys.map { "PHY \($0)" },
      connection.dataLengths.map { "data length \($0)" }, rssi.flatMap { $0 }.map { "RSSI \($0) dBm" },
    ]
    let text = parts.compactMap { $0 }.joined(separator: ", ")
    print("link", note: text, text: text)
  }

  private func fields(
    _ handle: AttributeHandle, _ uuid: BluetoothUUID?, _ value: [UInt8], _ meaning: DecodedValue
  ) -> [String: Field] {
    Dictionary(uniqueKeysWithValues: zip(valueColumns, valueFields(handle, uuid, value, meaning)))
  }
}
