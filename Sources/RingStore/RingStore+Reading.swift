import RingLink

extension RingStore {
  /// What is stored of a ring, in the order of time.
  ///
  /// - Parameter days: of the ring's calendar; nil for all. A night belongs to the day on which it ends.
  public func records(
    _ kind: HistoryKind, of ring: RingID, in days: ClosedRange<RingDay>? = nil
  ) throws(StoreError) -> HistoryRecords {
    let range = Range(days)
    switch kind {
    case .steps:
      return .steps(
        try rows("SELECT time, steps, meters, calories FROM steps", ring, range) { row, time in
          ActivityReading(
            time: time, steps: row.integer(1), meters: row.integer(2), calories: row.integer(3))
        })
    case .heartRate:
      return .heartRate(
        try rows("SELECT time, bpm, manual FROM heart_rate", ring, range) { row, time in
          HeartRateReading(time: time, beatsPerMinute: row.integer(1), isManual: row.integer(2) == 1)
        })
    case .oxygen:
      return .oxygen(
        try rows("SELECT time, minimum, maximum FROM spo2", ring, range) { row, time in
          OxygenReading(time: time, minimum: row.integer(1), maximum: row.integer(2))
        })
    case .stress: return .stress(try estimates("stress", ring, range))
    case .variability: return .variability(try estimates("hrv", ring, range))
    case .temperature:
      return .temperature(
        try rows("SELECT time, centidegrees FROM temperature", ring, range) { row, time in
          TemperatureReading(time: time, centidegrees: row.integer(1))
        })
    case .sleep: return .sleep(try sleep(ring, range))
    }
  }

  /// Bounds of the column `time`, as text.
  private struct Range {
    var first = ""
    /// Behind every digit.
    var last = "~"

    init(_ days: ClosedRange<RingDay>?) {
      guard let days else { return }
      first = days.lowerBound.midnight.description
      last = days.upperBound.adding(days: 1).midnight.adding(minutes: -1).description + "~"
    }
  }

  private func rows<Row>(
    _ select: String, _ ring: RingID, _ range: Range, column: String = "time",
    _ read: (borrowing Statement.Columns, RingTime) -> Row?
  ) throws(StoreError) -> [Row] {
    try database.prepare("\(select) WHERE ring = ? AND \(column) BETWEEN ? AND ? ORDER BY \(column)")
      .rows(.integer(ring.row), .text(range.first), .text(range.last)) { row in
        row.text(0).flatMap { RingTime($0) }.flatMap { read(row, $0) }
      }
  }

  private func estimates(
    _ table: String, _ ring: RingID, _ range: Range
  ) throws(StoreError) -> [EstimateReading] {
    try rows("SELECT time, value FROM \(table)", ring, range) { row, time in
      EstimateReading(time: time, value: row.integer(1))
    }
  }

  private func sleep(_ ring: RingID, _ range: Range) throws(StoreError) -> [SleepSession] {
    let stages = try database.prepare(
      "SELECT kind, minutes FROM sleep_stages WHERE sleep = ? ORDER BY position")
    let nights = try rows("SELECT \"end\", start, nap, id FROM sleep", ring, range, column: "\"end\"") {
      row, end in
      row.text(1).flatMap { RingTime($0) }.map {
        (id: row.integer(3), SleepSession(start: $0, end: end, isNap: row.integer(2) == 1, stages: []))
      }
    }
    var sessions: [SleepSession] = []
    for (id, night) in nights {
      var session = night
      session.stages = try stages.rows(.integer(id)) {
        SleepStage(SleepStage.Kind(rawValue: UInt8(clamping: $0.integer(0))), minutes: $0.integer(1))
      }
      sessions.append(session)
    }
    return sessions
  }
}
