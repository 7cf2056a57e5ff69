import BluetoothCore

/// What a ring tells without being asked (ring reference, 4.3 and 4.15).
public enum RingEvent: Hashable, Sendable {
  case battery(RingBattery)
  /// How many bytes fit into one of its bulk notifications; comes with the answer to Set Time.
  case payloadLength(UInt8)
  /// Something else; the frame has the details.
  case other(Kind)

  /// The second byte of a notification frame.
  public struct Kind: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8

    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    public static let heartRate = Kind(rawValue: 0x01)
    public static let oxygen = Kind(rawValue: 0x03)
    public static let activity = Kind(rawValue: 0x04)
    public static let battery = Kind(rawValue: 0x0C)
    public static let totals = Kind(rawValue: 0x12)
    public static let variability = Kind(rawValue: 0x2B)
    public static let stress = Kind(rawValue: 0x2C)
  }

  /// Reads a frame; nil if it is an answer or a sample and no event.
  ///
  /// A battery event with an impossible value is kept as ``other(_:)``: it is shown, and not believed.
  public init?(_ frame: RingFrame) {
    switch frame.command {
    case .payloadLength: self = .payloadLength(frame.byte(at: 1))
    case .notification:
      let kind = Kind(rawValue: frame.byte(at: 1))
      if kind == .battery, let battery = try? RingBattery(event: frame) {
        self = .battery(battery)
      } else {
        self = .other(kind)
      }
    default: return nil
    }
  }

  /// The frame that tells how many bytes fit into a notification.
  public static func payloadLengthFrame(_ length: UInt8) -> RingFrame {
    RingFrame(.payloadLength, length)
  }
}

extension RingEvent: CustomStringConvertible {
  public var description: String {
    switch self {
    case .battery(let battery): "battery at \(battery)"
    case .payloadLength(let length): "notifications carry up to \(length) bytes"
    case .other(let kind): "\(kind)"
    }
  }
}

extension RingEvent.Kind: CustomStringConvertible {
  public var description: String {
    switch self {
    case .heartRate: "new heart rate stored"
    case .oxygen: "new SpO2 stored"
    case .activity: "new activity stored"
    case .battery: "battery"
    case .totals: "new totals of the day"
    case .variability: "new HRV stored"
    case .stress: "new stress stored"
    default: "event \(Hex.string(rawValue))"
    }
  }
}
