/// The wall clock that a ring is given (ring reference, 4.1).
public struct ClockSetting: FrameRecord {
  /// 0 to 99: the years 2000 to 2099.
  public var yearOfCentury: UInt8 = 0
  /// 1 to 12.
  public var month: UInt8 = 1
  /// 1 to 31.
  public var day: UInt8 = 1
  public var hour: UInt8 = 0
  public var minute: UInt8 = 0
  public var second: UInt8 = 0
  /// The language of a display; 1 is English. Rings without one do not care.
  public var language: UInt8 = 1

  public init() {}

  /// - Returns: nil for years that a ring can't be told
  public init?(_ time: RingTime) {
    let (year, month, day) = time.day.civil
    guard (2000...2099).contains(year) else { return nil }
    yearOfCentury = UInt8(year - 2000)
    self.month = UInt8(month)
    self.day = UInt8(day)
    hour = UInt8(time.hour)
    minute = UInt8(time.minute)
    second = UInt8(time.second)
  }

  /// The time that it says; nil if there is no such time.
  public var time: RingTime? {
    RingDay(year: 2000 + Int(yearOfCentury), month: Int(month), day: Int(day)).flatMap {
      RingTime($0, hour: Int(hour), minute: Int(minute), second: Int(second))
    }
  }

  public static let fields: [RecordField<Self>] = [
    RecordField("year", \.yearOfCentury, at: 1, .bcd),
    RecordField("month", \.month, at: 2, .bcd),
    RecordField("day", \.day, at: 3, .bcd),
    RecordField("hour", \.hour, at: 4, .bcd),
    RecordField("minute", \.minute, at: 5, .bcd),
    RecordField("second", \.second, at: 6, .bcd),
    RecordField("language", \.language, at: 7),
  ]
}

/// What a ring lets know of its clock. No command reads the clock (ring reference, 4.1): but what is stored has
/// dates, and nothing is stored before its time.
public struct ClockEvidence: Hashable, Sendable {
  /// The ring's own today.
  public var day: RingDay?
  /// When the newest slot begins that has a heart rate and is not in the future.
  public var newest: RingTime?
  /// The same of the newest slot that is in the future. Firmware is known to leave old values in slots that are still to
  /// come (ring reference, 4.10): it means that the clock is ahead, or nothing.
  public var future: RingTime?

  public init(day: RingDay? = nil, newest: RingTime? = nil, future: RingTime? = nil) {
    self.day = day
    self.newest = newest
    self.future = future
  }

  /// By how many seconds the ring's clock is ahead of a time, as far as its day tells: at least and at most so many.
  /// Negative numbers mean that it is behind.
  public func lead(over time: RingTime) -> ClosedRange<Int>? {
    day.map { ($0.midnight.seconds - time.seconds)...($0.midnight.seconds + 86399 - time.seconds) }
  }

  /// The same, as heart rates of the future suggest: at least so many, unless they are remnants.
  public func suggestedLead(over time: RingTime) -> Int? {
    future.map { $0.seconds - time.seconds }
  }
}

/// The ring's clock (ring reference, 4.1). It can be set, and not be read.
extension Ring {
  /// Sets the clock. Rings do not measure by themselves before that was done once.
  ///
  /// To set a clock back by more than a moment can make a ring discard what it has stored of the day. Which wall clock a
  /// ring gets is for ``TimePolicy`` to say.
  ///
  /// - Returns: what the ring says it can do
  /// - Throws: `.invalidSetting` for years that a ring can't be told
  @discardableResult
  public func setClock(to time: RingTime) async throws(RingError) -> RingCapabilities {
    guard let setting = ClockSetting(time) else {
      throw .invalidSetting(.value(time.description, ClockSetting.fields[0].field))
    }
    return try await request(CommandTable.setTime, setting)
  }

  /// Looks for what the ring lets know of its clock: the dates of what was walked, and the newest heart rate. What it
  /// does not have is left out.
  ///
  /// - Parameter expected: what its clock should say
  public func clockEvidence(expecting expected: RingTime) async throws(RingError) -> ClockEvidence {
    var evidence = ClockEvidence(day: try await today(near: expected.day))
    let day = evidence.day ?? expected.day
    let request = DayByTime(day, now: day == expected.day ? expected : day.midnight)
    if let log = try await logIfKnown(CommandTable.heartRateLog, request) {
      let readings = SlotDay(day: day, minutesPerSlot: log.minutesPerSlot, values: log.values).readings
      evidence.newest = readings.last { $0.time <= expected }?.time
      evidence.future = readings.last.flatMap { $0.time > expected ? $0.time : nil }
    }
    return evidence
  }

  /// The ring's own today: what was walked today or yesterday has a date.
  private func today(near expected: RingDay) async throws(RingError) -> RingDay? {
    for daysAgo: UInt8 in [0, 1] {
      let log = try await logIfKnown(CommandTable.activity, ActivityRequest(daysAgo: daysAgo))
      guard let log else { break }
      if let day = log.records.first?.day(near: expected.adding(days: -Int(daysAgo))) {
        return day.adding(days: Int(daysAgo))
      }
    }
    return try await logIfKnown(CommandTable.dayTotals, DaysAgo(0))?.day
  }

  /// - Returns: nil if the ring does not know the command, or answers nonsense: others may tell more
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

extension RingCapabilities {
  /// The names of what it can do.
  public var names: [String] {
    Self.fields.compactMap { field in
      guard field.field.isFlag, case .number(let get, _) = field.access, get(self) != 0 else { return nil }
      return field.field.name
    }
  }
}
