/// Decides how far a wave may be taken for a beat of the heart.
///
/// A beat is held until something is known of the next one, which shows what this one was: an extra beat, the begin of a
/// movement, a change of the rate.
struct BeatJudge {
  /// A top of the band, whose wave is not complete yet.
  struct Candidate {
    /// In seconds: of the steepest place before the top.
    var time: Double
    /// The number of the sample before it.
    var number: Int
    /// From the trough to the top, in counts of the band.
    var height: Double
    /// In seconds after its time: when the wave is complete.
    var wait: Double
    /// In g, when the top was found.
    var motion: Double
    /// A larger top followed within the same wave: this one is none.
    var isReplaced = false
  }

  /// What is known of the light and of the hand at the moment.
  struct Circumstances {
    /// In seconds, of the last sample.
    var time: Double
    var motion: Motion
    /// In counts: the mean absolute second difference of the light.
    var noise: Double
    /// In seconds: when the light last stood still at one value.
    var lastFlat: Double
    /// The number of the sample before which samples were missing.
    var lastLoss: Int

    var isSaturated: Bool { time - lastFlat < 0.8 }
    var isCalm: Bool { motion.strength < Motion.threshold && !isSaturated }
    var isMovedTooMuch: Bool {
      motion.strength > BeatJudge.motionLimit || motion.duration > BeatJudge.motionTime && !motion.isStale
    }
  }

  private struct Judged {
    var beat: Beat
    /// In seconds since the wave before, accepted or not.
    var interval: Double?
    /// The interval in periods, if it needs a reason.
    var oddity: Double?
    var followsEctopic = false
    /// In a steady rhythm it is too early.
    var isEarly = false
  }

  /// In counts of the band: heights of the last good waves.
  private var heights = RecentValues(capacity: 9)
  private var rhythm = Rhythm()
  private var template = WaveTemplate()
  private var shape = [Double](repeating: 0, count: Wave.shapeLength)
  private var held: Judged?
  private var lastTime: Double?
  private var goodInRow = 0
  private var badInRow = 0
  /// Whether the beat that was said last may begin an interval of a rate.
  private var previousIsGood = false
  /// Waves in a row that have no rise of a pulse.
  private(set) var risesRefused = 0

  /// In seconds: the usual interval.
  var period: Double { rhythm.period }

  /// How like the template a shape must be, from 0 to 1: at rest, and in movement.
  private static let likeness = (rest: 0.85, movement: 0.94)
  /// In g: movement that is too much at once. In seconds: movement that is too long.
  static let motionLimit = 0.35
  private static let motionTime = 2.0
  private static let heightRange = 0.45...2.2
  /// In seconds.
  private static let riseRange = 0.03...0.32
  /// In seconds: what a variability permits, and what a rate permits.
  private static let timingLimit = (variability: 0.012, rate: 0.024)
  /// Below this rate the pulse itself is a part of what looks like noise.
  private static let leastRateOfNoise = 20.0
  /// In seconds after a beat: when it is said if the next does not come. With a reason to wait, and without.
  private static let longestHold = (doubtful: 2.3, usual: 1.35)
  /// Good waves in a row before one is accepted.
  private static let settling = 2
  /// What the fit of the whole wave counts for in the time of a beat.
  private static let shareOfFit = 0.8

  /// In seconds after the rise: until when the shape of a wave is compared.
  private static func shapeEnd(period: Double) -> Double { min(0.38, 0.5 * period) }

  /// In seconds after the rise: when the shape can be compared.
  static func wait(period: Double, in wave: borrowing Wave) -> Double {
    max(0.3, shapeEnd(period: period)) + Double(wave.kernelHalf + 1) / wave.rate
  }

  /// Forgets the wave, and the beats before.
  mutating func forget() {
    heights.removeAll()
    rhythm = Rhythm()
    template.forget()
  }

  /// Begins a stretch: no interval leads into it.
  mutating func begin() {
    held = nil
    lastTime = nil
    (goodInRow, badInRow, risesRefused) = (0, 0, 0)
    previousIsGood = false
  }

