import HaloBluetoothCore
import HaloDissection
import HaloCommandLine
import L2CAP

/// Writes the packets of a report: one JSON array per line.
///
///     [number, time, direction, adapter, bytes, frame, note, keys, peer, mark, layer, ...]
///
/// - `time`: in microseconds since the first packet of the capture, or null
/// - `direction`: 1 sent, 2 received, 0 unknown
/// - `adapter`: its index, or null
/// - `bytes`, `frame`: hex digits; `frame` is reassembled from several packets, 0 if there is none
/// - `note`: the remark on the whole packet, 0 if there is none
/// - `keys`: the numbers that filters test, in the order of ``keys``: `18;64;27;;`; commas between several of one key,
///   `1-5` is a range
/// - `peer`: the address of the device at the other end of the link, a space and its name, if it is known; or null
/// - `mark`: ``PageMark``, or null
/// - `layer`: `[shape, summary, value, ...]`
/// - `shape`: `[layer, [name, reference, depth, first, end], ...]`; `first` and `end` are byte offsets
///
/// A text or a shape that repeats is a number (``PageTable``). A value that is the hex digits of its bytes is "=".
/// packets.js reads this format.
struct PagePacket {
  private var table = PageTable()

  /// The value of a field that shows the hex digits of its bytes.
  private static let digits = "="

  /// The keys of filters whose numbers are written; number and time of the packet are in it anyway.
  static let keys = PacketFilter.Key.allCases.filter { $0 != .packet && $0 != .time }

  /// - Parameters:
  ///   - packet: the packet to write
  ///   - start: the time of the first packet of the capture
  ///   - output: the report
  mutating func write(_ packet: DissectedPacket, start: Int64?, into output: inout LineWriter) {
    let packet = packet.withoutKeys
    output.write("[")
    output.write(packet.info.number)
    output.write(",")
    let time = start.flatMap { start in packet.info.microseconds.map { Int($0 &- start) } }
    output.orNull(time) { $0.write($1) }
    switch packet.direction {
    case .hostToController: output.write(",1,")
    case .controllerToHost: output.write(",2,")
    case nil: output.write(",0,")
    }
    output.orNull(packet.info.adapter) { $0.write(Int($1)) }
    output.write(",")
    output.writeQuotedHex(packet.bytes.span.bytes)
    output.write(",")
    if let frame = packet.reassembled {
      output.writeQuotedHex(frame.span.bytes)
    } else {
      output.write("0")
    }
    output.write(",")
    let note = note(on: packet)
    if note.isEmpty { output.write("0") } else { Self.quote(note, &output) }
    let peer = packet.link.flatMap { link in
      link.peer.map { [$0.description, link.name].compactMap { $0 }.joined(separator: " ") }
    }
    for text in [Self.numbers(packet), peer, PageMark(packet)?.rawValue] {
      output.write(",")
      if let text { write(text, &output) } else { output.write("null") }
    }
    for layer in packet.layers { write(layer, of: packet, &output) }
    output.write("]\n")
  }

  private static func numbers(_ packet: DissectedPacket) -> String {
    keys.map { key in
      PacketFilter.values(key, packet, nil).map(Self.text).joined(separator: ",")
    }
    .joined(separator: ";")
  }

  private static func text(_ range: ClosedRange<Double>) -> String {
    let first = "\(Int(range.lowerBound))"
    return range.lowerBound == range.upperBound ? first : "\(first)-\(Int(range.upperBound))"
  }

  /// Remarks on the whole packet, not on one layer.
  private func note(on packet: DissectedPacket) -> String {
    var remarks = packet.isNote ? [packet.summary] : []
    remarks += packet.security.map(\.text)
    if !packet.unanswered.isEmpty {
      remarks.append(
        "never answered: " + packet.unanswered.map { "packet \($0)" }.joined(separator: ", "))
    }
    if packet.isCut {
      remarks.append("the capture has \(packet.bytes.count) of \(packet.info.originalLength) bytes")
    }
    return remarks.joined(separator: "; ")
  }

  private mutating func write(_ layer: Layer, of packet: DissectedPacket, _ output: inout LineWriter) {
    let fields = packet.fields(of: layer, namesBits: true)
    let bytes = packet.bytes(of: layer)
    output.write(",[")
    write(PageTable.Shape(layer: layer, fields: fields.map(PageTable.Shape.Field.init)), &output)
    output.write(",")
    Self.quote(packet.summary(of: layer) ?? "", &output)
    for field in fields {
      output.write(",")
      let part = bytes[field.range.clamped(to: 0..<bytes.count)]
      let isDigits = part.count > 2 && field.value == Hex.string(part, separator: " ")
      write(isDigits ? Self.digits : field.value, &output)
    }
    output.write("]")
  }

