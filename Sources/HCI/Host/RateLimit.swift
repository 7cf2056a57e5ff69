import HaloBluetoothCore

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
