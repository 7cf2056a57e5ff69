extension CommandTable {
  public static let payloadLength = Event<SingleByte>(
    0x2F, "payload length", "How many bytes fit into a notification; comes with the answer to set time.",
    source: "4.3 [C]")
  public static let camera = Event<SingleByte>(
    0x02, "camera", "1: camera mode is on, 2: the ring was shaken, 3: it is off.", source: "4.13 [F]")
  public static let mediaKey = Event<SingleByte>(
    0x1D, "media key", "1: play or pause, 2: previous, 3: next, 4: louder, 5: quieter.", families: .newer,
    source: "4.13 [A]")
  public static let findPhone = Event<SingleByte>(
    0x22, "find phone", "1: the wearer looks for the phone, 2: no longer.", families: .newer,
    source: "4.13 [A]")
  public static let sportUpdate = Event<SportUpdate>(
    0x78, "sport update", "A second of a sport session.", families: .newer, source: "4.14 [A]")
  public static let batteryEvent = Event<BatteryEvent>(
    0x73, startingWith: [0x0C], "battery changed", "How full the battery is now.", source: "4.15 [F][C]")
  public static let liveTotals = Event<LiveTotals>(
    0x73, startingWith: [0x12], "live totals", "The totals of the day, with each batch of steps.",
    source: "4.15 [F][C]")
  public static let variabilityEvent = Event<EventValue>(
    0x73, startingWith: [0x2B], "new HRV", "A value of heart rate variability, in ms.", families: .newer,
    source: "4.15 [F][C]")
  public static let stressEvent = Event<EventValue>(
    0x73, startingWith: [0x2C], "new stress", "A value of stress.", families: .newer, source: "4.15 [F][C]")

  /// Notifications without a value, or with one that nobody has explained.
  private static let plainNotifications: [(kind: UInt8, name: String, source: String)] = [
    (0x01, "new heart rate", "4.15 [A][C]"), (0x02, "new blood pressure", "4.15 [A]"),
    (0x03, "new SpO2", "4.15 [A]"), (0x04, "new activity", "4.15 [A][C]"),
    (0x05, "new temperature", "4.15 [A]"), (0x06, "sport ended", "4.15 [A]"),
    (0x07, "sport session ended", "4.15 [A]"), (0x09, "wants to be synchronised", "4.15 [A]"),
    (0x0B, "wants to be synchronised", "4.15 [A]"), (0x0D, "new blood sugar", "4.15 [?]"),
    (0x10, "goals changed", "4.15 [?]"), (0x11, "display or touch", "4.15 [F]"),
    (0x25, "counter", "4.15 [F]"), (0x27, "value 0x27", "4.15 [F]"), (0x28, "value 0x28", "4.15 [F]"),
  ]

  static var events: [CommandEntry] {
    [
      payloadLength.entry, camera.entry, mediaKey.entry, findPhone.entry, sportUpdate.entry,
      batteryEvent.entry, liveTotals.entry, variabilityEvent.entry, stressEvent.entry,
    ]
      + plainNotifications.map {
        Event<NoFields>(
          .notification, startingWith: [$0.kind], $0.name, "Something happened.", source: $0.source
        ).entry
      }
  }
}
