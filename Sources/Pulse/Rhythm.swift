/// The last good intervals, and what they say of a new one.
struct Rhythm {
  /// In seconds: the median of the last intervals; what most hearts have, while there are none.
  private(set) var period = usualPeriod
  /// The median distance of the last intervals from their median, as a part of it; 1 while they are few.
  private var unsteadiness = 1.0
  private var intervals = RecentValues(capacity: 7)
  private var distances = RecentValues(capacity: 7)

  /// In seconds: what a heart can do.
  static let range = 0.27...2.2
  private static let usualPeriod = 0.8
  /// The part of the period by which an interval may differ without a reason.
  private static let jump = 0.22
  /// A rhythm up to this unsteadiness is steady enough to show an extra beat that is only a little early.
  private static let steady = 0.03
  private static let leastEarliness = 0.09
  private static let leastLateness = 0.05

  mutating func add(_ interval: Double) {
    intervals.append(interval)
    period = intervals.median() ?? period
    guard intervals.count >= 5 else { return }
    distances.removeAll()
    for age in 0..<intervals.count { distances.append(abs(intervals[age: age] / period - 1)) }
    unsteadiness = distances.median() ?? 1
  }

  /// An interval in periods, if it differs so much from the last ones that it needs a reason.
  func oddity(of interval: Double) -> Double? {
    guard intervals.count >= 3, abs(interval / period - 1) > Self.jump else { return nil }
    return interval / period
  }

  /// Whether an interval is as usual, so that its wave may be compared with the template.
  func isUsual(_ interval: Double?) -> Bool {
    guard intervals.count >= 3, let interval else { return false }
    return abs(interval / period - 1) < 0.12
  }

  /// Whether a beat of a steady rhythm came too early.
  func isEarly(_ interval: Double) -> Bool {
    unsteadiness < Self.steady && interval < (1 - max(Self.leastEarliness, 5 * unsteadiness)) * period
  }

  /// Whether a beat came so late that the one before it may have been an extra one.
  func isLate(_ interval: Double) -> Bool { interval > (1 + Self.leastLateness) * period }
}
