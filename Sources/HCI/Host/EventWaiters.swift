import HaloBluetoothCore

/// The callers that wait for the event that ends a procedure of a link, in the order of their commands.
package final class EventWaiters<Value> {
  /// The procedures of the link layers end within 40 s, or the link does (Vol 6, Part B, 5.2).
  package static var deadline: Duration { .seconds(45) }

  private struct Waiter {
    let id: UInt64
    let completion: (Result<Value, StackError>) -> Void
    let deadline: Timers.Token
  }

  private let timers: Timers
  private var waiters: [Waiter] = []
  private var count: UInt64 = 0

  package init(_ timers: Timers) {
    self.timers = timers
  }

  package var isWaiting: Bool { !waiters.isEmpty }

  /// - Returns: identifies the caller
  package func add(_ opcode: HCIOpcode, _ completion: @escaping (Result<Value, StackError>) -> Void) -> UInt64
  {
    count += 1
    let id = count
    let deadline = timers.schedule(after: Self.deadline) { [weak self] in
      self?.end(id, .failure(.commandTimedOut(opcode)))
    }
    waiters.append(Waiter(id: id, completion: completion, deadline: deadline))
    return id
  }

  /// Ends the wait of one caller.
  package func end(_ id: UInt64, _ result: Result<Value, StackError>) {
    guard let index = waiters.firstIndex(where: { $0.id == id }) else { return }
    let waiter = waiters.remove(at: index)
    timers.cancel(waiter.deadline)
    waiter.completion(result)
  }

  /// Ends the wait of the first caller; an event of a procedure that the peer has begun may have none.
  package func receive(_ result: Result<Value, StackError>) {
    if let first = waiters.first { end(first.id, result) }
  }

  /// Ends all waits: the link is disconnected.
  package func fail(_ error: StackError) {
    while let first = waiters.first { end(first.id, .failure(error)) }
  }

  /// Ends all waits, and calls nothing.
  package func removeAll() {
    for waiter in waiters { timers.cancel(waiter.deadline) }
    waiters = []
  }
}
