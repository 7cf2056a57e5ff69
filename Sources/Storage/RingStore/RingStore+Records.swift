import RingLink

extension RingStore {
  /// The data of a ring, ordered by time.
  ///
  /// - Parameters:
  ///   - kind: the kind of data
  ///   - ring: the ring that measured it
  ///   - days: of the ring's calendar; nil for all. A night belongs to the day on which it ends.
  package func records(
    _ kind: HistoryKind, of ring: RingID, in days: ClosedRange<RingDay>? = nil
  ) throws(StoreError) -> HistoryRecords {
    let range = Range(days)
    switch kind {
    case .steps:
      return .steps(
        try rows("SELECT time, steps, distance_m, energy_kcal FROM steps", ring, range) {
          row, time throws(StoreError) in
          ActivityReading(
            time: time, steps: try row.integer(1, in: Self.counts),
            meters: try row.integer(2, in: Self.counts),
            calories: try row.decimal(3, places: 3, in: Self.counts))
        })
    case .heartRate:
      return .heartRate(
        try rows("SELECT time, heart_rate_bpm, manual FROM heart_rate", ring, range) {
          row, time throws(StoreError) in
          HeartRateReading(
            time: time, beatsPerMinute: try row.integer(1, in: Self.values),
            isManual: try row.integer(2, in: 0...1) == 1)
        })
    case .oxygen:
      return .oxygen(
        try rows("SELECT time, minimum_percent, maximum_percent FROM spo2", ring, range) {
          row, time throws(StoreError) in
          OxygenReading(
            time: time, minimum: try row.integer(1, in: Self.values),
            maximum: try row.integer(2, in: Self.values))
        })
    case .stress: return .stress(try estimates("stress", "stress", ring, range))
    case .variability: return .variability(try estimates("hrv", "hrv_ms", ring, range))
    case .temperature:
      return .temperature(
        try rows("SELECT time, temperature_celsius FROM temperature", ring, range) {
          row, time throws(StoreError) in
          TemperatureReading(time: time, centidegrees: try row.decimal(1, places: 2, in: Self.centidegrees))
        })
    case .sleep: return .sleep(try sleep(ring, range))
    case .oxygenValues:
      return .oxygenValues(
        try rows("SELECT time, spo2_percent, manual FROM spo2_values", ring, range) {
          row, time throws(StoreError) in
          OxygenValue(
            time: time, percent: try row.integer(1, in: Self.values),
            isManual: try row.integer(2, in: 0...1) == 1)
        })
    case .sport: return .sport(try sports(ring, range))
    case .sedentary:
      return .sedentary(
        try rows("SELECT time, bytes FROM sedentary", ring, range) { row, time in
          SedentaryDay(day: time.day, bytes: row.bytes(1))
        })
    }
  }

  /// The origins of the records of ``records(_:of:in:)``, in the same order.
  package func origins(
    _ kind: HistoryKind, of ring: RingID, in days: ClosedRange<RingDay>? = nil
  ) throws(StoreError) -> [Origin] {
    let (table, column, _) = Schema.table(of: kind)
    let range = Range(days)
    let sql =
      "SELECT \(table).utc_offset, firmware, policy FROM \(table) JOIN syncs ON syncs.id = sync "
      + "WHERE \(table).ring = ? AND \(column) BETWEEN ? AND ? ORDER BY \(column), \(table).utc_offset DESC"
    return try database.prepare(sql).rows(.integer(ring.row), .text(range.first), .text(range.last)) {
      row throws(StoreError) in
      Origin(
        utcOffset: try row.integer(0, in: -86400...86400), firmware: row.text(1),
        policy: TimePolicy(rawValue: row.text(2) ?? "") ?? .local)
    }
  }

  /// The largest value of a two-byte field.
  private static let values = 0...0xFFFF
  /// The largest value of a four-byte sum.
  private static let counts = 0...0xFFFF_FFFF
  private static let centidegrees = -0xFFFF...0xFFFF

  private static func time(
    _ row: borrowing Statement<StoreError>.Columns, _ column: Int32
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
    _ read: (borrowing Statement<StoreError>.Columns, RingTime) throws(StoreError) -> Row?
  ) throws(StoreError) -> [Row] {
    try database.prepare(
      "\(select) WHERE ring = ? AND \(column) BETWEEN ? AND ? ORDER BY \(column), utc_offset DESC"
    )
    .rows(.integer(ring.row), .text(range.first), .text(range.last)) { row throws(StoreError) in
      try read(row, try Self.time(row, 0))
    }
  }

  private func estimates(
    _ table: String, _ column: String, _ ring: RingID, _ range: Range
  ) throws(StoreError) -> [EstimateReading] {
    try rows("SELECT time, \(column) FROM \(table)", ring, range) { row, time throws(StoreError) in
      EstimateReading(time: time, value: try row.integer(1, in: Self.values))
    }
  }

  private func sports(_ ring: RingID, _ range: Range) throws(StoreError) -> [StoredSport] {
    try rows(
      """
      SELECT time, sport, duration_s, distance_m, energy_kcal, heart_rate_bpm, heart_rate_minimum_bpm,
        heart_rate_maximum_bpm, steps, interval_s, heart_rates_bpm, bytes
      FROM sport
      """, ring, range
    ) { row, time throws(StoreError) in
      let name = row.text(1) ?? ""
      guard let sport = Sport(name: name) else {
        throw .impossible(column: "sport", value: String(name.printable.prefix(40)))
      }
      var stored = StoredSport(time: time, sport: sport)
      stored.seconds = try row.optionalInteger(2, in: Self.counts)
      stored.meters = try row.optionalInteger(3, in: Self.counts)
      stored.calories = row.isNull(4) ? nil : try row.decimal(4, places: 3, in: Self.counts)
      stored.averageRate = try row.optionalInteger(5, in: Self.counts)
      stored.minimumRate = try row.optionalInteger(6, in: Self.counts)
      stored.maximumRate = try row.optionalInteger(7, in: Self.counts)
      stored.steps = try row.optionalInteger(8, in: Self.counts)
      stored.sampleSeconds = try row.optionalInteger(9, in: 0...255)
      for text in (row.text(10) ?? "").split(separator: " ") {
        guard let rate = UInt8(text) else {
          throw .impossible(column: "heart_rates_bpm", value: String(text.prefix(40)).printable)
        }
        stored.heartRates.append(Int(rate))
      }
      stored.bytes = row.bytes(11)
      return stored
    }
  }

  private func sleep(_ ring: RingID, _ range: Range) throws(StoreError) -> [SleepSession] {
    let stages = try database.prepare(
      "SELECT stage, duration_min FROM sleep_stages WHERE sleep = ? ORDER BY position")
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
