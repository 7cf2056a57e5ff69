package final class RingReports: CommandGroup {
  static let shared = RingReports()

  package let payloadLength = RingReport<SingleByte>(
    0x2F, "payload length", "How many bytes fit into a notification; comes with the answer to set time.",
    source: "4.3 [C]")
  package let camera = RingReport<SingleByte>(
    0x02, "camera", "1: camera mode is on, 2: the ring was shaken, 3: it is off.", source: "4.13 [F]")
  package let mediaKey = RingReport<SingleByte>(
    0x1D, "media key", "1: play or pause, 2: previous, 3: next, 4: louder, 5: quieter.", families: .newer,
    source: "4.13 [A]")
  package let findPhone = RingReport<SingleByte>(
    0x22, "find phone", "1: the wearer looks for the phone, 2: no longer.", families: .newer,
    source: "4.13 [A]")
  package let sportUpdate = RingReport<SportUpdate>(
    0x78, "sport update", "A second of a sport session.", families: .newer,
    source: "4.14 [C][F][A][S]")
  package let batteryEvent = RingReport<BatteryEvent>(
    0x73, startingWith: [0x0C], "battery changed", "How full the battery is now.", source: "4.15 [F][C][4]")
  package let liveTotals = RingReport<LiveTotals>(
    0x73, startingWith: [0x12], "live totals", "The totals of the day, with each batch of steps.",
    source: "4.15 [F][C]")
  package let variabilityEvent = RingReport<EventValue>(
    0x73, startingWith: [0x2B], "new HRV", "A value of heart rate variability, in ms.", families: .newer,
    source: "4.15 [F][C]")
  package let stressEvent = RingReport<EventValue>(
    0x73, startingWith: [0x2C], "new stress", "A value of stress.", families: .newer, source: "4.15 [F][C]")
  package let skinTemperatureEvent = RingReport<SkinTemperatureEvent>(
    0x73, startingWith: [0x27], "new skin temperature", "A value of the skin temperature.", families: .newer,
    source: "4.15 [C]")
  package let temperatureEvent = RingReport<TemperatureEvent>(
    0x73, startingWith: [0x05], "new temperature", "A value of a temperature.", families: .newer,
    source: "4.15 [1]")
  package let buttonEvent = RingReport<ButtonEvent>(
    0x73, startingWith: [0x2D], "button", "The ring was touched, in touch mode 9.", families: .newer,
    source: "4.15 [S]")
  package let heartRateAlarm = RingReport<HeartRateAlarm>(
    0x73, startingWith: [0x3A], "heart rate alarm",
    "The heart rate has left the limits of the setting heart-rate.",
    families: .newer, source: "4.15 [S]")
  package let counterEvent = RingReport<CounterEvent>(
    0x73, startingWith: [0x25], "counter", "The wearer's counter, which counts prayers.", families: .newer,
    source: "4.15 [F][S]")

  /// Notifications without a value, or with one that is not understood.
  let plainNotifications = plain.map { kind, name, source in
    RingReport<NoFields>(
      .notification, startingWith: [kind], name, "Something happened.", source: source
    ).entry
  }

  private static let plain: [(kind: UInt8, name: String, source: String)] = [
    (0x01, "new heart rate", "4.15 [A][C]"), (0x02, "new blood pressure", "4.15 [A]"),
    (0x03, "new SpO2", "4.15 [A][C][3]"), (0x04, "new activity", "4.15 [A][C]"),
    (0x06, "sport ended", "4.15 [A]"),
    (0x07, "sport session stored", "4.15 [A][C]"), (0x09, "wants to be synchronised", "4.15 [A]"),
    (0x0B, "wants to be synchronised", "4.15 [A]"), (0x0D, "new blood sugar", "4.15 [?]"),
    (0x10, "goals changed", "4.15 [?]"), (0x11, "display or touch", "4.15 [F]"),
    (0x28, "value 0x28", "4.15 [F]"),
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
