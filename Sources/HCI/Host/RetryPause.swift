import HaloBluetoothCore

/// How long to wait before something that has failed is tried again: each time twice as long.
package struct RetryPause {
  private static let first = Duration.milliseconds(250)
  package static let longest = Duration.seconds(10)

  /// The pause after a number of failures in a row, at least one.
  package static func duration(after failures: Int, longest: Duration = longest) -> Duration {
    min(first * (1 << min(failures - 1, 10)), longest)
  }

  /// How often in a row it was refused.
  package private(set) var refusals = 0

  package init() {}

  /// Counts a refusal.
  ///
  /// - Returns: the pause
  package mutating func refused() -> Duration {
    refusals += 1
    return Self.duration(after: refusals)
  }

  /// The controller has accepted the request, or it is no longer asked.
  package mutating func end() { refusals = 0 }
}

/// Limits the number of events within any period of a given length.
struct RateLimit: Hashable {
  private let span: Duration
  /// The times of the last events, up to the limit; the oldest is at ``next``.
  private var times: [Instant?]
  private var next = 0

  /// - Parameter count: the maximum number of events, at least one
  init(count: Int, per span: Duration) {
    self.span = span
    times = Array(repeating: nil, count: max(1, count))
  }

  /// Counts an event, if it is within the limit.
  mutating func admits(at time: Instant) -> Bool {
    if let oldest = times[next], time - oldest < span { return false }
    times[next] = time
    next = (next + 1) % times.count
    return true
  }
}
