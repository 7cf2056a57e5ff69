/// The newest state of each topic that this program has published: a broker that was started anew has none of them.
struct RetainedStates {
  private struct Entry {
    var message: Message
    /// Whether it was sent on this connection.
    var isSent = false
    /// Whether it is in the queue on disk, which sends it.
    var isQueued: Bool
  }

  private var entries: [String: Entry] = [:]
  /// The topics, in the order in which they were first published.
  private var topics: [String] = []

  /// Keeps a state in place of the one before. An announcement that says the same is none.
  mutating func set(_ message: Message) {
    if message.kind == .announcement, entries[message.topic]?.message == message { return }
    if entries[message.topic] == nil { topics.append(message.topic) }
    entries[message.topic] = Entry(message: message, isQueued: message.kind == .state)
  }

  /// Removes the states of topics that are no longer this program's.
  mutating func withdraw(_ withdrawn: Set<String>) {
    topics.removeAll { withdrawn.contains($0) }
    for topic in withdrawn { entries[topic] = nil }
  }

  /// The broker has a message of the queue.
  mutating func delivered(_ message: Message) {
    guard let entry = entries[message.topic], entry.message.payload == message.payload else { return }
    entries[message.topic]?.isQueued = false
    entries[message.topic]?.isSent = true
  }

  /// All that the queue does not send, for a connection that begins: announcements first, as they describe the others.
  mutating func takeAll() -> [Message] {
    for topic in topics { entries[topic]?.isSent = false }
    return takeNew()
  }

  /// The states that the queue does not send, and that were not sent on this connection.
  mutating func takeNew() -> [Message] {
    var new: [Message] = []
    for topic in topics {
      guard let entry = entries[topic], !entry.isQueued, !entry.isSent else { continue }
      new.append(entry.message)
      entries[topic]?.isSent = true
    }
    return new.filter { $0.kind == .announcement } + new.filter { $0.kind != .announcement }
  }
}
