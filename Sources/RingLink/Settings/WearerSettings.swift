/// The wearer's profile (ring reference, 4.6); used for distance and calories. Most rings do not report it, and those that do
/// leave out the last three fields: to write a part of it means to write all of it.
package struct Profile: FrameRecord {
  /// Whether the ring shows the time in 12 hours.
  package var twelveHourClock = false
  /// Whether the ring shows imperial units; the fields are metric.
  package var isImperial = false
  /// 0 male, 1 female, 2 other.
  package var gender: UInt8 = 2
  /// In years.
  package var age: UInt8 = 0
  /// In centimeters.
  package var height: UInt8 = 0
  /// In kilograms.
  package var weight: UInt8 = 0
  /// In mmHg. The defaults of this and the next two are what the vendor's app writes.
  package var systolic: UInt8 = 120
  /// In mmHg.
  package var diastolic: UInt8 = 80
  /// In beats per minute.
  package var heartRateWarning: UInt8 = 150

  package init() {}

  package static let fields: [RecordField<Self>] = [
    RecordField("twelve-hour-clock", \.twelveHourClock, at: 2),
    RecordField("imperial", \.isImperial, at: 3),
    RecordField("gender", \.gender, at: 4, words: [0: "male", 1: "female", 2: "other"], settable: 0...2),
    RecordField("age", \.age, at: 5, .uint8, .years, settable: 1...120),
    RecordField("height", \.height, at: 6, .uint8, .centimeters, settable: 50...250),
    RecordField("weight", \.weight, at: 7, .uint8, .kilograms, settable: 10...250),
    RecordField("systolic", \.systolic, at: 8, .uint8, .millimetersOfMercury, believed: 1...255),
    RecordField("diastolic", \.diastolic, at: 9, .uint8, .millimetersOfMercury, believed: 1...255),
    RecordField(
      "heart-rate-warning", \.heartRateWarning, at: 10, .uint8, .beatsPerMinute, believed: 1...255),
  ]

  /// Whether this is the answer of a ring that does not report its profile; must never be written by accident.
  package var isEmpty: Bool { age == 0 && height == 0 && weight == 0 }
}

/// The wearer's daily goals (ring reference, 4.7).
package struct Goals: FrameRecord {
  /// In steps.
  package var steps: UInt32 = 0
  /// Small calories: 1000 make a kilocalorie.
  package var calories: UInt32 = 0
  /// In meters.
  package var meters: UInt32 = 0
  /// In minutes.
  package var sportMinutes: UInt16 = 0
  /// In minutes.
  package var sleepMinutes: UInt16 = 0

  package init() {}

  package static let fields: [RecordField<Self>] = [
    RecordField("steps", \.steps, at: 2, .uint24LittleEndian, .steps),
    RecordField("calories", \.calories, at: 5, .uint24LittleEndian, .calories),
    RecordField("distance", \.meters, at: 8, .uint24LittleEndian, .meters),
    RecordField("sport", \.sportMinutes, at: 11, .uint16LittleEndian, .minutes),
    RecordField("sleep", \.sleepMinutes, at: 13, .uint16LittleEndian, .minutes),
  ]
}

/// In what temperatures are shown by rings that show them (ring reference, 4.7).
package struct TemperatureUnit: FrameRecord {
  package var isEnabled = false
  /// 1 for degrees Celsius, 2 for Fahrenheit.
  package var unit: UInt8 = 1

  package init() {}

  package static let fields: [RecordField<Self>] = [
    RecordField("enabled", \.isEnabled, at: 2, .flag(on: 1, off: 2)),
    RecordField("unit", \.unit, at: 3, words: [1: "celsius", 2: "fahrenheit"], settable: 1...2),
  ]
}

/// The display of rings that have one (ring reference, 4.13).
package struct Display: FrameRecord {
  package var isEnabled = false
  /// 1 left, 2 right.
  package var hand: UInt8 = 1
  /// 1 to ``levels``.
  package var brightness: UInt8 = 1
  /// The number of brightness levels.
  package var levels: UInt8 = 5
  /// 1: within the window of time; 2: always.
  package var hours: UInt8 = 2
  /// 0 to 23, of the ring's wall clock.
  package var startHour: UInt8 = 0
  /// 0 to 59.
  package var startMinute: UInt8 = 0
  /// 0 to 23, of the ring's wall clock.
  package var endHour: UInt8 = 0
  /// 0 to 59.
  package var endMinute: UInt8 = 0

  package init() {}

  package static let fields: [RecordField<Self>] = [
    RecordField("enabled", \.isEnabled, at: 2, .flag(on: 1, off: 2)),
    RecordField("hand", \.hand, at: 3, words: [1: "left", 2: "right"], settable: 1...2),
    RecordField("brightness", \.brightness, at: 4, settable: 1...5),
    RecordField("levels", \.levels, at: 5, settable: 1...255),
    RecordField("hours", \.hours, at: 6, words: [1: "window", 2: "always"], settable: 1...2),
    RecordField("start-hour", \.startHour, at: 7, settable: 0...23),
    RecordField("start-minute", \.startMinute, at: 8, settable: 0...59),
    RecordField("end-hour", \.endHour, at: 9, settable: 0...23),
    RecordField("end-minute", \.endMinute, at: 10, settable: 0...59),
  ]
}

