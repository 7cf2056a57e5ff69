import ATT
import HaloBluetoothCore

/// Values that wait to be sent to a client, in their order: bounded in number and in bytes.
struct ValueQueue {
  /// The most that wait.
  static let valueLimit = 16
  /// The most bytes that wait.
  static let byteLimit = 4096

  private var waiting: [(handle: AttributeHandle, value: [UInt8])] = []
  private var byteCount = 0

  var isEmpty: Bool { waiting.isEmpty }

  /// - Parameter replacing: whether it takes the place of a value of the same attribute that waits
  /// - Returns: whether there was room
  mutating func append(_ value: [UInt8], of handle: AttributeHandle, replacing: Bool = false) -> Bool {
    let place = replacing ? waiting.firstIndex { $0.handle == handle } : nil
    let others = byteCount - (place.map { waiting[$0].value.count } ?? 0)
    guard others + value.count <= Self.byteLimit else { return false }
    if let place {
      waiting[place].value = value
    } else {
      guard waiting.count < Self.valueLimit else { return false }
      waiting.append((handle, value))
    }
    byteCount = others + value.count
    return true
  }

  mutating func takeNext() -> (handle: AttributeHandle, value: [UInt8])? {
    guard !waiting.isEmpty else { return nil }
    let next = waiting.removeFirst()
    byteCount -= next.value.count
    return next
  }

  /// Drops the values of the other attributes.
  mutating func keep(_ isWanted: (AttributeHandle) -> Bool) {
    waiting.removeAll { !isWanted($0.handle) }
    byteCount = waiting.reduce(0) { $0 + $1.value.count }
  }
}

/// The indication that a client has not confirmed, and those that wait (Core Specification Vol 3, Part F, 3.4.7.2).
struct IndicationQueue {
  /// The value that waits for its confirmation.
  private(set) var open: AttributeHandle?
  private var deadline: Timers.Token?
  private var waiting = ValueQueue()
  /// The changes since the last indication of Service Changed, kept as one range, so that none is lost.
  private var changes: HandleRange?

  /// - Returns: whether there was room
  mutating func append(_ value: [UInt8], of handle: AttributeHandle, replacing: Bool) -> Bool {
    waiting.append(value, of: handle, replacing: replacing)
  }

  /// Adds a change of the table.
  mutating func add(change range: HandleRange) {
    guard let known = changes else { return changes = range }
    changes = HandleRange(min(known.start, range.start), max(known.end, range.end))
  }

  /// Whether a change of the table was not indicated yet.
  var hasChanges: Bool { changes != nil }

  mutating func takeChanges() -> HandleRange? { changes.take() }

  /// The next value, unless one is not confirmed.
  mutating func takeNext() -> (handle: AttributeHandle, value: [UInt8])? {
    open == nil ? waiting.takeNext() : nil
  }

  /// An indication was sent.
  mutating func sent(_ handle: AttributeHandle, _ deadline: Timers.Token) {
    open = handle
    self.deadline = deadline
  }

  /// The client has confirmed.
  ///
  /// - Returns: the handle that it has confirmed, and the deadline to cancel; nil if it had nothing to confirm
  mutating func confirm() -> (handle: AttributeHandle, deadline: Timers.Token?)? {
    guard let handle = open else { return nil }
    defer { (open, deadline) = (nil, nil) }
    return (handle, deadline)
  }

  /// Drops indications of values that the client does not want any more, or that were removed.
  mutating func keep(_ isWanted: (AttributeHandle) -> Bool) { waiting.keep(isWanted) }

  /// - Returns: the deadline to cancel
  mutating func removeAll() -> Timers.Token? {
    defer { self = IndicationQueue() }
    return deadline
  }
}

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
