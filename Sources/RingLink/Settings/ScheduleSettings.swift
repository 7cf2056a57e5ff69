/// How the ring measures heart rate automatically (ring reference, 4.7). The only switch that uses 2 for off.
package struct HeartRateSchedule: FrameRecord {
  package var isEnabled = false
  /// Rings support 5, 10, 15, 30 and 60; some keep slots of five minutes for any value.
  package var intervalMinutes: UInt8 = 5
  /// In minutes.
  package var startMinutes: UInt8 = 0
  /// In beats per minute; 0 is none.
  package var lowAlarm: UInt8 = 0
  /// In beats per minute; 0 is none.
  package var highAlarm: UInt8 = 0
  /// The main switch of the alarms: 0 leaves it, 1 on, 2 off.
  package var alarms: UInt8 = 0

  package init() {}

  package static let fields: [RecordField<Self>] = [
    RecordField("enabled", \.isEnabled, at: 2, .flag(on: 1, off: 2)),
    RecordField("interval", \.intervalMinutes, at: 3, .uint8, .minutes, settable: 1...255),
    RecordField("start", \.startMinutes, at: 4, .uint8, .minutes),
    RecordField("low-alarm", \.lowAlarm, at: 5, .uint8, .beatsPerMinute).only(.app),
    RecordField("high-alarm", \.highAlarm, at: 6, .uint8, .beatsPerMinute).only(.app),
    RecordField("alarms", \.alarms, at: 7, words: [0: "unset", 1: "on", 2: "off"], settable: 0...2).only(
      .sdk),
  ]
}

/// Whether the ring measures a quantity automatically (ring reference, 4.7).
package struct Switch: FrameRecord {
  package var isEnabled = false

  package init() {}

  package static let fields: [RecordField<Self>] = [RecordField("enabled", \.isEnabled, at: 2)]
}

/// How the ring measures SpO2 automatically (ring reference, 4.7).
package struct OxygenSchedule: FrameRecord {
  package var isEnabled = false
  /// In minutes; 0 leaves it to the ring.
  package var intervalMinutes: UInt8 = 0

  package init() {}

  package static let fields: [RecordField<Self>] = [
    RecordField("enabled", \.isEnabled, at: 2),
    RecordField("interval", \.intervalMinutes, at: 3, .uint8, .minutes),
  ]
}

/// How the ring measures skin temperature automatically (ring reference, 4.7).
package struct TemperatureSchedule: FrameRecord {
  package var isEnabled = false
  /// In minutes; if it is set to 0, ``intervalSeconds`` counts. Rings that report 0 are taken to leave it out.
  package var intervalMinutes: UInt8 = 30
  /// 2 to 120, if ``intervalMinutes`` is 0. The vendor's app writes 5 beside an interval in minutes.
  package var intervalSeconds: UInt8 = 5
  /// In minutes.
  package var remindMinutes: UInt8 = 10
  package var alarms: UInt8 = 0
  /// Tenths of a degree above 20 °C.
  package var alarm: UInt8 = 0

  package init() {}

  package static let fields: [RecordField<Self>] = [
    RecordField("enabled", \.isEnabled, at: 3),
    RecordField("interval", \.intervalMinutes, at: 4, .uint8, .minutes, believed: 1...255).only(.app),
    RecordField("interval-seconds", \.intervalSeconds, at: 5, .uint8, .seconds, settable: 0...120).only(.sdk),
    RecordField("remind", \.remindMinutes, at: 6, .uint8, .minutes).only(.sdk),
    RecordField("alarms", \.alarms, at: 7).only(.sdk), RecordField("alarm", \.alarm, at: 8).only(.sdk),
  ]
}

/// The automatic measurements of a ring.
package final class ScheduleSettings: CommandGroup {
  static let shared = ScheduleSettings()

  package let heartRateSchedule = FrameSetting<HeartRateSchedule>(
    0x16, "heart-rate", "Automatic measurement of heart rate.", source: "4.7 [C][S]")
  package let oxygenSchedule = FrameSetting<OxygenSchedule>(
    0x2C, "spo2", "Automatic measurement of SpO2.", source: "4.7 [C]")
  package let stressSchedule = FrameSetting<Switch>(
    0x36, "stress", "Automatic estimation of stress.", source: "4.7 [C]")
  package let variabilitySchedule = FrameSetting<Switch>(
    0x38, "hrv", "Automatic estimation of heart rate variability.", families: .newer,
    source: "4.7 [F]")
  package let temperatureSchedule = FrameSetting<TemperatureSchedule>(
    0x3A, read: [3, 1], write: [3, 2], "temperature",
    "Automatic measurement of skin temperature.",
    families: .newer, source: "4.7 [C][A][S]")

  var settings: [any RingSetting] {
    [heartRateSchedule, oxygenSchedule, stressSchedule, variabilitySchedule, temperatureSchedule]
  }
  var entries: [CommandEntry] { settings.map(\.entry) }
}
