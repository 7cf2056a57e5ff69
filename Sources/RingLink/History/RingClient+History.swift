import HaloBluetoothCore

/// A ring's stored data of any kind.
extension RingClient {
  /// Reads the stored data of one kind. Days for which the ring has no data, or which it does not store, are empty.
  ///
  /// - Parameters:
  ///   - kind: the kind of data
  ///   - days: days of the ring's calendar
  ///   - now: the ring's wall clock, as known to the host: rings count days back from their own today
  ///   - progress: called as answers arrive
  /// - Returns: in the order of time, each moment once
  /// - Throws: `.refused` by rings that do not support the kind, `.notOffered` by those that do not report it,
  ///   `.noBulkService` by old rings, `.notAnswered`,
  ///   `.incomplete` and `.damaged` if the link is bad, `.malformed` and `.malformedBulk`
  package func history(
    _ kind: HistoryKind, days: ClosedRange<RingDay>, now: RingTime,
    progress: ((HistoryProgress) -> Void)? = nil
  ) async throws(RingError) -> HistoryRecords {
    let reading = HistoryReading(kind: kind, days: days, now: now, progress: progress)
    switch kind {
    case .steps: return .steps(try await reading.eachDay(\.time, activity(on:now:progress:)))
    case .heartRate:
      let automatic = try await reading.eachDay(\.time, heartRates(on:now:progress:))
      let manual = try await reading.inOnePiece(\.time.day) { now, report throws(RingError) in
        try await self.manualHeartRatesIfAny(onlyToday: reading.isOfToday, now: now, report)
      }
      return .heartRate(automatic.merged(with: manual, by: \.time))
    case .oxygen: return .oxygen(try await reading.inOnePiece(\.time.day, oxygen(now:progress:)))
    case .sleep: return .sleep(try await reading.inOnePiece(\.day, sleep(now:progress:)))
    case .stress: return .stress(try await reading.eachDay(\.time, stress(on:now:progress:)))
    case .variability: return .variability(try await reading.eachDay(\.time, variability(on:now:progress:)))
    case .temperature: return .temperature(try await temperatures(reading))
    case .oxygenValues: return .oxygenValues(try await oxygenValues(reading))
    case .sport:
      return .sport(
        try await reading.inOnePiece(\.time.day) { _, report throws(RingError) in
          try await self.storedSports(progress: report)
        })
    case .sedentary: return .sedentary(try await reading.inOnePiece(\.day, sedentaryDays(now:progress:)))
    }
  }

  private func oxygenValues(_ reading: HistoryReading) async throws(RingError) -> [OxygenValue] {
    guard try await deviceSupport()?.minuteOxygen == true else { throw .notOffered(.oxygenValues) }
    let automatic = try await reading.eachDay(\.time) { day, now, _ throws(RingError) in
      try await self.minuteOxygen(on: day, now: now)
    }
    let manual = try await reading.inOnePiece(\.time.day) { now, report throws(RingError) in
      try await self.ifAny { () async throws(RingError) in
        try await self.manualOxygen(reading.isOfToday ? .daysAgo(0) : .all, now: now, progress: report)
      }
    }
    return automatic.merged(with: manual, by: \.time)
  }

  private func temperatures(_ reading: HistoryReading) async throws(RingError) -> [TemperatureReading] {
    let support = try await deviceSupport()
    if support?.hasIntervalTemperature == true {
      return try await reading.eachDay(\.time) { day, now, _ throws(RingError) in
        try await self.intervalTemperatures(on: day, now: now)
      }
    }
    if support?.hasTemperatures74 == true {
      return try await reading.eachDay(\.time) { day, now, _ throws(RingError) in
        try await self.temperatures74(on: day, now: now)
      }
    }
    return try await reading.inOnePiece(\.time.day) { now, report throws(RingError) in
      try await self.temperatures(days: reading.daysBack, now: now, progress: report)
    }
  }

  /// Measurements on request are optional: old rings that cannot report them still have the automatic ones.
  package func manualHeartRatesIfAny(
    onlyToday: Bool, now: RingTime, _ progress: ((Int, Int) -> Void)? = nil
  ) async throws(RingError) -> [HeartRateReading] {
    try await ifAny { () async throws(RingError) in
      try await self.manualHeartRates(onlyToday ? .daysAgo(0) : .all, now: now, progress: progress)
    }
  }

  /// Reads optional data: nothing from rings that do not answer, or that have no bulk service.
  private func ifAny<Reading: Sendable>(
    _ read: @BluetoothActor () async throws(RingError) -> [Reading]
  ) async throws(RingError) -> [Reading] {
    do throws(RingError) {
      return try await read()
    } catch .noBulkService {
      return []
    } catch .notAnswered {
      return []
    }
  }

