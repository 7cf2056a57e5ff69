/// The variability of the pulse in the last minutes: RMSSD and SDNN, with what limits them.
///
/// It is that of pulse intervals. At rest it is near that of the heart, in movement it is not.
public struct PulseVariability: Sendable {
  /// What the last minutes show.
  public struct Summary: Sendable, Equatable {
    /// In seconds: the length of the window.
    public var window: Double
    /// The part of the window that accepted intervals cover, from 0 to 1.
    public var coverage: Double
    /// In seconds: the root of the mean of the squares of differences between intervals that follow each other; nil if less than
    /// half of the window is covered, or if more than a tenth of the beats are extra or irregular ones.
    public var rmssd: Double?
    /// In seconds: the standard deviation of the intervals, of a window of five minutes; nil as `rmssd`.
    public var sdnn: Double?
    /// In seconds: the RMSSD that the timing errors alone would give. A value near it says little.
    public var floor: Double
    /// The part of the accepted beats that are extra or irregular, from 0 to 1.
    public var irregular: Double
    /// Whether less than 80 % of the window is covered: an estimate.
    public var isEstimate: Bool { coverage < PulseVariability.coverage.good }
  }

  /// In seconds: the window of short-term variability, and the least that an RMSSD needs.
  public static let usualWindow = 300.0
  public static let leastWindow = 60.0
  static let coverage = (least: 0.5, good: 0.8)
  private static let mostIrregular = 0.1

  private struct Entry {
    var end = 0.0
    var interval = 0.0
    var timingError = 0.0
    /// Whether the interval belongs to a variability, and its difference from the one before, too.
    var isCounted = false
    var followsCounted = false
  }

  /// In seconds.
  public let window: Double
  private var entries: [Entry]
  private var next = 0
  private var count = 0
  private var previousIsGood = false
  private var previousIsCounted = false

  /// - Parameter window: in seconds, from 60 to 300
  public init(window: Double = usualWindow) {
    self.window = min(Self.usualWindow, max(Self.leastWindow, window))
    // The fastest heart has 220 beats a minute.
    entries = Array(repeating: Entry(), count: Int(self.window / 60 * 225))
  }

  /// Adds a beat that the detector has said.
  public mutating func add(_ beat: Beat) {
    defer { previousIsGood = beat.isGoodForVariability }
    guard let interval = beat.interval, beat.isAccepted else {
      previousIsCounted = false
      return
    }
    let isCounted = previousIsGood && beat.isGoodForVariability
    entries[next] = Entry(
      end: beat.time, interval: interval, timingError: beat.timingError, isCounted: isCounted,
      followsCounted: isCounted && previousIsCounted)
    previousIsCounted = isCounted
    next = next + 1 == entries.count ? 0 : next + 1
    if count < entries.count { count += 1 }
  }

  /// - Parameter now: in seconds, on the clock of the beats: the end of the window
  public func summary(at now: Double) -> Summary {
    var (covered, counted, sum, squares) = (0.0, 0, 0.0, 0.0)
    var (pairs, differences, errors, all) = (0, 0.0, 0.0, 0)
    var later = 0.0
    var laterFollows = false
    // From the newest to the oldest, so that a difference is between this one and the later one.
    for age in 0..<count {
      let index = next - 1 - age
      let entry = entries[index < 0 ? index + entries.count : index]
      guard entry.end > now - window else { break }
      covered += entry.interval
      all += 1
      if entry.isCounted {
        counted += 1
        sum += entry.interval
        squares += entry.interval * entry.interval
        errors += entry.timingError * entry.timingError
        if laterFollows {
          pairs += 1
          differences += (later - entry.interval) * (later - entry.interval)
        }
      }
      (later, laterFollows) = (entry.interval, entry.followsCounted)
    }
    var summary = Summary(window: window, coverage: min(1, covered / window), floor: 0, irregular: 0)
    guard all > 0, counted > 0 else { return summary }
    summary.floor = (6 * errors / Double(counted)).squareRoot()
    summary.irregular = 1 - Double(counted) / Double(all)
    guard summary.coverage >= Self.coverage.least, summary.irregular <= Self.mostIrregular, pairs > 8 else {
      return summary
    }
    summary.rmssd = (differences / Double(pairs)).squareRoot()
    if window >= Self.usualWindow {
      let mean = sum / Double(counted)
      summary.sdnn = max(0, (squares - Double(counted) * mean * mean) / Double(counted - 1)).squareRoot()
    }
    return summary
  }
}
