/// A message to publish.
package struct Message: Hashable, Sendable {
  /// The kind of a message, which decides how long it is useful.
  package enum Kind: Hashable, Sendable {
    /// Each is wanted, once and in order: it is kept on disk until the broker has it.
    case record
    /// The newest of its topic is wanted: the broker retains it, and gets it again with each connection.
    case state
    /// A state that is true only as long as the program publishes it. It is not kept on disk.
    case announcement
    /// It is sent once if there is a connection, and otherwise dropped.
    case momentary
  }

  package var topic: String
  package var payload: [UInt8]
  package var kind: Kind

  package init(topic: String, payload: [UInt8], kind: Kind = .record) {
    self.topic = topic
    self.payload = payload
    self.kind = kind
  }

  package init(topic: String, text: String, kind: Kind = .record) {
    self.init(topic: topic, payload: Array(text.utf8), kind: kind)
  }

  /// Whether the broker keeps it for later subscribers.
  package var isRetained: Bool { kind == .state || kind == .announcement }
  package var isMomentary: Bool { kind == .momentary }
}
