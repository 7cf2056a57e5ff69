import HaloSystem
import HaloRingStore

/// Messages on disk, in order, from when they are made until the broker has acknowledged them. One process at a time
/// uses a queue. For one thread.
package final class MessageQueue {
  /// A message in the queue.
  package struct Entry: Hashable, Sendable {
    package var id: Int
    package var message: Message
    /// The client of the queue that it belongs to.
    fileprivate var client: String
  }

  /// The data of a message that are kept until it can be removed from the queue.
  package struct Receipt: Hashable, Sendable {
    fileprivate let id: Int
    fileprivate let size: Int
    /// The client of the queue that it belongs to.
    fileprivate let client: String

    package init(_ entry: Entry) {
      id = entry.id
      size = entry.message.payload.count
      client = entry.client
    }
  }

  /// A message that the broker does not take, and why.
  package struct Refusal: Hashable, Sendable {
    package var receipt: Receipt
    package var reason: String

    package init(_ receipt: Receipt, reason: String) {
      self.receipt = receipt
      self.reason = reason
    }
  }

  private let database: Database<QueueError>
  private let lock: FileLock
  private let insert: Statement<QueueError>
  private let select: Statement<QueueError>
  private let delete: Statement<QueueError>
  private let oldest: Statement<QueueError>
  private let states: Statement<QueueError>
  private let setAside: Statement<QueueError>
  private let oldestAside: Statement<QueueError>
  private let asideSize: Statement<QueueError>
  /// The number of bytes of messages that are kept.
  private let limit: Int
  /// The last entry of ``next(_:)``.
  private var lastRead = 0

  /// The name of this computer's user for the broker, which is made with the queue.
  package let client: String
  /// The file.
  var path: String { database.path }
  /// The number of messages.
  package private(set) var count = 0
  /// The number of messages that are set aside.
  package private(set) var asideCount = 0
  /// The number of bytes in the messages.
  private var byteCount = 0

  /// In bytes: about a month of a ring's stream.
  package static let standardLimit = 1 << 30
  /// The share of the limit for messages that were set aside.
  private static let asideShare = 16

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
    // The newest state counts. The literal number lets SQLite use the index.
    states = try database.prepare("SELECT id, length(payload) FROM messages WHERE topic = ? AND retain = 1")
    setAside = try database.prepare(
      "INSERT INTO aside SELECT id, topic, payload, retain, ? FROM messages WHERE id = ?")
    oldestAside = try database.prepare("DELETE FROM aside WHERE id = (SELECT min(id) FROM aside)")
    asideSize = try database.prepare("SELECT coalesce(sum(length(payload)), 0), count(*) FROM aside")
    let clients = try database.prepare("SELECT name FROM client").rows { $0.text(0) }
    guard let client = clients.first else { throw .database(path, message: "it has no client") }
    self.client = client
    let sums = try database.prepare("SELECT count(*), coalesce(sum(length(payload)), 0) FROM messages")
      .rows { ($0.integer(0), $0.integer(1)) }
    if let (count, bytes) = sums.first { (self.count, byteCount) = (count, bytes) }
    asideCount = try asideSize.rows { $0.integer(1) }.first ?? 0
  }

  /// Keeps messages, after those that are there. A state replaces the one of the same topic.
  ///
  /// - Returns: the number of messages that were dropped: the oldest, because of the limit
  package func add(_ messages: [Message]) throws(QueueError) -> Int {
    let size = messages.reduce(0) { $0 + $1.payload.count }
    var dropped: [(id: Int, size: Int)] = []
    var replaced: [Int] = []
    try database.transaction { () throws(QueueError) in
      if byteCount + size > limit { dropped = try drop(atLeast: byteCount + size - limit) }
      for message in messages {
        if message.isRetained { replaced += try replace(message.topic) }
        try insert.run(.text(message.topic), .bytes(message.payload), message.isRetained ? 1 : 0)
      }
    }
    count += messages.count - dropped.count - replaced.count
    byteCount += size - dropped.reduce(0) { $0 + $1.size } - replaced.reduce(0, +)
    return dropped.count
  }

  /// Removes the states of a topic.
  ///
  /// - Returns: the number of bytes in each
  private func replace(_ topic: String) throws(QueueError) -> [Int] {
    let old = try states.rows(.text(topic)) { ($0.integer(0), $0.integer(1)) }
    for (id, _) in old { try delete.run(.integer(id)) }
    return old.map(\.1)
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
    let client = self.client
    let entries = try select.rows(.integer(lastRead), .integer(limit)) {
      Entry(
        id: $0.integer(0),
        message: Message(
          topic: $0.text(1) ?? "", payload: $0.bytes(2), kind: $0.integer(3) != 0 ? .state : .record),
        client: client)
    }
    lastRead = entries.last?.id ?? lastRead
    return entries
  }

  /// Removes messages that the broker has.
  package func remove(_ receipts: [Receipt]) throws(QueueError) {
    var removed = 0
    var size = 0
    try database.transaction { () throws(QueueError) in
      // Receipts of a queue that was damaged are not in this one.
      for receipt in receipts where receipt.client == client {
        guard try delete.run(.integer(receipt.id)) == 1 else { continue }
        removed += 1
        size += receipt.size
      }
    }
    count -= removed
    byteCount -= size
  }

  /// Keeps messages that the broker does not take beside the queue. Of too many, the oldest are removed.
  package func setAside(_ refusals: [Refusal]) throws(QueueError) {
    var removed = 0
    var size = 0
    try database.transaction { () throws(QueueError) in
      for refusal in refusals where refusal.receipt.client == client {
        let id = refusal.receipt.id
        guard try setAside.run(.text(refusal.reason), .integer(id)) == 1 else { continue }
        try delete.run(.integer(id))
        removed += 1
        size += refusal.receipt.size
      }
      while let excess = try asideSize.rows(read: { $0.integer(0) }).first, excess > limit / Self.asideShare {
        try oldestAside.run()
      }
    }
    count -= removed
    byteCount -= size
    asideCount = try asideSize.rows { $0.integer(1) }.first ?? 0
  }

  /// Puts the messages that were set aside behind the others, to be sent again.
  package func takeBack() throws(QueueError) {
    let back = try asideSize.rows { ($0.integer(0), $0.integer(1)) }
    try database.transaction { () throws(QueueError) in
      try database.run(
        """
        INSERT INTO messages (topic, payload, retain) SELECT topic, payload, retain FROM aside ORDER BY id;
        DELETE FROM aside
        """)
    }
    guard let (size, number) = back.first else { return }
    count += number
    byteCount += size
    asideCount = 0
  }

  /// Why the newest message that is set aside was not taken; nil if there is none.
  package func lastReason() throws(QueueError) -> String? {
    try database.prepare("SELECT reason FROM aside ORDER BY id DESC LIMIT 1").rows { $0.text(0) }.first
  }

  /// Gives the room of removed messages back.
  package func compact() throws(QueueError) { try database.run("PRAGMA incremental_vacuum") }
}
