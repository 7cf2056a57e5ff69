import HaloBluetoothCore

/// The time of a radio, which is virtual where that is: what waits by this clock waits in the same time as the links do.
public struct RadioClock: Clock {
  // Used on the loop alone.
  private nonisolated(unsafe) let timers: Timers

  init(timers: Timers) { self.timers = timers }

  public var now: Instant { timers.current }

  public var minimumResolution: Duration { .nanoseconds(1) }

  /// - Throws: `.cancelled` when the task is cancelled
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    await wait(until: deadline)
    if Task.isCancelled { throw BluetoothError.cancelled }
  }

  @BluetoothActor private func wait(until deadline: Instant) async {
    await timers.sleep(for: deadline - timers.current)
  }
}

extension Radio {
  /// Runs `body` for at most `limit`, in the time of the radio.
  ///
  /// ```swift
  /// let level = try await radio.withTimeout(.seconds(2)) { try await sensor.read(.batteryLevel) }
  /// ```
  ///
  /// - **Cancelled**: `body` is cancelled.
  /// - **The time is over**: `body` is cancelled, and when it has returned, this throws `.timedOut`.
  ///
  /// - Parameters:
  ///   - limit: how long
  ///   - body: the program
  /// - Throws: what `body` throws; `.timedOut`
  public nonisolated func withTimeout<Result>(
    _ limit: Duration, _ body: () async throws -> Result
  ) async throws -> Result {
    try await run(for: limit, by: clock, body)
  }
}

/// Runs `body` where the caller runs, in a task that can be cancelled.
private func run<Result>(
  for limit: Duration, by clock: RadioClock, isolation: isolated (any Actor)? = #isolation,
  _ body: () async throws -> Result
) async throws -> Result {
  try await withoutActuallyEscaping(body) { body in
    // The caller waits for the body: neither runs beside the other.
    nonisolated(unsafe) let body = body
    nonisolated(unsafe) var result: Result?
    try await withThrowingTaskGroup(of: Bool.self, isolation: isolation) { group in
      group.addTask {
        _ = isolation
        result = try await body()
        return true
      }
      group.addTask {
        try await clock.sleep(for: limit)
        return false
      }
      let isInTime = try await group.next() ?? false
      group.cancelAll()
      guard isInTime else {
        // What it throws now is that it was cancelled.
        _ = await group.nextResult()
        throw BluetoothError(.timedOut, "not done within \(limit)")
      }
    }
    guard let result else { throw BluetoothError.cancelled }
    return result
  }
}
