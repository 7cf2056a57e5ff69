import BluetoothCore

/// The number of an L2CAP channel on a link (Core Specification Vol 3, Part A, 2.1).
public struct ChannelID: RawRepresentable, Hashable, Sendable {
  public var rawValue: UInt16

  public init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  /// The Attribute Protocol.
  public static let attribute = ChannelID(rawValue: 0x0004)
  /// The signalling channel of an LE link.
  public static let leSignaling = ChannelID(rawValue: 0x0005)
  /// The Security Manager Protocol.
  public static let securityManager = ChannelID(rawValue: 0x0006)
}

extension ChannelID: CustomStringConvertible {
  public var description: String {
    switch self {
    case .attribute: "ATT"
    case .leSignaling: "LE signalling"
    case .securityManager: "SMP"
    default: "CID \(Hex.string(rawValue))"
    }
  }
}

/// The basic header in front of each frame: payload length and channel, 16 bits each (Vol 3, Part A, 3.1).
public enum BasicHeader {
  public static let length = 4

  /// Writes a whole frame.
  public static func writeFrame(_ payload: RawSpan, on channel: ChannelID, into writer: inout ByteWriter) {
    writer.write(UInt16(truncatingIfNeeded: payload.byteCount))
    writer.write(channel.rawValue)
    writer.write(payload)
  }
}
