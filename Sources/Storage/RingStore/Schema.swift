import RingLink

/// The tables and their migrations. `docs/store.md` describes them.
enum Schema {
  /// Identifies the file as a store ("halo"), here and for file(1).
  private static let applicationID = 0x6861_6C6F

  static var version: Int { migrations.count }

  /// Each migrates the schema from its index to the next version. A released one is never changed.
  static let migrations: [String] = [
    """
    CREATE TABLE rings (
      id INTEGER PRIMARY KEY,
      address TEXT NOT NULL,
      address_type TEXT NOT NULL,
      name TEXT,
      firmware TEXT,
      UNIQUE (address, address_type)
    );
    CREATE TABLE syncs (
      id INTEGER PRIMARY KEY,
      ring INTEGER NOT NULL REFERENCES rings (id),
      started INTEGER NOT NULL,
      finished INTEGER,
      policy TEXT NOT NULL CHECK (policy IN ('local', 'utc')),
      utc_offset INTEGER NOT NULL,
      firmware TEXT
    );
    CREATE TABLE complete_days (
      ring INTEGER NOT NULL REFERENCES rings (id),
      kind TEXT NOT NULL,
      day TEXT NOT NULL,
      PRIMARY KEY (ring, kind, day)
    ) WITHOUT ROWID;
    CREATE TABLE heart_rate (
      ring INTEGER NOT NULL REFERENCES rings (id),
      time TEXT NOT NULL,
      manual INTEGER NOT NULL CHECK (manual IN (0, 1)),
      bpm INTEGER NOT NULL,
      sync INTEGER NOT NULL REFERENCES syncs (id),
      PRIMARY KEY (ring, time, manual)
    ) WITHOUT ROWID;
    CREATE TABLE spo2 (
      ring INTEGER NOT NULL REFERENCES rings (id),
      time TEXT NOT NULL,
      minimum INTEGER NOT NULL,
      maximum INTEGER NOT NULL,
      sync INTEGER NOT NULL REFERENCES syncs (id),
      PRIMARY KEY (ring, time)
    ) WITHOUT ROWID;
    CREATE TABLE stress (
      ring INTEGER NOT NULL REFERENCES rings (id),
      time TEXT NOT NULL,
      value INTEGER NOT NULL,
      sync INTEGER NOT NULL REFERENCES syncs (id),
      PRIMARY KEY (ring, time)
    ) WITHOUT ROWID;
    CREATE TABLE hrv (
      ring INTEGER NOT NULL REFERENCES rings (id),
      time TEXT NOT NULL,
      value INTEGER NOT NULL,
      sync INTEGER NOT NULL REFERENCES syncs (id),
      PRIMARY KEY (ring, time)
    ) WITHOUT ROWID;
    CREATE TABLE temperature (
      ring INTEGER NOT NULL REFERENCES rings (id),
      time TEXT NOT NULL,
      centidegrees INTEGER NOT NULL,
      sync INTEGER NOT NULL REFERENCES syncs (id),
      PRIMARY KEY (ring, time)
    ) WITHOUT ROWID;
    CREATE TABLE steps (
      ring INTEGER NOT NULL REFERENCES rings (id),
      time TEXT NOT NULL,
      steps INTEGER NOT NULL,
      meters INTEGER NOT NULL,
      calories INTEGER NOT NULL,
      sync INTEGER NOT NULL REFERENCES syncs (id),
      PRIMARY KEY (ring, time)
    ) WITHOUT ROWID;
    CREATE TABLE sleep (
      id INTEGER PRIMARY KEY,
      ring INTEGER NOT NULL REFERENCES rings (id),
      start TEXT NOT NULL,
      "end" TEXT NOT NULL,
      nap INTEGER NOT NULL CHECK (nap IN (0, 1)),
      sync INTEGER NOT NULL REFERENCES syncs (id),
      UNIQUE (ring, start, nap)
    );
    CREATE TABLE sleep_stages (
      sleep INTEGER NOT NULL REFERENCES sleep (id) ON DELETE CASCADE,
      position INTEGER NOT NULL,
      kind INTEGER NOT NULL,
      minutes INTEGER NOT NULL,
      PRIMARY KEY (sleep, position)
    ) WITHOUT ROWID;
    """,
    // Columns have the names and units of csv and JSON. Each row has the offset of its clock: when a clock is set back, an
    // hour is there twice.
    """
    CREATE TABLE heart_rate_2 (
      ring INTEGER NOT NULL REFERENCES rings (id),
      time TEXT NOT NULL,
      utc_offset INTEGER NOT NULL,
      manual BOOLEAN NOT NULL CHECK (manual IN (0, 1)),
      heart_rate_bpm INTEGER NOT NULL,
      sync INTEGER NOT NULL REFERENCES syncs (id),
      PRIMARY KEY (ring, time, utc_offset, manual)
    ) WITHOUT ROWID;
    INSERT INTO heart_rate_2 SELECT heart_rate.ring, time, utc_offset, manual, bpm, sync
      FROM heart_rate JOIN syncs ON syncs.id = sync;
    DROP TABLE heart_rate;
    ALTER TABLE heart_rate_2 RENAME TO heart_rate;
    CREATE TABLE spo2_2 (
      ring INTEGER NOT NULL REFERENCES rings (id),
      time TEXT NOT NULL,
      utc_offset INTEGER NOT NULL,
      minimum_percent INTEGER NOT NULL,
      maximum_percent INTEGER NOT NULL,
      sync INTEGER NOT NULL REFERENCES syncs (id),
      PRIMARY KEY (ring, time, utc_offset)
    ) WITHOUT ROWID;
    INSERT INTO spo2_2 SELECT spo2.ring, time, utc_offset, minimum, maximum, sync
      FROM spo2 JOIN syncs ON syncs.id = sync;
    DROP TABLE spo2;
    ALTER TABLE spo2_2 RENAME TO spo2;
    CREATE TABLE stress_2 (
      ring INTEGER NOT NULL REFERENCES rings (id),
      time TEXT NOT NULL,
      utc_offset INTEGER NOT NULL,
      stress INTEGER NOT NULL,
      sync INTEGER NOT NULL REFERENCES syncs (id),
      PRIMARY KEY (ring, time, utc_offset)
    ) WITHOUT ROWID;
    INSERT INTO stress_2 SELECT stress.ring, time, utc_offset, value, sync
      FROM stress JOIN syncs ON syncs.id = sync;
    DROP TABLE stress;
    ALTER TABLE stress_2 RENAME TO stress;
    CREATE TABLE hrv_2 (
      ring INTEGER NOT NULL REFERENCES rings (id),
      time TEXT NOT NULL,
      utc_offset INTEGER NOT NULL,
      hrv_ms INTEGER NOT NULL,
      sync INTEGER NOT NULL REFERENCES syncs (id),
      PRIMARY KEY (ring, time, utc_offset)
    ) WITHOUT ROWID;
    INSERT INTO hrv_2 SELECT hrv.ring, time, utc_offset, value, sync
      FROM hrv JOIN syncs ON syncs.id = sync;
    DROP TABLE hrv;
    ALTER TABLE hrv_2 RENAME TO hrv;
    CREATE TABLE temperature_2 (
      ring INTEGER NOT NULL REFERENCES rings (id),
      time TEXT NOT NULL,
      utc_offset INTEGER NOT NULL,
      temperature_celsius REAL NOT NULL,
      sync INTEGER NOT NULL REFERENCES syncs (id),
      PRIMARY KEY (ring, time, utc_offset)
    ) WITHOUT ROWID;
    INSERT INTO temperature_2 SELECT temperature.ring, time, utc_offset, centidegrees / 100.0, sync
      FROM temperature JOIN syncs ON syncs.id = sync;
    DROP TABLE temperature;
    ALTER TABLE temperature_2 RENAME TO temperature;
    CREATE TABLE steps_2 (
      ring INTEGER NOT NULL REFERENCES rings (id),
      time TEXT NOT NULL,
      utc_offset INTEGER NOT NULL,
      steps INTEGER NOT NULL,
      distance_m INTEGER NOT NULL,
      energy_kcal REAL NOT NULL,
      sync INTEGER NOT NULL REFERENCES syncs (id),
      PRIMARY KEY (ring, time, utc_offset)
    ) WITHOUT ROWID;
    INSERT INTO steps_2 SELECT steps.ring, time, utc_offset, steps, meters, calories / 1000.0, sync
      FROM steps JOIN syncs ON syncs.id = sync;
    DROP TABLE steps;
    ALTER TABLE steps_2 RENAME TO steps;
    ALTER TABLE sleep ADD COLUMN utc_offset INTEGER NOT NULL DEFAULT 0;
    UPDATE sleep SET utc_offset = (SELECT syncs.utc_offset FROM syncs WHERE syncs.id = sleep.sync);
    ALTER TABLE sleep_stages RENAME COLUMN kind TO stage;
    ALTER TABLE sleep_stages RENAME COLUMN minutes TO duration_min;
    """,
    """
    CREATE TABLE odd_records (
      ring INTEGER NOT NULL REFERENCES rings (id),
      kind TEXT NOT NULL,
      bytes BLOB NOT NULL,
      reason TEXT NOT NULL,
      sync INTEGER NOT NULL REFERENCES syncs (id),
      PRIMARY KEY (ring, kind, bytes)
    ) WITHOUT ROWID;
    """,
    """
    CREATE TABLE spo2_values (
      ring INTEGER NOT NULL REFERENCES rings (id),
      time TEXT NOT NULL,
      utc_offset INTEGER NOT NULL,
      manual BOOLEAN NOT NULL CHECK (manual IN (0, 1)),
      spo2_percent INTEGER NOT NULL,
      sync INTEGER NOT NULL REFERENCES syncs (id),
      PRIMARY KEY (ring, time, utc_offset, manual)
    ) WITHOUT ROWID;
    CREATE TABLE sport (
      ring INTEGER NOT NULL REFERENCES rings (id),
      time TEXT NOT NULL,
      utc_offset INTEGER NOT NULL,
      sport TEXT NOT NULL,
      duration_s INTEGER,
      distance_m INTEGER,
      energy_kcal REAL,
      heart_rate_bpm INTEGER,
      heart_rate_minimum_bpm INTEGER,
      heart_rate_maximum_bpm INTEGER,
      steps INTEGER,
      interval_s INTEGER,
      heart_rates_bpm TEXT NOT NULL,
      bytes BLOB NOT NULL,
      sync INTEGER NOT NULL REFERENCES syncs (id),
      PRIMARY KEY (ring, time, utc_offset)
    ) WITHOUT ROWID;
    CREATE TABLE sedentary (
      ring INTEGER NOT NULL REFERENCES rings (id),
      time TEXT NOT NULL,
      utc_offset INTEGER NOT NULL,
      bytes BLOB NOT NULL,
      sync INTEGER NOT NULL REFERENCES syncs (id),
      PRIMARY KEY (ring, time, utc_offset)
    ) WITHOUT ROWID;
    """,
  ]

