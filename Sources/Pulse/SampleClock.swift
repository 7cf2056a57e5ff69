/// Finds the times at which a ring has measured its samples from the times at which they arrived.
///
/// A ring measures at an even pace, but the samples wait for the next connection event, and a packet that is repeated comes
/// later by whole events. A line through the times of arrival has the times of measurement, with a constant delay that does
/// not matter. With the counter of the packets the line is followed with a gain that falls to a floor. Without it, the period
/// is found from the spans of 16 packets, by the mean of their middle half, which a loss here and there does not move, and is
/// then followed slowly. What stays late is a loss, and it is put where the arrivals had their largest gap; how long it has to
/// stay depends on the events of the link, as a packet that is repeated delays those behind it, too.
struct SampleClock {
  /// A sample with its time of measurement.
  struct Tick {
    /// In seconds, on the clock of the arrivals.
    var time: Double
    /// Samples that are missing before it.
    var missing = 0
    /// The line has begun anew: no interval may be counted from an earlier sample to this one.
    var isRestart = false
    /// A loss that is noticed only now.
    var loss: Loss?
  }

  struct Loss {
    /// How many of the last samples came after the loss.
    var age: Int
    var samples: Int
  }

  /// In seconds; nil until enough samples have come.
  private(set) var period: Double?

  /// The time of the last sample on the line; nil before there is one.
  private var position: Double?
  private var counter: UInt8?
  /// How many samples have changed the line.
  private var updates = 0
  /// Samples in a row that were late, and the least lateness of them.
  private var lateCount = 0
  private var lateness = 0.0
  private var arrivals = RecentValues(capacity: 128)
  private var spans = RecentValues(capacity: 31)
  private var steps = 0
  private var estimates = 0
  private var start = Start()

  /// The samples before there is a line.
  private struct Start {
    var count = 0
    var first = 0.0
    var last = 0.0
    var counter: UInt8?
    /// The arrivals, and the sum that a line through them needs: the least of arrival minus index times period is known only
    /// when the period is.
    var times = RecentValues(capacity: 256)
  }

  private static let span = 16

  /// Begins a new line with the next samples; the period is known.
  mutating func restart() {
    let period = period
    self = SampleClock()
    self.period = period
  }

  /// nil while there are too few samples for a line.
  mutating func add(arrival: Double, counter new: UInt8?) -> Tick? {
    guard let position, let period else { return begin(arrival, counter: new) }
    var places = 1
    if let new, let counter {
      let step = Int(new &- counter)
      places = step == 0 ? 256 : step
    }
    counter = new
    let expected = position + Double(places) * period
    let error = arrival - expected
    guard abs(error) <= max(0.6, 4 * period) else {
      restart()
      return begin(arrival, counter: new)
    }
    arrivals.append(arrival)
    return new == nil
      ? follow(arrival, expected: expected, period: period)
      : follow(arrival, expected: expected, period: period, places: places)
  }

  private mutating func begin(_ arrival: Double, counter new: UInt8?) -> Tick? {
    let pause = arrival - start.last
    if start.count > 0, pause < 0 || pause > 1.5 && start.count < 11 { start = Start() }
    if start.count == 0 { (start.first, start.counter) = (arrival, new) }
    start.times.append(arrival)
    start.count = min(start.count + 1, 256)
    start.last = arrival
    let needed = period == nil ? (samples: 16, seconds: 0.9) : (samples: 6, seconds: 0.2)
    guard start.count >= needed.samples, arrival - start.first >= needed.seconds else { return nil }
    var steps = start.count - 1
    if period == nil {
      if let new, let first = start.counter, new != first { steps = Int(new &- first) }
      period = (arrival - start.first) / Double(steps)
    }
    guard let period, period > 0 else {
      start = Start()
      return nil
    }
    var line = arrival
    if new == nil {
      for age in 0..<start.times.count { line = min(line, start.times[age: age] + Double(age) * period) }
    }
    position = line
    counter = new
    updates = 8
    start = Start()
    return Tick(time: line, isRestart: true)
  }

  /// Without a counter.
  private mutating func follow(_ arrival: Double, expected: Double, period old: Double) -> Tick {
    var expected = expected
    var period = old
    steps += 1
    if steps.isMultiple(of: 4), arrivals.count > Self.span {
      spans.append(arrivals[age: 0] - arrivals[age: Self.span])
      if spans.count >= 8, let mean = spans.meanOfMiddleHalf() {
        estimates += 1
        period += max(0.005, 0.2 / (1 + Double(estimates) / 5)) * (mean / Double(Self.span) - period)
      }
    }
    var error = arrival - expected
    var loss: Loss?
    if error > 0.5 * period {
      lateCount += 1
      lateness = lateCount == 1 ? error : min(lateness, error)
      let patience = max(5, Int(max(0.3, min(0.8, 12 * eventInterval)) / period))
      if lateCount >= patience {
        let samples = max(1, Int((lateness / period).rounded()))
        loss = Loss(age: largestGap(within: patience + 2), samples: samples)
        expected += Double(samples) * period
        error = arrival - expected
        lateCount = 0
      }
    } else {
      lateCount = 0
    }
    let limited = max(-0.5 * period, min(0.4 * period, error))
    let time = expected + 0.02 * limited
    position = time
    self.period = max(0.0005, period + 0.0003 * limited)
    return Tick(time: time, loss: loss)
  }

  /// In seconds: the least time between two arrivals that one event did not bring.
  private var eventInterval: Double {
    var least = 1.0
    for age in 0..<min(40, arrivals.count - 1) {
      let gap = arrivals[age: age] - arrivals[age: age + 1]
      if gap > 0.005 { least = min(least, gap) }
    }
    return least
  }

  /// How many arrivals follow the largest gap among the last ones.
  private func largestGap(within length: Int) -> Int {
    var (age, largest) = (1, -Double.infinity)
    for candidate in 1...max(1, min(length, arrivals.count - 1)) {
      let gap = arrivals[age: candidate - 1] - arrivals[age: candidate]
      if gap > largest { (age, largest) = (candidate, gap) }
    }
    return age
  }

  /// With a counter: an alpha-beta filter.
  private mutating func follow(_ arrival: Double, expected: Double, period: Double, places: Int) -> Tick {
    let error = arrival - expected
    if abs(error) > max(0.1, 2 * period) {
      // The clock was set, or the ring's has stopped for a while; or packets are late, and the next ones are not.
      lateCount += 1
      lateness = lateCount == 1 || abs(error) < abs(lateness) ? error : lateness
      if Double(lateCount) * period > 0.8 {
        position = expected + lateness
        lateCount = 0
        return Tick(time: expected + lateness, missing: places - 1, isRestart: true)
      }
      position = expected
      return Tick(time: expected, missing: places - 1)
    }
    lateCount = 0
    updates += 1
    let k = Double(min(updates, 1000))
    let gain = max(0.03, 2 * (2 * k - 1) / (k * (k + 1)))
    let periodGain = max(0.00015, 6 / (k * (k + 1)))
    let limited = max(-0.6 * period, min(0.6 * period, error))
    let time = expected + gain * limited
    position = time
    self.period = max(0.0005, period + periodGain * limited)
    return Tick(time: time, missing: places - 1)
  }
}
