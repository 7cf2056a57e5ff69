import BluetoothCore

/// What a stream was like: how many samples, how fast, how even, and what is missing. Nothing is allocated for a
/// sample.
public struct StreamStatistics: Hashable, Sendable {
  /// How many samples came.
  public private(set) var count = 0
  /// Times at which samples were missing: intervals of nearly two periods or more.
  public private(set) var gaps = 0
  /// How many samples fit into the gaps.
  public private(set) var missing = 0
  /// The longest interval between two samples, in nanoseconds.
  public private(set) var longestInterval: Int64 = 0

  private var first = Instant.zero
  private var last = Instant.zero
  // Welford's running mean and sum of squared deviations, in nanoseconds; gaps are left out.
  private var intervals = 0
  private var mean = 0.0
  private var squares = 0.0

  public init() {}

  /// Takes the receive time of a sample. The ring has no clock and no counter in its samples, so that losses show only
  /// as missing periods.
  public mutating func add(_ time: Instant) {
    defer {
      last = time
      count += 1
    }
    guard count > 0 else {
      first = time
      return
    }
    let interval = time.nanoseconds(since: last)
    longestInterval = max(longestInterval, interval)
    let periods = mean > 0 ? Double(interval) / mean : 1
    // The first few intervals only teach what a period is.
    if intervals >= 8, periods >= 1.75 {
      gaps += 1
      missing += Int(min(periods.rounded(), 1e9)) - 1
      return
    }
    intervals += 1
    let deviation = Double(interval) - mean
    mean += deviation / Double(intervals)
    squares += deviation * (Double(interval) - mean)
  }

  /// Samples per second, from the first to the last; nil for fewer than two.
  public var rate: Double? {
    let nanoseconds = last.nanoseconds(since: first)
    return count > 1 && nanoseconds > 0 ? Double(count - 1) * 1e9 / Double(nanoseconds) : nil
  }

  /// The standard deviation of the intervals in seconds, without gaps; nil for fewer than three samples.
  public var jitter: Double? {
    intervals > 1 ? (squares / Double(intervals - 1)).squareRoot() / 1e9 : nil
  }
}
