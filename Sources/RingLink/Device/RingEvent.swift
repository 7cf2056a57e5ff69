import BluetoothCore

/// An unsolicited event of a ring (ring reference, 4.3, 4.13 and 4.15).
public enum RingEvent: Hashable, Sendable, CustomStringConvertible {
  case battery(RingBattery)
  /// The number of bytes that fit into one of its bulk notifications; sent with the answer to Set Time.
  case payloadLength(UInt8)
  /// The totals of the day, while one walks.
  case liveTotals(LiveTotals)
  /// A new value of heart rate variability, in milliseconds. Firmware is known to invent them (4.9).
  case variability(UInt8)
  /// A new value of stress. Firmware is known to invent them (4.9).
  case stress(UInt8)
  case camera(Camera)
  case mediaKey(MediaKey)
  /// The wearer started to search for the phone; false: stopped.
  case findsPhone(Bool)
  /// A second of a sport session.
  case sport(SportUpdate)
  /// Another event, identified by the kind.
  case other(Kind)

  /// The second byte of a notification frame.
  public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public var rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let battery = Kind(rawValue: 0x0C)
    public static let liveTotals = Kind(rawValue: 0x12)
    public static let variability = Kind(rawValue: 0x2B)
    public static let stress = Kind(rawValue: 0x2C)

    /// The name in the command table.
    public var description: String {
      CommandTable.entries(for: .frame(.notification)).first { $0.prefix == [rawValue] }?.name
        ?? "event \(Hex.string(rawValue))"
    }
  }

  /// The events of the camera mode.
  public enum Camera: UInt8, Hashable, Sendable {
    case entered = 1
    /// The hand was shaken: take the picture.
    case shake = 2
    case finished = 3
  }

  /// A key of a media player.
  public enum MediaKey: UInt8, Hashable, Sendable {
    case playPause = 1
    case previous = 2
    case next = 3
    case volumeUp = 4
    case volumeDown = 5
  }

  /// Whether its value is one that firmware is known to invent (ring reference, 4.9).
  public var isEstimate: Bool {
    switch self {
    case .variability, .stress: true
    default: false
    }
  }

  /// Reads a frame; nil if it is an answer or a sample and no event.
  ///
  /// An event with an impossible value is kept as ``other(_:)`` if it is a notification: it is shown, but not used.
  public init?(_ frame: RingFrame) {
    switch frame.command {
    case .notification: self = Self.notification(frame)
    case CommandTable.payloadLength.command:
      guard let length = try? CommandTable.payloadLength.value(frame) else { return nil }
      self = .payloadLength(length.value)
    case CommandTable.camera.command:
      guard let value = try? CommandTable.camera.value(frame), let camera = Camera(rawValue: value.value)
      else { return nil }
      self = .camera(camera)
    case CommandTable.mediaKey.command:
      guard let value = try? CommandTable.mediaKey.value(frame), let key = MediaKey(rawValue: value.value)
      else { return nil }
      self = .mediaKey(key)
    case CommandTable.findPhone.command:
      guard let value = try? CommandTable.findPhone.value(frame) else { return nil }
      self = .findsPhone(value.value == 1)
    case CommandTable.sportUpdate.command:
      guard let update = try? CommandTable.sportUpdate.value(frame) else { return nil }
      self = .sport(update)
    default: return nil
    }
  }

  private static func notification(_ frame: RingFrame) -> RingEvent {
    if let event = try? CommandTable.batteryEvent.value(frame) { return .battery(event.battery) }
    if let totals = try? CommandTable.liveTotals.value(frame) { return .liveTotals(totals) }
    if let value = try? CommandTable.variabilityEvent.value(frame) { return .variability(value.value) }
    if let value = try? CommandTable.stressEvent.value(frame) { return .stress(value.value) }
    return .other(Kind(rawValue: frame.byte(at: 1)))
  }

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

/// The totals of the day, as reported by the ring with each batch of steps (ring reference, 4.15).
public struct LiveTotals: FrameRecord {
  /// The steps since the ring's midnight.
  public var steps: UInt32 = 0
  /// Small calories: 1000 make a kilocalorie.
  public var calories: UInt32 = 0
  /// The distance since the ring's midnight, in meters.
  public var meters: UInt32 = 0

  public init() {}

