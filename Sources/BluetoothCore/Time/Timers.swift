import Synchronization

/// The pending timers of a stack, ordered by deadline.
///
/// The owner sets the time with ``advance(to:)``: the event loop from the kernel's monotonic clock, a test from its
/// script, a replay from the capture.
///
/// On the way of every packet: properties are read and written without dynamic checks for exclusive access, which cost 80
/// instructions each. No access here lasts longer than one statement.
@usableFromInline package final class Timers {
  /// Identifies a timer, so that it can be cancelled.
  package struct Token: Hashable, Sendable {
    fileprivate let id: UInt64
  }

  private struct Entry {
    var deadline: Instant
    var id: UInt64
    var action: () -> Void
  }

  /// The current time, as last set; from any thread.
  @usableFromInline package private(set) var now: Instant {
    get { Instant(nanoseconds: time.load(ordering: .relaxed)) }
    set { time.store(newValue.nanoseconds, ordering: .relaxed) }
  }
  private let time: Atomic<Int64>

  /// The current time: the clock's, or ``now`` without a clock.
  package var current: Instant { clock?() ?? now }

  private let clock: (() -> Instant)?
  private var nextID: UInt64 = 0
  /// Latest first, so that the next one due is removed from the end.
  @exclusivity(unchecked) private var entries: [Entry] = []

  /// A virtual time, which its owner advances.
  package init(now: Instant = .zero) {
    time = Atomic(now.nanoseconds)
    clock = nil
  }

  /// The time of a clock, which must be monotonic.
  package init(clock: @escaping () -> Instant) {
    time = Atomic(clock().nanoseconds)
    self.clock = clock
  }

  /// The deadline of the next timer; nil if there is none.
  package var nextDeadline: Instant? { entries.last?.deadline }

  /// Runs `action` once, as soon as the time reaches `deadline`. Timers with the same deadline run in the order of
  /// creation.
  @discardableResult
  package func schedule(at deadline: Instant, _ action: @escaping () -> Void) -> Token {
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

  /// Runs `action` once, `delay` from now. The time since ``now`` was set counts if it is long: a program may have blocked the
  /// loop. The few microseconds that the handling of a packet takes do not, so that a replay, which has only the recorded
  /// times, computes the same deadlines.
  @discardableResult
  package func schedule(after delay: Duration, _ action: @escaping () -> Void) -> Token {
    let current = self.current
    return schedule(at: (current - now > Self.staleness ? current : now) + delay, action)
  }

  /// A time that was set so long ago is not the time of a call.
  private static let staleness = Duration.milliseconds(20)

  /// Cancels a timer. Does nothing if it has already run or was cancelled.
  package func cancel(_ token: Token?) {
    guard let token, let index = entries.firstIndex(where: { $0.id == token.id }) else { return }
    entries.remove(at: index)
  }

  /// Sets the time, and runs the timers that are due, earliest first; while a timer runs, ``now`` is its deadline.
  /// Timers scheduled by these actions run too if they are due. Time never decreases: an earlier `instant` only runs
  /// the timers that are already due.
  package func advance(to instant: Instant) {
    let target = max(now, instant)
    while let next = entries.last, next.deadline <= target {
      entries.removeLast()
      now = max(now, next.deadline)
      next.action()
    }
    now = max(now, target)
  }

  /// Sets the time without running timers; the ones that are due run with the next ``advance(to:)``. For input that is
  /// older than these timers.
  package func skip(to instant: Instant) {
    now = max(now, instant)
  }

  /// Advances the time by `duration`.
  package func advance(by duration: Duration) {
    advance(to: now + duration)
  }
}

/// A time that jumps to its next timer as soon as the event loop has no work: a minute takes milliseconds, and results
/// are reproducible. For replays, simulations and tests; any number can be in use at once.
package final class VirtualTime {
  /// The time, for everything that runs in it.
  package let timers: Timers
  /// Called when the loop has no work, with the deadline of the next timer. Returns true if it has added work; the time
  /// does not jump then.
  package var onIdle: ((Instant?) -> Bool)?

  package init(startingAt start: Instant = .zero) {
    timers = Timers(now: start)
  }

  /// Jumps to the next timer and runs it. For the event loop.
  ///
  /// - Returns: false if there is nothing to do until another event happens
  package func advance() -> Bool {
    if let onIdle, onIdle(timers.nextDeadline) { return true }
    guard let deadline = timers.nextDeadline else { return false }
    timers.advance(to: deadline)
    return true
  }
}
