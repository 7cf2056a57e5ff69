import Glibc
import HaloBluetoothCore
import HaloSystem
import RingLink
import Testing

@testable import HaloRingStore

struct RingStoreTests {
  let file: TemporaryStore
  let day: RingDay
  let address = BluetoothAddress(0x3035_3841_BEEF, .public)

  init() throws {
    file = try TemporaryStore()
    day = try #require(RingDay(year: 2026, month: 11, day: 20))
  }

  private func open() throws -> (store: RingStore, ring: RingStore.RingID, sync: RingStore.SyncID) {
    let store = try RingStore(path: file.path)
    let ring = try store.ring(address, name: "R02_BEEF", firmware: "RT02R_3.11.00_250611")
    let sync = try store.beginSync(ring, at: 1_763_000_000, policy: .local, offset: 3600, firmware: nil)
    return (store, ring, sync)
  }

  private func time(_ hour: Int, _ minute: Int = 0, daysLater: Int = 0) throws -> RingTime {
    try #require(RingTime(day.adding(days: daysLater), hour: hour, minute: minute))
  }

  private func oneOfEach() throws -> [HistoryRecords] {
    [
      .steps([ActivityReading(time: try time(13), steps: 76, meters: 50, calories: 2160)]),
      .heartRate([
        HeartRateReading(time: try time(10, 5), beatsPerMinute: 73, isManual: false),
        HeartRateReading(time: try time(10, 5), beatsPerMinute: 89, isManual: true),
      ]),
      .oxygen([OxygenReading(time: try time(4), minimum: 96, maximum: 99)]),
      .sleep([
        SleepSession(
          start: try time(3, 24), end: try time(7), isNap: false,
          stages: [SleepStage(.light, minutes: 39), SleepStage(.rem, minutes: 177)])
      ]),
      .stress([EstimateReading(time: try time(0), value: 40)]),
      .variability([EstimateReading(time: try time(1), value: 46)]),
      .temperature([TemperatureReading(time: try time(2), centidegrees: 3645)]),
      .oxygenValues([
        OxygenValue(time: try time(2), percent: 97, isManual: false),
        OxygenValue(time: try time(2), percent: 96, isManual: true),
      ]),
      .sport([try session([96, 0, 118]), StoredSport(time: try time(19), sport: Sport(rawValue: 255))]),
      .sedentary([SedentaryDay(day: day, bytes: [1, 90, 2, 30])]),
    ]
  }

  private func session(_ rates: [Int]) throws -> StoredSport {
    var session = StoredSport(time: try time(18, 30), sport: Sport(rawValue: 88))
    (session.seconds, session.meters, session.calories) = (1830, nil, 151_200)
    (session.averageRate, session.minimumRate, session.maximumRate) = (112, 88, 141)
    (session.sampleSeconds, session.heartRates, session.bytes) = (60, rates, [4, 88, 1, 2])
    return session
  }