  /// Judges a complete wave.
  mutating func judge(
    _ candidate: Candidate, in wave: inout Wave, _ now: Circumstances, to sink: (PulseEvent) -> Void
  ) {
    guard !candidate.isReplaced else { return }
    let rise = wave.rise(around: candidate.number)
    var time = rise?.time ?? candidate.time
    let shapeEnd = Self.shapeEnd(period: period)
    let hasShape = wave.writeShape(at: time, near: candidate.number, until: shapeEnd, to: &shape)
    let likeness = template.likeness(of: shape)
    if rise != nil, hasShape, template.count >= 3, rhythm.isUsual(lastTime.map { time - $0 }),
      let delay = template.delay(of: shape, step: Wave.shapeStep(until: shapeEnd))
    {
      time += Self.shareOfFit * max(0, (likeness - 0.9) / 0.1) * delay
    }
    let interval = lastTime.map { time - $0 }
    lastTime = time
    let motion = max(now.motion.isStale ? 0 : candidate.motion, now.motion.strength)
    let isMoving = motion > Motion.threshold
    let timingError =
      rise.map { Self.timingError(noise: now.noise, slope: $0.slope, rate: wave.rate) } ?? 0.099
    let height = heights.median()

    var (quality, reason) = (1.0, PulseReason.good)
    func limit(_ limit: Double, _ why: PulseReason) {
      if limit < quality { (quality, reason) = (max(0, limit), why) }
    }
    if now.isSaturated { limit(0, .saturation) }
    if !hasShape { limit(0, .shape) }
    if wave.rate > Self.leastRateOfNoise {
      if timingError > Self.timingLimit.variability {
        limit(timingError > Self.timingLimit.rate ? 0.4 : Beat.weakQuality, .weak)
      }
      if candidate.height < 1.5 * now.noise { limit(0.3, .weak) }
    }
    if motion > Self.motionLimit || now.isMovedTooMuch { limit(0.1, .motion) }
    if abs(Double(now.lastLoss - candidate.number)) < 0.2 * wave.rate { limit(0.2, .gap) }
    if hasShape, template.count >= 2 {
      let needed = isMoving || now.motion.isStale ? Self.likeness.movement : Self.likeness.rest
      limit(
        likeness >= needed
          ? 0.5 + 0.5 * (likeness - needed) / (1 - needed) : 0.5 * max(0, likeness) / needed - 0.01,
        isMoving ? .motion : .shape)
    }
    if let height, heights.count >= 3, !Self.heightRange.contains(candidate.height / height) {
      limit(0.25, .size)
    }
    if let rise {
      if !Self.riseRange.contains(rise.length) { limit(0.3, .rise) }
    } else {
      limit(0.2, .rise)
    }
    var oddity: Double?
    if let interval {
      if Rhythm.range.contains(interval) {
        oddity = rhythm.oddity(of: interval)
      } else {
        limit(0.2, .interval)
      }
    }

    let isGood = quality >= Beat.acceptance
    if hasShape { learn(isGood: isGood) }
    if isGood || heights.count < 3 {
      heights.append(candidate.height)
    } else if reason == .size, let height {
      // A wave that stays larger or smaller is followed step by step.
      heights.append(min(max(candidate.height, 0.6 * height), 1.5 * height))
    }
    if isGood, let interval, Rhythm.range.contains(interval) { rhythm.add(interval) }
    badInRow = isGood ? 0 : badInRow + 1
    risesRefused = reason == .rise ? risesRefused + 1 : 0
    let beat = Beat(
      time: time, interval: nil, quality: quality, reason: isGood ? .good : reason, timingError: timingError,
      said: 0)
    sink(.wave(beat))
    release(before: Judged(beat: beat, interval: interval, oddity: oddity), to: sink)
  }

