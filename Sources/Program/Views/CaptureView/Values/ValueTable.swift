import ATT
import HaloBluetoothCore
import HaloCommandLine
import HaloDissection
import HaloGATT

/// `decode --values`: a row for each value of an attribute.
struct ValueTable: ~Copyable {
  /// In the order of the columns of csv.
  private static let columns =
    [
      "frame", "t", "time", "adapter", "link", "peer", "peer_name", "direction", "operation", "offset", "cut",
    ] + valueColumns + ["answers"]

  private let choice: ValueChoice
  private let dissector: Dissector
  private var values = AttributeValues()
  private var printer: RecordPrinter
  private var text = ValueText()
  private var clock = RecordClock(offset: 0) { _ in 0 }

  init(_ format: OutputFormat, _ choice: ValueChoice, _ dissector: Dissector) {
    self.choice = choice
    self.dissector = dissector
    printer = RecordPrinter(
      format, Self.columns, header: format == .text ? ValueText.header : "", output: Console.output(.wait))
  }

  /// Takes the next packet of the capture.
  ///
  /// - Parameters:
  ///   - packet: the packet
  ///   - start: the time of the first packet
  ///   - isShown: whether its values are printed
  mutating func add(_ packet: DissectedPacket, start: Int64?, isShown: Bool) {
    values.take(packet, dissector)
    for value in values.found where isShown && choice.selects(value) {
      let meaning = DecodedValue(value, in: packet)
      var fields = place(packet, start)
      fields += [
        .text(value.operation.description), .number(value.offset), .flag(value.isCut),
        .number(value.handle.map { Int($0.rawValue) }), .text(value.uuid?.description),
        .text(Hex.string(value.bytes)), .text(value.name), .text(meaning.text), .text(meaning.words),
        .number(value.answers),
      ]
      printer.print(fields, text: text.lines(value, meaning, packet, start: start))
    }
  }

  /// The columns up to the direction.
  private mutating func place(_ packet: DissectedPacket, _ start: Int64?) -> [Field] {
    var times: [Field] = [.number(nil), .text(nil)]
    if let time = packet.info.microseconds {
      let (nanoseconds, overflow) = time.multipliedReportingOverflow(by: 1000)
      let (since, isFar) = (time &- (start ?? time)).multipliedReportingOverflow(by: 1000)
      if !overflow, !isFar {
        times = [.seconds(since), .text(clock.text(Instant(nanoseconds: nanoseconds)))]
      }
    }
    return [.number(packet.info.number)] + times + [
      .number(packet.info.adapter.map(Int.init)), .number(packet.link.map { Int($0.handle.rawValue) }),
      .text(packet.link?.peer?.description), .text(packet.link?.name), .text(packet.direction?.word),
    ]
  }
}

/// The attributes whose values are printed: all, or those that `--handle` and `--uuid` name.
package struct ValueChoice {
  package var handles: [AttributeHandle]
  package var uuids: [BluetoothUUID]

  package init(handles: [AttributeHandle], uuids: [BluetoothUUID]) {
    self.handles = handles
    self.uuids = uuids
  }

  package func selects(_ value: AttributeValue) -> Bool {
    guard !handles.isEmpty || !uuids.isEmpty else { return true }
    return value.handle.map(handles.contains) == true || value.uuid.map(uuids.contains) == true
  }
}

extension DecodedValue {
  /// The meaning of a value in a capture. The words are those of `decode`, as text may be about a frame of a ring.
  fileprivate init(_ value: AttributeValue, in packet: DissectedPacket) {
    self.init(value.bytes, of: value.words == nil ? value.uuid : nil)
    words = value.words
    if words != nil { text = nil }
  }
}

/// Values as lines of a table, in 80 columns where numbers are not large. A line before the first value of an attribute names
/// it.
struct ValueText {
  static let header =
    "frame         t    action   handle value" + String(repeating: " ", count: 33) + "answers\n"

  /// In characters.
  private static let valueWidth = 40
  /// The handles of a device whose names are known; with more, they are said again.
  private static let capacity = 4096

  /// The last line about the attributes with these handles.
  private var said: [AttributeHandle: String] = [:]

  /// - Returns: a line, or two, without the last line break
  mutating func lines(
    _ value: AttributeValue, _ meaning: DecodedValue, _ packet: DissectedPacket, start: Int64?
  ) -> String {
    let time = start.flatMap { start in
      packet.info.microseconds.map { DecimalText.string(($0 &- start) / 1000, places: 3) }
    }
    let arrow = packet.direction.map { $0 == .hostToController ? "->" : "<-" } ?? "--"
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

  private func shown(_ value: AttributeValue, _ meaning: DecodedValue) -> String {
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

/// The meaning of the bytes of a value.
package struct DecodedValue {
  /// The string that they spell; nil if they are no text.
  package var text: String?
  /// A value of the SIG in words: `87 percent`; nil if the type is not known, or is text.
  package var words: String?
  private let value: [UInt8]

  /// - Parameter uuid: that of the characteristic or descriptor; nil if it is not known
  package init(_ value: [UInt8], of uuid: BluetoothUUID?) {
    self.value = value
    if let type = uuid?.short, !CharacteristicValue.isText(type) {
      words = CharacteristicValue.text(value, type: type)
    }
    let printable = String(printable: value)
    let isTyped = uuid?.short.map(CharacteristicValue.isText) ?? false
    // One or two printable bytes are probably not text.
    let looksLikeText =
      printable.count > 2 && printable.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\\" }
    text = words == nil && !value.isEmpty && (isTyped || looksLikeText) ? printable : nil
  }

  private var meaning: String? { words ?? text.map { "\"\($0)\"" } }

  /// The bytes, and their meaning.
  package var description: String {
    guard !value.isEmpty else { return "(empty)" }
    let digits = Hex.string(value, separator: " ")
    return meaning.map { "\(digits)  \($0)" } ?? digits
  }

  /// The same in short, for a table: the meaning, else the bytes, at most 72 characters.
  package var brief: String {
    guard !value.isEmpty else { return "(empty)" }
    let full = meaning ?? Hex.string(value, separator: " ")
    return full.count <= 72 ? full : "\(full.prefix(64))… (\(value.count) bytes)"
  }
}

/// The columns of a value in a record.
package let valueColumns = ["handle", "uuid", "value", "name", "text", "decoded"]

package func valueFields(
  _ handle: AttributeHandle, _ uuid: BluetoothUUID?, _ value: [UInt8], _ meaning: DecodedValue
) -> [Field] {
  [
    .number(Int(handle.rawValue)), .text(uuid?.description), .text(Hex.string(value)),
    .text(uuid.flatMap { GATTUUID.attributeName(of: $0) }), .text(meaning.text), .text(meaning.words),
  ]
}
