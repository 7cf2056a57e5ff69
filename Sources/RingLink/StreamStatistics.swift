import BluetoothCore

/// What a stream was like: how many samples, how fast, how even, and what is missing. Nothing is allocated for a
/// sample.
public struct StreamStatistics: Sendable {
  /// How many samples came.
  public private(set) var count = 0
  /// Times at which samples were missing for good. Samples that are late, or come in bursts over a slow link, are no
  /// gap: they catch up.
  public private(set) var gaps = 0
  /// How many samples fit into the gaps.
  public private(set) var missing = 0
  /// The longest interval between two samples, in nanoseconds.
  public private(set) var longestInterval: Int64 = 0

  private var first = Instant.zero
  private var last = Instant.zero
  // Number, sum and sum of squares of the intervals, in nanoseconds; gaps are left out.
  private var intervals = 0.0
  private var sum = 0.0
  private var squares = 0.0
  /// An interval in which samples seem to be missing, until it is known.
  private var suspect: Suspect?

  private struct Suspect {
    /// When it began, and how long a period was until then, in nanoseconds.
    var start: Instant
    var period: Double
    var interval: Double
    /// How many samples came since.
    var samples = 0
    /// By how many periods the stream was behind when it was least so.
    var leastLag = Double.infinity
  }

  /// How many intervals only teach what a period is.
  private static let lessons = 16
  /// How many periods an interval may last before samples seem to be missing.
  private static let tolerance = 1.75
  /// How many samples may come until the stream must have caught up.
  private static let patience = 8

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
    if suspect == nil, count > Self.lessons, Double(interval) >= Self.tolerance * period {
      suspect = Suspect(start: last, period: period, interval: Double(interval))
    } else {
      learn(Double(interval))
    }
    follow(time)
  }

  private mutating func learn(_ interval: Double) {
    intervals += 1
    sum += interval
    squares += interval * interval
  }

  /// The time from sample to sample up to the last one, in nanoseconds.
  private var period: Double {
    Double(last.nanoseconds(since: first)) / Double(max(1, count - 1 + missing))
  }

  /// Looks whether the stream has caught up with what seemed to be missing.
  private mutating func follow(_ time: Instant) {
    guard var open = suspect else { return }
    open.samples += 1
    let elapsed = Double(time.nanoseconds(since: open.start))
    open.leastLag = min(open.leastLag, elapsed / open.period - Double(open.samples))
    // Early on, a period is not well known; all that has come by now knows it better.
    let now = Double(time.nanoseconds(since: first)) / Double(count + missing)
    if elapsed / max(open.period, now) - Double(open.samples) < 1 {
      suspect = nil
      learn(open.interval)
    } else if open.samples == Self.patience {
      suspect = nil
      gaps += 1
      missing += Int(min(max(1, open.leastLag.rounded()), 1e9))
    } else {
      suspect = open
    }
  }

  /// Samples per second, from the first to the last; nil for fewer than two.
  public var rate: Double? {
    let nanoseconds = last.nanoseconds(since: first)
    return count > 1 && nanoseconds > 0 ? Double(count - 1) * 1e9 / Double(nanoseconds) : nil
  }

  /// The standard deviation of the intervals in seconds, without gaps; nil for fewer than three samples.
  public var jitter: Double? {
    guard intervals > 1 else { return nil }
    let variance = (squares - sum * sum / intervals) / (intervals - 1)
    return max(0, variance).squareRoot() / 1e9
  }
}