  @Test func storedRecordsPersist() throws {
    let all = try oneOfEach()
    do {
      let (store, _, sync) = try open()
      for records in all { #expect(try store.add(records, in: sync) == records.count) }
      try store.finish(sync, at: 1_763_000_010)
    }
    let (store, ring, _) = try open()
    for records in all {
      #expect(try store.records(records.kind, of: ring) == records)
      #expect(try store.records(records.kind, of: ring, in: day...day) == records)
      let before = day.adding(days: -1)
      #expect(try store.records(records.kind, of: ring, in: before...before).count == 0)
    }
    let rings = try store.rings()
    #expect(rings.map(\.address) == [address])
    #expect(rings.map(\.name) == ["R02_BEEF"])
  }

  @Test func ignoresDuplicateRecords() throws {
    let (store, ring, sync) = try open()
    for records in try oneOfEach() {
      try store.add(records, in: sync)
      #expect(try store.add(records, in: sync) == 0)
      #expect(try store.records(records.kind, of: ring) == records)
    }
  }

  /// A ring whose memory was cleared tells less than before; an hour that is not over tells more.
  @Test func keepsLargerRecords() throws {
    let (store, ring, sync) = try open()
    for records in try oneOfEach() { try store.add(records, in: sync) }

    let fewer = ActivityReading(time: try time(13), steps: 5, meters: 3, calories: 100)
    #expect(try store.add(.steps([fewer]), in: sync) == 0)
    let more = ActivityReading(time: try time(13), steps: 80, meters: 52, calories: 2200)
    #expect(try store.add(.steps([more]), in: sync) == 1)
    #expect(try store.records(.steps, of: ring) == .steps([more]))

    let other = HeartRateReading(time: try time(10, 5), beatsPerMinute: 60, isManual: false)
    #expect(try store.add(.heartRate([other]), in: sync) == 0)

    let narrow = OxygenReading(time: try time(4), minimum: 97, maximum: 100)
    #expect(try store.add(.oxygen([narrow]), in: sync) == 1)
    let wide = OxygenReading(time: try time(4), minimum: 96, maximum: 100)
    #expect(try store.records(.oxygen, of: ring) == .oxygen([wide]))

    // A session whose course was not read again keeps the one that it has.
    #expect(try store.add(.sport([try session([96])]), in: sync) == 0)
    let whole = try session([96, 0, 118, 120])
    #expect(try store.add(.sport([whole]), in: sync) == 1)
    #expect(try store.records(.sport, of: ring, in: day...day).count == 2)
    #expect(try store.add(.sedentary([SedentaryDay(day: day, bytes: [1])]), in: sync) == 0)
    #expect(try store.add(.sedentary([SedentaryDay(day: day, bytes: [1, 90, 2, 30, 1, 5])]), in: sync) == 1)

    let shorter = SleepSession(start: try time(3, 24), end: try time(5), isNap: false, stages: [])
    #expect(try store.add(.sleep([shorter]), in: sync) == 0)
    let longer = SleepSession(
      start: try time(3, 24), end: try time(8), isNap: false, stages: [SleepStage(.deep, minutes: 276)])
    #expect(try store.add(.sleep([longer]), in: sync) == 1)
    #expect(try store.records(.sleep, of: ring) == .sleep([longer]))
  }

  @Test func daysThatWereOverAreNotAskedForAgain() throws {
    let (store, ring, sync) = try open()
    let days = day.adding(days: -2)...day
    #expect(try store.missingDays(of: .steps, ring, in: days).count == 3)
    try store.add(.steps([]), complete: [day.adding(days: -2), day.adding(days: -1)], in: sync)
    #expect(try store.missingDays(of: .steps, ring, in: days) == [day])
    #expect(try store.missingDays(of: .heartRate, ring, in: days).count == 3)
  }

  /// What fails half-way leaves nothing behind.
  @Test func rollsBackFailedInsert() throws {
    let (store, ring, sync) = try open()
    try store.database.run(
      "CREATE TRIGGER no BEFORE INSERT ON complete_days BEGIN SELECT RAISE(ABORT, 'no'); END")
    let reading = HeartRateReading(time: try time(1), beatsPerMinute: 60, isManual: false)
    #expect(throws: StoreError.self) { try store.add(.heartRate([reading]), complete: [day], in: sync) }
    #expect(try store.records(.heartRate, of: ring).count == 0)
    try store.database.run("DROP TRIGGER no")
    #expect(try store.add(.heartRate([reading]), complete: [day], in: sync) == 1)
  }

  @Test func ringsAreKeptApart() throws {
    let (store, ring, sync) = try open()
    let other = try store.ring(BluetoothAddress(1, .random), name: nil, firmware: nil)
    #expect(other != ring)
    try store.add(.stress([EstimateReading(time: try time(0), value: 40)]), in: sync)
    #expect(try store.records(.stress, of: other).count == 0)
    // A name that is not known this time is not forgotten.
    #expect(try store.ring(address, name: nil, firmware: nil) == ring)
    #expect(try store.rings().first?.name == "R02_BEEF")
  }

  @Test func otherFilesAreLeftAlone() throws {
    let foreign = try Database<StoreError>(path: file.path)
    try foreign.run("CREATE TABLE music (title TEXT)")
    #expect(throws: StoreError.foreign(file.path)) { try RingStore(path: file.path) }
    #expect(try foreign.prepare("SELECT count(*) FROM sqlite_schema").rows { $0.integer(0) } == [1])
  }

  /// At the end of summer time, a ring's clock is set back: an hour is there twice, and both are kept.
  @Test func theRepeatedHourIsKept() throws {
    let (store, ring, _) = try open()
    // 2026-11-20T01:00:00Z; the clock showed 03:00, and is set to 02:00.
    let set = try time(1).seconds
    let summer = try store.beginSync(ring, at: set - 600, policy: .local, offset: 7200, firmware: "A")
    let before = HeartRateReading(time: try time(2, 30), beatsPerMinute: 60, isManual: false)
    #expect(try store.add(.heartRate([before]), in: summer) == 1)
    let winter = try store.beginSync(
      ring, at: set + 3600, policy: .local, offset: 3600, clockSet: set, firmware: "B")
    // The ring has one slot for each time of its clock: the second hour has replaced the first. What is older is read again.
    let older = HeartRateReading(time: try time(1, 30), beatsPerMinute: 58, isManual: false)
    let after = HeartRateReading(time: try time(2, 30), beatsPerMinute: 70, isManual: false)
    #expect(try store.add(.heartRate([older, after]), in: winter) == 2)
    #expect(try store.add(.heartRate([older, after]), in: winter) == 0)
    #expect(try store.records(.heartRate, of: ring) == .heartRate([older, before, after]))
    let origins = try store.origins(.heartRate, of: ring)
    #expect(origins.map(\.utcOffset) == [7200, 7200, 3600])
    #expect(origins.map(\.firmware) == ["B", "A", "B"])
  }

  @Test func aStoreOfTheFirstSchemaIsUpgraded() throws {
    do {
      let old = try Database<StoreError>(path: file.path)
      try old.run(Schema.migrations[0])
      try old.run("PRAGMA application_id = 0x68616C6F; PRAGMA user_version = 1")
      try old.run(
        """
        INSERT INTO rings VALUES (1, '30:35:38:41:BE:EF', 'public', 'R02_BEEF', NULL);
        INSERT INTO syncs VALUES (1, 1, 1763000000, NULL, 'local', 3600, 'F');
        INSERT INTO heart_rate VALUES (1, '2026-11-20T10:05:00', 0, 73, 1), (1, '2026-11-20T10:05:00', 1, 89, 1);
        INSERT INTO spo2 VALUES (1, '2026-11-20T04:00:00', 96, 99, 1);
        INSERT INTO stress VALUES (1, '2026-11-20T00:00:00', 40, 1);
        INSERT INTO hrv VALUES (1, '2026-11-20T01:00:00', 46, 1);
        INSERT INTO temperature VALUES (1, '2026-11-20T02:00:00', 3645, 1);
        INSERT INTO steps VALUES (1, '2026-11-20T13:00:00', 76, 50, 2160, 1);
        INSERT INTO sleep VALUES (1, 1, '2026-11-20T03:24:00', '2026-11-20T07:00:00', 0, 1);
        INSERT INTO sleep_stages VALUES (1, 0, 2, 39), (1, 1, 4, 177);
        """)
    }
    let store = try RingStore(path: file.path)
    let ring = try #require(try store.rings().first).id
    // What the first version had.
    for records in try oneOfEach().prefix(7) {
      #expect(try store.records(records.kind, of: ring) == records)
      #expect(try store.origins(records.kind, of: ring).map(\.utcOffset).allSatisfy { $0 == 3600 })
    }
    #expect(try store.database.prepare("PRAGMA foreign_key_check").rows { $0.text(0) }.isEmpty)
  }

  @Test func deletesAllRecordsOfRing() throws {
    let (store, ring, sync) = try open()
    let odd = InvalidRecord(kind: .sleep, reason: "it is odd", bytes: [0, 0xFF])
    for records in try oneOfEach() { try store.add(records, leftOut: [odd], in: sync) }
    #expect(try store.invalidRecords(.sleep, of: ring) == [odd])
    let extent = try store.extent(of: ring)
    #expect(
      extent.records == 13 && extent.first == "2026-11-20T00:00:00" && extent.last == "2026-11-20T19:00:00")
    let other = try store.ring(BluetoothAddress(1, .random), name: nil, firmware: nil)
    try store.delete(ring)
    #expect(try store.rings().map(\.id) == [other])
    for table in [
      "heart_rate", "steps", "sleep", "sleep_stages", "odd_records", "syncs", "spo2_values", "sport",
      "sedentary",
    ] {
      #expect(try store.database.prepare("SELECT count(*) FROM \(table)").rows { $0.integer(0) } == [0])
    }
  }

