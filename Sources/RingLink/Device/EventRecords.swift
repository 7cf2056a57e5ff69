/// The totals of the day, as reported by the ring with each batch of steps (ring reference, 4.15).
public struct LiveTotals: FrameRecord {
  /// The steps since the ring's midnight.
  public var steps: UInt32 = 0
  /// Small calories: 1000 make a kilocalorie.
  public var calories: UInt32 = 0
  /// The distance since the ring's midnight, in meters.
  public var meters: UInt32 = 0

  public init() {}

  package static let fields: [RecordField<Self>] = [
    RecordField("steps", \.steps, at: 2, .uint24BigEndian, .steps),
    RecordField("calories", \.calories, at: 5, .uint24BigEndian, .calories),
    RecordField("distance", \.meters, at: 8, .uint24BigEndian, .meters),
  ]
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

  /// What ``word`` can be.
  package static let words = limits.keys.sorted().map {
    HeartRateAlarm(limit: UInt8($0), beatsPerMinute: 0).word
  }

  /// `too-low` or `too-high`; `limit-3` for an unknown one.
  public var word: String {
    Self.limits[Int(limit)].map { $0.split(separator: " ").joined(separator: "-") } ?? "limit-\(limit)"
  }

  var isKnown: Bool { Self.limits[Int(limit)] != nil }

  package static let fields: [RecordField<Self>] = [
    RecordField("limit", \.limit, at: 2, words: limits),
    RecordField("heart-rate", \.beatsPerMinute, at: 3, .uint8, .beatsPerMinute),
  ]

  /// `heart rate too high: 130 bpm`
  public var description: String {
    "heart rate \(Self.limits[Int(limit)] ?? "at limit \(limit)"): \(beatsPerMinute) bpm"
  }
}

/// The wearer's counter.
package struct CounterEvent: FrameRecord {
  package var value: UInt32 = 0

  package init() {}

  package init(_ value: UInt32) { self.value = value }

  package static let fields: [RecordField<Self>] = [RecordField("value", \.value, at: 2, .uint32BigEndian)]
}

/// What a finger does.
package struct ButtonEvent: FrameRecord {
  /// A raw value of ``RingEvent/Button``.
  package var value: UInt8 = 0

  package init() {}

  package init(_ button: RingEvent.Button) { value = button.rawValue }

  package static let fields: [RecordField<Self>] = [
    RecordField(
      "button", \.value, at: 2,
      words: Dictionary(uniqueKeysWithValues: RingEvent.Button.allCases.map { (Int($0.rawValue), "\($0)") }))
  ]
}

/// An event that carries one small number.
package struct EventValue: FrameRecord {
  package var value: UInt8 = 0

  package init() {}

  package init(_ value: UInt8) { self.value = value }

  package static let fields: [RecordField<Self>] = [RecordField("value", \.value, at: 2)]
}

/// A battery event: ``RingBattery``, a byte further back than in the answer.
package struct BatteryEvent: FrameRecord {
  package var battery = RingBattery()

  package init() {}

  package init(_ battery: RingBattery) { self.battery = battery }

  package static let fields: [RecordField<Self>] = [
    RecordField("percent", \.battery.percent, at: 2, .uint8, .percent, in: 0...100),
    RecordField("charging", \.battery.isCharging, at: 3),
  ]
}

/// A new skin temperature. An R10's equals the slot of the temperature log that follows (ring reference, 4.15).
package struct SkinTemperatureEvent: FrameRecord {
  /// Tenths of a degree above 20 °C.
  package var value: UInt8 = 0

  package init() {}

  package static let fields: [RecordField<Self>] = [
    RecordField("value", \.value, at: 2, .uint8, .tenthsOfDegreeAbove20)
  ]
}

/// A temperature as one client of an R09 reads it: hundredths of a degree Celsius (ring reference, 4.15).
package struct TemperatureEvent: FrameRecord {
  package var value: UInt16 = 0

  package init() {}

  package static let fields: [RecordField<Self>] = [
    RecordField("value", \.value, at: 2, .uint16LittleEndian, .hundredthsOfDegree)
  ]
}
