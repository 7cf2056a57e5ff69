/// Finds the beats of a pulse in the light that a sensor measures, sample by sample.
///
/// A sample has the time of its arrival, and its counter, if the stream has one. The times of measurement are found from these.
/// The detector finds out whether light falls or rises when blood comes. What is not good enough is said to be so, with a
/// reason; nothing is guessed. A sample costs no allocation, and the memory is fixed.
public struct PulseDetector: Sendable {
  /// The least samples a second that show beats.
  public static let leastRate = 8.0

  /// In samples a second; nil until enough have come.
  public private(set) var rate: Double?
  /// The last sample after the filter in which beats are searched, in counts, upwards with the blood; nil without contact.
  public private(set) var filtered: Double?
  /// -1 if the light falls when blood comes, as reflected light does, and 1 if it rises.
  public private(set) var polarity = -1.0
  /// Whether the hand is watched: false if the samples have no acceleration, or always the same.
  public var watchesMotion: Bool { motion.isKnown }

  private var clock = SampleClock()
  private var motion = Motion()
  private var wave = Wave()
  private var search = PeakSearch()
  private var judge = BeatJudge()
  private var seconds = SecondQuality()
  private var highPass = Biquad(.highPass, at: 0.5, rate: 25)
  private var lowPass = Biquad(.lowPass, at: 5, rate: 25)

  /// The time of the first sample. Inside, times count from it, so the result does not depend on the clock.
  private var origin: Double?
  /// The end of the last stretch.
  private var stretchEnd: Double?
  /// The last sample that had a value.
  private var last: (time: Double, light: Double)?
  /// Places without a value since then.
  private var pending = 0
  /// In counts: the mean absolute second difference of the light.
  private var noise: Double?
  private var highPassed = (last: 0.0, before: 0.0)
  /// Means of the light over 0.4 and 6 seconds.
  private var level = 0.0
  private var slowLevel = 0.0
  /// Since when there is no contact, and the level before.
  private var contactLoss: (time: Double, level: Double)?
  private var flatCount = 0
  private var lastFlat = -Double.infinity
  private var lastLight: Double?
  private var lastLoss = Int.min / 2

  /// In seconds: the longest hole that a line may fill; the longest one after which the wave is still known.
  private static let holes = (filled: 0.25, known: 15.0)
  /// In seconds: after this, light of another level is taken for a new contact.
  private static let longestContactLoss = 20.0
  /// Waves in a row without the rise of a pulse that show that it is upside down.
  private static let refusalsOfPolarity = 8

  public init() {}

  /// Adds a sample.
  ///
  /// - Parameters:
  ///   - time: of its arrival, in seconds, on a clock of any origin
  ///   - light: in counts; 0 if the sensor has no value
  ///   - acceleration: in g
  ///   - counter: of the packets; it counts up by one with each sample, and wraps
  ///   - sink: is called for each event, before the call returns
  public mutating func add(
    at time: Double, light: Double, acceleration: SIMD3<Double>? = nil, counter: UInt8? = nil,
    to sink: (PulseEvent) -> Void
  ) {
    guard time.magnitude < 1e12, light.magnitude < 1e9 else { return }
    let origin = origin ?? time
    self.origin = origin
    advance(to: time - origin, light: light, acceleration: acceleration, counter: counter) { event in
      sink(event.moved(by: origin, said: time))
    }
  }

  /// Says the beat that waits for the next one: the samples end, or the stream is interrupted.
  public mutating func finish(to sink: (PulseEvent) -> Void) {
    let origin = origin ?? 0
    let now = last?.time ?? 0
    judge.flush { sink($0.moved(by: origin, said: now + origin)) }
  }

  /// The stream was interrupted: what follows may be of another link. No interval leads across.
  public mutating func interrupt(to sink: (PulseEvent) -> Void) {
    finish(to: sink)
    clock.restart()
    last = nil
  }

  private mutating func advance(
    to now: Double, light: Double, acceleration: SIMD3<Double>?, counter: UInt8?,
    to sink: (PulseEvent) -> Void
  ) {
    let tick = clock.add(arrival: now, counter: counter)
    if let acceleration { motion.add(acceleration, at: now) }
    guard let tick else { return seconds.add(at: now, disturbance: .settling, to: sink) }
    if tick.isRestart {
      interrupt(at: now, to: sink)
      last = nil
      pending = 0
      rate = clock.period.map { 1 / $0 }
    }
    guard let rate, let period = clock.period, rate >= Self.leastRate else {
      filtered = nil
      return seconds.add(at: now, disturbance: .rateTooLow, to: sink)
    }
    if tick.isRestart { begin(at: tick.time, rate: rate) }
    if let loss = tick.loss {
      let delay = Double(loss.samples) * period
      wave.delayLast(loss.age, by: delay)
      lastLoss = wave.count - loss.age
      last?.time += delay
    }
    seconds.add(at: now, disturbance: disturbance(hasValue: light > 0), to: sink)
    guard light > 0 else {
      // Its place is filled when the next value comes.
      pending += 1 + tick.missing
      return
    }
    var missing = pending + tick.missing
    pending = 0
    if let last, Double(missing) * period > Self.holes.filled || tick.time - last.time > 0.35 {
      seconds.add(at: now, disturbance: .gap, to: sink)
      interrupt(at: now, to: sink)
      begin(at: tick.time, rate: rate)
      self.last = nil
    }
    if last == nil {
      missing = 0
      settle(at: light)
    }
    if missing > 0, let last {
      for index in 1...missing {
        let part = Double(index) / Double(missing + 1)
        step(
          to: last.time + Double(index) * period, light: last.light + part * (light - last.light),
          arrival: now,
          rate: rate, sink)
      }
    }
    last = (tick.time, light)
    step(to: tick.time, light: light, arrival: now, rate: rate, sink)
  }