  @Test func newerFilesAreLeftAlone() throws {
    do { _ = try open() }
    try Database<StoreError>(path: file.path).run("PRAGMA user_version = 99")
    #expect(throws: StoreError.newer(version: 99, known: 4)) { try RingStore(path: file.path) }
  }

  @Test func reportsFileThatIsNotADatabase() throws {
    let descriptor = Glibc.open(file.path, O_CREAT | O_WRONLY, 0o600)
    _ = write(descriptor, String(repeating: "no database ", count: 200), 2000)
    close(descriptor)
    for access in [RingStore.Access.reading, .writing] {
      #expect(throws: StoreError.foreign(file.path)) { try RingStore(path: file.path, access: access) }
    }
  }

  /// A store is a file, and a file can be anybody's.
  @Test(arguments: [
    (HistoryKind.sleep, "UPDATE sleep_stages SET duration_min = 9223372036854775807"),
    (.sleep, "UPDATE sleep_stages SET duration_min = -9223372036854775808"),
    (.sleep, "UPDATE sleep_stages SET duration_min = 'many'"),
    (.sleep, "UPDATE sleep_stages SET stage = 256"),
    (.sleep, "UPDATE sleep SET nap = 1, start = 'x'"),
    (.sleep, #"UPDATE sleep SET "end" = '2026-13-01T00:00:00'"#),
    (.steps, "UPDATE steps SET steps = -1"), (.steps, "UPDATE steps SET energy_kcal = 9223372036854775807"),
    (.steps, "UPDATE steps SET distance_m = 1.5"),
    (.heartRate, "UPDATE heart_rate SET heart_rate_bpm = 65536"),
    (.heartRate, "UPDATE heart_rate SET time = 'yesterday'"),
    (.oxygen, "UPDATE spo2 SET minimum_percent = 1e300"),
    (.stress, "UPDATE stress SET stress = -1"), (.variability, "UPDATE hrv SET hrv_ms = 'x'"),
    (.temperature, "UPDATE temperature SET temperature_celsius = -9223372036854775808"),
    (.oxygenValues, "UPDATE spo2_values SET spo2_percent = -1"), (.sport, "UPDATE sport SET sport = 'music'"),
    (.sport, "UPDATE sport SET duration_s = 9223372036854775807"),
    (.sport, "UPDATE sport SET steps = 'many'"),
    (.sport, "UPDATE sport SET heart_rates_bpm = '96 256'"), (.sport, "UPDATE sport SET energy_kcal = 1e300"),
    (.sedentary, "UPDATE sedentary SET time = 'monday'"),
  ])
  func reportsImpossibleValuesAsDamage(kind: HistoryKind, damage: String) throws {
    let (store, ring, sync) = try open()
    for records in try oneOfEach() { try store.add(records, in: sync) }
    try store.database.run(damage)
    let error = #expect(throws: StoreError.self) { try store.records(kind, of: ring) }
    #expect(
      error?.description.hasPrefix("the store is damaged: there is a ") == true,
      "\(String(describing: error))")
  }

