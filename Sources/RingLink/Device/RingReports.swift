/// The totals of the day, as reported by the ring with each batch of steps (ring reference, 4.15).
public struct LiveTotals: FrameRecord {
  /// The steps since the ring's midnight.
  public var steps: UInt32 = 0
  /// Small calories: 1000 make a kilocalorie.
  public var calories: UInt32 = 0
  /// The distance since the ring's midnight, in meters.
  public var meters: UInt32 = 0

  public init() {}

  package static let fields: Fields = Fields(Self()) {
    RecordField("steps", \.steps, at: 2, .uint24BigEndian, .steps)
    RecordField("calories", \.calories, at: 5, .uint24BigEndian, .calories)
    RecordField("distance", \.meters, at: 8, .uint24BigEndian, .meters)
  }
}

/// The heart rate has left its limits (ring reference, 4.15).
public struct HeartRateAlarm: FrameRecord, CustomStringConvertible {
  /// 1 too low, 2 too high.
  public var limit: UInt8 = 2
  /// In beats per minute.
  public var beatsPerMinute: UInt8 = 0

  public init() {}

  public init(limit: UInt8, beatsPerMinute: UInt8) {
    self.limit = limit
    self.beatsPerMinute = beatsPerMinute
  }

  static let limits = [1: "too low", 2: "too high"]

  /// The possible values of ``word``.
  package static let words = limits.keys.sorted().map {
    HeartRateAlarm(limit: UInt8($0), beatsPerMinute: 0).word
  }

  /// `too-low` or `too-high`; `limit-3` for an unknown one.
  public var word: String {
    Self.limits[Int(limit)].map { $0.split(separator: " ").joined(separator: "-") } ?? "limit-\(limit)"
  }

  var isKnown: Bool { Self.limits[Int(limit)] != nil }

  package static let fields: Fields = Fields(Self()) {
    RecordField("limit", \.limit, at: 2, words: limits)
    RecordField("heart-rate", \.beatsPerMinute, at: 3, .uint8, .beatsPerMinute)
  }

  /// `heart rate too high: 130 bpm`
  public var description: String {
    "heart rate \(Self.limits[Int(limit)] ?? "at limit \(limit)"): \(beatsPerMinute) bpm"
  }
}

package final class RingReports: CommandGroup {
  static let shared = RingReports()

  package let payloadLength = RingReport<UInt8>(
    0x2F, "payload length", "How many bytes fit into a notification; comes with the answer to set time.",
    source: "4.3 [C]", .number(at: 1))
  package let camera = RingReport<UInt8>(
    0x02, "camera", "1: camera mode is on, 2: the ring was shaken, 3: it is off.", source: "4.13 [F]",
    .number(at: 1))
  package let mediaKey = RingReport<UInt8>(
    0x1D, "media key", "1: play or pause, 2: previous, 3: next, 4: louder, 5: quieter.", families: .newer,
    source: "4.13 [A]", .number(at: 1))
  package let findPhone = RingReport<UInt8>(
    0x22, "find phone", "1: the wearer looks for the phone, 2: no longer.", families: .newer,
    source: "4.13 [A]", .number(at: 1))
  package let sportUpdate = RingReport<SportUpdate>(
    0x78, "sport update", "A second of a sport session.", families: .newer,
    source: "4.14 [C][F][A][S]", SportUpdate.fields)
  package let batteryEvent = RingReport<RingBattery>(
    0x73, startingWith: [0x0C], "battery changed", "The new battery level.", source: "4.15 [F][C][4]",
    RingBattery.fields(at: 2))
  package let liveTotals = RingReport<LiveTotals>(
    0x73, startingWith: [0x12], "live totals", "The totals of the day, with each batch of steps.",
    source: "4.15 [F][C]", LiveTotals.fields)
  package let variabilityEvent = RingReport<UInt8>(
    0x73, startingWith: [0x2B], "new HRV", "A value of heart rate variability, in ms.", families: .newer,
    source: "4.15 [F][C]", .number(at: 2))
  package let stressEvent = RingReport<UInt8>(
    0x73, startingWith: [0x2C], "new stress", "A value of stress.", families: .newer, source: "4.15 [F][C]",
    .number(at: 2))
  /// An R10's equals the slot of the temperature log that follows (ring reference, 4.15).
  package let skinTemperatureEvent = RingReport<UInt8>(
    0x73, startingWith: [0x27], "new skin temperature", "A value of the skin temperature.", families: .newer,
    source: "4.15 [C]", .number(at: 2, .uint8, .tenthsOfDegreeAbove20))
  /// As one client of an R09 reads it (ring reference, 4.15).
  package let temperatureEvent = RingReport<UInt16>(
    0x73, startingWith: [0x05], "new temperature", "A value of a temperature.", families: .newer,
    source: "4.15 [1]", .number(at: 2, .uint16LittleEndian, .hundredthsOfDegree))
  package let buttonEvent = RingReport<UInt8>(
    0x73, startingWith: [0x2D], "button", "The ring was touched, in touch mode 9.", families: .newer,
    source: "4.15 [S]", .number("button", at: 2, words: buttons))
  package let heartRateAlarm = RingReport<HeartRateAlarm>(
    0x73, startingWith: [0x3A], "heart rate alarm",
    "The heart rate has left the limits of the setting heart-rate.",
    families: .newer, source: "4.15 [S]", HeartRateAlarm.fields)
  package let counterEvent = RingReport<UInt32>(
    0x73, startingWith: [0x25], "counter", "The wearer's counter, which counts prayers.", families: .newer,
    source: "4.15 [F][S]", .number(at: 2, .uint32BigEndian))

  private static let buttons = Dictionary(
    uniqueKeysWithValues: RingEvent.Button.allCases.map { (Int($0.rawValue), "\($0)") })

  /// Notifications without a value, or with one that is not understood.
  let plainNotifications = plain.map { kind, name, purpose, source in
    RingReport<NoFields>(
      .notification, startingWith: [kind], name, purpose, source: source, NoFields.fields
    ).entry
  }

  private static let plain: [(kind: UInt8, name: String, purpose: String, source: String)] = [
    (0x01, "new heart rate", "New heart rates are stored.", "4.15 [A][C]"),
    (0x02, "new blood pressure", "New blood pressures are stored.", "4.15 [A]"),
    (0x03, "new SpO2", "New values of SpO2 are stored.", "4.15 [A][C][3]"),
    (0x04, "new activity", "New steps are stored.", "4.15 [A][C]"),
    (0x06, "sport ended", "A sport session has ended.", "4.15 [A]"),
    (0x07, "sport session stored", "A sport session is stored.", "4.15 [A][C]"),
    (0x09, "requests synchronization", "The ring asks to be synchronized.", "4.15 [A]"),
    (0x0B, "requests synchronization", "The ring asks to be synchronized.", "4.15 [A]"),
    (0x0D, "new blood sugar", "New values of blood sugar are stored.", "4.15 [?]"),
    (0x10, "goals changed", "The daily goals have changed.", "4.15 [?]"),
    (0x11, "display or touch", "Concerns the display or touches.", "4.15 [F]"),
    (0x28, "value 0x28", "A value of unknown meaning.", "4.15 [F]"),
  ]

  var entries: [CommandEntry] {
    [
      payloadLength.entry, camera.entry, mediaKey.entry, findPhone.entry, sportUpdate.entry,
      batteryEvent.entry, liveTotals.entry, variabilityEvent.entry, stressEvent.entry,
      skinTemperatureEvent.entry, temperatureEvent.entry, buttonEvent.entry,
      heartRateAlarm.entry, counterEvent.entry,
    ] + plainNotifications
  }
}