  /// Reports a record that is left out.
  func leaveOut(_ kind: HistoryKind, _ reason: String, _ bytes: [UInt8]) {
    onInvalidRecord?(InvalidRecord(kind: kind, reason: reason, bytes: bytes))
  }

  /// The contents of a log that is about one day.
  ///
  /// - Returns: nil if the answer cannot be read; it is reported as an odd record
  func readableLog<Assembler>(
    _ kind: HistoryKind, _ log: RingLog<Assembler>, _ request: Assembler.Request,
    progress: ((Int, Int?) -> Void)?
  ) async throws(RingError) -> Assembler.Contents? {
    let answer = try await receive(log, request, progress: progress)
    switch answer {
    case .contents(let contents): return contents
    case .unreadable(let error, let frames):
      leaveOut(kind, "\(error)", frames.flatMap(\.bytes))
      return nil
    }
  }
}

/// The days to read, and the progress handler.
@BluetoothActor
private struct HistoryReading {
  let kind: HistoryKind
  let days: ClosedRange<RingDay>
  let now: RingTime
  let progress: ((HistoryProgress) -> Void)?

  var isOfToday: Bool { days.lowerBound >= now.day }

  /// The first day that a ring may have.
  private var oldest: RingDay { max(days.lowerBound, now.day.adding(days: 1 - kind.daysKept)) }

  /// The days that a ring may have, the oldest first.
  private var kept: [RingDay] {
    let newest = min(days.upperBound, now.day)
    return oldest <= newest ? (oldest.number...newest.number).map(RingDay.init(number:)) : []
  }

  /// The number of days from the first of them to today.
  var daysBack: UInt8 { UInt8(clamping: max(now.day.number - oldest.number + 1, 1)) }

  /// The readings of all days, in the order of time.
  func eachDay<Reading>(
    _ time: (Reading) -> RingTime,
    _ read: @BluetoothActor (RingDay, RingTime, ((Int, Int?) -> Void)?) async throws(RingError) -> [Reading]
  ) async throws(RingError) -> [Reading] {
    var readings: [Reading] = []
    let kept = kept
    for (index, day) in kept.enumerated() {
      let report = progress.map { progress in
        { (received: Int, expected: Int?) in
          progress(
            HistoryProgress(
              kind: kind, day: day, completed: index, total: kept.count, received: received,
              expected: expected))
        }
      }
      report?(0, nil)
      readings += try await read(day, now, report)
    }
    return readings.inOrder(of: time)
  }

  /// The readings of these days, from an answer that has those of others, too.
  func inOnePiece<Reading>(
    _ day: (Reading) -> RingDay,
    _ read: @BluetoothActor (RingTime, ((Int, Int) -> Void)?) async throws(RingError) -> [Reading]
  ) async throws(RingError) -> [Reading] {
    guard !kept.isEmpty else { return [] }
    let report = progress.map { progress in
      { (received: Int, expected: Int) in
        progress(
          HistoryProgress(
            kind: kind, day: nil, completed: 0, total: 1, received: received, expected: expected))
      }
    }
    return try await read(now, report).filter { days.contains(day($0)) }
  }
}

extension HistoryKind {
  /// The maximum number of days requested from rings, today included.
  public var daysKept: Int {
    switch self {
    case .steps, .heartRate, .oxygen, .sleep: 30
    case .stress, .variability, .temperature, .oxygenValues, .sedentary: 7
    // The ten latest, however old.
    case .sport: 366
    }
  }
}

extension Array {
  /// Sorted; of several with one time, the last one received.
  func inOrder(of time: (Element) -> RingTime) -> [Element] {
    var byTime: [RingTime: Element] = [:]
    for element in self { byTime[time(element)] = element }
    return byTime.sorted { $0.key < $1.key }.map(\.value)
  }

  /// Includes measurements on request. At one time there may be one of each kind: the automatic one comes first, as the sort
  /// is stable.
  func merged(with manual: [Element], by time: (Element) -> RingTime) -> [Element] {
    (inOrder(of: time) + manual.inOrder(of: time)).sorted { time($0) < time($1) }
  }
}

extension SleepSession {
  /// The day that it counts for: that on which one awoke.
  public var day: RingDay { end.day }
}

/// A stored record of a ring with impossible contents, such as a night of 50 hours or a day in month 0. It is left out; the
/// others of the same answer are used.
package struct InvalidRecord: Hashable, Sendable, CustomStringConvertible {
  package var kind: HistoryKind
  /// Why it is left out.
  package var reason: String
  /// As the ring sent it: the frames, or the part of the bulk payload.
  package var bytes: [UInt8]

  package init(kind: HistoryKind, reason: String, bytes: [UInt8]) {
    self.kind = kind
    self.reason = reason
    self.bytes = bytes
  }

  /// `sleep: it would last 50 h: 00 0e ...`
  package var description: String { "\(kind.rawValue): \(reason): \(Hex.string(bytes, separator: " "))" }
}
