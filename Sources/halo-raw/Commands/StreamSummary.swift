import BluetoothCore
import RingLink

/// The summary of a stream at its end. Samples received = printed + dropped + filtered.
struct StreamSummary {
  var printed = 0
  /// Samples of kinds that are not selected.
  var filtered = 0
  /// Samples that were not printed because the output was not read in time.
  var dropped = 0

  private var ppg = StreamStatistics()
  private var accelerometer = StreamStatistics()
  private var spo2 = StreamStatistics()

  /// Counts a sample; allocates nothing.
  ///
  /// - Returns: false if its kind is never printed
  mutating func add(_ sample: RawSample, at time: Instant) -> Bool {
    switch sample {
    case .ppg: ppg.add(time)
    case .accelerometer: accelerometer.add(time)
    case .spo2: spo2.add(time)
    default: return false
    }
    return true
  }

  mutating func finish(at time: Instant) {
    ppg.finish(at: time)
    accelerometer.finish(at: time)
    spo2.finish(at: time)
  }

  var hasAcceleration: Bool { accelerometer.count > 0 }

  /// The interval between samples of a kind; zero if it is unknown.
  var usualInterval: Duration {
    let rates = [ppg, accelerometer, spo2].compactMap(\.rate)
    return rates.max().map { .nanoseconds(Int64(1e9 / $0)) } ?? .zero
  }

  /// A line for each kind, and one for what was not printed.
  var lines: [String] {
    var lines: [String] = []
    for (name, statistics) in [("ppg", ppg), ("accel", accelerometer), ("spo2", spo2)]
    where statistics.count > 0 {
      var line = "\(name): \(Console.counted(statistics.count, "sample"))"
      if let rate = statistics.rate { line += ", \(decimal(rate, 2)) a second" }
      if let jitter = statistics.jitter { line += ", jitter \(decimal(jitter * 1000, 2)) ms" }
      line += ", longest interval \(decimal(Double(statistics.longestInterval) / 1e6, 1)) ms"
      line += ", " + Console.counted(statistics.gaps, "gap")
      if statistics.delays > 0 { line += ", " + Console.counted(statistics.delays, "delay") }
      lines.append(line)
    }
    if dropped > 0 {
      let received = printed + dropped + filtered
      lines.append(
        "\(received) samples received: \(printed) printed, \(filtered) not selected, "
          + "\(dropped) dropped because the output was not read in time")
    }
    return lines
  }
}

/// A number with one or two decimals.
func decimal(_ value: Double, _ places: Int) -> String {
  var output = Int((min(value.magnitude, 1e12) * 1000).rounded())
  let divisor = places == 1 ? 100 : 10
  output = (output + divisor / 2) / divisor
  let scale = places == 1 ? 10 : 100
  let fraction = String(output % scale)
  return "\(value < 0 ? "-" : "")\(output / scale)."
    + String(repeating: "0", count: places - fraction.count) + fraction
}
