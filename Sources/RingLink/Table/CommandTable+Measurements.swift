extension CommandTable {
  public static let measurementStart = Stream<MeasurementStart, MeasurementUpdate>(
    0x69, "measurement", "Measures while one waits: starts a measurement, or keeps a continuous one going.",
    source: "4.9 [F][C]")
  public static let measurementStop = Query<MeasurementStop, MeasurementStop>(
    0x6A, "measurement stop", "Ends a measurement, and tells the ring which value to store.", .measurements,
    source: "4.9 [C]")
  public static let liveHeartRate = Stream<LiveHeartRateControl, LiveHeartRate>(
    0x1E, "live heart rate", "The older way to a continuous heart rate.", families: [.rf03, .unknown],
    source: "4.9 [A]")
  public static let sport = Query<SportControl, SportControl>(
    0x77, "sport session", "Begins, pauses or ends a sport session.", .measurements, families: .newer,
    source: "4.14 [A]")

  static var measurements: [CommandEntry] {
    [measurementStart.entry, measurementStop.entry, liveHeartRate.entry, sport.entry]
  }
}
