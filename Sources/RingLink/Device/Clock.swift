/// The wall clock that a ring is given (ring reference, 4.1).
package struct ClockSetting: FrameRecord {
  /// 0 to 99: the years 2000 to 2099.
  package var yearOfCentury: UInt8 = 0
  /// 1 to 12.
  package var month: UInt8 = 1
  /// 1 to 31.
  package var day: UInt8 = 1
  /// 0 to 23.
  package var hour: UInt8 = 0
  /// 0 to 59.
  package var minute: UInt8 = 0
  /// 0 to 59.
  package var second: UInt8 = 0
  /// The language of a display; 1 is English. Rings without one do not care.
  package var language: UInt8 = 1

  package init() {}

  /// - Returns: nil for years that a ring cannot represent
  package init?(_ time: RingTime) {
    let (year, month, day) = time.day.civil
    guard (2000...2099).contains(year) else { return nil }
    yearOfCentury = UInt8(year - 2000)
    self.month = UInt8(month)
    self.day = UInt8(day)
    hour = UInt8(time.hour)
    minute = UInt8(time.minute)
    second = UInt8(time.second)
  }

  /// The time in the frame; nil if that time does not exist.
  package var time: RingTime? {
    RingDay(year: 2000 + Int(yearOfCentury), month: Int(month), day: Int(day)).flatMap {
      RingTime($0, hour: Int(hour), minute: Int(minute), second: Int(second))
    }
  }

  package static let fields: Fields = Fields(Self()) {
    RecordField("year", \.yearOfCentury, at: 1, .bcd)
    RecordField("month", \.month, at: 2, .bcd)
    RecordField("day", \.day, at: 3, .bcd)
    RecordField("hour", \.hour, at: 4, .bcd)
    RecordField("minute", \.minute, at: 5, .bcd)
    RecordField("second", \.second, at: 6, .bcd)
    RecordField("language", \.language, at: 7)
  }
}

/// The evidence about a ring's clock. No command reads the clock (ring reference, 4.1), but stored records have dates, and none
/// is stored before its time.
package struct ClockEvidence: Hashable, Sendable {
  /// The ring's own today.
  package var day: RingDay?
  /// The beginning of the newest slot with a heart rate that is not in the future.
  package var newest: RingTime?
  /// The beginning of the newest slot with a heart rate in the future. Firmware is known to leave old values in future
  /// slots (ring reference, 4.10): the clock is ahead, or the value is stale.
  package var future: RingTime?

  package init(day: RingDay? = nil, newest: RingTime? = nil, future: RingTime? = nil) {
    self.day = day
    self.newest = newest
    self.future = future
  }

  /// The number of seconds by which the ring's clock is ahead of a time, according to its day: minimum and maximum.
  /// Negative numbers mean that it is behind.
  package func lead(over time: RingTime) -> ClosedRange<Int>? {
    day.map { ($0.midnight.seconds - time.seconds)...($0.midnight.seconds + 86399 - time.seconds) }
  }

  /// The minimum number of seconds according to heart rates in the future, unless they are stale.
  package func suggestedLead(over time: RingTime) -> Int? {
    future.map { $0.seconds - time.seconds }
  }
}

/// The ring's clock (ring reference, 4.1). It can be set, and not be read.
extension RingClient {
  /// Sets the clock. Rings do not measure automatically before it was set once.
  ///
  /// To set a clock back by more than a moment can make a ring discard its data of the day. ``TimePolicy`` decides
  /// which wall clock a ring gets.
  ///
  /// - Returns: the capabilities of the ring
  /// - Throws: `.invalidSetting` for years that a ring cannot represent
  @discardableResult
  package func setClock(to time: RingTime) async throws(RingError) -> RingCapabilities {
    guard let setting = ClockSetting(time) else {
      throw .invalidSetting(.value(time.description, ClockSetting.fields[0].field))
    }
    return try await request(CommandTable.setTime, setting)
  }

  /// Determines the evidence about the ring's clock: the dates of the activity, and the newest heart rate. Missing data is
  /// omitted.
  ///
  /// - Parameter expected: the expected time of its clock
  package func clockEvidence(expecting expected: RingTime) async throws(RingError) -> ClockEvidence {
    var evidence = ClockEvidence(day: try await today(near: expected.day))
    let day = evidence.day ?? expected.day
    let request = DayByTime(day, now: day == expected.day ? expected : day.midnight)
    if let log = try await logIfKnown(CommandTable.heartRateLog, request) {
      let readings = log.readings(of: day)
      evidence.newest = readings.last { $0.time <= expected }?.time
      evidence.future = readings.last.flatMap { $0.time > expected ? $0.time : nil }
    }
    return evidence
  }

  /// The ring's own today: the activity of today or yesterday has a date.
  private func today(near expected: RingDay) async throws(RingError) -> RingDay? {
    for daysAgo: UInt8 in [0, 1] {
      let log = try await logIfKnown(CommandTable.activity, ActivityRequest(daysAgo: daysAgo))
      guard let log else { break }
      if let day = log.records.first?.day(near: expected.adding(days: -Int(daysAgo))) {
        return day.adding(days: Int(daysAgo))
      }
    }
    return try await logIfKnown(CommandTable.dayTotals, DaysAgo(0)) ?? nil
  }

  /// - Returns: nil if the ring does not support the command, or sends an invalid answer: others may have data
  private func logIfKnown<Assembler>(
    _ log: RingLog<Assembler>, _ request: Assembler.Request
  ) async throws(RingError) -> Assembler.Contents? {
    do throws(RingError) {
      return try await self.log(log, request)
    } catch {
      switch error {
      case .refused, .notAnswered, .malformed, .incomplete: return nil
      default: throw error
      }
    }
  }
}
