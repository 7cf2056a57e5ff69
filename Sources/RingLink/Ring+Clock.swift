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
    _ log: Log<Assembler>, _ request: Assembler.Request
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
