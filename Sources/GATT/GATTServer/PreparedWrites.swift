import ATT

/// The queue of prepared writes of a client (Core Specification Vol 3, Part F, 3.4.6): bounded in parts and in bytes.
struct PreparedWrites {
  /// The most parts.
  static let partLimit = 64
  /// The most bytes of values, of all parts together.
  static let byteLimit = 4096

  private(set) var parts: [ATTPreparedWrite] = []
  private(set) var byteCount = 0

  /// - Returns: whether there was room; a part without room leaves the queue as it is
  mutating func append(_ part: ATTPreparedWrite) -> Bool {
    guard parts.count < Self.partLimit, byteCount + part.value.count <= Self.byteLimit else { return false }
    parts.append(part)
    byteCount += part.value.count
    return true
  }

  /// Empties the queue.
  ///
  /// - Returns: the parts, in the order in which the client has sent them
  mutating func take() -> [ATTPreparedWrite] {
    defer { self = PreparedWrites() }
    return parts
  }

  /// The parts for one attribute.
  struct Group {
    var handle: AttributeHandle
    var parts: [ATTPreparedWrite] = []

    /// - Returns: the parts of each attribute, in the order of their first ones
    static func each(of parts: [ATTPreparedWrite]) -> [Group] {
      var groups: [Group] = []
      for part in parts {
        let place = groups.firstIndex { $0.handle == part.handle } ?? groups.count
        if place == groups.count { groups.append(Group(handle: part.handle)) }
        groups[place].parts.append(part)
      }
      return groups
    }

    /// Whether the old value is replaced from its start, and so is not needed.
    var isWhole: Bool { parts.first?.offset == 0 }

    /// Where the part ends that reaches furthest.
    var end: Int { parts.map { Int($0.offset) + $0.value.count }.max() ?? 0 }

    /// Writes the parts over the old value; nil if one begins behind the end of the value as it is by then.
    func value(over old: [UInt8]) -> [UInt8]? {
      var value = isWhole ? [] : old
      for part in parts {
        let offset = Int(part.offset)
        guard offset <= value.count else { return nil }
        value.replaceSubrange(offset..<min(value.count, offset + part.value.count), with: part.value)
      }
      return value
    }
  }
}
