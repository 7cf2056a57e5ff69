import HCI
import HaloBluetoothCore
import L2CAP

/// A protocol above L2CAP on BR/EDR whose frames are decoded.
protocol ClassicProtocol {
  /// The fields that represent a frame in a line.
  static var telling: Set<String> { get }

  /// The name of a frame's command, signal or type.
  static func name(_ frame: RawSpan) -> String
  /// The section that describes a frame.
  static func reference(_ frame: RawSpan) -> String
  /// Reads the fields of a frame.
  static func list(_ lister: inout FieldLister) throws(DecodeError)
  /// The range of a frame's payload for a program, as far as the frame is there; nil if it carries none.
  static func data(_ frame: RawSpan) -> Range<Int>?
}

extension ClassicProtocol {
  static func data(_ frame: RawSpan) -> Range<Int>? { nil }
}

/// A frame of a protocol above L2CAP on BR/EDR. The channel determines the protocol; the frame is read on demand.
package struct ProfileLayer: Hashable, Sendable {
  /// Names the protocol.
  package let layer: Layer
  package let psm: PSM
  /// In ``DissectedPacket/source``.
  package let range: Range<Int>

  /// - Returns: nil for a channel of another protocol, and for the media of AVDTP
  init?(_ channel: Channel, _ source: RawSpan, _ range: Range<Int>, isSent: Bool) {
    switch channel.psm {
    case .sdp: layer = .sdp
    case .rfcomm: layer = .rfcomm
    case .avdtp where !channel.isSecond: layer = .avdtp
    case .avctp: layer = .avctp
    default: return nil
    }
    psm = channel.psm
    self.range = range.clamped(to: 0..<source.byteCount)
  }

  private var decoder: any ClassicProtocol.Type {
    switch layer {
    case .rfcomm: RFCOMMFrame.self
    case .avdtp: AVDTPFrame.self
    case .avctp: AVCTPFrame.self
    default: SDPFrame.self
    }
  }

  /// The name of the frame's command, signal or type.
  package func name(in source: RawSpan) -> String { decoder.name(source.extracting(range)) }

  func writeSummary(of source: RawSpan, to text: inout TextBuffer) {
    text.write(name(in: source))
    let fields = FieldList()
    list(source, to: fields)
    var count = 0
    for index in fields.entries.indices where count < 8 {
      let entry = fields.entries[index]
      let name = fields.string(entry.name)
      guard decoder.telling.contains(name), !entry.value.isEmpty else { continue }
      count += 1
      text.write(", ", name)
      text.write(" ")
      text.write(fields.bytes(entry.value))
    }
    guard let data = data(in: source) else { return }
    text.write(": ")
    text.writeHex(source.extracting(data))
    guard let words = Self.words(source.extracting(data)) else { return }
    text.write(" \"")
    text.write(words)
    text.write("\"")
  }

  /// The data of a channel of RFCOMM, in ``DissectedPacket/source``, as far as the capture has it; nil for other frames.
  package func data(in source: RawSpan) -> Range<Int>? {
    guard let data = decoder.data(source.extracting(range)) else { return nil }
    return range.lowerBound + data.lowerBound..<range.lowerBound + data.upperBound
  }

  /// Data that are text, such as AT commands, with the line breaks as escapes; nil for other data.
  package static func words(_ data: RawSpan) -> String? {
    let bytes = Array(data)
    // One or two printable bytes are probably not text.
    let rest = bytes.filter { ![0x09, 0x0A, 0x0D].contains($0) }
    guard rest.count > 2, rest.last != 0, !String(printable: rest).contains("\\") else { return nil }
    return String(printable: bytes)
  }

  func list(_ source: RawSpan, to list: FieldList) {
    let reference = decoder.reference(source.extracting(range))
    list.read(source, range, reference: reference) { lister throws(DecodeError) in
      try decoder.list(&lister)
    }
  }
}

/// An integer that is sent with its most significant byte first.
struct BigEndian<Value: FixedWidthInteger & UnsignedInteger & Sendable>: FieldValue {
  var value: Value = 0

  init() {}

  init(parsing reader: inout ByteReader) throws(DecodeError) {
    for _ in 0..<Value.bitWidth / 8 { value = value << 8 | Value(try reader.readUInt8()) }
  }

  func write(into writer: inout ByteWriter) {
    for shift in stride(from: Value.bitWidth - 8, through: 0, by: -8) {
      writer.write(UInt8(truncatingIfNeeded: value >> Value(shift)))
    }
  }

  var fieldNumber: UInt64? { UInt64(value) }
  var description: String { "\(value)" }
}

extension FieldLister {
  /// Some bits of the byte that was read last.
  @_lifetime(self: copy self)
  mutating func bits(_ name: String, _ value: UInt8, _ names: [UInt8: String] = [:]) {
    note(name, names[value] ?? "\(value)", number: FieldNumber(Int64(value)), from: offset - 1)
  }

  /// A byte with names for its values.
  @_lifetime(self: copy self)
  @discardableResult
  mutating func byte(_ name: StaticString, _ names: [UInt64: String] = [:]) throws(DecodeError) -> UInt8 {
    var byte: UInt8 = 0
    try value(name, &byte, .names(names))
    return byte
  }

  /// A byte, as text.
  @_lifetime(self: copy self)
  @discardableResult
  mutating func byte(_ name: String, as text: (UInt8) -> String) throws(DecodeError) -> UInt8 {
    try show(name, { r throws(DecodeError) in try r.readUInt8() }, as: text)
  }

  /// Two bytes, the most significant first.
  @_lifetime(self: copy self)
  @discardableResult
  mutating func word(_ name: StaticString, _ style: FieldStyle = .plain) throws(DecodeError) -> UInt16 {
    var word = BigEndian<UInt16>()
    try value(name, &word, style)
    return word.value
  }
}

/// The results of an inquiry in a line, as those of a scan.
enum ClassicReports {
  /// The devices in an inquiry result; nil if it is damaged.
  ///
  /// - Parameters:
  ///   - packet: with its H4 type byte
  ///   - event: one of the three forms
  static func devices(
    _ packet: RawSpan, _ event: HCIEventCode
  ) -> [(address: BluetoothAddress, rssi: Int8?, data: [UInt8])]? {
    guard var result = HCIEventInfo[event]?.parameters as? InquiryResult else { return nil }
    var reader = ByteReader(packet.extracting(min(3, packet.byteCount)..<packet.byteCount))
    return (try? result.visit(&reader)).map { result.devices }
  }

  static func text(_ packet: RawSpan, _ event: HCIEventCode) -> String {
    guard let devices = devices(packet, event) else { return "damaged" }
    let words = devices.map { device in
      var words = "\(device.address)"
      if let name = AdvertisingData(device.data).localName { words += " \"\(name)\"" }
      if let rssi = device.rssi { words += ", \(rssi) dBm" }
      return words
    }
    return words.joined(separator: "; ")
  }
}
