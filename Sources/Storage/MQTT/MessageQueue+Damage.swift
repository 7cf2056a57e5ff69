import Glibc
import HaloRingStore
import HaloSystem

extension MessageQueue {
  /// Opens or creates a queue. A file that is damaged is kept under another name, and a new one takes its place, with all
  /// messages of it that can be read.
  ///
  /// - Parameters:
  ///   - path: the file; its folder must exist
  ///   - limit: the number of bytes of messages to keep
  ///   - isDamaged: whether that is known of the file already
  /// - Returns: the queue, and the new path of the damaged file; nil if it is not damaged
  package static func openOrReplace(
    path: String, limit: Int = standardLimit, isDamaged: Bool = false
  ) throws(QueueError) -> (queue: MessageQueue, damaged: String?) {
    do throws(QueueError) {
      if isDamaged { throw .damaged(path) }
      return (try MessageQueue(path: path, limit: limit), nil)
    } catch {
      guard error.isOfContents else { throw error }
    }
    let moved = try setAside(damaged: path)
    let queue = try MessageQueue(path: path, limit: limit)
    queue.recover(from: moved)
    return (queue, moved)
  }

  /// In bytes: no message is larger.
  private static let largestMessage = 1 << 20
  /// How many messages are written at once.
  private static let portion = 64

  /// Takes the readable messages of a damaged file. Messages that were handed out may be among them, and are sent twice.
  private func recover(from path: String) {
    guard let damaged = try? Database<QueueError>(path: path),
      let names = try? damaged.prepare("SELECT id FROM messages ORDER BY id").rows(read: { $0.integer(0) }),
      let row = try? damaged.prepare(
        "SELECT topic, payload, retain FROM messages WHERE id = ? AND length(payload) <= ?")
    else { return }
    var messages: [Message] = []
    for name in names {
      let found = try? row.rows(.integer(name), .integer(Self.largestMessage)) { row in
        row.text(0).map {
          Message(topic: $0, payload: row.bytes(1), kind: row.integer(2) != 0 ? .state : .record)
        }
      }
      messages += found ?? []
      guard messages.count >= Self.portion else { continue }
      _ = try? add(messages)
      messages = []
    }
    if !messages.isEmpty { _ = try? add(messages) }
  }

  /// The end of the names of damaged files, with a number if there are several.
  package static let damagedSuffix = ".damaged"
  private static let mostDamaged = 9

  /// Gives a file another name. Of too many, the last is replaced.
  private static func setAside(damaged path: String) throws(QueueError) -> String {
    do throws(FileError) {
      guard let lock = try FileLock.attempt(path + ".lock") else { throw FileError(path, .locked) }
      defer { withExtendedLifetime(lock) {} }
      let names = [path + damagedSuffix] + (2...mostDamaged).map { "\(path)\(damagedSuffix)-\($0)" }
      let target = names.first { access($0, F_OK) != 0 } ?? names[names.count - 1]
      guard rename(path, target) == 0 else { throw FileError(path, .system(errno)) }
      // The companions of the damaged file must not be taken for parts of the new one.
      if rename(path + "-wal", target + "-wal") != 0 { unlink(path + "-wal") }
      unlink(path + "-shm")
      return target
    } catch {
      throw error.reason == .locked ? .busy : .file(error)
    }
  }
}

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
