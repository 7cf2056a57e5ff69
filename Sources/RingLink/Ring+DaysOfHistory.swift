/// What a ring has stored, kind by kind. In all of these, `now` is the ring's wall clock as the host knows it.
extension Ring {
  /// What was walked since the ring's midnight (ring reference, 4.14).
  public func today() async throws(RingError) -> TodayTotals {
    try await request(CommandTable.today)
  }

  /// What was walked on a day, by hours. The days are those that the ring itself tells: they differ from `day` if its
  /// clock is wrong, and are left out then.
  public func activity(
    on day: RingDay, now: RingTime, progress: ((Int, Int?) -> Void)? = nil
  ) async throws(RingError) -> [ActivityReading] {
    guard let daysAgo = daysAgo(day, now: now) else { return [] }
    let log = try await log(
      CommandTable.activity, ActivityRequest(daysAgo: daysAgo), progress: progress)
    var readings: [ActivityReading] = []
    for record in log.records {
      guard let recorded = record.day(near: day) else {
        throw .malformed(
          .frame(CommandTable.activity.command),
          .value("there is no day \(record.day) of month \(record.month)"))
      }
      guard recorded == day else { continue }
      readings.append(
        ActivityReading(
          time: day.midnight.adding(minutes: Int(record.slot) * 15), steps: Int(record.steps),
          meters: Int(record.meters), calories: Int(record.energy) * (log.isInTens ? 10 : 1)))
    }
    return readings
  }

  /// What the ring measured by itself on a day.
  public func heartRates(
    on day: RingDay, now: RingTime, progress: ((Int, Int?) -> Void)? = nil
  ) async throws(RingError) -> [HeartRateReading] {
    let log = try await log(
      CommandTable.heartRateLog, DayByTime(day, now: now), progress: progress)
    return log.readings(of: day, until: now).map {
      HeartRateReading(time: $0.time, beatsPerMinute: Int($0.value), isManual: false)
    }
  }

  /// The heart rates that somebody asked for.
  public func manualHeartRates(
    _ days: DayOrAll, now: RingTime, progress: ((Int, Int) -> Void)? = nil
  ) async throws(RingError) -> [HeartRateReading] {
    let contents = try await bulk(CommandTable.manualHeartRates, days, progress: progress)
    let midnight = now.day.adding(days: -Int(contents.daysAgo)).midnight
    return contents.readings.filter { $0.beatsPerMinute != 0 && $0.beatsPerMinute != 255 }.map {
      HeartRateReading(
        time: midnight.adding(minutes: Int($0.minuteOfDay)), beatsPerMinute: Int($0.beatsPerMinute),
        isManual: true)
    }.inOrder(of: \.time)
  }

  /// The oxygen saturation of all days, in the order of time.
  public func oxygen(
    now: RingTime, progress: ((Int, Int) -> Void)? = nil
  ) async throws(RingError) -> [OxygenReading] {
    try await bulk(CommandTable.oxygenLog, .all, progress: progress)
      .readings(today: now.day).inOrder(of: \.time)
  }

  /// The stress of a day; see ``HistoryKind/isEstimate``.
  public func stress(
    on day: RingDay, now: RingTime, progress: ((Int, Int?) -> Void)? = nil
  ) async throws(RingError) -> [EstimateReading] {
    try await estimates(CommandTable.stressLog, on: day, now: now, progress: progress)
  }

  /// The heart rate variability of a day, in milliseconds; see ``HistoryKind/isEstimate``.
  public func variability(
    on day: RingDay, now: RingTime, progress: ((Int, Int?) -> Void)? = nil
  ) async throws(RingError) -> [EstimateReading] {
    try await estimates(CommandTable.variabilityLog, on: day, now: now, progress: progress)
  }

  private func estimates(
    _ log: Log<DaySlotLogAssembler>, on day: RingDay, now: RingTime, progress: ((Int, Int?) -> Void)?
  ) async throws(RingError) -> [EstimateReading] {
    guard let daysAgo = daysAgo(day, now: now) else { return [] }
    return try await self.log(log, DaysAgo(daysAgo), progress: progress)
      .readings(of: day, until: now).map { EstimateReading(time: $0.time, value: Int($0.value)) }
  }

  /// The skin's temperatures of so many days up to today, in the order of time.
  public func temperatures(
    days: UInt8, now: RingTime, progress: ((Int, Int) -> Void)? = nil
  ) async throws(RingError) -> [TemperatureReading] {
    try await bulk(CommandTable.temperatureLog, DayCount(days: days), progress: progress)
      .readings(today: now.day).filter { $0.time <= now }.inOrder(of: \.time)
  }

  /// The skin's temperatures of a day, of rings that say that they keep them at intervals.
  public func intervalTemperatures(
    on day: RingDay, now: RingTime
  ) async throws(RingError) -> [TemperatureReading] {
    guard let daysAgo = daysAgo(day, now: now) else { return [] }
    var values: [UInt16] = []
    var minutes = 0
    for packet in UInt8(0)...254 {
      let contents = try await bulk(
        CommandTable.intervalTemperatures, DayPacket(daysAgo: daysAgo, packet: packet))
      guard !contents.values.isEmpty else { break }
      minutes = Int(contents.minutesPerSlot)
      values += contents.values
      guard packet + 1 < contents.packets, values.count < 1440 / minutes else { break }
    }
    return values.enumerated().compactMap { index, value in
      let time = day.midnight.adding(minutes: index * minutes)
      guard value > 0, time.day == day, time <= now else { return nil }
      return TemperatureReading(time: time, centidegrees: Int(value))
    }
  }

  /// How many days ago a day is; nil for the future and for what a byte can't tell.
  private func daysAgo(_ day: RingDay, now: RingTime) -> UInt8? {
    UInt8(exactly: now.day.number - day.number)
  }
}

extension SlotLog {
  /// The slots with a value. What stands in slots that are to come is left of earlier days.
  func readings(of day: RingDay, until now: RingTime) -> [(time: RingTime, value: UInt8)] {
    SlotDay(day: day, minutesPerSlot: minutesPerSlot, values: values).readings.filter { $0.time <= now }
  }
}
