import HaloBluetoothCore

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
  /// The ring was touched, or its button pressed; in touch mode 9.
  case button(Button)
  /// The heart rate has left the limits that are set in the ring.
  case heartRateAlarm(HeartRateAlarm)
  /// The wearer's counter, which counts prayers.
  case counter(UInt32)
  /// A new value of the skin temperature, in tenths of a degree Celsius.
  case skinTemperature(Int)
  /// A new temperature as one client of an R09 reads it, in hundredths of a degree Celsius; no capture has shown it.
  case temperature(Int)
  /// Naps that the ring has stored. They come by the bulk service, once the link has used it: for sleep, for example.
  case naps([Nap])
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
      CommandTable.meaning(of: RingFrame(.notification, rawValue), isFromRing: true).name
    }
  }

  /// A nap, by the ring's clock.
  public struct Nap: Hashable, Sendable, CustomStringConvertible {
    /// 0 is today.
    public var daysAgo: Int
    /// In minutes after midnight.
    public var start: Int
    /// In minutes after midnight.
    public var end: Int

    /// `today, 12:54 to 14:45`
    public var description: String {
      let day = daysAgo == 0 ? "today" : daysAgo == 1 ? "yesterday" : "\(daysAgo) days ago"
      return "\(day), \(Self.text(start)) to \(Self.text(end))"
    }

    private static func text(_ minute: Int) -> String {
      DecimalText.padded(minute / 60, 2) + ":" + DecimalText.padded(minute % 60, 2)
    }
  }

  /// A finger's action on the ring.
  public enum Button: UInt8, Hashable, Sendable, CaseIterable {
    case down = 1
    case up = 2
    case tap = 3
    case long = 4
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
  package var isEstimate: Bool {
    switch self {
    case .variability, .stress: true
    default: false
    }
  }

  /// Reads a frame; nil if it is an answer or a sample and no event.
  ///
  /// An event with an impossible value is kept as ``other(_:)`` if it is a notification: it is shown, but not used.
  package init?(_ frame: RingFrame) {
    if let event = Self.known(frame) {
      self = event
    } else if frame.command == .notification {
      self = .other(Kind(rawValue: frame.byte(at: 1)))
    } else {
      return nil
    }
  }

  /// Reads an unrequested bulk frame; nil if it is no event.
  init?(_ frame: BulkFrame) {
    guard frame.id == CommandTable.naps.id, let log = try? SleepLog(payload: frame.payload) else {
      return nil
    }
    self = .naps(
      log.items.compactMap { day in
        day.night.map { Nap(daysAgo: Int(day.daysAgo), start: Int($0.start), end: Int($0.end)) }
      })
  }

  /// Nil if it is not known, or has an impossible value.
  private static func known(_ frame: RingFrame) -> RingEvent? {
    if let length = try? CommandTable.payloadLength.value(frame) { return .payloadLength(length) }
    if let value = try? CommandTable.camera.value(frame) {
      return Camera(rawValue: value).map { .camera($0) }
    }
    if let value = try? CommandTable.mediaKey.value(frame) {
      return MediaKey(rawValue: value).map { .mediaKey($0) }
    }
    if let value = try? CommandTable.findPhone.value(frame) { return .findsPhone(value == 1) }
    if let update = try? CommandTable.sportUpdate.value(frame) { return .sport(update) }
    if let event = try? CommandTable.batteryEvent.value(frame) { return .battery(event) }
    if let totals = try? CommandTable.liveTotals.value(frame) { return .liveTotals(totals) }
    if let value = try? CommandTable.variabilityEvent.value(frame) { return .variability(value) }
    if let value = try? CommandTable.stressEvent.value(frame) { return .stress(value) }
    if let value = try? CommandTable.buttonEvent.value(frame), let button = Button(rawValue: value) {
      return .button(button)
    }
    if let alarm = try? CommandTable.heartRateAlarm.value(frame), alarm.isKnown {
      return .heartRateAlarm(alarm)
    }
    if let value = try? CommandTable.skinTemperatureEvent.value(frame), value > 0 {
      return .skinTemperature(200 + Int(value))
    }
    if let value = try? CommandTable.temperatureEvent.value(frame), value > 0 {
      return .temperature(Int(value))
    }
    if let counter = try? CommandTable.counterEvent.value(frame) { return .counter(counter) }
    return nil
  }

  public var description: String {
    switch self {
    case .battery(let battery): "battery at \(battery)"
    case .payloadLength(let length): "notifications carry up to \(length) bytes"
    case .liveTotals(let totals):
      "today \(totals.steps) steps, \(totals.meters) m, \(totals.calories / 1000) kcal"
    case .variability(let value): "new HRV: \(value) ms"
    case .stress(let value): "new stress: \(value)"
    case .camera(.entered): "camera mode"
    case .camera(.shake): "shaken: take a picture"
    case .camera(.finished): "camera mode ended"
    case .mediaKey(let key): "key: \(key)"
    case .findsPhone(let begins): begins ? "looks for the phone" : "looks for the phone no longer"
    case .sport(let update):
      "\(update.sport): \(update.seconds) s, "
        + "\(update.beatsPerMinute) bpm, \(update.steps) steps, \(update.meters) m"
        + (update.interruption.map { ", \($0)" } ?? "")
    case .button(let button): "button: \(button)"
    case .heartRateAlarm(let alarm): "\(alarm)"
    case .counter(let value): "counter: \(value)"
    case .skinTemperature(let tenths): "skin temperature \(tenths / 10).\(tenths % 10) °C"
    case .temperature(let hundredths):
      "new temperature: \(hundredths), hundredths of a °C by one client, without a capture"
    case .naps(let naps): naps.isEmpty ? "no naps" : "nap: " + naps.map(\.description).joined(separator: "; ")
    case .other(let kind): "\(kind)"
    }
  }
}
