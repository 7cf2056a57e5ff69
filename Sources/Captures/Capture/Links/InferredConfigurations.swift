import ATT

/// The Client Characteristic Configurations of a server that were not discovered: they are recognized by the values written to
/// them, and their characteristics by the values that they send. Bounded.
package struct InferredConfigurations: Sendable {
  private static let capacity = 1024

  private var written: Set<AttributeHandle> = []
  private var senders: Set<AttributeHandle> = []

  package init() {}

  /// Notes a write to an attribute that was not discovered: two bytes that switch notifications or indications on show
  /// that it is a configuration (Core Specification Vol 3, Part G, 3.3.3.3).
  package mutating func noteWrite(_ handle: AttributeHandle, _ value: RawSpan) {
    guard value.byteCount == 2, value.byte(at: 1) == 0, let bits = value.byte(at: 0), (1...3).contains(bits),
      written.count < Self.capacity
    else { return }
    written.insert(handle)
  }

  /// Notes that a characteristic has sent a value.
  package mutating func noteValue(_ handle: AttributeHandle) {
    if senders.count < Self.capacity { senders.insert(handle) }
  }

  /// The handles of the configurations, in order.
  package var handles: [AttributeHandle] { written.sorted() }

  package var isEmpty: Bool { written.isEmpty }

  package func contains(_ handle: AttributeHandle) -> Bool { written.contains(handle) }

  /// The characteristic before a configuration that has sent values: the handle of its value.
  package func sender(before configuration: AttributeHandle) -> AttributeHandle? {
    // Other descriptors may be between them.
    (UInt16(1)...4).lazy.filter { configuration.rawValue > $0 }
      .map { AttributeHandle(configuration.rawValue - $0) }.first(where: senders.contains)
  }
}

/// How long after a write a value may come that answers it, in microseconds. A capture does not show which value answers which
/// write.
package enum AnswerTime {
  /// A value that begins like the write.
  package static var echo: Int64 { 60_000_000 }
  /// Any other value.
  package static var other: Int64 { 2_000_000 }
}
