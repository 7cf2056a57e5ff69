import BluetoothCore

/// Why bytes are not a frame, or a frame is not the answer that was expected.
public enum RingFrameError: Error, Hashable, Sendable {
  /// A frame has 16 bytes, these are another number.
  case length(Int)
  /// The last byte is not the sum of those before it.
  case checksum(expected: UInt8, found: UInt8)
  /// A payload that was to be sent has more than 14 bytes.
  case payloadTooLong(Int)
  /// The frame is about something else.
  case unexpected(RingCommand)
  /// A field holds what it cannot mean.
  case value(String)
}

extension RingFrameError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .length(let count): "a frame has 16 bytes, not \(count)"
    case .checksum(let expected, let found):
      "the checksum is \(Hex.string(found)) and should be \(Hex.string(expected))"
    case .payloadTooLong(let count): "a frame takes 14 bytes of payload, not \(count)"
    case .unexpected(let command): "the frame is about something else: \(command)"
    case .value(let what): what
    }
  }
}

/// Why a ring refuses a command (ring reference, 2).
public struct RingErrorCode: RawRepresentable, Hashable, Sendable {
  public var rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// The form that firmware uses for a request it could not make sense of.
  public static let malformed = RingErrorCode(rawValue: 0)
  public static let notSupported = RingErrorCode(rawValue: 0xEE)
}

extension RingErrorCode: CustomStringConvertible {
  public var description: String {
    switch self {
    case .malformed: "malformed request"
    case .notSupported: "not supported by this ring"
    default: "ring error \(Hex.string(rawValue))"
    }
  }
}
