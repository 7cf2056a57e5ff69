/// Everything in a stack that waits for a time, in order of time.
///
/// `Timers` has no clock. Whoever drives the stack tells it the time with ``advance(to:)``: the event loop
/// from the kernel's monotonic clock, a test from its script, a replay from the capture.
public final class Timers {
  /// Names a timer, so that it can be cancelled.
  public struct Token: Hashable, Sendable {
    fileprivate let id: UInt64
  }

  private struct Entry {
    var deadline: Instant
    var id: UInt64
    var action: () -> Void
  }

  /// The time, as last told.
  public private(set) var now: Instant

  private var nextID: UInt64 = 0
  /// Latest first, so that the next one due is removed from the end.
  private var entries: [Entry] = []

  public init(now: Instant = .zero) {
    self.now = now
  }

  /// When the next timer is due; nil when nothing waits.
  public var nextDeadline: Instant? { entries.last?.deadline }

  /// Runs `action` once, as soon as the time is told to be `deadline` or later. Timers with the same
  /// deadline run in the order in which they were made.
  @discardableResult
  public func schedule(at deadline: Instant, _ action: @escaping () -> Void) -> Token {
    let id = nextID
    nextID &+= 1
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].deadline > deadline { low = middle + 1 } else { high = middle }
    }
    entries.insert(Entry(deadline: deadline, id: id, action: action), at: low)
    return Token(id: id)
  }

  /// Runs `action` once, `delay` from now.
  @discardableResult
  public func schedule(after delay: Duration, _ action: @escaping () -> Void) -> Token {
    schedule(at: now + delay, action)
  }

  /// Forgets a timer. One that has run, or was cancelled before, is no error.
  public func cancel(_ token: Token?) {
    guard let token, let index = entries.firstIndex(where: { $0.id == token.id }) else { return }
    entries.remove(at: index)
  }

  /// Tells the time, and runs what is due, earliest first; while a timer runs, ``now`` is its deadline. A
  /// timer made meanwhile runs too if it is due. Time never goes back: an earlier `instant` only runs what
  /// is due already.
  public func advance(to instant: Instant) {
    let target = max(now, instant)
    while let next = entries.last, next.deadline <= target {
      entries.removeLast()
      now = max(now, next.deadline)
      next.action()
    }
    now = max(now, target)
  }

  /// Moves the time on by `duration`.
  public func advance(by duration: Duration) {
    advance(to: now + duration)
  }
}
