import BluetoothCore
import HCI
import L2CAP

/// A frame of a protocol above L2CAP on BR/EDR. The channel says which one it is; the frame is read on demand.
public struct ProfileLayer: Hashable, Sendable {
  /// The protocols whose frames are decoded.
  public enum Kind: Hashable, Sendable {
    case sdp, rfcomm, avdtp, avctp
  }

  public var kind: Kind
  public var psm: PSM
  /// In ``DissectedPacket/source``.
  public var range: Range<Int>

  /// - Returns: nil for a channel of another protocol, and for the media of AVDTP
  init?(_ channel: Channel, _ source: RawSpan, _ range: Range<Int>, isSent: Bool) {
    switch channel.psm {
    case .sdp: kind = .sdp
    case .rfcomm: kind = .rfcomm
    case .avdtp where !channel.isSecond: kind = .avdtp
    case .avctp: kind = .avctp
    default: return nil
    }
    psm = channel.psm
    self.range = range.clamped(to: 0..<source.byteCount)
  }

  var layer: Layer {
    switch kind {
    case .sdp: .sdp
    case .rfcomm: .rfcomm
    case .avdtp: .avdtp
    case .avctp: .avctp
    }
  }

  /// The name of the frame's command, signal or type.
  public func name(in source: RawSpan) -> String {
    let frame = source.extracting(range)
    return switch kind {
    case .sdp: SDPFrame.name(frame)
    case .rfcomm: RFCOMMFrame.name(frame)
    case .avdtp: AVDTPFrame.name(frame)
    case .avctp: AVCTPFrame.name(frame)
    }
  }

  /// The fields that stand for the frame in a line.
  private var telling: Set<String> {
    switch kind {
    case .sdp: ["transaction", "UUID", "attribute range", "error", "attribute bytes", "service records"]
    case .rfcomm: ["channel", "credits", "command", "multiplexer DLCI", "maximum frame size"]
    case .avdtp: ["label", "ACP SEID", "error", "codec", "delay"]
    case .avctp: ["label", "operation", "event", "state", "volume", "error"]
    }
  }

  func writeSummary(of source: RawSpan, to text: inout TextBuffer) {
    text.write(name(in: source))
    let fields = FieldList()
    list(source, to: fields)
    var count = 0
    for index in fields.entries.indices where count < 8 {
      let entry = fields.entries[index]
      let name = fields.string(entry.name)
      guard telling.contains(name), !entry.value.isEmpty else { continue }
      count += 1
      text.write(", ")
      text.write(name)
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
  public func data(in source: RawSpan) -> Range<Int>? {
    guard kind == .rfcomm, let data = RFCOMMFrame.data(source.extracting(range)) else { return nil }
    return range.lowerBound + data.lowerBound..<range.lowerBound + data.upperBound
  }

  /// Data that are text, such as AT commands, with the line breaks as escapes; nil for other data.
  public static func words(_ data: RawSpan) -> String? {
    let bytes = Array(data)
    // One or two printable bytes are probably not text.
    let rest = bytes.filter { ![0x09, 0x0A, 0x0D].contains($0) }
    guard rest.count > 2, rest.last != 0, !String(printable: rest).contains("\\") else { return nil }
    return String(printable: bytes)
  }

  func list(_ source: RawSpan, to list: FieldList) {
    let reference =
      switch kind {
      case .sdp: SDPFrame.reference(source.extracting(range))
      case .rfcomm: "RFCOMM 1.2, 5.1"
      case .avdtp: "AVDTP 1.3, 8.4"
      case .avctp: "AVCTP 1.4, 6.1"
      }
    list.read(source, range, reference: reference) { lister throws(DecodeError) in
      switch kind {
      case .sdp: try SDPFrame.list(&lister)
      case .rfcomm: try RFCOMMFrame.list(&lister)
      case .avdtp: try AVDTPFrame.list(&lister)
      case .avctp: try AVCTPFrame.list(&lister)
      }
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

  /// Two bytes, the most significant first.
  @_lifetime(self: copy self)
  @discardableResult
  mutating func word(_ name: StaticString, _ style: FieldStyle = .plain) throws(DecodeError) -> UInt16 {
    var word = BigEndian<UInt16>()
    try value(name, &word, style)
    return word.value
  }
}
