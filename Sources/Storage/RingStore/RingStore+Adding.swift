import RingLink

extension RingStore {
  /// Adds records of a ring and the days that are complete, in one transaction.
  ///
  /// - Parameters:
  ///   - records: of one kind
  ///   - complete: days that were over when the ring was read
  ///   - leftOut: records with impossible contents; each is stored once, as the ring sent it
  ///   - sync: from ``beginSync(_:at:policy:offset:clockSet:firmware:)``
  /// - Returns: the number of records that are new or changed
  @discardableResult
  package func add(
    _ records: HistoryRecords, complete: [RingDay] = [], leftOut: [InvalidRecord] = [], in sync: SyncID
  ) throws(StoreError) -> Int {
    try database.transaction { () throws(StoreError) in
      let added =
        switch records {
        case .steps(let readings): try add(readings, sync)
        case .heartRate(let readings): try add(readings, sync)
        case .oxygen(let readings): try add(readings, sync)
        case .stress(let readings): try add(readings, to: "stress", "stress", sync)
        case .variability(let readings): try add(readings, to: "hrv", "hrv_ms", sync)
        case .temperature(let readings): try add(readings, sync)
        case .sleep(let sessions): try add(sessions, sync)
        case .oxygenValues(let values): try add(values, sync)
        case .sport(let sports): try add(sports, sync)
        case .sedentary(let days): try add(days, sync)
        }
      let note = try database.prepare(
        "INSERT OR IGNORE INTO complete_days (ring, kind, day) VALUES (?, ?, ?)")
      for day in complete {
        try note.run(.integer(sync.ring.row), .text(records.kind.rawValue), .text(day.description))
      }
      try add(leftOut, sync)
      return added
    }
  }

  /// The records of a ring that were left out.
  package func invalidRecords(_ kind: HistoryKind, of ring: RingID) throws(StoreError) -> [InvalidRecord] {
    try database.prepare(
      "SELECT reason, bytes FROM odd_records WHERE ring = ? AND kind = ? ORDER BY sync, bytes"
    )
    .rows(.integer(ring.row), .text(kind.rawValue)) {
      InvalidRecord(kind: kind, reason: $0.text(0) ?? "", bytes: $0.bytes(1))
    }
  }

  /// The days to read: those that were not over or not read so far.
  package func missingDays(
    of kind: HistoryKind, _ ring: RingID, in days: ClosedRange<RingDay>
  ) throws(StoreError) -> [RingDay] {
    let complete = try database.prepare("SELECT day FROM complete_days WHERE ring = ? AND kind = ?")
      .rows(.integer(ring.row), .text(kind.rawValue)) { $0.text(0).flatMap { RingDay($0) } }
    let known = Set(complete)
    return (days.lowerBound.number...days.upperBound.number).map { RingDay(number: $0) }
      .filter { !known.contains($0) }
  }

  private func add(_ odd: [InvalidRecord], _ sync: SyncID) throws(StoreError) {
    guard !odd.isEmpty else { return }
    let insert = try database.prepare(
      "INSERT OR IGNORE INTO odd_records (ring, kind, bytes, reason, sync) VALUES (?, ?, ?, ?, ?)")
    for record in odd {
      try insert.run(
        .integer(sync.ring.row), .text(record.kind.rawValue), .bytes(record.bytes), .text(record.reason),
        .integer(sync.row))
    }
  }

  // MARK: One kind each

  /// Adds readings of whole numbers, a row each.
  ///
  /// - Parameters:
  ///   - columns: those after ring and time
  ///   - conflict: the conflict clause, for rows that exist
  ///   - row: its time, and a value for each column
  private func add<Reading>(
    _ readings: [Reading], to table: String, _ columns: [String], onConflict conflict: String = "DO NOTHING",
    _ sync: SyncID, row: (Reading) -> (time: RingTime, numbers: [Statement<StoreError>.Value])
  ) throws(StoreError) -> Int {
    let names = ["ring", "time", "utc_offset"] + columns + ["sync"]
    let places = names.map { _ in "?" }.joined(separator: ", ")
    let insert = try database.prepare(
      "INSERT INTO \(table) (\(names.joined(separator: ", "))) VALUES (\(places)) ON CONFLICT \(conflict)")
    var count = 0
    for reading in readings {
      let (time, numbers) = row(reading)
      count += try insert.run(
        [.integer(sync.ring.row), .text(time.description), .integer(sync.offset(of: time))] + numbers + [
          .integer(sync.row)
        ])
    }
    return count
  }

  /// The counts of the current hour only increase: the larger one is newer.
  private func add(_ readings: [ActivityReading], _ sync: SyncID) throws(StoreError) -> Int {
    try add(
      readings, to: "steps", ["steps", "distance_m", "energy_kcal"],
      onConflict: """
        DO UPDATE
        SET steps = excluded.steps, distance_m = excluded.distance_m, energy_kcal = excluded.energy_kcal,
          sync = excluded.sync
        WHERE excluded.steps >= steps
          AND (excluded.steps, excluded.distance_m, excluded.energy_kcal) <> (steps, distance_m, energy_kcal)
        """, sync
    ) { ($0.time, [.integer($0.steps), .integer($0.meters), .decimal($0.calories, places: 3)]) }
  }

