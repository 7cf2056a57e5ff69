import BluetoothCore

/// What a stream was like: how many samples, how fast, how even, and what is missing. Nothing is allocated for a
/// sample.
public struct StreamStatistics: Hashable, Sendable {
  /// How many samples came.
  public private(set) var count = 0
  /// Times at which samples were missing. A slow link delivers samples in bursts, which is no gap: there is one
  /// when a burst comes much later than the samples in it explain.
  public private(set) var gaps = 0
  /// How many samples fit into the gaps.
  public private(set) var missing = 0
  /// The longest interval between two samples, in nanoseconds.
  public private(set) var longestInterval: Int64 = 0

  private var first = Instant.zero
  private var last = Instant.zero
  /// The time before the present burst, and how many samples it has so far.
  private var burstInterval = 0.0
  private var burstSize = 0
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
    let nanoseconds = Double(interval)
    if intervals >= Self.lessons, nanoseconds < mean / 4 {
      burstSize += 1
    } else {
      endBurst()
      burstInterval = nanoseconds
      burstSize = 1
      // What looks like a gap teaches nothing about the period. Whether it is one, the rest of the burst tells.
      if intervals >= Self.lessons, nanoseconds > Self.tolerance * mean, nanoseconds > 4 * deviation + mean {
        return
      }
    }
    intervals += 1
    let distance = nanoseconds - mean
    mean += distance / Double(intervals)
    squares += distance * (nanoseconds - mean)
  }

  /// How many intervals only teach what a period is.
  private static let lessons = 8
  /// How many periods late a sample may be before it counts as missing others.
  private static let tolerance = 1.75

  private mutating func endBurst() {
    guard intervals >= Self.lessons, mean > 0, burstSize > 0 else { return }
    let periods = burstInterval / mean
    guard periods > Self.tolerance * Double(burstSize) else { return }
    gaps += 1
    missing += Int(min(periods.rounded(), 1e9)) - burstSize
  }

  private var deviation: Double {
    intervals > 1 ? (squares / Double(intervals - 1)).squareRoot() : 0
  }

  /// Samples per second, from the first to the last; nil for fewer than two.
  public var rate: Double? {
    let nanoseconds = last.nanoseconds(since: first)
    return count > 1 && nanoseconds > 0 ? Double(count - 1) * 1e9 / Double(nanoseconds) : nil
  }

  /// The standard deviation of the intervals in seconds, without gaps; nil for fewer than three samples.
  public var jitter: Double? {
    intervals > 1 ? deviation / 1e9 : nil
  }
}
