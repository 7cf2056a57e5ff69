import RingLink

/// The numbers of some days of a ring, one after the other. A number that is not stored is nil.
package struct DaysReport {
  /// A night as the ring reports it.
  struct Night {
    let session: SleepSession
    /// The minutes of each kind of stage.
    let minutes: [SleepStage.Kind: Int]
    /// The values from its start to its end.
    var rates = ValueRange()
    var oxygen = ValueRange()
    var temperature = ValueRange()
    var variability = ValueRange()

    static let asleep: [SleepStage.Kind] = [.deep, .light, .rem]

    init(_ session: SleepSession) {
      self.session = session
      minutes = session.stages.reduce(into: [:]) { $0[$1.kind, default: 0] += $1.minutes }
    }

    /// The minutes of sleep: those awake, and those of stages that are not known, do not count.
    var asleep: Int { Self.asleep.reduce(0) { $0 + (minutes[$1] ?? 0) } }

    func contains(_ time: RingTime) -> Bool { session.start <= time && time < session.end }
  }

  /// A day of the calendar. A night belongs to the day on which it ends.
  struct Day {
    let day: RingDay
    var night: Night?
    /// In minutes.
    var naps: Int?
    /// The automatic heart rates.
    fileprivate var automatic: [HeartRateReading] = []
    /// See ``DaysReport/restingRate(_:)``.
    var resting: Double?
    var steps: Int?
    var meters = 0
    /// Small calories: 1000 make a kilocalorie.
    var calories = 0
    var oxygen = ValueRange()
    var temperature = ValueRange()
    var variability = ValueRange()
    var stress = ValueRange()
  }

  /// An hour, with the heart rates that are in it.
  struct Hour {
    let start: RingTime
    var rates = ValueRange()
    /// The same hour of all days.
    var usual = ValueRange()
    var steps: Int?
  }

  /// A week from Monday to Sunday, as far as it is in the report.
  struct Week {
    let first: RingDay
    var days: [Day]
  }

  let now: RingTime
  let newest: RingTime?
  private(set) var days: [Day]
  /// The 24 hours before now; the last one is not over, if now is not the end of a day.
  private(set) var hours: [Hour]
  /// The newest first.
  let sports: [StoredSport]
  /// The heart rates of the last night.
  private(set) var nightRates: [HeartRateReading] = []

  /// The heart rates that can be one. Rings store 0 and 255 for none.
  static let possibleRates = 25...250

  /// - Parameters:
  ///   - readings: those of the days, and others, which are left out
  ///   - span: the days; the last one is the day of the report
  ///   - now: the time of the report, on the last day or at its end
  package init(_ readings: StoredReadings, days span: ClosedRange<RingDay>, now: RingTime) {
    self.now = now
    newest = readings.newest
    days = (span.lowerBound.number...span.upperBound.number).map { Day(day: RingDay(number: $0)) }
    let lastHour = (now.seconds - 1) / 3600 * 3600
    hours = (0..<24).map { Hour(start: RingTime(seconds: lastHour - (23 - $0) * 3600)) }
    sports = readings.sports.filter { span.contains($0.time.day) && $0.time < now }
      .sorted { $0.time > $1.time }
    addSleep(readings.sleep)
    addSteps(readings.steps)
    addRates(readings.heartRates)
    addOxygen(readings)
    for reading in readings.temperatures {
      change(reading.time, \.temperature, \.temperature) { $0.add(reading.degreesCelsius) }
    }
    for reading in readings.variability {
      change(reading.time, \.variability, \.variability) { $0.add(Double(reading.value)) }
    }
    for reading in readings.stress {
      change(reading.time, \.stress, nil) { $0.add(Double(reading.value)) }
    }
  }

  /// The last night that is stored, and its day.
  var lastNight: Day? { days.last { $0.night != nil } }

  var today: Day { days[days.count - 1] }

  var weeks: [Week] {
    var weeks: [Week] = []
    for day in days {
      if weeks.isEmpty || day.day.weekday == 0 { weeks.append(Week(first: day.day, days: [])) }
      weeks[weeks.count - 1].days.append(day)
    }
    return weeks
  }

  private func index(of time: RingTime) -> Int? {
    guard time < now else { return nil }
    let index = time.day.number - days[0].day.number
    return days.indices.contains(index) ? index : nil
  }

  /// Changes a range of the day, and of the night in which the time is: that ends on the same day, or on the next one.
  private mutating func change(
    _ time: RingTime, _ ofDay: WritableKeyPath<Day, ValueRange>,
    _ ofNight: WritableKeyPath<Night, ValueRange>?, _ change: (inout ValueRange) -> Void
  ) {
    if let index = index(of: time) { change(&days[index][keyPath: ofDay]) }
    guard let ofNight else { return }
    let first = time.day.number - days[0].day.number
    for index in [first, first + 1] where days.indices.contains(index) {
      guard var night = days[index].night, night.contains(time) else { continue }
      change(&night[keyPath: ofNight])
      days[index].night = night
    }
  }

  // MARK: One kind each

  /// The night with the most sleep counts, of several that end on a day: rings send one again with another start.
  private mutating func addSleep(_ sessions: [SleepSession]) {
    for session in sessions where session.start < session.end && session.end <= now {
      let index = session.end.day.number - days[0].day.number
      guard days.indices.contains(index) else { continue }
      let night = Night(session)
      if session.isNap {
        days[index].naps = (days[index].naps ?? 0) + night.asleep
      } else if days[index].night.map({ $0.asleep < night.asleep }) ?? true {
        days[index].night = night
      }
    }
  }

  private mutating func addSteps(_ readings: [ActivityReading]) {
    for reading in readings {
      guard let index = index(of: reading.time) else { continue }
      days[index].steps = (days[index].steps ?? 0) + reading.steps
      days[index].meters += reading.meters
      days[index].calories += reading.calories
      if let hour = hour(of: reading.time) { hours[hour].steps = (hours[hour].steps ?? 0) + reading.steps }
    }
  }

  private func hour(of time: RingTime) -> Int? {
    let seconds = time.seconds - hours[0].start.seconds
    return (0..<86400).contains(seconds) ? seconds / 3600 : nil
  }

  private mutating func addRates(_ readings: [HeartRateReading]) {
    var usual = [ValueRange](repeating: ValueRange(), count: 24)
    let night = lastNight?.night
    for reading in readings.sorted(by: { $0.time < $1.time })
    where Self.possibleRates.contains(reading.beatsPerMinute) {
      let rate = Double(reading.beatsPerMinute)
      if let night, night.contains(reading.time) { nightRates.append(reading) }
      guard let index = index(of: reading.time) else { continue }
      usual[reading.time.hour].add(rate)
      if let hour = hour(of: reading.time) { hours[hour].rates.add(rate) }
      if !reading.isManual { days[index].automatic.append(reading) }
    }
    for index in hours.indices { hours[index].usual = usual[hours[index].start.hour] }
    for index in days.indices {
      days[index].resting = Self.restingRate(days[index].automatic)
      days[index].automatic = []
    }
    guard let index = days.lastIndex(where: { $0.night != nil }) else { return }
    days[index].night?.rates = ValueRange(nightRates.map { Double($0.beatsPerMinute) })
  }

  /// Hours have a least and a greatest value; values have none in other tables.
  private mutating func addOxygen(_ readings: StoredReadings) {
    let possible = 50...100
    for reading in readings.oxygen {
      change(reading.time, \.oxygen, \.oxygen) { range in
        for percent in [reading.minimum, reading.maximum] where possible.contains(percent) {
          range.add(Double(percent))
        }
      }
    }
    for value in readings.oxygenValues where possible.contains(value.percent) {
      change(value.time, \.oxygen, \.oxygen) { $0.add(Double(value.percent)) }
    }
  }

  /// The lowest mean of half an hour, as watches have it (Garmin: the lowest average of 30 minutes of the day).
  ///
  /// - Parameter readings: in the order of time
  /// - Returns: nil if there is no half an hour with three values that are 20 minutes apart
  static func restingRate(_ readings: [HeartRateReading]) -> Double? {
    var lowest: Double?
    var (first, sum) = (0, 0)
    for (last, reading) in readings.enumerated() {
      sum += reading.beatsPerMinute
      while reading.time.seconds - readings[first].time.seconds >= 1800 {
        sum -= readings[first].beatsPerMinute
        first += 1
      }
      let count = last - first + 1
      guard count >= 3, reading.time.seconds - readings[first].time.seconds >= 1200 else { continue }
      lowest = min(lowest ?? .infinity, Double(sum) / Double(count))
    }
    return lowest
  }
}