  private func add(_ readings: [HeartRateReading], _ sync: SyncID) throws(StoreError) -> Int {
    try add(readings, to: "heart_rate", ["manual", "heart_rate_bpm"], sync) {
      ($0.time, [$0.isManual ? 1 : 0, .integer($0.beatsPerMinute)])
    }
  }

  /// The range of the current hour only widens.
  private func add(_ readings: [OxygenReading], _ sync: SyncID) throws(StoreError) -> Int {
    try add(
      readings, to: "spo2", ["minimum_percent", "maximum_percent"],
      onConflict: """
        DO UPDATE
        SET minimum_percent = min(minimum_percent, excluded.minimum_percent),
          maximum_percent = max(maximum_percent, excluded.maximum_percent), sync = excluded.sync
        WHERE excluded.minimum_percent < minimum_percent OR excluded.maximum_percent > maximum_percent
        """, sync
    ) { ($0.time, [.integer($0.minimum), .integer($0.maximum)]) }
  }

  private func add(
    _ readings: [EstimateReading], to table: String, _ column: String, _ sync: SyncID
  ) throws(StoreError) -> Int {
    try add(readings, to: table, [column], sync) { ($0.time, [.integer($0.value)]) }
  }

  private func add(_ readings: [TemperatureReading], _ sync: SyncID) throws(StoreError) -> Int {
    try add(readings, to: "temperature", ["temperature_celsius"], sync) {
      ($0.time, [.decimal($0.centidegrees, places: 2)])
    }
  }

  private func add(_ values: [OxygenValue], _ sync: SyncID) throws(StoreError) -> Int {
    try add(values, to: "spo2_values", ["manual", "spo2_percent"], sync) {
      ($0.time, [$0.isManual ? 1 : 0, .integer($0.percent)])
    }
  }

  /// A session that was not over has more now.
  private func add(_ sports: [StoredSport], _ sync: SyncID) throws(StoreError) -> Int {
    let columns = [
      "sport", "duration_s", "distance_m", "energy_kcal", "heart_rate_bpm", "heart_rate_minimum_bpm",
      "heart_rate_maximum_bpm", "steps", "interval_s", "heart_rates_bpm", "bytes",
    ]
    return try add(
      sports, to: "sport", columns,
      onConflict: """
        DO UPDATE SET \((columns + ["sync"]).map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
        WHERE excluded.bytes <> bytes OR length(excluded.heart_rates_bpm) > length(heart_rates_bpm)
        """, sync
    ) { sport in
      (
        sport.time,
        [
          .text(sport.sport.description), .optionalInteger(sport.seconds), .optionalInteger(sport.meters),
          sport.calories.map { .decimal($0, places: 3) } ?? .text(nil), .optionalInteger(sport.averageRate),
          .optionalInteger(sport.minimumRate), .optionalInteger(sport.maximumRate),
          .optionalInteger(sport.steps), .optionalInteger(sport.sampleSeconds),
          .text(sport.heartRates.map(String.init).joined(separator: " ")), .bytes(sport.bytes),
        ]
      )
    }
  }

  /// A day that was not over has more now.
  private func add(_ days: [SedentaryDay], _ sync: SyncID) throws(StoreError) -> Int {
    try add(
      days, to: "sedentary", ["bytes"],
      onConflict:
        "DO UPDATE SET bytes = excluded.bytes, sync = excluded.sync WHERE length(excluded.bytes) > length(bytes)",
      sync
    ) { ($0.day.midnight, [.bytes($0.bytes)]) }
  }

  /// A night that was not over has a later end now, which replaces the earlier one with its stages.
  private func add(_ sessions: [SleepSession], _ sync: SyncID) throws(StoreError) -> Int {
    let insert = try database.prepare(
      """
      INSERT INTO sleep (ring, start, "end", nap, sync, utc_offset) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET "end" = excluded."end", sync = excluded.sync WHERE excluded."end" > "end"
      """)
    let find = try database.prepare("SELECT id FROM sleep WHERE ring = ? AND start = ? AND nap = ?")
    let clear = try database.prepare("DELETE FROM sleep_stages WHERE sleep = ?")
    let stage = try database.prepare(
      "INSERT INTO sleep_stages (sleep, position, stage, duration_min) VALUES (?, ?, ?, ?)")
    var count = 0
    for session in sessions {
      let (ring, start) = (
        Statement<StoreError>.Value.integer(sync.ring.row),
        Statement<StoreError>.Value.text(session.start.description)
      )
      let nap = Statement<StoreError>.Value.integer(session.isNap ? 1 : 0)
      guard
        try insert.run(
          ring, start, .text(session.end.description), nap, .integer(sync.row),
          .integer(sync.offset(of: session.start))) > 0,
        let id = try find.rows(ring, start, nap, read: { $0.integer(0) }).first
      else { continue }
      count += 1
      try clear.run(.integer(id))
      for (position, part) in session.stages.enumerated() {
        try stage.run(
          .integer(id), .integer(position), .integer(Int(part.kind.rawValue)), .integer(part.minutes))
      }
    }
    return count
  }
}
