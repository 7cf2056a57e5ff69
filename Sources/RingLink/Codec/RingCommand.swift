import BluetoothCore

/// What a frame is about: its first byte (ring reference, 7).
public struct RingCommand: RawRepresentable, Hashable, Sendable {
  public var rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  public static let setTime = RingCommand(rawValue: 0x01)
  public static let camera = RingCommand(rawValue: 0x02)
  public static let battery = RingCommand(rawValue: 0x03)
  public static let phoneInformation = RingCommand(rawValue: 0x04)
  public static let display = RingCommand(rawValue: 0x05)
  public static let doNotDisturb = RingCommand(rawValue: 0x06)
  public static let power = RingCommand(rawValue: 0x08)
  public static let profile = RingCommand(rawValue: 0x0A)
  public static let blink = RingCommand(rawValue: 0x10)
  public static let heartRateHistory = RingCommand(rawValue: 0x15)
  public static let heartRateSettings = RingCommand(rawValue: 0x16)
  public static let heartRateLive = RingCommand(rawValue: 0x1E)
  public static let goals = RingCommand(rawValue: 0x21)
  public static let oxygenSettings = RingCommand(rawValue: 0x2C)
  /// Only ever sent by the ring: how many bytes fit into its notifications.
  public static let payloadLength = RingCommand(rawValue: 0x2F)
  public static let stressSettings = RingCommand(rawValue: 0x36)
  public static let stressHistory = RingCommand(rawValue: 0x37)
  public static let variabilitySettings = RingCommand(rawValue: 0x38)
  public static let variabilityHistory = RingCommand(rawValue: 0x39)
  public static let groupSettings = RingCommand(rawValue: 0x3A)
  public static let touch = RingCommand(rawValue: 0x3B)
  public static let deviceSupport = RingCommand(rawValue: 0x3C)
  public static let activity = RingCommand(rawValue: 0x43)
  public static let today = RingCommand(rawValue: 0x48)
  public static let find = RingCommand(rawValue: 0x50)
  public static let measurementStart = RingCommand(rawValue: 0x69)
  public static let measurementStop = RingCommand(rawValue: 0x6A)
  /// Only ever sent by the ring: something happened.
  public static let notification = RingCommand(rawValue: 0x73)
  /// Raw sensor stream. Its top bit is part of the number and no sign of an error.
  public static let rawStream = RingCommand(rawValue: 0xA1)
  public static let factoryReset = RingCommand(rawValue: 0xFF)

  /// The first byte of the reply with which a ring refuses this command (ring reference, 2).
  public var errorReply: RingCommand { RingCommand(rawValue: rawValue | 0x80) }
}

extension RingCommand: CustomStringConvertible {
  public var description: String {
    switch self {
    case .setTime: "set time"
    case .camera: "camera"
    case .battery: "battery"
    case .phoneInformation: "phone information"
    case .display: "display"
    case .doNotDisturb: "do not disturb"
    case .power: "power"
    case .profile: "profile"
    case .blink: "blink"
    case .heartRateHistory: "heart rate history"
    case .heartRateSettings: "heart rate settings"
    case .heartRateLive: "heart rate live"
    case .goals: "goals"
    case .oxygenSettings: "SpO2 settings"
    case .payloadLength: "payload length"
    case .stressSettings: "stress settings"
    case .stressHistory: "stress history"
    case .variabilitySettings: "HRV settings"
    case .variabilityHistory: "HRV history"
    case .groupSettings: "group settings"
    case .touch: "touch"
    case .deviceSupport: "device support"
    case .activity: "activity"
    case .today: "today"
    case .find: "find"
    case .measurementStart: "measurement start"
    case .measurementStop: "measurement stop"
    case .notification: "notification"
    case .rawStream: "raw stream"
    case .factoryReset: "factory reset"
    default: "command \(Hex.string(rawValue))"
    }
  }
}
