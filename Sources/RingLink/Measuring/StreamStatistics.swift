import HaloBluetoothCore

/// Statistics of a stream: number of samples, rate, jitter and pauses. Adding a sample does not allocate.
///
/// A ring's samples have no counter, so only times show a loss. The number of missing samples is unknown and not estimated; see
/// ``gaps`` and ``delays`` for the known facts.
package struct StreamStatistics: Sendable {
  /// The number of received samples.
  package private(set) var count = 0
  /// Pauses followed by as many late samples as the pause was long: none is missing.
  package private(set) var delays = 0
  /// The longest interval between two samples, in nanoseconds.
  package private(set) var longestInterval: Int64 = 0
  /// When the last sample was received; zero without one.
  package private(set) var last = Instant.zero

  private var first = Instant.zero
  // Number, sum and sum of squares of the intervals, in nanoseconds; those of pauses are left out.
  private var intervals = 0.0
  private var sum = 0.0
  private var squares = 0.0
  /// Arrivals: samples that were received at the same time are one, as a slow link sends several at once. How many
  /// there were, and the moving average of the nanoseconds between them; gaps are left out.
  private var arrivals = 0
  private var usualPause = 0.0
  private var gapCount = 0
  /// A pause that is not classified yet.
  private var pause: Pause?
  /// Whether the next sample begins a new run; the number of earlier runs, and their nanoseconds.
  private var isInterrupted = false
  private var runs = 0
  private var runTime: Int64 = 0

  private struct Pause {
    /// The beginning and length of the pause, and the interval between two samples before it, in nanoseconds.
    var start: Instant
    var interval: Double
    var period: Double
    /// The number of samples since then, and the number by which the stream must have caught up.
    var samples = 0
    var samplesToCatchUp: Int
  }

  /// The number of arrivals that only establish the usual interval.
  private static let learning = 16
  /// The minimum length of a pause, in usual intervals.
  private static let pauseFactor = 3.0
  /// The part of the samples that must be present after a delay: the usual interval is not known more precisely.
  private static let caughtUp = 0.95
  /// Samples within this time were received at once, in nanoseconds.
  private static let together = 2_000_000.0
  /// The minimum number of samples by which the stream must have caught up.
  private static let fewestSamplesToCatchUp = 8

  package init() {}

  /// The number of pauses three times as long as usual, after which not all samples arrived.
  package var gaps: Int { gapCount + (pause == nil ? 0 : 1) }

  /// Adds the receive time of a sample.
  package mutating func add(_ time: Instant) {
    guard count > 0 else {
      (first, last, count) = (time, time, 1)
      return
    }
    guard !isInterrupted else { return begin(at: time) }
    let interval = max(0, time.nanoseconds(since: last))
    longestInterval = max(longestInterval, interval)
    if isPause(interval) {
      closePause()
      let period = intervals > 0 ? sum / intervals : Double(interval)
      let missing = period > 0 ? Double(interval) / period : 0
      pause = Pause(
        start: last, interval: Double(interval), period: period,
        samplesToCatchUp: Self.fewestSamplesToCatchUp + Int(min(2 * missing, 1e6)))
    } else {
      learn(Double(interval))
    }
    // Stamps can go back when the machine slept between a packet and its read.
    (last, count) = (max(last, time), count + 1)
    followPause()
  }

  /// The stream was interrupted on purpose: the time to the next sample is not an interval.
  package mutating func interrupt() { isInterrupted = count > 0 }

  private mutating func begin(at time: Instant) {
    isInterrupted = false
    closePause()
    runs += 1
    runTime += last.nanoseconds(since: first)
    (first, last, count) = (time, time, count + 1)
  }

  private mutating func learn(_ interval: Double) {
    intervals += 1
    sum += interval
    squares += interval * interval
    guard interval > Self.together else { return }
    arrivals += 1
    // An average of all at first, then one that follows a link whose interval changes.
    usualPause += (interval - usualPause) / Double(min(arrivals, 2 * Self.learning))
  }

  /// The stream ends: if it has paused before, that counts.
  package mutating func finish(at time: Instant) {
    guard count > 0, !isInterrupted, isPause(time.nanoseconds(since: last)) else { return }
    closePause()
    gapCount += 1
    longestInterval = max(longestInterval, time.nanoseconds(since: last))
  }

  private func isPause(_ interval: Int64) -> Bool {
    arrivals >= Self.learning && Double(interval) >= Self.pauseFactor * usualPause
  }

  private mutating func closePause() {
    if pause != nil { gapCount += 1 }
    pause = nil
  }

  /// Checks whether the stream has caught up with the samples that seemed to be missing.
  private mutating func followPause() {
    guard var open = pause else { return }
    open.samples += 1
    pause = open
    let expected = Double(last.nanoseconds(since: open.start)) / max(1, open.period)
    if Double(open.samples) > Self.caughtUp * expected - 1 {
      pause = nil
      delays += 1
      learn(open.interval)
    } else if open.samples >= open.samplesToCatchUp {
      closePause()
    }
  }

  /// Samples per second, from the first to the last; nil for fewer than two.
  package var rate: Double? {
    let nanoseconds = runTime + last.nanoseconds(since: first)
    return count > 1 + runs && nanoseconds > 0 ? Double(count - 1 - runs) * 1e9 / Double(nanoseconds) : nil
  }

  /// The standard deviation of the intervals in seconds, without pauses; nil for fewer than three samples.
  package var jitter: Double? {
    guard intervals > 1 else { return nil }
    let variance = (squares - sum * sum / intervals) / (intervals - 1)
    return max(0, variance).squareRoot() / 1e9
  }
}
