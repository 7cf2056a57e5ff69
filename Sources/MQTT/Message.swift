/// What is published.
package struct Message: Hashable, Sendable {
  package var topic: String
  package var payload: [UInt8]
  /// Whether the broker keeps it for later subscribers.
  package var isRetained: Bool
  /// Whether it is of the moment: it is sent once if there is a connection, and otherwise dropped.
  package var isMomentary = false

  package init(topic: String, payload: [UInt8], isRetained: Bool = false) {
    self.topic = topic
    self.payload = payload
    self.isRetained = isRetained
  }

  /// A message of the moment.
  package init(momentary topic: String, text: String) {
    self.init(topic: topic, payload: Array(text.utf8))
    isMomentary = true
  }

  package init(topic: String, text: String, isRetained: Bool = false) {
    self.init(topic: topic, payload: Array(text.utf8), isRetained: isRetained)
  }
}