  private mutating func write(_ shape: PageTable.Shape, _ output: inout LineWriter) {
    if let number = table.number(of: shape) { return output.write(number) }
    output.write("[")
    Self.quote(shape.layer.rawValue, &output)
    for field in shape.fields {
      output.write(",[")
      write(field.name, &output)
      output.write(",")
      write(field.reference, &output)
      for number in [field.depth, field.range.lowerBound, field.range.upperBound] {
        output.write(",")
        output.write(number)
      }
      output.write("]")
    }
    output.write("]")
  }

  private mutating func write(_ text: String, _ output: inout LineWriter) {
    if let number = table.number(of: text) { output.write(number) } else { Self.quote(text, &output) }
  }

  /// Writes a text as a JSON string without `<`, so that HTML reads no markup in it, not even `</script>`.
  static func quote(_ text: String, _ output: inout LineWriter) {
    guard text.utf8.contains(UInt8(ascii: "<")) else { return output.writeQuoted(text) }
    output.write("\"")
    for (index, part) in text.utf8.split(separator: UInt8(ascii: "<"), omittingEmptySubsequences: false)
      .enumerated()
    {
      if index > 0 { output.write("\\u003c") }
      output.writeEscaped(String(Substring(part)))
    }
    output.write("\"")
  }
}

/// Texts and shapes that repeat in the packets of a report; each is written in full only once.
///
/// A text that is written in full gets the next number, until the table is full. The script assigns the same numbers while it
/// reads (packets.js). Thus a report is written in one pass, and the size of the table is bounded.
struct PageTable {
  /// The most texts, and the most shapes.
  static let capacity = 1 << 14
  /// The lengths of the texts that get a number, in UTF-16 units, as JavaScript counts. Shorter ones save nothing;
  /// longer ones seldom repeat.
  static let lengths = 4...80

  /// The fields of a layer without their values.
  struct Shape: Hashable {
    struct Field: Hashable {
      package var name: String
      package var reference: String
      package var depth: Int
      package var range: Range<Int>

      package init(_ field: PacketField) {
        name = field.name
        reference = field.reference
        depth = field.depth
        range = field.range
      }
    }

    var layer: Layer
    var fields: [Field]
  }

  private var texts: [String: Int] = [:]
  private var shapes: [Shape: Int] = [:]

  /// The number of a text; nil if it must be written in full.
  mutating func number(of text: String) -> Int? {
    if let number = texts[text] { return number }
    if texts.count < Self.capacity, Self.lengths.contains(text.utf16.count) { texts[text] = texts.count }
    return nil
  }

  /// The number of a shape; nil if it must be written in full.
  mutating func number(of shape: Shape) -> Int? {
    if let number = shapes[shape] { return number }
    if shapes.count < Self.capacity { shapes[shape] = shapes.count }
    return nil
  }
}

/// Why a packet is marked in the list of a report. Requests without an answer are marked, too; they are known only at
/// the end (``PageWriter``).
enum PageMark: String {
  /// It reports that something failed.
  case error
  /// It refuses a request.
  case refused
  /// It cannot be parsed.
  case damaged

  init?(_ packet: DissectedPacket) {
    if Self.isDamaged(packet) {
      self = .damaged
    } else if Self.refuses(packet) {
      self = .refused
    } else if Self.reportsError(packet) {
      self = .error
    } else {
      return nil
    }
  }

  private static func isDamaged(_ packet: DissectedPacket) -> Bool {
    if case .damaged? = packet.ring?.content { return true }
    // A packet of an unknown type may be whole.
    if let problem = packet.hci?.problem, problem != .unknownType { return true }
    return packet.air?.problem != nil || packet.att?.problem != nil
  }

  private static func refuses(_ packet: DissectedPacket) -> Bool {
    if packet.ring?.meaning?.refusal != nil || packet.ring?.sample == .refused { return true }
    if packet.smp?.code == .pairingFailed { return true }
    if let opcode = packet.air?.opcode, [.reject, .rejectExtended].contains(opcode) { return true }
    guard let signaling = packet.signaling else { return false }
    return signaling.code == .commandReject || Self.rejectsParameters(signaling, packet.source)
  }

  private static func rejectsParameters(_ signaling: SignalingLayer, _ source: [UInt8]) -> Bool {
    guard signaling.code == .connectionParameterUpdateResponse else { return false }
    let command = Array(source[signaling.range.clamped(to: 0..<source.count)]).withReader {
      try? SignalingPacket(parsing: &$0)
    }
    return command?.fields(ConnectionParameterUpdateResponse.self)?.isAccepted == false
  }

  /// Discovery ends with Attribute Not Found: this is not a failure.
  private static func reportsError(_ packet: DissectedPacket) -> Bool {
    if let error = packet.att?.error { return error != .attributeNotFound }
    return packet.hci?.type == .event && packet.hci?.status.map { $0 != .success } == true
  }
}
