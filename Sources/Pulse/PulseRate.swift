/// The rate of the pulse: a mean over the last seconds.
public struct PulseRate: Sendable {
  /// In seconds.
  public static let window = 10.0
  /// The least intervals that make a rate.
  public static let leastIntervals = 3

  /// The last intervals with their ends, in seconds, as many as the fastest heart has in a window.
  private var ends = RecentValues(capacity: 48)
  private var intervals = RecentValues(capacity: 48)

  public init() {}

  /// Adds a beat that the detector has said.
  public mutating func add(_ beat: Beat) {
    guard let interval = beat.interval else { return }
    ends.append(beat.time)
    intervals.append(interval)
  }

  /// Beats a minute: 60 divided by the mean of the intervals that ended in the last ten seconds; nil if they are fewer than
  /// three.
  ///
  /// - Parameter now: in seconds, on the clock of the beats
  public func beatsPerMinute(at now: Double) -> Double? {
    var (sum, count) = (0.0, 0)
    for age in 0..<ends.count where (0...Self.window).contains(now - ends[age: age]) {
      sum += intervals[age: age]
      count += 1
    }
    guard count >= Self.leastIntervals, sum > 0 else { return nil }
    return 60 * Double(count) / sum
  }
}
