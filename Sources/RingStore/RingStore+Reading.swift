import BluetoothCore
import RingLink

extension RingStore {
  /// The data of a ring, ordered by time.
  ///
  /// - Parameters:
  ///   - kind: the kind of data
  ///   - ring: the ring that measured it
  ///   - days: of the ring's calendar; nil for all. A night belongs to the day on which it ends.
  public func records(
    _ kind: HistoryKind, of ring: RingID, in days: ClosedRange<RingDay>? = nil
  ) throws(StoreError) -> HistoryRecords {
    let range = Range(days)
    switch kind {
    case .steps:
      return .steps(
        try rows("SELECT time, steps, meters, calories FROM steps", ring, range) {
          row, time throws(StoreError) in
          ActivityReading(
            time: time, steps: try row.integer(1, in: Self.counts),
            meters: try row.integer(2, in: Self.counts),
            calories: try row.integer(3, in: Self.counts))
        })
    case .heartRate:
      return .heartRate(
        try rows("SELECT time, bpm, manual FROM heart_rate", ring, range) { row, time throws(StoreError) in
          HeartRateReading(
            time: time, beatsPerMinute: try row.integer(1, in: Self.values),
            isManual: try row.integer(2, in: 0...1) == 1)
        })
    case .oxygen:
      return .oxygen(
        try rows("SELECT time, minimum, maximum FROM spo2", ring, range) { row, time throws(StoreError) in
          OxygenReading(
            time: time, minimum: try row.integer(1, in: Self.values),
            maximum: try row.integer(2, in: Self.values))
        })
    case .stress: return .stress(try estimates("stress", ring, range))
    case .variability: return .variability(try estimates("hrv", ring, range))
    case .temperature:
      return .temperature(
        try rows("SELECT time, centidegrees FROM temperature", ring, range) { row, time throws(StoreError) in
          TemperatureReading(time: time, centidegrees: try row.integer(1, in: Self.centidegrees))
        })
    case .sleep: return .sleep(try sleep(ring, range))
    }
  }

  /// The largest value of a two-byte field.
  private static let values = 0...0xFFFF
  /// The largest value of a four-byte sum.
  private static let counts = 0...0xFFFF_FFFF
  private static let centidegrees = -0xFFFF...0xFFFF

  private static func time(
    _ row: borrowing Statement.Columns, _ column: Int32
  ) throws(StoreError) -> RingTime {
    let text = row.text(column) ?? "nothing"
    guard let time = RingTime(text) else {
      throw .impossible(column: "time", value: String(text.printable.prefix(40)))
    }
    return time
  }

  /// Bounds of the column `time`, as text.
  private struct Range {
    var first = ""
    /// After every digit.
    var last = "~"

    init(_ days: ClosedRange<RingDay>?) {
      guard let days else { return }
      first = days.lowerBound.midnight.description
      last = days.upperBound.adding(days: 1).midnight.adding(minutes: -1).description + "~"
    }
  }

  private func rows<Row>(
    _ select: String, _ ring: RingID, _ range: Range, column: String = "time",
    _ read: (borrowing Statement.Columns, RingTime) throws(StoreError) -> Row?
  ) throws(StoreError) -> [Row] {
    try database.prepare("\(select) WHERE ring = ? AND \(column) BETWEEN ? AND ? ORDER BY \(column)")
      .rows(.integer(ring.row), .text(range.first), .text(range.last)) { row throws(StoreError) in
        try read(row, try Self.time(row, 0))
      }
  }

  private func estimates(
    _ table: String, _ ring: RingID, _ range: Range
  ) throws(StoreError) -> [EstimateReading] {
    try rows("SELECT time, value FROM \(table)", ring, range) { row, time throws(StoreError) in
      EstimateReading(time: time, value: try row.integer(1, in: Self.values))
    }
  }

  private func sleep(_ ring: RingID, _ range: Range) throws(StoreError) -> [SleepSession] {
    let stages = try database.prepare(
      "SELECT kind, minutes FROM sleep_stages WHERE sleep = ? ORDER BY position")
    let nights = try rows("SELECT \"end\", start, nap, id FROM sleep", ring, range, column: "\"end\"") {
      row, end throws(StoreError) in
      (
        id: row.integer(3),
        SleepSession(
          start: try Self.time(row, 1), end: end, isNap: try row.integer(2, in: 0...1) == 1, stages: [])
      )
    }
    var sessions: [SleepSession] = []
    for (id, night) in nights {
      var session = night
      session.stages = try stages.rows(.integer(id)) { row throws(StoreError) in
        SleepStage(
          SleepStage.Kind(rawValue: UInt8(clamping: try row.integer(0, in: 0...255))),
          minutes: try row.integer(1, in: Self.values))
      }
      sessions.append(session)
    }
    return sessions
  }
}
