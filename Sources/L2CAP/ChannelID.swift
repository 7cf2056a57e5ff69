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
}

extension ChannelID {
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
