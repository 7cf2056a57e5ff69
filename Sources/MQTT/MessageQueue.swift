import BluetoothCore
import Files
import SQLite

/// Messages on disk, in order, from when they are made until the broker has acknowledged them. One process at a time uses
/// a queue. For one thread.
package final class MessageQueue {
  /// A message in the queue.
  package struct Entry: Hashable, Sendable {
    package var id: Int
    package var message: Message
  }

  /// What is kept of a message in the queue until it can be removed.
  package struct Receipt: Hashable, Sendable {
    fileprivate let id: Int
    fileprivate let size: Int

    package init(_ entry: Entry) {
      id = entry.id
      size = entry.message.payload.count
    }
  }

  private let database: Database<QueueError>
  private let lock: FileLock
  private let insert: Statement<QueueError>
  private let select: Statement<QueueError>
  private let delete: Statement<QueueError>
  private let oldest: Statement<QueueError>
  /// The number of bytes of messages that are kept.
  private let limit: Int
  /// The last entry of ``next(_:)``.
  private var lastRead = 0

  /// The name of this computer's user for the broker, which is made with the queue.
  package let client: String
  /// The number of messages.
  package private(set) var count = 0
  /// The number of bytes in them.
  private var byteCount = 0

  /// In bytes: about a month of a ring's stream.
  package static let standardLimit = 1 << 30
  private static let application = 0x48_51_75_65

  /// Opens or creates a queue.
  ///
  /// - Parameters:
  ///   - path: the file; its folder must exist
  ///   - limit: the number of bytes of messages to keep; the oldest are dropped beyond
  package init(path: String, limit: Int = standardLimit) throws(QueueError) {
    self.limit = limit
    do throws(FileError) {
      guard let lock = try FileLock.attempt(path + ".lock") else { throw FileError(path, .locked) }
      self.lock = lock
    } catch {
      throw error.reason == .locked ? .busy : .file(error)
    }
    database = try Database(path: path)
    try Self.check(database)
    // Without room that is freed, the file stays as large as it ever was.
    try database.run("PRAGMA auto_vacuum = INCREMENTAL")
    try database.useWriteAheadLog()
    try Self.create(in: database)
    insert = try database.prepare("INSERT INTO messages (topic, payload, retain) VALUES (?, ?, ?)")
    select = try database.prepare(
      "SELECT id, topic, payload, retain FROM messages WHERE id > ? ORDER BY id LIMIT ?")
    delete = try database.prepare("DELETE FROM messages WHERE id = ?")
    oldest = try database.prepare("SELECT id, length(payload) FROM messages ORDER BY id LIMIT ?")
    let clients = try database.prepare("SELECT name FROM client").rows { $0.text(0) }
    guard let client = clients.first else { throw .database(path, message: "it has no client") }
    self.client = client
    let sums = try database.prepare("SELECT count(*), coalesce(sum(length(payload)), 0) FROM messages")
      .rows { ($0.integer(0), $0.integer(1)) }
    if let (count, bytes) = sums.first { (self.count, byteCount) = (count, bytes) }
  }

  private static func check(_ database: Database<QueueError>) throws(QueueError) {
    try database.verifyFormat()
    let found = try database.prepare(
      "SELECT (SELECT * FROM pragma_application_id), (SELECT count(*) FROM sqlite_schema)"
    ).rows { ($0.integer(0), $0.integer(1)) }
    guard let (number, tables) = found.first, number == application || (number == 0 && tables == 0) else {
      throw .foreign(database.path)
    }
  }

  private static func create(in database: Database<QueueError>) throws(QueueError) {
    let tables = try database.prepare("SELECT count(*) FROM sqlite_schema").rows { $0.integer(0) }
    guard tables.first == 0 else { return }
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

  /// Keeps messages, after those that are there.
  ///
  /// - Returns: the number of messages that were dropped: the oldest, because of the limit
  package func add(_ messages: [Message]) throws(QueueError) -> Int {
    let size = messages.reduce(0) { $0 + $1.payload.count }
    var dropped: [(id: Int, size: Int)] = []
    try database.transaction { () throws(QueueError) in
      if byteCount + size > limit { dropped = try drop(atLeast: byteCount + size - limit) }
      for message in messages {
        try insert.run(.text(message.topic), .bytes(message.payload), message.isRetained ? 1 : 0)
      }
    }
    count += messages.count - dropped.count
    byteCount += size - dropped.reduce(0) { $0 + $1.size }
    return dropped.count
  }

  /// Removes the oldest messages.
  private func drop(atLeast excess: Int) throws(QueueError) -> [(id: Int, size: Int)] {
    var dropped: [(id: Int, size: Int)] = []
    var freed = 0
    while freed < excess {
      let rows = try oldest.rows(.integer(64)) { ($0.integer(0), $0.integer(1)) }
      if rows.isEmpty { break }
      for (id, size) in rows where freed < excess {
        try delete.run(.integer(id))
        freed += size
        dropped.append((id, size))
      }
    }
    return dropped
  }

  /// The oldest messages that this function has not returned yet.
  package func next(_ limit: Int) throws(QueueError) -> [Entry] {
    let entries = try select.rows(.integer(lastRead), .integer(limit)) {
      Entry(
        id: $0.integer(0),
        message: Message(
          topic: $0.text(1) ?? "", payload: $0.bytes(2), isRetained: $0.integer(3) != 0))
    }
    lastRead = entries.last?.id ?? lastRead
    return entries
  }

  /// Removes messages that the broker has.
  package func remove(_ receipts: [Receipt]) throws(QueueError) {
    var removed = 0
    var size = 0
    try database.transaction { () throws(QueueError) in
      for receipt in receipts where try delete.run(.integer(receipt.id)) == 1 {
        removed += 1
        size += receipt.size
      }
    }
    count -= removed
    byteCount -= size
  }

  /// Gives the room of removed messages back.
  package func compact() throws(QueueError) { try database.run("PRAGMA incremental_vacuum") }
}

/// Why messages cannot be kept on disk.
package enum QueueError: DatabaseFailure, Hashable, CustomStringConvertible {
  case database(String, message: String)
  case foreign(String)
  case file(FileError)
  /// Another process uses the queue.
  case busy
  case impossible(column: String, value: String)

  package var description: String {
    switch self {
    case .database(let path, let message): "the queue \(path.printable) failed: \(message)"
    case .foreign(let path): "\(path.printable) is not a queue of halo-raw; remove it"
    case .file(let error): "cannot open the queue \(error)"
    case .busy:
      "another halo-raw sends to this broker with this prefix; end it, or use another prefix"
    case .impossible(let column, let value): "the queue is damaged: there is a \(column) of \(value)"
    }
  }
}
