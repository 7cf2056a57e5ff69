import HaloBluetoothCore

/// Estimates heart beats per minute from the photoplethysmogram: the shortest period after which the signal repeats itself.
package struct PulseRate {
  /// Averages of the samples of each step of time; a step without one is on the line between its neighbours.
  private var steps: [Double] = []
  /// The step of the last sample.
  private var last: Int64?
  private var sum = 0.0
  private var count = 0

  /// Steps in a second. More do not add information about a pulse.
  private static let rate = 25.0
  /// In steps: the part of the signal that is examined, and the least of it.
  private static let window = 200
  private static let least = 125
  /// A ring that sends fewer than 8 samples a second leaves more steps empty in a row.
  private static let longestHold = 3
  /// In beats a minute.
  private static let range = 40.0...200.0
  /// How much the signal has to be like itself, from 0 to 1.
  private static let similarity = 0.5

  package init() {}

  /// Earlier samples are those of another stream.
  package mutating func interrupt() { self = PulseRate() }

  package mutating func add(_ value: Int, at time: Instant) {
    let step = time.nanoseconds / Int64(1e9 / Self.rate)
    guard let last, step >= last else {
      interrupt()
      (self.last, sum, count) = (step, Double(value), 1)
      return
    }
    if step > last {
      guard step - last <= Self.longestHold else {
        interrupt()
        return add(value, at: time)
      }
      let average = sum / Double(count)
      for index in 0..<(step - last) {
        steps.append(average + (Double(value) - average) * Double(index) / Double(step - last))
      }
      if steps.count > 2 * Self.window { steps.removeFirst(steps.count - Self.window) }
      (sum, count) = (0, 0)
    }
    self.last = step
    sum += Double(value)
    count += 1
  }

  /// nil if there are too few samples, or if they do not repeat.
  package var beatsPerMinute: Int? {
    guard steps.count >= Self.least else { return nil }
    let signal = Self.withoutTrend(Array(steps.suffix(Self.window)))
    let shortest = Int(Self.rate * 60 / Self.range.upperBound)
    let longest = Int(Self.rate * 60 / Self.range.lowerBound)
    let likeness = (0...signal.count / 2).map { Self.likeness(of: signal, after: $0) }
    guard likeness[0] > 0 else { return nil }
    let least = Self.similarity * likeness[0]
    var peaks: [Int] = []
    for lag in shortest...longest {
      let value = likeness[lag]
      if value > least, value >= likeness[lag - 1], value > likeness[lag + 1] { peaks.append(lag) }
    }
    // A signal that repeats after one beat does so after two, nearly as well.
    guard let best = peaks.map({ likeness[$0] }).max(),
      let lag = peaks.first(where: { likeness[$0] > 0.85 * best })
    else { return nil }
    var period = Self.top(of: likeness, at: lag)
    // After several beats, a step is less of their time.
    for beats in 2...4 {
      let lag = Int((period * Double(beats)).rounded())
      guard lag + 2 < likeness.count, let peak = (lag - 1...lag + 1).max(by: { likeness[$0] < likeness[$1] })
      else { break }
      period = Self.top(of: likeness, at: peak) / Double(beats)
    }
    return Int((Self.rate * 60 / period).rounded())
  }

  /// Where the parabola through three neighbours is highest; the one in the middle, if it is not a peak.
  private static func top(of values: [Double], at index: Int) -> Double {
    let (before, at, after) = (values[index - 1], values[index], values[index + 1])
    guard at >= before, at >= after, before - 2 * at + after < 0 else { return Double(index) }
    return Double(index) + 0.5 * (before - after) / (before - 2 * at + after)
  }

  /// The signal minus its average over a second and a half around each value.
  private static func withoutTrend(_ signal: [Double]) -> [Double] {
    let half = Int(rate * 0.75)
    var sums = [0.0]
    for value in signal { sums.append((sums.last ?? 0) + value) }
    return signal.indices.map { index in
      let range = max(0, index - half)..<min(signal.count, index + half + 1)
      return signal[index] - (sums[range.upperBound] - sums[range.lowerBound]) / Double(range.count)
    }
  }

  /// The autocorrelation for a lag.
  private static func likeness(of signal: [Double], after lag: Int) -> Double {
    var sum = 0.0
    for index in 0..<(signal.count - lag) { sum += signal[index] * signal[index + lag] }
    return sum / Double(signal.count - lag)
  }
}
