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
