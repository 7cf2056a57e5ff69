import EventLoop

/// Which days are to be read, and who is told how far that has come.
@BluetoothActor
struct HistoryReading {
  let kind: HistoryKind
  let days: ClosedRange<RingDay>
  let now: RingTime
  let progress: ((HistoryProgress) -> Void)?

  /// Those of the days that a ring may have, the oldest first.
  private var kept: [RingDay] {
    let oldest = max(days.lowerBound, now.day.adding(days: 1 - kind.daysKept))
    let newest = min(days.upperBound, now.day)
    return oldest <= newest ? (oldest.number...newest.number).map(RingDay.init(number:)) : []
  }

  /// How many days there are from the first of them to today.
  var daysBack: UInt8 {
    let oldest = max(days.lowerBound, now.day.adding(days: 1 - kind.daysKept))
    return UInt8(clamping: max(now.day.number - oldest.number + 1, 1))
  }

  func eachDay<Reading>(
    _ read: (RingDay, ((Int, Int?) -> Void)?) async throws(RingError) -> [Reading]
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
      readings += try await read(day, report)
    }
    return readings
  }

  func inOnePiece<Reading>(
    _ read: (((Int, Int) -> Void)?) async throws(RingError) -> [Reading]
  ) async throws(RingError) -> [Reading] {
    guard !kept.isEmpty else { return [] }
    let report = progress.map { progress in
      { (received: Int, expected: Int) in
        progress(
          HistoryProgress(
            kind: kind, day: nil, completed: 0, total: 1, received: received, expected: expected))
      }
    }
    return try await read(report)
  }
}

extension HistoryKind {
  /// Rings are asked for no more days than this, today included.
  public var daysKept: Int {
    switch self {
    case .steps, .heartRate, .oxygen, .sleep: 30
    case .stress, .variability, .temperature: 7
    }
  }
}

extension Array {
  /// Sorted; of several of one time, the last that came.
  func inOrder(of time: (Element) -> RingTime) -> [Element] {
    var byTime: [RingTime: Element] = [:]
    for element in self { byTime[time(element)] = element }
    return byTime.sorted { $0.key < $1.key }.map(\.value)
  }
}

extension [HeartRateReading] {
  /// With those that somebody asked for. At one time there may be one of each kind.
  func merged(with manual: [HeartRateReading]) -> [HeartRateReading] {
    (self + manual.inOrder(of: \.time)).sorted {
      $0.time == $1.time ? !$0.isManual && $1.isManual : $0.time < $1.time
    }
  }
}

extension SleepSession {
  /// The day that it counts for: that on which one awoke.
  public var day: RingDay { end.day }
}
