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