/// The quiet hours of the ring (ring reference, 4.7).
package struct DoNotDisturb: FrameRecord {
  package var isEnabled = false
  /// 0 to 23, of the ring's wall clock.
  package var startHour: UInt8 = 0
  /// 0 to 59.
  package var startMinute: UInt8 = 0
  /// 0 to 23, of the ring's wall clock.
  package var endHour: UInt8 = 0
  /// 0 to 59.
  package var endMinute: UInt8 = 0
  package var isManual = false

  package init() {}

  package static let fields: [RecordField<Self>] = [
    RecordField("enabled", \.isEnabled, at: 2, .flag(on: 1, off: 2)),
    RecordField("start-hour", \.startHour, at: 3, settable: 0...23),
    RecordField("start-minute", \.startMinute, at: 4, settable: 0...59),
    RecordField("end-hour", \.endHour, at: 5, settable: 0...23),
    RecordField("end-minute", \.endMinute, at: 6, settable: 0...59),
    RecordField("manual", \.isManual, at: 7),
  ]
}

/// Whether a raised hand switches the display on (ring reference, 4.7).
package struct RaiseToWake: FrameRecord {
  package var isEnabled = false
  /// In seconds.
  package var delaySeconds: UInt8 = 0

  package init() {}

  package static let fields: [RecordField<Self>] = [
    RecordField("enabled", \.isEnabled, at: 2, .flag(on: 1, off: 2)),
    RecordField("delay", \.delaySeconds, at: 3, .uint8, .seconds),
  ]
}

/// When the ring invents blood pressure values (ring reference, 4.7 and 4.9: no ring can measure it).
package struct BloodPressureSchedule: FrameRecord {
  package var isEnabled = false
  /// 0 to 23, of the ring's wall clock.
  package var startHour: UInt8 = 0
  /// 0 to 59.
  package var startMinute: UInt8 = 0
  /// 0 to 23, of the ring's wall clock.
  package var endHour: UInt8 = 0
  /// 0 to 59.
  package var endMinute: UInt8 = 0
  /// In minutes, at least 1.
  package var intervalMinutes: UInt8 = 60

  package init() {}

  package static let fields: [RecordField<Self>] = [
    RecordField("enabled", \.isEnabled, at: 2),
    RecordField("start-hour", \.startHour, at: 3, settable: 0...23),
    RecordField("start-minute", \.startMinute, at: 4, settable: 0...59),
    RecordField("end-hour", \.endHour, at: 5, settable: 0...23),
    RecordField("end-minute", \.endMinute, at: 6, settable: 0...59),
    RecordField("interval", \.intervalMinutes, at: 7, .uint8, .minutes, settable: 1...255),
  ]
}

package final class WearerSettings: CommandGroup {
  static let shared = WearerSettings()

  package let profile = FrameSetting<Profile>(
    0x0A, "profile", "Who wears the ring. Most rings do not give it back.", isToldBack: false,
    source: "4.6 [C]")
  package let goals = FrameSetting<Goals>(
    0x21, "goals", "What the wearer wants to reach in a day.", source: "4.7 [C]")
  package let temperatureUnit = FrameSetting<TemperatureUnit>(
    0x19, "temperature-unit", "In what temperatures are shown.", families: .newer, source: "4.7 [C]")
  package let display = FrameSetting<Display>(
    0x05, read: [3], write: [4], "display", "The display of rings that have one.", families: .newer,
    source: "4.13 [C]")
  package let doNotDisturb = FrameSetting<DoNotDisturb>(
    0x06, "do-not-disturb", "When the ring is to be silent.", families: [.unknown], source: "4.7 [A]")
  package let raiseToWake = FrameSetting<RaiseToWake>(
    0x09, "raise-to-wake", "Whether a raised hand switches the display on.", families: [.unknown],
    source: "4.7 [A]")
  package let touch = FrameSetting<TouchControl>(
    0x3B, read: [1, 0], write: [2, 0], "touch", "What touching the ring does.", families: .newer,
    source: "4.13 [C][S]")
  package let gesture = FrameSetting<TouchControl>(
    0x3B, read: [1, 1], write: [2, 1], "gesture", "What waving the ring does.", families: .newer,
    source: "4.13 [F]")
  package let touchSleep = FrameSetting<TouchSleep>(
    0x3B, read: [1, 2], write: [2, 2], "touch-sleep", "When the ring stops to watch for touches.",
    families: .newer, source: "4.13 [S]")
  package let bloodPressureSchedule = FrameSetting<BloodPressureSchedule>(
    0x0C, "blood-pressure", "When blood pressure is to be made up; no ring can measure it.",
    families: [.rt11cr], source: "4.7 [C]")

  var settings: [any RingSetting] {
    [
      profile, goals, temperatureUnit, display, doNotDisturb, raiseToWake, touch, gesture,
      touchSleep, bloodPressureSchedule,
    ]
  }
  var entries: [CommandEntry] { settings.map(\.entry) }
}
