/// The data that a ring stores, and the requests for them.
package final class HistoryCommands: CommandGroup {
  static let shared = HistoryCommands()

  package let today = RingQuery<NoFields, TodayTotals>(
    0x48, "today", "Steps and distance since the ring's midnight.", .history, source: "4.14 [C]",
    NoFields.fields, TodayTotals.fields)
  /// A mask of days: bit n means n days ago.
  package let storedDays = RingQuery<NoFields, UInt32>(
    0x46, "stored days", "The days with stored data.", .history, families: .newer,
    source: "4.14 [A]", NoFields.fields, .number("mask", at: 1, .uint32BigEndian))
  package let dayTotals = RingLog<DayTotalsAssembler>(
    0x07, "day totals", "Steps and distance of a day, in total.", families: [.rf03, .unknown],
    source: "4.14 [A]")
  package let activity = RingLog<ActivityLogAssembler>(
    0x43, "activity", "Steps and distance of a day, by hours.", source: "4.14 [F][C]")
  package let heartRateLog = RingLog<HeartRateLogAssembler>(
    0x15, "heart rate log", "The heart rates that the ring measured automatically on a day.",
    source: "4.10 [C]")
  package let stressLog = RingLog<DaySlotLogAssembler>(
    0x37, "stress log", "The stress of a day. Firmware makes these numbers up in part.",
    source: "4.12 [F][C]")
  package let variabilityLog = RingLog<DaySlotLogAssembler>(
    0x39, "hrv log",
    "The heart rate variability of a day, in ms. Firmware makes these numbers up in part.",
    families: .newer, source: "4.12 [F][C]")
  package let hourlyCounter = RingLog<HourlyCounterAssembler>(
    0x7A, "hourly counter", "A counter by hours, which counts prayers.", families: [.rt11cr],
    source: "4.16 [F][S]")
  package let sleep = BulkQuery<SleepLog>(
    0x27, "sleep", "The nights that the ring has stored. Naps come with the answer, as a frame of their own.",
    source: "6.1 [C][3]")
  package let naps = BulkQuery<SleepLog>(
    .nap, "naps", "The naps that the ring has stored. Sent with the answer to sleep.",
    isUnsolicited: true,
    source: "6.1 [C][3]")
  package let manualHeartRates = BulkQuery<ManualHeartRates>(
    0x28, "manual heart rates", "The heart rates measured on request.", source: "6.3 [C]")
  package let oxygenLog = BulkQuery<OxygenLog>(
    0x2A, "SpO2 log", "The oxygen saturation by hours.", source: "6.2 [C]")
  package let minuteOxygen = BulkQuery<MinuteOxygen>(
    0x5F, "SpO2 by the minute",
    "The oxygen saturation of a day, of rings whose 0x3C says that they store it.",
    families: [], source: "6.2 [S]")
  package let manualOxygen = BulkQuery<ManualOxygen>(
    0x49, "manual SpO2", "The oxygen saturations measured on request.", families: [], source: "6.3 [S]")
  package let temperatureLog = BulkQuery<TemperatureLog>(
    0x25, "temperature log", "The skin temperatures of several days.", families: .newer,
    source: "6.4 [C][A][2]")
  package let intervalTemperatures = BulkQuery<IntervalTemperatures>(
    0x77, "interval temperatures", "The skin temperatures of a day, as newer rings keep them.",
    families: .newer, source: "6.4 [A][2]")
  package let temperatures74 = BulkQuery<IntervalTemperatures>(
    0x74, "temperatures at intervals", "The same of rings whose 0x3C has the bit for this id.", families: [],
    source: "6.4 [S]")
  package let sedentaryLog = BulkQuery<StoredLog<SittingDay>>(
    0x5B, "sedentary times", "How long the wearer sat. The kinds of the parts are not known.", families: [],
    source: "6.6 [S]")
  package let sportRecords = BulkQuery<SportLog>(
    0x41, answeredBy: 0x42, "sport records",
    "The sessions of sport since a time; a ring keeps ten. Only the empty answer was captured.",
    families: [.rt11cr], source: "6.7 [C][A][S]")
  package let sportCourse = BulkQuery<SportCourseHeader>(
    0x43, answeredBy: 0x44, "sport course",
    "The course of a session. Its packets follow, as frames of their own.",
    families: [], source: "6.7 [C][A][S]")
  package let sportPackets = BulkQuery<SportCoursePacket>(
    0x45, "sport course packet", "A part of the course of a session. Sent with the answer to sport course.",
    isUnsolicited: true, families: [], source: "6.7 [C][A][S]")
  package let beginSync = BulkQuery<BulkStatus<NoBulkFields>>(
    0x30, "begin sync", "What the vendor's app says before it reads what is stored. Its effect is not known.",
    source: "6 [C]")
  package let nickname = BulkQuery<BulkStatus<UserName>>(
    0x4A, "nickname", "Tells the ring the name of its wearer.", group: .device, source: "6 [C]")

  var bulkRows: [any BulkRow] {
    [
      sleep, naps, manualHeartRates, oxygenLog, minuteOxygen, manualOxygen, temperatureLog,
      intervalTemperatures, temperatures74, sedentaryLog, sportRecords, sportCourse, sportPackets, beginSync,
      nickname,
    ]
  }
  var entries: [CommandEntry] {
    [
      today.entry, storedDays.entry, dayTotals.entry, activity.entry, heartRateLog.entry, stressLog.entry,
      variabilityLog.entry, hourlyCounter.entry,
    ] + bulkRows.map(\.entry)
  }
}
