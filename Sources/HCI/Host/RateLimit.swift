import BluetoothCore

/// Lets something happen a limited number of times within any span of a length.
struct RateLimit: Hashable {
  private let span: Duration
  /// When it last happened; as many as are allowed, the oldest at ``next``.
  private var times: [Instant?]
  private var next = 0

  /// - Parameter count: one or more
  init(count: Int, per span: Duration) {
    self.span = span
    times = Array(repeating: nil, count: max(1, count))
  }

  /// Counts one more, if it is allowed.
  mutating func admits(at time: Instant) -> Bool {
    if let oldest = times[next], time - oldest < span { return false }
    times[next] = time
    next = (next + 1) % times.count
    return true
  }
}
