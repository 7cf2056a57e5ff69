extension CommandTable {
  public static let heartRateSchedule = Setting<HeartRateSchedule>(
    0x16, "heart-rate", "How the ring measures heart rate by itself.", source: "4.7 [C]")
  public static let oxygenSchedule = Setting<Switch>(
    0x2C, "spo2", "Whether the ring measures SpO2 by itself.", source: "4.7 [C]")
  public static let stressSchedule = Setting<Switch>(
    0x36, "stress", "Whether the ring estimates stress by itself.", source: "4.7 [C]")
  public static let variabilitySchedule = Setting<Switch>(
    0x38, "hrv", "Whether the ring estimates heart rate variability by itself.", families: .newer,
    source: "4.7 [F]")
  public static let temperatureSchedule = Setting<TemperatureSchedule>(
    0x3A, read: [3, 1], write: [3, 2], "temperature",
    "How the ring measures the skin's temperature by itself.",
    families: .newer, source: "4.7 [A]")
  public static let profile = Setting<Profile>(
    0x0A, "profile", "Who wears the ring. Most rings do not give it back.", isToldBack: false,
    source: "4.6 [C]")
  public static let goals = Setting<Goals>(
    0x21, "goals", "What the wearer wants to reach in a day.", source: "4.7 [C]")
  public static let temperatureUnit = Setting<TemperatureUnit>(
    0x19, "temperature-unit", "In what temperatures are shown.", families: .newer, source: "4.7 [C]")
  public static let display = Setting<Display>(
    0x05, read: [3], write: [4], "display", "The display of rings that have one.", families: .newer,
    source: "4.13 [C]")
  public static let doNotDisturb = Setting<DoNotDisturb>(
    0x06, "do-not-disturb", "When the ring is to be silent.", families: [.unknown], source: "4.7 [A]")
  public static let raiseToWake = Setting<RaiseToWake>(
    0x09, "raise-to-wake", "Whether a raised hand switches the display on.", families: [.unknown],
    source: "4.7 [A]")
  public static let touch = Setting<TouchControl>(
    0x3B, read: [1, 0], write: [2, 0], "touch", "What touching the ring does.", families: .newer,
    source: "4.13 [C]")
  public static let gesture = Setting<TouchControl>(
    0x3B, read: [1, 1], write: [2, 1], "gesture", "What waving the ring does.", families: .newer,
    source: "4.13 [F]")
  public static let bloodPressureSchedule = Setting<BloodPressureSchedule>(
    0x0C, "blood-pressure", "When blood pressure is to be made up; no ring can measure it.",
    families: [.rt11cr], source: "4.7 [C]")

  /// The switches of everything that the ring measures by itself: all of them are off when its lights stay dark.
  public static var automaticMeasurements: [any RingSetting] {
    [heartRateSchedule, oxygenSchedule, stressSchedule, variabilitySchedule, temperatureSchedule]
  }

  public static var settings: [any RingSetting] {
    automaticMeasurements + [
      profile, goals, temperatureUnit, display, doNotDisturb, raiseToWake, touch, gesture,
      bloodPressureSchedule,
    ]
  }
}