  /// The table of a kind, the column that orders its records, and the one with which each begins.
  static func table(of kind: HistoryKind) -> (name: String, order: String, start: String) {
    switch kind {
    case .steps: ("steps", "time", "time")
    case .heartRate: ("heart_rate", "time", "time")
    case .oxygen: ("spo2", "time", "time")
    case .oxygenValues: ("spo2_values", "time", "time")
    case .sleep: ("sleep", "\"end\"", "start")
    case .stress: ("stress", "time", "time")
    case .variability: ("hrv", "time", "time")
    case .temperature: ("temperature", "time", "time")
    case .sport: ("sport", "time", "time")
    case .sedentary: ("sedentary", "time", "time")
    }
  }

  /// Verifies that a file is a store or empty, and not newer than this version. A file with views, triggers or virtual
  /// tables is not a store.
  static func check(_ database: Database<StoreError>) throws(StoreError) {
    try database.verifyFormat()
    // One statement sees one state of the file, whatever another process writes at this moment.
    let found = try database.prepare(
      """
      SELECT (SELECT * FROM pragma_application_id), (SELECT * FROM pragma_user_version), count(*),
        count(CASE WHEN type NOT IN ('table', 'index') OR rootpage = 0 THEN 1 END)
      FROM sqlite_schema
      """
    ).rows { ($0.integer(0), $0.integer(1), $0.integer(2), $0.integer(3)) }
    guard let (application, version, tables, strange) = found.first else { throw .foreign(database.path) }
    guard strange == 0, application == applicationID || (application == 0 && version == 0 && tables == 0)
    else { throw .foreign(database.path) }
    guard (0...Self.version).contains(version) else { throw .newer(version: version, known: Self.version) }
  }

  /// Migrates a file, each step in one transaction.
  static func migrate(_ database: Database<StoreError>) throws(StoreError) {
    for step in try number("PRAGMA user_version", in: database)..<Self.version {
      try database.transaction { () throws(StoreError) in
        // Another process may have migrated it already.
        guard try number("PRAGMA user_version", in: database) == step else { return }
        try database.run(migrations[step])
        try database.run("PRAGMA application_id = \(applicationID); PRAGMA user_version = \(step + 1)")
      }
    }
  }

  private static func number(_ sql: String, in database: Database<StoreError>) throws(StoreError) -> Int {
    try database.prepare(sql).rows { $0.integer(0) }.first ?? 0
  }
}
