/// The automatic measurements of a ring (ring reference, 4.7).
package final class ScheduleSettings: CommandGroup {
  static let shared = ScheduleSettings()

  /// The only switch that uses 2 for off.
  package let heartRateSchedule = RingSetting(
    0x16, "heart-rate", "Automatic measurement of heart rate.", source: "4.7 [C][S]",
    [
      FrameField("enabled", at: 2, .flag(on: 1, off: 2)),
      // Rings support 5, 10, 15, 30 and 60; some keep slots of five minutes for any value.
      FrameField("interval", at: 3, .uint8, .minutes, settable: 1...255, usual: 5),
      FrameField("start", at: 4, .uint8, .minutes),
      // 0 is no alarm.
      FrameField("low-alarm", at: 5, .uint8, .beatsPerMinute).only(.app),
      FrameField("high-alarm", at: 6, .uint8, .beatsPerMinute).only(.app),
      // The main switch of the alarms: 0 leaves it.
      FrameField("alarms", at: 7, words: [0: "unset", 1: "on", 2: "off"], settable: 0...2).only(.sdk),
    ])
  package let oxygenSchedule = RingSetting(
    0x2C, "spo2", "Automatic measurement of SpO2.", source: "4.7 [C]",
    [
      enabled(at: 2),
      // 0 leaves it to the ring.
      FrameField("interval", at: 3, .uint8, .minutes),
    ])
  package let stressSchedule = RingSetting(
    0x36, "stress", "Automatic estimation of stress.", source: "4.7 [C]", [enabled(at: 2)])
  package let variabilitySchedule = RingSetting(
    0x38, "hrv", "Automatic estimation of heart rate variability.", families: .newer, source: "4.7 [F]",
    [enabled(at: 2)])
  package let temperatureSchedule = RingSetting(
    0x3A, read: [3, 1], write: [3, 2], "temperature", "Automatic measurement of skin temperature.",
    families: .newer, source: "4.7 [C][A][S]",
    [
      enabled(at: 3),
      // If it is set to 0, the seconds count. Rings that report 0 are taken to leave it out.
      FrameField("interval", at: 4, .uint8, .minutes, believed: 1...255, usual: 30).only(.app),
      // 2 to 120. The vendor's app writes 5 beside an interval in minutes.
      FrameField("interval-seconds", at: 5, .uint8, .seconds, settable: 0...120, usual: 5).only(.sdk),
      FrameField("remind", at: 6, .uint8, .minutes, usual: 10).only(.sdk),
      FrameField("alarms", at: 7).only(.sdk),
      // Tenths of a degree above 20 °C.
      FrameField("alarm", at: 8).only(.sdk),
    ])

  private static func enabled(at offset: Int) -> FrameField {
    FrameField("enabled", at: offset, .flag(on: 1, off: 0))
  }

  var settings: [RingSetting] {
    [heartRateSchedule, oxygenSchedule, stressSchedule, variabilitySchedule, temperatureSchedule]
  }
  var entries: [CommandEntry] { settings.map(\.entry) }
}

