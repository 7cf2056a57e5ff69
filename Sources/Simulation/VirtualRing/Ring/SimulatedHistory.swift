import RingLink

/// The measurements of a ring in the days before: a function of only the seed and the day, up to the present.
struct SimulatedHistory {
  let seed: UInt64
  /// The ring's present time; there is no data after it.
  let now: RingTime
  /// Between two heart rates.
  let heartRateInterval: Int

  /// The number of days that a ring stores, today included.
  static let days = 7

  private enum Topic: UInt64 {
    case steps, heartRate, manual, oxygen, sleep, nap, stress, variability, temperature, oxygenMinutes
    case manualOxygen, sedentary, sport
  }

  func isKept(_ day: RingDay) -> Bool { (0..<Self.days).contains(now.day.number - day.number) }

  /// - Returns: nil for days that are not kept
  func day(_ daysAgo: UInt8) -> RingDay? {
    let day = now.day.adding(days: -Int(daysAgo))
    return isKept(day) ? day : nil
  }

  /// The days that are kept, the oldest first, and how many days ago each is.
  var keptDays: [(daysAgo: UInt8, day: RingDay)] {
    (0..<Self.days).reversed().map { (UInt8($0), now.day.adding(days: -$0)) }
  }

  // MARK: Steps

  /// By hours; for the present one the activity so far.
  func activity(on day: RingDay) -> [ActivityRecord] {
    let (year, month, dayOfMonth) = day.civil
    return (0..<24).compactMap { hour in
      let start = day.midnight.adding(minutes: hour * 60)
      let share = min(max(now.seconds - start.seconds, 0), 3600)
      let steps = stepsOfHour(hour, day) * share / 3600
      guard steps > 0 else { return nil }
      var record = ActivityRecord.usual
      record.yearOfCentury = UInt8(clamping: year - 2000)
      record.month = UInt8(clamping: month)
      record.day = UInt8(clamping: dayOfMonth)
      record.slot = UInt8(hour * 4)
      record.steps = UInt16(clamping: steps)
      record.meters = UInt16(clamping: steps * 7 / 10)
      // 32 small calories a step, stored in tens.
      record.energy = UInt16(clamping: steps * 32 / 10)
      return record
    }
  }

  /// The sum of the day's records, as real rings report it.
  func totals(on day: RingDay) -> TodayTotals {
    var totals = TodayTotals.usual
    for record in activity(on: day) {
      totals.steps += UInt32(record.steps)
      totals.calories += UInt32(record.energy) * 10
      totals.meters += UInt32(record.meters)
      totals.activeMinutes += UInt16(record.steps / 100)
    }
    return totals
  }

  private func stepsOfHour(_ hour: Int, _ day: RingDay) -> Int {
    guard (7...22).contains(hour), random(.steps, day, hour * 2, 4) > 0 else { return 0 }
    let isWalk = hour == 8 || hour == 13 || hour == 18
    return (isWalk ? 900 : 20) + random(.steps, day, hour * 2 + 1, isWalk ? 900 : 400)
  }

  // MARK: Heart

  /// Slots in the future keep their earlier contents: real rings do not clear them.
  func heartRates(on day: RingDay) -> SlotLog {
    slots(day, heartRateInterval, leftovers: true) { minute, day in
      // A ring that is being washed, or is loose, has no result.
      guard random(.heartRate, day, minute * 2, 12) > 0 else { return 0 }
      let isAwake = (420..<1350).contains(minute)
      let walk = stepsOfHour(minute / 60, day) / 60
      return (isAwake ? 66 : 52) + walk + random(.heartRate, day, minute * 2 + 1, 12)
    }
  }

  /// Measurements on request: one in the morning, one in the evening.
  func manualHeartRates(on day: RingDay) -> [ManualHeartRates.Reading] {
    [552, 1174].compactMap { minute in
      guard day.midnight.adding(minutes: minute) <= now else { return nil }
      return ManualHeartRates.Reading(
        minuteOfDay: UInt16(minute), value: UInt8(70 + random(.manual, day, minute, 25)))
    }
  }

  func stress(on day: RingDay) -> SlotLog {
    slots(day, 30) { minute, day in
      random(.stress, day, minute * 2, 5) == 0 ? 0 : 20 + random(.stress, day, minute * 2 + 1, 45)
    }
  }

  /// Measured at night, and now and then by day.
  func variability(on day: RingDay) -> SlotLog {
    slots(day, 30) { minute, day in
      let isNight = minute < 420
      guard isNight || random(.variability, day, minute * 2, 3) == 0 else { return 0 }
      return 30 + random(.variability, day, minute * 2 + 1, 20)
    }
  }

  // MARK: Oxygen and temperature

  func oxygen(on day: RingDay) -> [OxygenDay.Hour] {
    (0..<24).map { hour in
      guard day.midnight.adding(minutes: hour * 60) <= now, random(.oxygen, day, hour * 3, 9) > 0 else {
        return OxygenDay.Hour(minimum: 0, maximum: 0)
      }
      let minimum = 95 + random(.oxygen, day, hour * 3 + 1, 4)
      return OxygenDay.Hour(
        minimum: UInt8(minimum), maximum: UInt8(min(minimum + random(.oxygen, day, hour * 3 + 2, 3), 100)))
    }
  }

