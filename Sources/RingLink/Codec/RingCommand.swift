import BluetoothCore

/// What a frame is about: its first byte. ``CommandTable`` knows what each is for.
public struct RingCommand: RawRepresentable, Hashable, Sendable {
  public var rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// Raw sensor stream. Its top bit is part of the number and no sign of an error.
  public static let rawStream: RingCommand = 0xA1
  /// Only ever sent by the ring: how many bytes fit into its notifications.
  public static let payloadLength: RingCommand = 0x2F
  /// Only ever sent by the ring: something happened.
  public static let notification: RingCommand = 0x73

  /// The first byte of the reply with which a ring refuses this command (ring reference, 2).
  public var errorReply: RingCommand { RingCommand(rawValue: rawValue | 0x80) }

  /// The command that this one refuses, if it is such a reply.
  var refused: RingCommand { RingCommand(rawValue: rawValue & 0x7F) }
}

extension RingCommand: ExpressibleByIntegerLiteral {
  public init(integerLiteral value: UInt8) {
    self.init(rawValue: value)
  }
}

extension RingCommand: CustomStringConvertible {
  /// The name in the command table.
  public var description: String {
    CommandTable.entries(for: .frame(self)).first?.name ?? "command \(Hex.string(rawValue))"
  }
}
