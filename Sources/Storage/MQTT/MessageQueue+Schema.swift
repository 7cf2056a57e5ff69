import HaloRingStore

/// The tables in the file of a queue.
extension MessageQueue {
  /// Marks the file: `PRAGMA application_id`.
  private static let application = 0x48_51_75_65

  /// Checks that a file is a queue, or empty.
  ///
  /// - Throws: `.foreign` if it is something else
  static func check(_ database: Database<QueueError>) throws(QueueError) {
    try database.verifyFormat()
    let found = try database.prepare(
      "SELECT (SELECT * FROM pragma_application_id), (SELECT count(*) FROM sqlite_schema)"
    ).rows { ($0.integer(0), $0.integer(1)) }
    guard let (number, tables) = found.first, number == application || (number == 0 && tables == 0) else {
      throw .foreign(database.path)
    }
  }

  /// Makes the tables that the file lacks.
  static func create(in database: Database<QueueError>) throws(QueueError) {
    let tables = try database.prepare("SELECT count(*) FROM sqlite_schema").rows { $0.integer(0) }
    if tables.first == 0 { try createTables(in: database) }
    try database.run(
      """
      CREATE TABLE IF NOT EXISTS aside (
        id INTEGER PRIMARY KEY, topic TEXT NOT NULL, payload BLOB NOT NULL, retain INTEGER NOT NULL,
        reason TEXT NOT NULL) STRICT;
      CREATE INDEX IF NOT EXISTS states ON messages (topic) WHERE retain = 1
      """)
  }

  private static func createTables(in database: Database<QueueError>) throws(QueueError) {
    try database.transaction { () throws(QueueError) in
      try database.run(
        """
        CREATE TABLE messages (
          id INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT NOT NULL, payload BLOB NOT NULL,
          retain INTEGER NOT NULL) STRICT;
        CREATE TABLE client (name TEXT NOT NULL) STRICT;
        PRAGMA application_id = \(application)
        """)
      try database.prepare("INSERT INTO client (name) VALUES (?)")
        .run(.text("halo-\(BatchMaker.randomName())"))
    }
  }
}
