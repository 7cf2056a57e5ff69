import ATT
import HaloBluetoothCore
import HaloCommandLine
import HaloDissection
import HaloLineOutput

/// `decode --values`: a row for each value of an attribute.
struct ValueTable: ~Copyable {
  /// In the order of the columns of csv.
  private static let columns: [(name: String, unit: String?)] =
    [
      ("frame", nil), ("t", nil), ("time", nil), ("adapter", nil), ("link", nil), ("peer", nil),
      ("peer_name", nil), ("direction", nil), ("operation", nil), ("offset", nil), ("cut", nil),
    ] + valueColumns + [("answers", nil)]

  private let choice: ValueChoice
  private var values: AttributeValues
  private var printer: RecordPrinter
  private var text = ValueText()
  private var clock = RecordClock(offset: 0) { _ in 0 }

  init(_ format: OutputFormat, _ choice: ValueChoice, _ dissector: Dissector) {
    self.choice = choice
    values = AttributeValues(dissector)
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
    for value in values.take(packet) where isShown && choice.selects(value) {
      let meaning = ValueMeaning(value, in: packet)
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
    let direction: String? =
      switch packet.direction {
      case .hostToController: "sent"
      case .controllerToHost: "received"
      case nil: nil
      }
    return [.number(packet.info.number)] + times + [
      .number(packet.info.adapter.map(Int.init)), .number(packet.link.map { Int($0.handle.rawValue) }),
      .text(packet.link?.peer?.description), .text(packet.link?.name), .text(direction),
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

extension ValueMeaning {
  /// What a value in a capture says. The words are those of `decode`, as text may be about a frame of a ring.
  fileprivate init(_ value: AttributeValue, in packet: DissectedPacket) {
    self.init(value.bytes, of: value.words == nil ? value.uuid : nil)
    words = value.words
    if words != nil { text = nil }
  }
}