package final class WearerSettings: CommandGroup {
  static let shared = WearerSettings()

  /// Rings use it for distance and calories. Most do not report it, and those that do leave out the last three fields: to
  /// write a part of it means to write all of it (ring reference, 4.6).
  package let profile = RingSetting(
    0x0A, "profile", "Who wears the ring. Most rings do not report it.", isReadable: false,
    source: "4.6 [C]",
    [
      // How the ring shows times and units; the fields are metric.
      FrameField("twelve-hour-clock", at: 2, .flag(on: 1, off: 0)),
      FrameField("imperial", at: 3, .flag(on: 1, off: 0)),
      FrameField("gender", at: 4, words: [0: "male", 1: "female", 2: "other"], settable: 0...2, usual: 2),
      FrameField("age", at: 5, .uint8, .years, settable: 1...120),
      FrameField("height", at: 6, .uint8, .centimeters, settable: 50...250),
      FrameField("weight", at: 7, .uint8, .kilograms, settable: 10...250),
      // The usual values of these are those that the vendor's app writes.
      FrameField("systolic", at: 8, .uint8, .millimetersOfMercury, believed: 1...255, usual: 120),
      FrameField("diastolic", at: 9, .uint8, .millimetersOfMercury, believed: 1...255, usual: 80),
      FrameField("heart-rate-warning", at: 10, .uint8, .beatsPerMinute, believed: 1...255, usual: 150),
    ])
  package let goals = RingSetting(
    0x21, "goals", "The daily goals.", source: "4.7 [C]",
    [
      FrameField("steps", at: 2, .uint24LittleEndian, .steps),
      FrameField("calories", at: 5, .uint24LittleEndian, .calories),
      FrameField("distance", at: 8, .uint24LittleEndian, .meters),
      FrameField("sport", at: 11, .uint16LittleEndian, .minutes),
      FrameField("sleep", at: 13, .uint16LittleEndian, .minutes),
    ])
  package let temperatureUnit = RingSetting(
    0x19, "temperature-unit", "The unit of temperatures.", families: .newer, source: "4.7 [C]",
    [
      enabled,
      FrameField("unit", at: 3, words: [1: "celsius", 2: "fahrenheit"], settable: 1...2, usual: 1),
    ])
  package let display = RingSetting(
    0x05, read: [3], write: [4], "display", "The display of rings that have one.", families: .newer,
    source: "4.13 [C]",
    [
      enabled, FrameField("hand", at: 3, words: [1: "left", 2: "right"], settable: 1...2, usual: 1),
      // 1 to the number of levels.
      FrameField("brightness", at: 4, settable: 1...5, usual: 1),
      FrameField("levels", at: 5, settable: 1...255, usual: 5),
      // Within the window of time, or always.
      FrameField("hours", at: 6, words: [1: "window", 2: "always"], settable: 1...2, usual: 2),
    ] + window(at: 7))
  package let doNotDisturb = RingSetting(
    0x06, "do-not-disturb", "The times without notifications.", families: [.unknown], source: "4.7 [A]",
    [enabled] + window(at: 3) + [FrameField("manual", at: 7, .flag(on: 1, off: 0))])
  package let raiseToWake = RingSetting(
    0x09, "raise-to-wake", "Whether a raised hand switches the display on.", families: [.unknown],
    source: "4.7 [A]", [enabled, FrameField("delay", at: 3, .uint8, .seconds)])
  package let touch = RingSetting(
    0x3B, read: [1, 0], write: [2, 0], "touch", "What touching the ring does.", families: .newer,
    source: "4.13 [C][S]", touchFields)
  package let gesture = RingSetting(
    0x3B, read: [1, 1], write: [2, 1], "gesture", "The function of a gesture.", families: .newer,
    source: "4.13 [F]", touchFields)
  package let touchSleep = RingSetting(
    0x3B, read: [1, 2], write: [2, 2], "touch-sleep", "After how long touches are ignored.",
    families: .newer, source: "4.13 [S]",
    // The unit of the time is not stated.
    [FrameField("mode", at: 3, words: touchModes), FrameField("time", at: 4)])
  package let bloodPressureSchedule = RingSetting(
    0x0C, "blood-pressure", "The schedule of the invented blood pressure; no ring can measure it.",
    families: [.rt11cr], source: "4.7 [C]",
    [FrameField("enabled", at: 2, .flag(on: 1, off: 0))] + window(at: 3)
      + [FrameField("interval", at: 7, .uint8, .minutes, settable: 1...255, usual: 60)])

  private static let enabled = FrameField("enabled", at: 2, .flag(on: 1, off: 2))

  /// From when to when, by the ring's wall clock.
  private static func window(at offset: Int) -> [FrameField] {
    [
      FrameField("start-hour", at: offset, settable: 0...23),
      FrameField("start-minute", at: offset + 1, settable: 0...59),
      FrameField("end-hour", at: offset + 2, settable: 0...23),
      FrameField("end-minute", at: offset + 3, settable: 0...59),
    ]
  }

  /// 1 to 8 select a function of the phone; with 9, the ring reports the finger's actions.
  private static let touchModes = [
    0: "off", 1: "music", 2: "video", 3: "counter", 4: "e-book", 5: "camera", 6: "call", 7: "game",
    8: "heart", 9: "events",
  ]

  /// Rings lose it when they restart.
  private static let touchFields = [
    FrameField("mode", at: 3, words: touchModes).only(.sdk, words: [2, 3, 4, 5, 6, 7, 8, 9]),
    FrameField("sensitivity", at: 4, settable: 1...10, believed: 1...30, usual: 1),
    FrameField("sleep", at: 5),
  ]

  var settings: [RingSetting] {
    [
      profile, goals, temperatureUnit, display, doNotDisturb, raiseToWake, touch, gesture,
      touchSleep, bloodPressureSchedule,
    ]
  }
  var entries: [CommandEntry] { settings.map(\.entry) }
}