  public static let fields: [RecordField<Self>] = [
    RecordField("steps", \.steps, at: 2, .uint24BigEndian, .steps),
    RecordField("calories", \.calories, at: 5, .uint24BigEndian, .calories),
    RecordField("distance", \.meters, at: 8, .uint24BigEndian, .meters),
  ]
}

/// An event that carries one small number.
public struct EventValue: FrameRecord {
  public var value: UInt8 = 0

  public init() {}

  public init(_ value: UInt8) { self.value = value }

  public static let fields: [RecordField<Self>] = [RecordField("value", \.value, at: 2)]
}

/// A battery event: ``RingBattery``, a byte further back than in the answer.
public struct BatteryEvent: FrameRecord {
  public var battery = RingBattery()

  public init() {}

  public init(_ battery: RingBattery) { self.battery = battery }

  public static let fields: [RecordField<Self>] = [
    RecordField("percent", \.battery.percent, at: 2, .uint8, .percent, in: 0...100),
    RecordField("charging", \.battery.isCharging, at: 3),
  ]
}

public final class RingReports: CommandGroup {
  static let shared = RingReports()

  public let payloadLength = RingReport<SingleByte>(
    0x2F, "payload length", "How many bytes fit into a notification; comes with the answer to set time.",
    source: "4.3 [C]")
  public let camera = RingReport<SingleByte>(
    0x02, "camera", "1: camera mode is on, 2: the ring was shaken, 3: it is off.", source: "4.13 [F]")
  public let mediaKey = RingReport<SingleByte>(
    0x1D, "media key", "1: play or pause, 2: previous, 3: next, 4: louder, 5: quieter.", families: .newer,
    source: "4.13 [A]")
  public let findPhone = RingReport<SingleByte>(
    0x22, "find phone", "1: the wearer looks for the phone, 2: no longer.", families: .newer,
    source: "4.13 [A]")
  public let sportUpdate = RingReport<SportUpdate>(
    0x78, "sport update", "A second of a sport session.", families: .newer, source: "4.14 [A]")
  public let batteryEvent = RingReport<BatteryEvent>(
    0x73, startingWith: [0x0C], "battery changed", "How full the battery is now.", source: "4.15 [F][C]")
  public let liveTotals = RingReport<LiveTotals>(
    0x73, startingWith: [0x12], "live totals", "The totals of the day, with each batch of steps.",
    source: "4.15 [F][C]")
  public let variabilityEvent = RingReport<EventValue>(
    0x73, startingWith: [0x2B], "new HRV", "A value of heart rate variability, in ms.", families: .newer,
    source: "4.15 [F][C]")
  public let stressEvent = RingReport<EventValue>(
    0x73, startingWith: [0x2C], "new stress", "A value of stress.", families: .newer, source: "4.15 [F][C]")

  /// Notifications without a value, or with one that is not understood.
  let plainNotifications = plain.map { kind, name, source in
    RingReport<NoFields>(
      .notification, startingWith: [kind], name, "Something happened.", source: source
    ).entry
  }

  private static let plain: [(kind: UInt8, name: String, source: String)] = [
    (0x01, "new heart rate", "4.15 [A][C]"), (0x02, "new blood pressure", "4.15 [A]"),
    (0x03, "new SpO2", "4.15 [A]"), (0x04, "new activity", "4.15 [A][C]"),
    (0x05, "new temperature", "4.15 [A]"), (0x06, "sport ended", "4.15 [A]"),
    (0x07, "sport session ended", "4.15 [A]"), (0x09, "wants to be synchronised", "4.15 [A]"),
    (0x0B, "wants to be synchronised", "4.15 [A]"), (0x0D, "new blood sugar", "4.15 [?]"),
    (0x10, "goals changed", "4.15 [?]"), (0x11, "display or touch", "4.15 [F]"),
    (0x25, "counter", "4.15 [F]"), (0x27, "value 0x27", "4.15 [F]"), (0x28, "value 0x28", "4.15 [F]"),
  ]

  var entries: [CommandEntry] {
    [
      payloadLength.entry, camera.entry, mediaKey.entry, findPhone.entry, sportUpdate.entry,
      batteryEvent.entry, liveTotals.entry, variabilityEvent.entry, stressEvent.entry,
    ] + plainNotifications
  }
}
