import RingLink

extension RingStore {
  /// Adds records of a ring and the days that are complete, in one transaction.
  ///
  /// - Parameters:
  ///   - records: of one kind
  ///   - complete: days that were over when the ring was read
  ///   - sync: from ``beginSync(_:at:policy:offset:firmware:)``
  /// - Returns: the number of records that are new or changed
  @discardableResult
  public func add(
    _ records: HistoryRecords, complete: [RingDay] = [], in sync: SyncID
  ) throws(StoreError) -> Int {
    try database.transaction { () throws(StoreError) in
      let added =
        switch records {
        case .steps(let readings): try add(readings, sync)
        case .heartRate(let readings): try add(readings, sync)
        case .oxygen(let readings): try add(readings, sync)
        case .stress(let readings): try add(readings, to: "stress", sync)
        case .variability(let readings): try add(readings, to: "hrv", sync)
        case .temperature(let readings): try add(readings, sync)
        case .sleep(let sessions): try add(sessions, sync)
        }
      let note = try database.prepare(
        "INSERT OR IGNORE INTO complete_days (ring, kind, day) VALUES (?, ?, ?)")
      for day in complete {
        try note.run(.integer(sync.ring.row), .text(records.kind.rawValue), .text(day.description))
      }
      return added
    }
  }

  /// The days to read: those that were not over or not read so far.
  public func missingDays(
    of kind: HistoryKind, _ ring: RingID, in days: ClosedRange<RingDay>
  ) throws(StoreError) -> [RingDay] {
    let complete = try database.prepare("SELECT day FROM complete_days WHERE ring = ? AND kind = ?")
      .rows(.integer(ring.row), .text(kind.rawValue)) { $0.text(0).flatMap { RingDay($0) } }
    let known = Set(complete)
    return (days.lowerBound.number...days.upperBound.number).map { RingDay(number: $0) }
      .filter { !known.contains($0) }
  }

  // MARK: One kind each

  /// Adds readings of whole numbers, a row each.
  ///
  /// - Parameters:
  ///   - columns: those after ring and time
  ///   - conflict: what happens if the row exists
  ///   - row: its time, and a number for each column
  private func add<Reading>(
    _ readings: [Reading], to table: String, _ columns: [String], onConflict conflict: String = "DO NOTHING",
    _ sync: SyncID, row: (Reading) -> (time: RingTime, numbers: [Int])
  ) throws(StoreError) -> Int {
    let names = ["ring", "time"] + columns + ["sync"]
    let places = names.map { _ in "?" }.joined(separator: ", ")
    let insert = try database.prepare(
      "INSERT INTO \(table) (\(names.joined(separator: ", "))) VALUES (\(places)) ON CONFLICT \(conflict)")
    var count = 0
    for reading in readings {
      let (time, numbers) = row(reading)
      count += try insert.run(
        [.integer(sync.ring.row), .text(time.description)] + numbers.map { .integer($0) } + [
          .integer(sync.row)
        ])
    }
    return count
  }

  /// The counts of the current hour only increase: the larger one is newer.
  private func add(_ readings: [ActivityReading], _ sync: SyncID) throws(StoreError) -> Int {
    try add(
      readings, to: "steps", ["steps", "meters", "calories"],
      onConflict: """
        DO UPDATE
        SET steps = excluded.steps, meters = excluded.meters, calories = excluded.calories, sync = excluded.sync
        WHERE excluded.steps >= steps AND (excluded.steps, excluded.meters, excluded.calories) <> (steps, meters, calories)
        """, sync
    ) { ($0.time, [$0.steps, $0.meters, $0.calories]) }
  }

  private func add(_ readings: [HeartRateReading], _ sync: SyncID) throws(StoreError) -> Int {
    try add(readings, to: "heart_rate", ["manual", "bpm"], sync) {
      ($0.time, [$0.isManual ? 1 : 0, $0.beatsPerMinute])
    }
  }

  /// The range of the current hour only widens.
  private func add(_ readings: [OxygenReading], _ sync: SyncID) throws(StoreError) -> Int {
    try add(
      readings, to: "spo2", ["minimum", "maximum"],
      onConflict: """
        DO UPDATE
        SET minimum = min(minimum, excluded.minimum), maximum = max(maximum, excluded.maximum), sync = excluded.sync
        WHERE excluded.minimum < minimum OR excluded.maximum > maximum
        """, sync
    ) { ($0.time, [$0.minimum, $0.maximum]) }
  }

  private func add(
    _ readings: [EstimateReading], to table: String, _ sync: SyncID
  ) throws(StoreError) -> Int {
    try add(readings, to: table, ["value"], sync) { ($0.time, [$0.value]) }
  }

  private func add(_ readings: [TemperatureReading], _ sync: SyncID) throws(StoreError) -> Int {
    try add(readings, to: "temperature", ["centidegrees"], sync) { ($0.time, [$0.centidegrees]) }
  }

  /// A night that was not over has a later end now, which replaces the earlier one with its stages.
  private func add(_ sessions: [SleepSession], _ sync: SyncID) throws(StoreError) -> Int {
    let insert = try database.prepare(
      """
      INSERT INTO sleep (ring, start, "end", nap, sync) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET "end" = excluded."end", sync = excluded.sync WHERE excluded."end" > "end"
      """)
    let find = try database.prepare("SELECT id FROM sleep WHERE ring = ? AND start = ? AND nap = ?")
    let clear = try database.prepare("DELETE FROM sleep_stages WHERE sleep = ?")
    let stage = try database.prepare(
      "INSERT INTO sleep_stages (sleep, position, kind, minutes) VALUES (?, ?, ?, ?)")
    var count = 0
    for session in sessions {
      let (ring, start) = (
        Statement.Value.integer(sync.ring.row), Statement.Value.text(session.start.description)
      )
      let nap = Statement.Value.integer(session.isNap ? 1 : 0)
      guard try insert.run(ring, start, .text(session.end.description), nap, .integer(sync.row)) > 0,
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
