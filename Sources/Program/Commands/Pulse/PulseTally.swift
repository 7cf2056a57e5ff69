import HaloCommandLine
import HaloPulse

/// The pulse of one ring, with what has been said of it.
final class PulseTally {
  private(set) var monitor = PulseMonitor()
  /// In seconds: the first sample.
  private var first: Double?
  private var accepted = 0
  private var refused: [PulseReason: Int] = [:]
  private var intervals = (sum: 0.0, count: 0)
  private var hasSeenMotion = false
  private var isSaidToBeSlow = false

  /// Adds a sample.
  ///
  /// - Returns: what it shows
  func add(
    at time: Double, light: Double, acceleration: SIMD3<Double>?, counter: UInt8?
  ) -> [PulseEvent] {
    first = first ?? time
    hasSeenMotion = hasSeenMotion || monitor.detector.watchesMotion
    var events: [PulseEvent] = []
    monitor.add(at: time, light: light, acceleration: acceleration, counter: counter) {
      if case .wave = $0 { return }
      events.append($0)
    }
    for event in events { count(event) }
    return events
  }

  /// The stream was interrupted, or has ended.
  func interrupt() -> [PulseEvent] {
    var events: [PulseEvent] = []
    monitor.interrupt { events.append($0) }
    for event in events { count(event) }
    return events
  }

  private func count(_ event: PulseEvent) {
    guard case .beat(let beat) = event else { return }
    if beat.isAccepted { accepted += 1 } else { refused[beat.reason, default: 0] += 1 }
    guard let interval = beat.interval else { return }
    intervals = (intervals.sum + interval, intervals.count + 1)
  }

  /// The rate of the ten seconds before a beat; nil for one that is not accepted.
  func beatsPerMinute(at beat: Beat) -> Double? {
    beat.isAccepted ? monitor.rate.beatsPerMinute(at: beat.time) : nil
  }

  var isFastEnough: Bool { monitor.detector.rate.map { $0 >= PulseDetector.leastRate } ?? true }

  /// That the stream has too few samples for beats; nil if that is not so, or was said.
  func takeSlowness() -> String? {
    guard !isSaidToBeSlow, !isFastEnough, let rate = monitor.detector.rate else { return nil }
    isSaidToBeSlow = true
    return
      "\(decimal(rate, 1)) samples a second show no beats: a rate needs \(Int(PulseDetector.leastRate)), a variability 25"
  }

  /// The lines of a summary.
  var summary: [String] {
    let seconds = monitor.time - (first ?? monitor.time)
    let rate = monitor.detector.rate.map { ", \(decimal($0, 1)) samples a second" } ?? ""
    var lines = ["\(decimal(seconds, 1)) s of light\(rate)"]
    guard isFastEnough else { return lines }
    let all = accepted + refused.values.reduce(0, +)
    var beats = "\(Console.counted(all, "beat")), \(accepted) accepted"
    if intervals.count > 0 { beats += "; \(decimal(60 * Double(intervals.count) / intervals.sum, 1)) bpm" }
    lines.append(beats)
    let reasons = PulseReason.allCases.compactMap { reason in
      refused[reason].map { "\(reason.rawValue) \($0)" }
    }
    if !reasons.isEmpty { lines.append("not accepted: " + reasons.joined(separator: ", ")) }
    lines += variability
    if !hasSeenMotion, all > 0 { lines.append("movement was not watched: the stream has no acceleration") }
    if monitor.detector.polarity > 0 { lines.append("the light rises with the blood: it was turned") }
    return lines
  }

  private var variability: [String] {
    let summary = monitor.variability.summary(at: monitor.time)
    guard let rmssd = summary.rmssd else { return [] }
    let sdnn = summary.sdnn.map { ", SDNN \(decimal($0 * 1000, 1)) ms" } ?? ""
    let mark = summary.isEstimate ? ", an estimate" : ""
    return [
      "last \(Int(summary.window)) s: RMSSD \(decimal(rmssd * 1000, 1)) ms\(sdnn), of pulse intervals on "
        + "\(Int(summary.coverage * 100)) % of the time\(mark); timing errors alone give an RMSSD of "
        + "\(decimal(summary.floor * 1000, 1)) ms"
    ]
  }
}
