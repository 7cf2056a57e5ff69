/// Makes a quality of each second out of the beats, and of what disturbs the light.
struct SecondQuality {
  private struct Entry {
    /// In seconds: how much of it accepted intervals cover, and that times their quality.
    var covered = 0.0
    var weighted = 0.0
    /// The best of the beats that are not accepted, and why.
    var refused = -1.0
    var refusal = PulseReason.noWave
    /// What was wrong with the light, the worst of it.
    var disturbance: PulseReason?
  }

  /// In seconds: how long after its end a second is said.
  static let delay = 3
  private static let kept = 16
  private var entries = [Entry](repeating: Entry(), count: kept)
  /// The first second that has not been said; nil before the first sample.
  private var next: Int?
  /// The worst one last.
  private static let order: [PulseReason] = [.settling, .motion, .saturation, .noContact, .gap, .rateTooLow]

  /// Notes a sample, and says the seconds that are complete.
  ///
  /// - Parameters:
  ///   - time: in seconds, from 0 on
  ///   - disturbance: what is wrong with the light, if anything is
  mutating func add(at time: Double, disturbance: PulseReason?, to sink: (PulseEvent) -> Void) {
    let second = Int(max(0, time).rounded(.down))
    var first = next ?? second
    if second - first > Self.kept + Self.delay {
      // After a long hole: the seconds before it, and those of the hole are left out.
      while let next, next < first + Self.kept { say(next, to: sink) }
      first = second
      next = second
    }
    next = next ?? first
    while let first = next, first + Self.delay < second { say(first, to: sink) }
    guard let disturbance, second >= next ?? 0 else { return }
    let index = second % Self.kept
    let known = entries[index].disturbance.flatMap { Self.order.firstIndex(of: $0) } ?? -1
    if Self.order.firstIndex(of: disturbance) ?? -1 > known { entries[index].disturbance = disturbance }
  }

  /// Notes a beat.
  ///
  /// - Parameter beat: with its time from 0 on
  mutating func add(_ beat: Beat) {
    if let interval = beat.interval, beat.isAccepted {
      forEachSecond(from: beat.time - interval, to: beat.time) { entry, part in
        entry.covered += part
        entry.weighted += part * beat.quality
      }
    } else {
      forEachSecond(from: beat.time - 1, to: beat.time) { entry, _ in
        if beat.quality > entry.refused { (entry.refused, entry.refusal) = (beat.quality, beat.reason) }
      }
    }
  }

  private mutating func forEachSecond(
    from start: Double, to end: Double, _ body: (inout Entry, Double) -> Void
  ) {
    guard let next, end >= 0, end < 1e12 else { return }
    let first = max(next, Int(max(0, start).rounded(.down)))
    for second in first...max(first, min(first + 8, Int(end.rounded(.down)))) where second < next + Self.kept
    {
      let part = min(end, Double(second + 1)) - max(start, Double(second))
      if part > 0 { body(&entries[second % Self.kept], part) }
    }
  }

  private mutating func say(_ second: Int, to sink: (PulseEvent) -> Void) {
    let entry = entries[second % Self.kept]
    entries[second % Self.kept] = Entry()
    next = second + 1
    let (quality, reason): (Double, PulseReason) =
      if entry.covered >= 0.5 {
        (entry.weighted / entry.covered, .good)
      } else if let disturbance = entry.disturbance {
        (max(0, min(0.4, entry.refused)), disturbance)
      } else if entry.refused >= 0 {
        (min(0.4, entry.refused), entry.refusal == .good ? .settling : entry.refusal)
      } else {
        (0, .noWave)
      }
    sink(.second(PulseSecond(start: Double(second), quality: quality, reason: reason)))
  }
}
