/// Who wears the ring (ring reference, 4.6). Distances and calories are computed from it. Rings do not give it back:
/// to write a part of it means to write all of it.
public struct Profile: FrameRecord {
  public var twelveHourClock = false
  public var isImperial = false
  public var gender: UInt8 = 2
  public var age: UInt8 = 0
  public var height: UInt8 = 0
  public var weight: UInt8 = 0
  public var systolic: UInt8 = 0
  public var diastolic: UInt8 = 0
  public var heartRateWarning: UInt8 = 0

  public init() {}

  public static let fields: [RecordField<Self>] = [
    RecordField("twelve-hour-clock", \.twelveHourClock, at: 2),
    RecordField("imperial", \.isImperial, at: 3),
    RecordField("gender", \.gender, at: 4, words: [0: "male", 1: "female", 2: "other"], settable: 0...2),
    RecordField("age", \.age, at: 5, .uint8, .years, settable: 1...120),
    RecordField("height", \.height, at: 6, .uint8, .centimeters, settable: 50...250),
    RecordField("weight", \.weight, at: 7, .uint8, .kilograms, settable: 10...250),
    RecordField("systolic", \.systolic, at: 8, .uint8, .millimetersOfMercury),
    RecordField("diastolic", \.diastolic, at: 9, .uint8, .millimetersOfMercury),
    RecordField("heart-rate-warning", \.heartRateWarning, at: 10, .uint8, .beatsPerMinute),
  ]

  /// What a ring that does not give its profile back answers, and what must never be written by accident.
  public var isEmpty: Bool { age == 0 && height == 0 && weight == 0 }
}

/// What the wearer wants to reach in a day (ring reference, 4.7).
public struct Goals: FrameRecord {
  public var steps: UInt32 = 0
  /// Small calories: 1000 make a kilocalorie.
  public var calories: UInt32 = 0
  public var meters: UInt32 = 0
  public var sportMinutes: UInt16 = 0
  public var sleepMinutes: UInt16 = 0

  public init() {}

  public static let fields: [RecordField<Self>] = [
    RecordField("steps", \.steps, at: 2, .uint24LittleEndian, .steps),
    RecordField("calories", \.calories, at: 5, .uint24LittleEndian, .calories),
    RecordField("distance", \.meters, at: 8, .uint24LittleEndian, .meters),
    RecordField("sport", \.sportMinutes, at: 11, .uint16LittleEndian, .minutes),
    RecordField("sleep", \.sleepMinutes, at: 13, .uint16LittleEndian, .minutes),
  ]
}

/// In what temperatures are shown by rings that show them (ring reference, 4.7).
public struct TemperatureUnit: FrameRecord {
  public var isEnabled = false
  /// 1 for degrees Celsius, 2 for Fahrenheit.
  public var unit: UInt8 = 1

  public init() {}

  public static let fields: [RecordField<Self>] = [
    RecordField("enabled", \.isEnabled, at: 2, .flag(on: 1, off: 2)),
    RecordField("unit", \.unit, at: 3, words: [1: "celsius", 2: "fahrenheit"], settable: 1...2),
  ]
}
