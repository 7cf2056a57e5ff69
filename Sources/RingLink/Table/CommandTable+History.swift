extension CommandTable {
  public static let today = Query<NoFields, TodayTotals>(
    0x48, "today", "What was walked since the ring's midnight.", .history, source: "4.14 [C]")
  public static let storedDays = Query<NoFields, StoredDays>(
    0x46, "stored days", "For which days the ring has something stored.", .history, families: .newer,
    source: "4.14 [A]")
  public static let dayTotals = Log<DayTotalsAssembler>(
    0x07, "day totals", "What was walked on a day, in sum.", families: [.rf03, .unknown], source: "4.14 [A]")
  public static let activity = Log<ActivityLogAssembler>(
    0x43, "activity", "What was walked on a day, by hours.", source: "4.14 [F][C]")
  public static let heartRateLog = Log<HeartRateLogAssembler>(
    0x15, "heart rate log", "The heart rates that the ring measured by itself on a day.",
    source: "4.10 [C]")
  public static let stressLog = Log<DaySlotLogAssembler>(
    0x37, "stress log", "The stress of a day. Firmware makes these numbers up in part.",
    source: "4.12 [F][C]")
  public static let variabilityLog = Log<DaySlotLogAssembler>(
    0x39, "hrv log",
    "The heart rate variability of a day, in ms. Firmware makes these numbers up in part.",
    families: .newer, source: "4.12 [F][C]")
  public static let hourlyCounter = Log<HourlyCounterAssembler>(
    0x7A, "hourly counter", "A counter by hours, of unknown meaning.", families: [.rt11cr],
    source: "4.16 [F]")

  public static let sleep = BulkQuery<SleepLog>(
    0x27, "sleep", "The nights that the ring has stored. Naps come with the answer, as a frame of their own.",
    source: "6.1 [C]")
  public static let naps = BulkReport<SleepLog>(
    .nap, "naps", "The naps that the ring has stored. Comes by itself with the answer to sleep.",
    source: "6.1 [C]")
  public static let manualHeartRates = BulkQuery<ManualHeartRates>(
    0x28, "manual heart rates", "The heart rates that somebody asked for.", source: "6.3 [C]")
  public static let oxygenLog = BulkQuery<OxygenLog>(
    0x2A, "SpO2 log", "The oxygen saturation by hours.", source: "6.2 [C]")
  public static let temperatureLog = BulkQuery<TemperatureLog>(
    0x25, "temperature log", "The skin temperatures of several days.", families: .newer, source: "6.4 [A]")
  public static let intervalTemperatures = BulkQuery<IntervalTemperatures>(
    0x77, "interval temperatures", "The skin temperatures of a day, as newer rings keep them.",
    families: .newer, source: "6.4 [A]")

  public static let beginSync = BulkQuery<BulkStatus<NoBulkFields>>(
    0x30, "begin sync", "What the vendor's app says before it reads what is stored. Its effect is not known.",
    source: "6 [C]")
  public static let sportRecords = BulkQuery<BulkStatus<SinceTime>>(
    0x41, answeredBy: 0x42, "sport records",
    "Sessions of sport since a time. Only the empty answer is known.",
    source: "6 [C]")
  public static let nickname = BulkQuery<BulkStatus<Nickname>>(
    0x4A, "nickname", "Tells the ring the name of its wearer.", group: .device, source: "6 [C]")

  static var history: [CommandEntry] {
    [
      today.entry, storedDays.entry, dayTotals.entry, activity.entry, heartRateLog.entry, stressLog.entry,
      variabilityLog.entry, hourlyCounter.entry, sleep.entry, naps.entry, manualHeartRates.entry,
      oxygenLog.entry, temperatureLog.entry, intervalTemperatures.entry, beginSync.entry, sportRecords.entry,
      nickname.entry,
    ]
  }
}
