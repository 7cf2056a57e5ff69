import ATT
import HaloBluetoothCore
import HaloDissection

/// Values as lines of a table, in 80 columns where numbers are not large. A line before the first value of an attribute
/// says which one it is.
struct ValueText {
  static let header =
    "frame         t    action   handle value" + String(repeating: " ", count: 33) + "answers\n"

  /// In characters.
  private static let valueWidth = 40
  /// The handles of a device whose names are known; with more, they are said again.
  private static let capacity = 4096

  /// What was said last of the attributes with these handles.
  private var said: [AttributeHandle: String] = [:]

  /// - Returns: a line, or two, without the last line break
  mutating func lines(
    _ value: AttributeValue, _ meaning: ValueMeaning, _ packet: DissectedPacket, start: Int64?
  ) -> String {
    let time = start.flatMap { start in
      packet.info.microseconds.map { DecimalText.string(($0 &- start) / 1000, places: 3) }
    }
    let arrow: String =
      switch packet.direction {
      case .hostToController: "->"
      case .controllerToHost: "<-"
      case nil: "--"
      }
    var line = Self.right("\(packet.info.number)", 5) + " " + Self.right(time ?? "no time", 9) + " \(arrow) "
    line +=
      Self.left(Self.name(of: value.operation), 8) + " " + Self.left(value.handle?.description ?? "?", 6)
    line += " " + Self.left(shown(value, meaning), Self.valueWidth)
    if let answers = value.answers { line += " " + Self.right("\(answers)", 4) }
    while line.last == " " { line.removeLast() }
    return introduction(value, packet).map { "\($0)\n\(line)" } ?? line
  }

  /// Which attribute has the handle; nil if the last line about the handle said the same.
  private mutating func introduction(_ value: AttributeValue, _ packet: DissectedPacket) -> String? {
    guard let handle = value.handle else { return nil }
    let name = value.name.map { name in
      "\(name)" + (value.uuid.map { " (\($0))" } ?? "")
    }
    let owner = value.isLocal == true ? "this host, for \(packet.link?.text ?? "")" : packet.link?.text ?? ""
    let text =
      "      \(handle) of \(owner): \(name ?? value.uuid?.description ?? "not discovered in the capture")"
    guard said[handle] != text else { return nil }
    if said.count >= Self.capacity { said.removeAll() }
    said[handle] = text
    return text
  }

  private func shown(_ value: AttributeValue, _ meaning: ValueMeaning) -> String {
    let place = value.offset.map { $0 > 0 ? "from byte \($0): " : "" } ?? "from byte ?: "
    let bytes = value.bytes.isEmpty ? "empty" : Hex.string(value.bytes)
    let full = place + (meaning.words ?? meaning.text.map { "\"\($0)\"" } ?? bytes)
    let width = value.isCut ? Self.valueWidth - 6 : Self.valueWidth
    return (full.count <= width ? full : full.prefix(width - 1) + "…") + (value.isCut ? " (cut)" : "")
  }

  private static func name(of operation: ATTOpcode) -> String {
    switch operation {
    case .writeRequest: "write"
    case .writeCommand, .signedWriteCommand: "command"
    case .prepareWriteRequest: "prepare"
    case .handleValueNotification, .multipleHandleValueNotification: "notify"
    case .handleValueIndication: "indicate"
    default: "read"
    }
  }

  private static func left(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  private static func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }
}