  @Test func storesLargestPossibleValues() throws {
    let (store, ring, sync) = try open()
    let largest = HistoryRecords.sleep([
      SleepSession(
        start: try time(0), end: try time(1), isNap: false,
        stages: [SleepStage(SleepStage.Kind(rawValue: 255), minutes: 255)])
    ])
    try store.add(largest, in: sync)
    #expect(try store.records(.sleep, of: ring) == largest)
  }

  @Test(arguments: [
    "CREATE VIEW music AS SELECT 1", "DROP TABLE stress; CREATE VIEW stress AS SELECT 1",
    "CREATE TRIGGER t AFTER INSERT ON syncs BEGIN DELETE FROM rings; END",
  ])
  func rejectsStoreWithForeignViewsOrTriggers(sql: String) throws {
    do {
      let (store, _, _) = try open()
      try store.database.run(sql)
    }
    #expect(throws: StoreError.foreign(file.path)) { try RingStore(path: file.path) }
  }

  @Test func theStoreIsItsUsersAlone() throws {
    let mask = umask(0)
    defer { umask(mask) }
    let (store, _, _) = try open()
    for suffix in ["", "-wal", "-shm"] {
      var status = stat()
      #expect(stat(file.path + suffix, &status) == 0 && status.st_mode & 0o777 == 0o600, "\(suffix)")
    }
    withExtendedLifetime(store) {}
  }

  @Test func onlyARegularFileIsAStore() throws {
    mkfifo(file.path, 0o600)
    for access in [RingStore.Access.reading, .writing] {
      #expect(throws: StoreError.self) { try RingStore(path: file.path, access: access) }
      #expect(throws: StoreError.file(FileError("/dev/null", .notRegular))) {
        try RingStore(path: "/dev/null", access: access)
      }
    }
    #expect(throws: StoreError.file(FileError("/nowhere/x", .system(ENOENT)))) {
      try RingStore(path: "/nowhere/x")
    }
    #expect(throws: StoreError.file(FileError("/nowhere/x", .system(ENOENT)))) {
      try RingStore(path: "/nowhere/x", access: .reading)
    }
  }

  /// It is said at once, so that the caller can wait without blocking.
  @Test func aStoreThatIsLockedIsBusy() throws {
    let (store, _, sync) = try open()
    let other = try Database<StoreError>(path: file.path)
    try other.run("BEGIN IMMEDIATE")
    let error = #expect(throws: StoreError.self) { try store.add(try oneOfEach()[0], in: sync) }
    #expect(error == .busy)
    try other.run("ROLLBACK")
    #expect(try store.add(try oneOfEach()[0], in: sync) == 1)
  }

  @Test func theFileMatchesItsSchema() throws {
    let (store, _, _) = try open()
    #expect(try store.database.prepare("PRAGMA user_version").rows { $0.integer(0) } == [Schema.version])
    #expect(try store.database.prepare("PRAGMA journal_mode").rows { $0.text(0) } == ["wal"])
    #expect(try store.database.prepare("PRAGMA integrity_check").rows { $0.text(0) } == ["ok"])
  }
}
