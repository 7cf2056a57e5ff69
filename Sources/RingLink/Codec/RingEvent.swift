import BluetoothCore

/// What a ring tells without being asked (ring reference, 4.3, 4.13 and 4.15).
public enum RingEvent: Hashable, Sendable {
  case battery(RingBattery)
  /// How many bytes fit into one of its bulk notifications; comes with the answer to Set Time.
  case payloadLength(UInt8)
  /// The totals of the day, while one walks.
  case liveTotals(LiveTotals)
  /// A new value of heart rate variability, in milliseconds. Firmware is known to make them up (4.9).
  case variability(UInt8)
  /// A new value of stress. Firmware is known to make them up (4.9).
  case stress(UInt8)
  case camera(Camera)
  case mediaKey(MediaKey)
  /// The wearer looks for the phone; false: no longer.
  case findsPhone(Bool)
  /// A second of a sport session.
  case sport(SportUpdate)
  /// Something else; the kind tells what.
  case other(Kind)

  /// The second byte of a notification frame.
  public struct Kind: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8

    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    public static let battery = Kind(rawValue: 0x0C)
    public static let liveTotals = Kind(rawValue: 0x12)
    public static let variability = Kind(rawValue: 0x2B)
    public static let stress = Kind(rawValue: 0x2C)
  }

  /// What rings report in their camera mode.
  public enum Camera: UInt8, Hashable, Sendable {
    case entered = 1
    /// The hand was shaken: take the picture.
    case shake = 2
    case finished = 3
  }

  public enum MediaKey: UInt8, Hashable, Sendable {
    case playPause = 1
    case previous = 2
    case next = 3
    case volumeUp = 4
    case volumeDown = 5
  }

  /// Whether its value is one that firmware is known to make up (ring reference, 4.9).
  public var isEstimate: Bool {
    switch self {
    case .variability, .stress: true
    default: false
    }
  }

  /// Reads a frame; nil if it is an answer or a sample and no event.
  ///
  /// An event with an impossible value is kept as ``other(_:)``, if it is a notification: it is shown, and not
  /// believed.
  public init?(_ frame: RingFrame) {
    let second = frame.byte(at: 1)
    switch frame.command {
    case .payloadLength: self = .payloadLength(second)
    case .notification: self = Self.notification(frame)
    case CommandTable.cameraEnter.command:
      guard let camera = Camera(rawValue: second) else { return nil }
      self = .camera(camera)
    case CommandTable.mediaKey.command:
      guard let key = MediaKey(rawValue: second) else { return nil }
      self = .mediaKey(key)
    case CommandTable.findPhone.command: self = .findsPhone(second == 1)
    case CommandTable.sportUpdate.command:
      guard let update = try? SportUpdate(parsing: frame) else { return nil }
      self = .sport(update)
    default: return nil
    }
  }

  private static func notification(_ frame: RingFrame) -> RingEvent {
    let kind = Kind(rawValue: frame.byte(at: 1))
    switch kind {
    case .battery:
      return (try? CommandTable.batteryEvent.value(frame)).map { .battery($0.battery) } ?? .other(kind)
    case .liveTotals:
      return (try? CommandTable.liveTotals.value(frame)).map { .liveTotals($0) } ?? .other(kind)
    case .variability: return .variability(frame.byte(at: 2))
    case .stress: return .stress(frame.byte(at: 2))
    default: return .other(kind)
    }
  }
}

extension RingEvent: CustomStringConvertible {
  public var description: String {
    switch self {
    case .battery(let battery): "battery at \(battery)"
    case .payloadLength(let length): "notifications carry up to \(length) bytes"
    case .liveTotals(let totals): "today \(totals.steps) steps, \(totals.meters) m, \(totals.calories) cal"
    case .variability(let value): "new HRV: \(value) ms"
    case .stress(let value): "new stress: \(value)"
    case .camera(.entered): "camera mode"
    case .camera(.shake): "shaken: take a picture"
    case .camera(.finished): "camera mode ended"
    case .mediaKey(let key): "key: \(key)"
    case .findsPhone(let begins): begins ? "looks for the phone" : "looks for the phone no longer"
    case .sport(let update):
      "\(SportControl.sports[Int(update.sport)] ?? "sport \(update.sport)"): \(update.seconds) s, "
        + "\(update.beatsPerMinute) bpm, \(update.steps) steps, \(update.meters) m"
    case .other(let kind): "\(kind)"
    }
  }
}

extension RingEvent.Kind: CustomStringConvertible {
  /// The name in the command table.
  public var description: String {
    CommandTable.entries(for: .frame(.notification)).first { $0.prefix == [rawValue] }?.name
      ?? "event \(Hex.string(rawValue))"
  }
}
