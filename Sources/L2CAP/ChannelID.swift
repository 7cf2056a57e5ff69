import HCI
import HaloBluetoothCore

/// An L2CAP channel identifier (Core Specification Vol 3, Part A, 2.1).
@usableFromInline package struct ChannelID: HCICode {
  @usableFromInline package var rawValue: UInt16

  @usableFromInline package init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  /// The signalling channel of a BR/EDR link.
  package static let signaling = ChannelID(rawValue: 0x0001)
  /// The Attribute Protocol.
  package static let attribute = ChannelID(rawValue: 0x0004)
  /// The signalling channel of an LE link.
  package static let leSignaling = ChannelID(rawValue: 0x0005)
  /// The Security Manager Protocol.
  package static let securityManager = ChannelID(rawValue: 0x0006)

  /// Whether it is assigned when a channel is opened.
  package var isDynamic: Bool { rawValue >= 0x0040 }

  /// The name in the specification, if any.
  @usableFromInline package var description: String {
    switch rawValue {
    case 0x0001: "BR/EDR signaling"
    case 0x0002: "connectionless"
    case 0x0003: "AMP manager"
    case Self.attribute.rawValue: "ATT"
    case Self.leSignaling.rawValue: "LE signaling"
    case Self.securityManager.rawValue: "SMP"
    case 0x0007: "BR/EDR SMP"
    case 0x003F: "AMP test manager"
    case 0x0040...: "dynamic channel \(Hex.string(rawValue))"
    default: "CID \(Hex.string(rawValue))"
    }
  }

  @usableFromInline package var fieldText: String { "\(self) (\(Hex.string(rawValue)))" }
}

/// The basic header of each frame (Vol 3, Part A, 3.1).
@usableFromInline package struct BasicHeader: PacketFields {
  /// The length of the payload, in bytes.
  @usableFromInline package var payloadLength: UInt16 = 0
  @usableFromInline package var channel = ChannelID()

  /// In bytes.
  @usableFromInline package static let length = 4

  @usableFromInline package init() {}

  @inlinable
  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("length", &payloadLength, .unit("bytes"))
    try fields.value("channel", &channel)
  }

  /// Writes a complete frame.
  package static func writeFrame(_ payload: RawSpan, on channel: ChannelID, into writer: inout ByteWriter) {
    var header = BasicHeader()
    header.payloadLength = UInt16(truncatingIfNeeded: payload.byteCount)
    header.channel = channel
    header.visit(&writer)
    writer.write(payload)
  }
}

/// A Protocol/Service Multiplexer: the protocol of a channel that is opened, on BR/EDR or, as SPSM, on LE (Core
/// Specification Vol 3, Part A, 4.2 and 4.22; Assigned Numbers, 2.3).
package struct PSM: HCICode {
  package var rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  package static let sdp = PSM(rawValue: 0x0001)
  package static let rfcomm = PSM(rawValue: 0x0003)
  package static let avctp = PSM(rawValue: 0x0017)
  package static let avdtp = PSM(rawValue: 0x0019)
  package static let enhancedATT = PSM(rawValue: 0x0027)

  package static let names: [UInt16: String] = [
    0x0001: "SDP", 0x0003: "RFCOMM", 0x0005: "TCS-BIN", 0x0007: "TCS-BIN-CORDLESS", 0x000F: "BNEP",
    0x0011: "HID control", 0x0013: "HID interrupt", 0x0015: "UPnP", 0x0017: "AVCTP", 0x0019: "AVDTP",
    0x001B: "AVCTP browsing", 0x001D: "UDI C-plane", 0x001F: "ATT", 0x0021: "3DSP", 0x0023: "IPSP",
    0x0025: "OTS", 0x0027: "EATT",
  ]

  /// Name and number: `RFCOMM (PSM 0x0003)`.
  package var description: String {
    let number = "PSM \(Hex.string(rawValue))"
    return Self.names[rawValue].map { "\($0) (\(number))" } ?? number
  }

  package var fieldText: String {
    Self.names[rawValue].map { "\($0) (\(Hex.string(rawValue)))" } ?? Hex.string(rawValue)
  }
}

/// A PSM on BR/EDR, which is longer if the lowest bit of its last byte is 0 (4.2).
package struct ExtensiblePSM: FieldValue {
  package var psm = PSM()

  package init() {}

  package init(parsing reader: inout ByteReader) throws(DecodeError) {
    psm = PSM(rawValue: try reader.readUInt16())
    var last = UInt8(psm.rawValue >> 8)
    while last & 1 == 1, let next = reader.peek() {
      // No protocol has such a number: only its length matters.
      last = next
      try reader.skip(1)
    }
  }

  package func write(into writer: inout ByteWriter) { psm.write(into: &writer) }

  package var fieldNumber: UInt64? { psm.fieldNumber }
  package var description: String { psm.fieldText }
}
