import ATT
import GAP
import HaloBluetoothCore
import HaloViews
import HaloCommandLine
import HaloGATT
import RingLink

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