  /// In percent, every five minutes while one sleeps; 0 for none.
  func oxygenMinutes(on day: RingDay) -> [UInt8] {
    stride(from: 0, to: 1440, by: 5).map { minute in
      guard minute < 420, day.midnight.adding(minutes: minute) <= now else { return 0 }
      return UInt8(94 + random(.oxygenMinutes, day, minute, 6))
    }
  }

  /// Measured on request in the evening: the minute of the day, LE, and the value in percent.
  func manualOxygen(on day: RingDay) -> [UInt8] {
    let minute = 1180
    guard day.midnight.adding(minutes: minute) <= now else { return [] }
    return [
      UInt8(minute & 0xFF), UInt8(minute >> 8), UInt8(95 + random(.manualOxygen, day, minute, 5)),
    ]
  }

  /// Pairs of a kind and a duration; their meaning is not known.
  func sedentary(on day: RingDay) -> [UInt8] {
    (0..<6).flatMap { part in [UInt8(part % 2 + 1), UInt8(30 + random(.sedentary, day, part, 90))] }
  }

  /// Every second evening one goes for a walk.
  var walks: [SimulatedSession] {
    keptDays.compactMap { _, day in
      let start = day.midnight.adding(minutes: 1085 + random(.sport, day, 0, 30))
      let minutes = 25 + random(.sport, day, 1, 15)
      guard (day.number + Int(seed % 2)) % 2 == 0, start.adding(minutes: minutes) <= now else { return nil }
      var walk = SimulatedSession(sport: .walk, start: start)
      walk.seconds = minutes * 60
      walk.steps = walk.seconds * 2
      walk.meters = walk.seconds * 3 / 2
      walk.calories = walk.seconds * 90
      walk.rates = (0..<walk.seconds / SimulatedSession.interval).map {
        UInt8(95 + random(.sport, day, 2 + $0, 20))
      }
      return walk
    }
  }

  /// Hundredths of a degree Celsius in slots of half an hour, 0 for none.
  func temperatures(on day: RingDay) -> [Int] {
    (0..<48).map { slot in
      guard day.midnight.adding(minutes: slot * 30) <= now else { return 0 }
      return 3320 + random(.temperature, day, slot, 24) * 10
    }
  }

  // MARK: Sleep

  /// The night that ended on a day; nil if it has not.
  func night(endingOn day: RingDay, daysAgo: UInt8) -> SleepDay? {
    let end = 390 + random(.sleep, day, 0, 60)
    guard day.midnight.adding(minutes: end) <= now else { return nil }
    // Every fourth night begins after midnight.
    let start =
      random(.sleep, day, 1, 4) == 0 ? 5 + random(.sleep, day, 2, 40) : 1350 + random(.sleep, day, 3, 80)
    return SleepDay(
      daysAgo: daysAgo, start: UInt16(start), end: UInt16(end),
      stages: stages(day, lasting: (end - start + 1440) % 1440))
  }

  /// Every third day has one.
  func nap(on day: RingDay, daysAgo: UInt8) -> SleepDay? {
    guard (day.number + Int(seed % 3)) % 3 == 0 else { return nil }
    let start = 780 + random(.nap, day, 0, 40)
    let length = 40 + random(.nap, day, 1, 50)
    guard day.midnight.adding(minutes: start + length) <= now else { return nil }
    return SleepDay(
      daysAgo: daysAgo, start: UInt16(start), end: UInt16(start + length),
      stages: [SleepStage(.light, minutes: length - 20), SleepStage(.deep, minutes: 20)])
  }

  private func stages(_ day: RingDay, lasting minutes: Int) -> [SleepStage] {
    let course: [SleepStage.Kind] = [.light, .deep, .light, .rem, .light, .awake]
    var stages: [SleepStage] = []
    var rest = minutes
    while rest > 0 {
      let kind = course[stages.count % course.count]
      let wanted = kind == .awake ? 2 : 12 + random(.sleep, day, 10 + stages.count, 25)
      stages.append(SleepStage(kind, minutes: min(wanted, rest)))
      rest -= wanted
    }
    return stages
  }

  // MARK: Parts

  /// - Parameter leftovers: whether slots in the future hold the values of the day before instead of being empty
  private func slots(
    _ day: RingDay, _ interval: Int, leftovers: Bool = false, _ value: (Int, RingDay) -> Int
  ) -> SlotLog {
    guard isKept(day) else { return .empty }
    return SlotLog(
      minutesPerSlot: interval,
      values: stride(from: 0, to: 1440, by: interval).map { minute in
        let isPast = day.midnight.adding(minutes: minute) <= now
        return isPast || leftovers
          ? UInt8(clamping: value(minute, isPast ? day : day.adding(days: -1))) : 0
      })
  }

  /// 0 up to, but without, `limit`.
  private func random(_ topic: Topic, _ day: RingDay, _ index: Int, _ limit: UInt64) -> Int {
    var hash = seed &* 0x9E37_79B9_7F4A_7C15
    for word in [topic.rawValue, UInt64(bitPattern: Int64(day.number)), UInt64(bitPattern: Int64(index))] {
      hash = (hash ^ word) &* 0xBF58_476D_1CE4_E5B9
      hash ^= hash >> 29
    }
    return Int(hash % limit)
  }
}
