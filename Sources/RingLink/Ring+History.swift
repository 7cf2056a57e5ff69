/// What a ring has stored, whatever its kind.
extension Ring {
  /// Reads what the ring has stored of one kind. Days of which it has nothing, or which it does not keep, are empty.
  ///
  /// - Parameters:
  ///   - days: days of the ring's calendar
  ///   - now: the ring's wall clock, as the host knows it: rings count days back from their own today
  ///   - progress: called as answers arrive
  /// - Returns: in the order of time, each moment once
  /// - Throws: `.refused` by rings that do not know the kind, `.noBulkService` by old rings, `.notAnswered`,
  ///   `.incomplete` and `.damaged` if the link is bad, `.malformed` and `.malformedBulk`
  public func history(
    _ kind: HistoryKind, days: ClosedRange<RingDay>, now: RingTime,
    progress: ((HistoryProgress) -> Void)? = nil
  ) async throws(RingError) -> HistoryRecords {
    let reading = HistoryReading(kind: kind, days: days, now: now, progress: progress)
    switch kind {
    case .steps:
      let readings = try await reading.eachDay { day, report throws(RingError) in
        try await self.activity(on: day, now: now, progress: report)
      }
      return .steps(readings.inOrder(of: \.time))
    case .heartRate:
      let automatic = try await reading.eachDay { day, report throws(RingError) in
        try await self.heartRates(on: day, now: now, progress: report)
      }
      let manual = try await reading.inOnePiece { report throws(RingError) in
        try await self.manualHeartRatesIfAny(onlyToday: days.lowerBound >= now.day, now: now, report)
      }.filter { days.contains($0.time.day) }
      return .heartRate(automatic.inOrder(of: \.time).merged(with: manual))
    case .oxygen:
      let readings = try await reading.inOnePiece { report throws(RingError) in
        try await self.oxygen(now: now, progress: report)
      }
      return .oxygen(readings.filter { days.contains($0.time.day) })
    case .sleep:
      let sessions = try await reading.inOnePiece { report throws(RingError) in
        try await self.sleep(now: now, progress: report)
      }
      return .sleep(sessions.filter { days.contains($0.day) })
    case .stress:
      let readings = try await reading.eachDay { day, report throws(RingError) in
        try await self.stress(on: day, now: now, progress: report)
      }
      return .stress(readings.inOrder(of: \.time))
    case .variability:
      let readings = try await reading.eachDay { day, report throws(RingError) in
        try await self.variability(on: day, now: now, progress: report)
      }
      return .variability(readings.inOrder(of: \.time))
    case .temperature:
      return .temperature(try await temperatures(reading))
    }
  }

  private func temperatures(_ reading: HistoryReading) async throws(RingError) -> [TemperatureReading] {
    let readings: [TemperatureReading]
    if try await keepsIntervalTemperatures() {
      readings = try await reading.eachDay { day, report throws(RingError) in
        try await self.intervalTemperatures(on: day, now: reading.now)
      }
    } else {
      readings = try await reading.inOnePiece { report throws(RingError) in
        try await self.temperatures(
          days: reading.daysBack, now: reading.now, progress: report)
      }
    }
    return readings.filter { reading.days.contains($0.time.day) }.inOrder(of: \.time)
  }

  /// Old rings refuse to say.
  private func keepsIntervalTemperatures() async throws(RingError) -> Bool {
    do throws(RingError) {
      return try await request(CommandTable.deviceSupport).hasIntervalTemperature
    } catch .refused {
      return false
    }
  }

  /// What somebody asked for is an extra: old rings that can't tell it still have what they measured by themselves.
  public func manualHeartRatesIfAny(
    onlyToday: Bool, now: RingTime, _ progress: ((Int, Int) -> Void)? = nil
  ) async throws(RingError) -> [HeartRateReading] {
    do throws(RingError) {
      return try await manualHeartRates(onlyToday ? .daysAgo(0) : .all, now: now, progress: progress)
    } catch .noBulkService {
      return []
    } catch .notAnswered {
      return []
    }
  }
}
