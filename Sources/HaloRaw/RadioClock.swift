import HaloBluetoothCore

/// The time of a radio, which is virtual for a virtual radio: waits by this clock use the same time as the links.
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

  /// The same after a duration. That of all clocks leaves the actor of its caller, and virtual time does not wait for it.
  ///
  /// - Throws: `.cancelled` when the task is cancelled
  public func sleep(for duration: Duration) async throws { try await sleep(until: now + duration) }

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
  /// - Throws: the errors of `body`; `.timedOut`
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
  let actor = isolation
  return try await withoutActuallyEscaping(body) { body in
    nonisolated(unsafe) let body = body
    let work = LimitedWork(body)
    try await withThrowingTaskGroup(of: Bool.self, isolation: isolation) { group in
      group.addTask {
        try await work.run(on: actor)
        return true
      }
      group.addTask {
        try await clock.sleep(for: limit)
        return false
      }
      let isInTime = try await group.next() ?? false
      group.cancelAll()
      guard !isInTime else { return }
      var error = BluetoothError(.timedOut, "not done within \(limit)")
      // The error is now that of the cancellation; it may have been too late for that.
      if case .failure(let end as BluetoothError) = await group.nextResult() {
        error.mayHaveTakenEffect = end.mayHaveTakenEffect
      }
      throw error
    }
    guard let result = work.result else { throw BluetoothError.cancelled }
    return result
  }
}

/// The work of a program in a task of its own. The caller waits for it, on the same actor: neither runs beside the other.
private final class LimitedWork<Result>: @unchecked Sendable {
  private let body: () async throws -> Result
  private(set) var result: Result?

  init(_ body: @escaping () async throws -> Result) { self.body = body }

  func run(on actor: isolated (any Actor)?) async throws { result = try await body() }
}

/// The operators of the layers, for programs that import this module alone: operators are not exported with their type.
extension InstantProtocol where Self == Instant {
  /// The instant after a duration; the last one there is if it overflows.
  public static func + (instant: Self, duration: Swift.Duration) -> Self { instant.advanced(by: duration) }

  /// The duration from `earlier` to `later`.
  public static func - (later: Self, earlier: Self) -> Swift.Duration { earlier.duration(to: later) }
}
