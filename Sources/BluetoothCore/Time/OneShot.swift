/// A closure that is called at most once: the end of a wait that several events can end, of which the first counts. The
/// call releases the closure and cancels the deadline, if there is one.
@BluetoothActor
package final class OneShot<Value> {
  private var action: ((Value) -> Void)?
  private var timers: Timers?
  private var deadline: Timers.Token?

  package init(_ action: @escaping (Value) -> Void) {
    self.action = action
  }

  /// Whether it has not been called.
  package var isPending: Bool { action != nil }

  /// Calls it with `value` when `time` has passed.
  package func expire(after time: Duration, in timers: Timers, with value: Value) {
    timers.cancel(deadline)
    guard isPending else { return }
    self.timers = timers
    deadline = timers.schedule(after: time) { self(value) }
  }

  /// - Returns: whether this was the first call; others do nothing
  @discardableResult
  package func callAsFunction(_ value: Value) -> Bool {
    guard let action = action.take() else { return false }
    timers?.cancel(deadline)
    action(value)
    return true
  }
}

extension OneShot where Value == Void {
  @discardableResult
  package func callAsFunction() -> Bool { self(()) }
}
