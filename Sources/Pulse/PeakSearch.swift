/// Searches the tops of the band: turning points that are higher than a part of the usual wave.
struct PeakSearch {
  private struct Point {
    var value = 0.0
    var number = 0
  }

  /// In counts of the band: the usual height of a wave; nil until it has been learnt.
  private(set) var size: Double?
  private var isRising = true
  private var high = Point()
  private var low = Point()
  /// In seconds: when the stretch began, and how long the size is learnt.
  private var start = 0.0
  private var learning = 0.0
  private var energy = 0.0
  private var energyCount = 0
  /// The last top, which may be one of those that wait.
  private var last: (time: Double, height: Double)?
  /// Tops whose waves are not complete, the oldest first.
  private var waiting: [BeatJudge.Candidate] = []

  private static let most = 8
  /// The part of the usual height that makes a turning point; in counts, the least height.
  private static let hysteresis = (part: 0.35, least: 0.8)

  init() { waiting.reserveCapacity(Self.most) }

  mutating func begin(at time: Double, isKnown: Bool) {
    if !isKnown { size = nil }
    start = time
    learning = isKnown ? 0.8 : 2.5
    isRising = true
    (energy, energyCount) = (0, 0)
    last = nil
    dropWaiting()
  }

  /// Whether no top has been searched for long enough to find one.
  func isNew(at time: Double) -> Bool { time - start < learning + 1 }

  /// Forgets the size.
  mutating func forget() { size = nil }

  /// Forgets the tops whose waves are not complete.
  mutating func dropWaiting() { waiting.removeAll(keepingCapacity: true) }

  /// Looks at the last sample of the wave.
  mutating func advance(
    in wave: inout Wave, judge: inout BeatJudge, _ now: BeatJudge.Circumstances, to sink: (PulseEvent) -> Void
  ) {
    let point = Point(value: wave.band(of: wave.count - 1), number: wave.count - 1)
    guard wave.count > 1 else {
      (high, low) = (point, point)
      return
    }
    if now.time - start < learning {
      energy += point.value * point.value
      energyCount += 1
      if point.value > high.value { high = point }
      if point.value < low.value { low = point }
      return
    }
    var size: Double
    if let known = self.size {
      size = known
    } else {
      // A wave of this energy has about this height.
      size = 2.4 * (energy / Double(max(1, energyCount))).squareRoot()
      (high, low) = (point, point)
    }
    let silence = now.time - (last?.time ?? start + 1.5)
    if silence > max(1.6, 2.2 * judge.period) { size *= 1 - Elementary.share(of: 1 / wave.rate, in: 1.2) }
    self.size = size
    let turn = max(Self.hysteresis.part * size, Self.hysteresis.least)
    if isRising {
      if point.value > high.value {
        high = point
      } else if point.value < high.value - turn {
        isRising = false
        if let top = addTop(in: wave, size: size, motion: now.motion, period: judge.period) {
          judge.announce(top, now, to: sink)
        }
        low = point
      }
    } else if point.value < low.value {
      low = point
    } else if point.value > low.value + turn {
      isRising = true
      high = point
    }
    while let first = waiting.first, now.time >= first.time + first.wait {
      waiting.removeFirst()
      judge.judge(first, in: &wave, now, to: sink)
    }
    judge.releaseIfOverdue(now, to: sink)
  }

  private mutating func addTop(
    in wave: borrowing Wave, size: Double, motion: Motion, period: Double
  ) -> BeatJudge.Candidate? {
    let height = high.value - low.value
    let length = high.number - low.number
    let isTroughNear =
      length >= 1 && Double(length) <= 1.2 * wave.rate && wave.count - low.number <= Wave.capacity - 4
    let number = wave.steepest(before: high.number, after: isTroughNear ? low.number : nil)
    guard number >= 0 else { return nil }
    let time = (wave.time(of: number) + wave.time(of: number + 1)) / 2
    if let last, time - last.time < max(0.26, 0.4 * period) {
      // The dicrotic wave, or noise; unless it is larger: then the one before it was.
      guard height >= 1.5 * last.height else { return nil }
      if let index = waiting.indices.last { waiting[index].isReplaced = true }
    }
    guard waiting.count < Self.most else { return nil }
    let candidate = BeatJudge.Candidate(
      time: time, number: number, height: height,
      wait: BeatJudge.wait(period: period, in: wave), motion: motion.strength)
    waiting.append(candidate)
    last = (time, height)
    self.size = size + 0.2 * (min(max(height, 0.4 * size), 2 * size) - size)
    return candidate
  }
}