  /// A top has been found. If nothing is wrong with it, the beat before need not wait until its wave is complete.
  mutating func announce(_ next: Candidate, _ now: Circumstances, to sink: (PulseEvent) -> Void) {
    guard let held, held.oddity == nil, !held.followsEctopic, !held.isEarly else { return }
    guard now.isCalm, next.time - held.beat.time > period, let height = heights.median(),
      Self.heightRange.contains(next.height / height)
    else { return }
    release(before: nil, to: sink)
  }

  /// Says the beat that waits, if the next one does not come.
  mutating func releaseIfOverdue(_ now: Circumstances, to sink: (PulseEvent) -> Void) {
    guard let held else { return }
    let isUsual = held.oddity == nil && !held.isEarly && now.isCalm
    if now.time - held.beat.time > (isUsual ? Self.longestHold.usual : Self.longestHold.doubtful) {
      release(before: nil, to: sink)
    }
  }

  /// Says the beat that waits.
  mutating func flush(to sink: (PulseEvent) -> Void) {
    if held != nil { release(before: nil, to: sink) }
  }

  /// Says the beat that waits, and holds the next one.
  private mutating func release(before next: Judged?, to sink: (PulseEvent) -> Void) {
    var next = next
    defer { held = next }
    guard let held else { return }
    var beat = held.beat
    if beat.isAccepted { markExtraBeats(in: &beat, held: held, next: &next) }
    if held.followsEctopic { beat.reason = .ectopic }
    // The waves of an extra beat are good ones.
    goodInRow = beat.isAccepted || beat.reason == .ectopic ? goodInRow + 1 : 0
    if beat.isAccepted, goodInRow < Self.settling { (beat.quality, beat.reason) = (0.4, .settling) }
    if beat.isAccepted, let next, next.beat.quality < 0.3,
      [.motion, .saturation, .size].contains(next.beat.reason)
    {
      (beat.quality, beat.reason) = (0.4, .disturbed)
    }
    if previousIsGood, beat.isGoodForRate { beat.interval = held.interval }
    previousIsGood = beat.isGoodForRate
    sink(.beat(beat))
  }

  private mutating func markExtraBeats(in beat: inout Beat, held: Judged, next: inout Judged?) {
    let following = next?.interval
    let nextQuality = next?.beat.quality ?? 0
    if let following, rhythm.isEarly(following) {
      // The heart has filled for a shorter time before an extra beat, so its pulse comes late. The interval that looks too
      // short is the one after it.
      (beat.quality, beat.reason) = (0.4, .ectopic)
      next?.isEarly = true
    } else if held.isEarly, let following, rhythm.isLate(following) {
      (beat.quality, beat.reason) = (0.4, .ectopic)
      next?.followsEctopic = true
      next?.oddity = nil
    }
    guard beat.isAccepted, let oddity = held.oddity, let interval = held.interval else { return }
    if let following, nextQuality >= Beat.acceptance, oddity < 1,
      (0.86..<1.16).contains((interval + following) / (2 * period))
    {
      // A short interval and a long one make two.
      beat.reason = .ectopic
      next?.followsEctopic = true
      next?.oddity = nil
    } else if let following, nextQuality >= Beat.acceptance, abs(following / interval - 1) < 0.2 {
      // The rate itself has changed.
    } else if goodInRow >= 3, nextQuality >= 0.6, beat.quality >= 0.6, (0.55..<1.75).contains(oddity) {
      beat.reason = .irregular
    } else {
      (beat.quality, beat.reason) = (min(beat.quality, 0.3), .interval)
    }
  }

  /// The template follows good waves, and begins anew when nothing is like it.
  private mutating func learn(isGood: Bool) {
    if template.count == 0 || !isGood && goodInRow == 0 && badInRow > 5 {
      template.begin(with: shape)
      badInRow = 0
      heights.keepLast(2)
    } else if isGood {
      template.learn(shape)
    }
  }

  /// In seconds. The factors were fitted to simulated light whose beats are known; 2 ms remain without noise.
  private static func timingError(noise: Double, slope: Double, rate: Double) -> Double {
    let ofNoise = 0.242 * noise / (slope * rate) / (1 + rate / 150)
    return (0.002 * 0.002 + ofNoise * ofNoise).squareRoot()
  }
}
