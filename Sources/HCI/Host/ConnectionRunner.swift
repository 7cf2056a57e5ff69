import HaloBluetoothCore

/// Runs ``ConnectionAttempts``: holds their completions and their timer.
package final class ConnectionRunner<Link> {
  package typealias Attempts = ConnectionAttempts<Link>

  package private(set) var attempts: Attempts
  /// Performs an action; ``ConnectionAttempts/Action/finish(_:_:)`` is performed here.
  package var perform: (Attempts.Action) -> Void = { _ in }

  private let timers: Timers
  private var timer: Timers.Token?
  private var completions: [Attempts.ID: (Result<Link, StackError>) -> Void] = [:]
  private var nextID: Attempts.ID = 0

  package init(_ creator: Attempts.Creator, keepsScan: Bool = false, timers: Timers) {
    attempts = Attempts(creator, keepsScan: keepsScan)
    self.timers = timers
  }

  /// Establishes a link. `completion` is called exactly once.
  ///
  /// - Returns: a closure that cancels the attempt; a link that is established nevertheless is disconnected
  package func connect(
    _ request: ConnectionRequest, completion: @escaping (Result<Link, StackError>) -> Void
  ) -> () -> Void {
    let id = nextID
    nextID += 1
    completions[id] = completion
    run(attempts.add(id, request, at: timers.current))
    return { [weak self] in
      if let self { run(attempts.end(id, .cancelled, at: timers.now)) }
    }
  }

  /// Handles an event of the attempt with the identifier `id`, which may have ended; nil is the current one.
  package func handle(_ event: Attempts.Event, of id: Attempts.ID? = nil) {
    run(attempts.handle(event, of: id, at: timers.now))
  }

  /// Fails all attempts.
  package func fail(_ error: StackError) {
    run(attempts.fail(error))
  }

  private func run(_ actions: [Attempts.Action]) {
    timers.cancel(timer)
    timer = attempts.nextDeadline.map { deadline in
      timers.schedule(at: deadline) { [weak self] in
        if let self { run(attempts.advance(to: timers.now)) }
      }
    }
    for action in actions {
      if case .finish(let id, let result) = action {
        completions.removeValue(forKey: id)?(result)
      } else {
        perform(action)
      }
    }
  }
}