  private func disturbance(hasValue: Bool) -> PulseReason? {
    if contactLoss != nil { return .noContact }
    guard hasValue else { return .gap }
    if let last, last.time - lastFlat < 0.8 { return .saturation }
    if motion.strength > BeatJudge.motionLimit || motion.strength > Motion.threshold && motion.duration > 1 {
      return .motion
    }
    return last.map { search.isNew(at: $0.time) } ?? true ? .settling : nil
  }

  /// Ends a stretch.
  private mutating func interrupt(at time: Double, to sink: (PulseEvent) -> Void) {
    stretchEnd = time
    judge.flush { event in
      if case .beat(let beat) = event { seconds.add(beat) }
      sink(event)
    }
    search.dropWaiting()
    sink(.interruption(time))
  }

  private mutating func begin(at time: Double, rate: Double) {
    wave.begin(rate: rate)
    highPass = Biquad(.highPass, at: 0.5, rate: rate)
    lowPass = Biquad(.lowPass, at: min(5, 0.36 * rate), rate: rate)
    let isKnown = search.size != nil && stretchEnd.map { time - $0 < Self.holes.known } == true
    if !isKnown { judge.forget() }
    judge.begin()
    search.begin(at: time, isKnown: isKnown)
    noise = nil
    highPassed = (0, 0)
    lastLoss = .min / 2
    flatCount = 0
    lastFlat = -.infinity
    lastLight = nil
  }

  /// Sets the filters as if the light had always been at this level.
  private mutating func settle(at light: Double) {
    (level, slowLevel, lastLight) = (light, light, light)
    highPass.settle(at: polarity * light)
    lowPass.settle(at: 0)
  }

  private mutating func restart(
    at time: Double, light: Double, arrival: Double, rate: Double, _ sink: (PulseEvent) -> Void
  ) {
    interrupt(at: arrival, to: sink)
    begin(at: time, rate: rate)
    settle(at: light)
  }

  /// Adds a sample of the even grid.
  private mutating func step(
    to time: Double, light: Double, arrival: Double, rate: Double, _ sink: (PulseEvent) -> Void
  ) {
    flatCount = light == lastLight ? flatCount + 1 : 0
    if Double(flatCount) >= max(3, 0.12 * rate) { lastFlat = time }
    lastLight = light
    level += Elementary.share(of: 1 / rate, in: 0.4) * (light - level)
    slowLevel += Elementary.share(of: 1 / rate, in: 6) * (light - slowLevel)
    if let loss = contactLoss {
      // Nothing is searched until the light is back, or has found a level of its own.
      filtered = nil
      guard level > 0.6 * loss.level || time - loss.time > Self.longestContactLoss else { return }
      contactLoss = nil
      return restart(at: time, light: light, arrival: arrival, rate: rate, sink)
    }
    if level < 0.5 * slowLevel || level > 2 * slowLevel {
      if level < slowLevel { contactLoss = (time, slowLevel) }
      return restart(at: time, light: light, arrival: arrival, rate: rate, sink)
    }
    let high = highPass.apply(polarity * light)
    let band = lowPass.apply(high)
    filtered = band
    // What is left above the band is noise.
    let roughness = abs(high - 2 * highPassed.last + highPassed.before)
    highPassed = (high, highPassed.last)
    noise =
      noise.map { $0 + Elementary.share(of: 1 / rate, in: 2) * (min(roughness, 4 * $0 + 1) - $0) }
      ?? roughness
    wave.append(light: polarity * light, band: band, at: time)
    let circumstances = BeatJudge.Circumstances(
      time: time, motion: motion, noise: noise ?? 0, lastFlat: lastFlat, lastLoss: lastLoss)
    search.advance(in: &wave, judge: &judge, circumstances) { event in
      if case .beat(let beat) = event { seconds.add(beat) }
      sink(event)
    }
    if judge.risesRefused >= Self.refusalsOfPolarity {
      polarity = -polarity
      stretchEnd = nil
      search.forget()
      restart(at: time, light: light, arrival: arrival, rate: rate, sink)
    }
  }
}

extension PulseEvent {
  /// With times on another clock.
  fileprivate func moved(by offset: Double, said: Double) -> PulseEvent {
    switch self {
    case .wave(var beat):
      (beat.time, beat.said) = (beat.time + offset, said)
      return .wave(beat)
    case .beat(var beat):
      (beat.time, beat.said) = (beat.time + offset, said)
      return .beat(beat)
    case .second(var second):
      second.start += offset
      return .second(second)
    case .interruption(let time): return .interruption(time + offset)
    }
  }
}
