import ATT
import HaloBluetoothCore

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
