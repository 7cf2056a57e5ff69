import HaloPulse
import TestSupport
import Testing

/// What a detector said of a stream.
struct Said {
  var beats: [Beat] = []
  var waves: [Beat] = []
  var seconds: [PulseSecond] = []
  var interruptions: [Double] = []

  init(_ samples: [SimulatedLight.Sample], finishes: Bool = true) {
    var detector = PulseDetector()
    for sample in samples { add(sample, to: &detector) }
    if finishes { detector.finish { note($0) } }
  }

  mutating func add(_ sample: SimulatedLight.Sample, to detector: inout PulseDetector) {
    detector.add(
      at: sample.time, light: sample.light, acceleration: sample.acceleration, counter: sample.counter
    ) { note($0) }
  }

  private mutating func note(_ event: PulseEvent) {
    switch event {
    case .beat(let beat): beats.append(beat)
    case .wave(let beat): waves.append(beat)
    case .second(let second): seconds.append(second)
    case .interruption(let time): interruptions.append(time)
    }
  }

  var accepted: [Beat] { beats.filter(\.isAccepted) }
  var intervals: [Double] { beats.compactMap(\.interval) }
}

@Suite struct PulseDetectorTests {
  @Test(arguments: [40.0, 45, 60, 72, 97, 120, 150], [12.5, 25, 100])
  func beatsOfASteadyHeartAreFound(_ rate: Double, samples: Double) {
    let said = Said(SimulatedLight.steady(rate, at: samples).samples)
    #expect(Double(said.intervals.count) > 0.87 * rate - 9, "\(rate) at \(samples): \(said.intervals.count)")
    for interval in said.intervals { #expect(abs(interval - 60 / rate) < 0.03) }
  }

  @Test func aFastHeartNeeds25Samples() {
    #expect(Said(SimulatedLight.steady(180).samples).intervals.count > 140)
    #expect(
      Said(SimulatedLight.steady(180, at: 12.5).samples).intervals.allSatisfy { abs($0 - 1.0 / 3) < 0.03 })
  }

  /// Arrivals at multiples of a connection event are not times of measurement.
  @Test(arguments: [0.015, 0.03, 0.05], [true, false])
  func eventsOfTheLinkAreNoVariability(_ event: Double, isCounted: Bool) {
    let light = SimulatedLight.steady(66, seconds: 120, event: event, isCounted: isCounted)
    let said = Said(light.samples)
    var variability = PulseVariability(window: 60)
    for beat in said.beats { variability.add(beat) }
    let rmssd = variability.summary(at: 118).rmssd
    #expect(rmssd.map { $0 < 0.01 } == true, "\(event): \(rmssd ?? -1)")
  }

  /// Packets that are repeated delay those behind them by several events, and nothing is lost. The raw stream has no counter.
  @Test(arguments: [0.03, 0.05], [UInt64(1), 2, 3, 4, 5]) func repeatedPacketsAreNoLoss(
    _ event: Double, seed: UInt64
  ) {
    let beats = SimulatedLight.varying(0.9, by: 0.03, seconds: 120)
    var light = SimulatedLight(beats: beats, seconds: 120, event: event, isCounted: false)
    var random = SeededGenerator(seed: seed)
    var last = 0.0
    for index in light.samples.indices {
      if random.next() % 50 == 0 { light.samples[index].time += event * Double(1 + random.next() % 6) }
      last = max(last, light.samples[index].time)
      light.samples[index].time = last
    }
    let said = Said(light.samples)
    #expect(said.beats.allSatisfy { $0.reason != .gap } && said.intervals.count > 118)
    var variability = PulseVariability(window: 100)
    for beat in said.beats { variability.add(beat) }
    let undelayed = SimulatedLight(beats: beats, seconds: 120)
    var wanted = PulseVariability(window: 100)
    for beat in Said(undelayed.samples).beats { wanted.add(beat) }
    let (found, truth) = (variability.summary(at: 118).rmssd ?? 1, wanted.summary(at: 118).rmssd ?? 0)
    #expect(abs(found - truth) < 0.003, "\(found) \(truth)")
  }

  @Test func intervalsAreThoseOfTheHeart() {
    let beats = SimulatedLight.varying(0.9, by: 0.06, seconds: 120)
    let said = Said(SimulatedLight(beats: beats, seconds: 120).samples)
    #expect(said.intervals.count > 115)
    let delay = said.accepted.map { beat in
      beats.map { beat.time - $0 }.min { abs($0 - 0.13) < abs($1 - 0.13) } ?? 9
    }
    #expect(delay.allSatisfy { abs($0 - 0.13) < 0.04 }, "\(delay.min() ?? 0)...\(delay.max() ?? 0)")
  }

  // MARK: Time

  @Test func saysABeatWithin1600Milliseconds() {
    let said = Said(SimulatedLight.steady(60, seconds: 60).samples)
    #expect(said.accepted.count > 50)
    for beat in said.accepted { #expect(beat.said - beat.time < 1.6) }
    for wave in said.waves { #expect(wave.said - wave.time < 0.66) }
  }

  /// What has been said of a stream does not change by what follows.
  @Test(arguments: [20.0, 33.3, 41.7])
  func laterSamplesDoNotChangeEarlierBeats(_ cut: Double) {
    let samples = SimulatedLight(
      beats: SimulatedLight.varying(0.8, by: 0.1, seconds: 60), seconds: 60, noise: 40, event: 0.03
    ).samples
    let whole = Said(samples)
    let part = Said(samples.filter { $0.time <= cut }, finishes: false)
    #expect(part.beats == Array(whole.beats.prefix(part.beats.count)) && part.beats.count > 10)
    #expect(part.seconds == Array(whole.seconds.prefix(part.seconds.count)))
  }

  @Test func anotherClockMovesTheBeats() {
    let samples = SimulatedLight.steady(72).samples
    let moved = samples.map { sample in
      var sample = sample
      sample.time += 1000
      return sample
    }
    let (here, there) = (Said(samples), Said(moved))
    #expect(here.beats.count == there.beats.count && here.beats.count > 60)
    for (one, other) in zip(here.beats, there.beats) { #expect(abs(one.time + 1000 - other.time) < 1e-6) }
  }

  @Test(arguments: [2.0, 0.5]) func brightnessIsNoMatter(_ factor: Double) {
    let samples = SimulatedLight.steady(72, noise: 2).samples
    let scaled = samples.map { sample in
      var sample = sample
      sample.light *= factor
      return sample
    }
    let (plain, bright) = (Said(samples), Said(scaled))
    #expect(plain.accepted.count == bright.accepted.count)
    for (one, other) in zip(plain.accepted, bright.accepted) { #expect(abs(one.time - other.time) < 0.002) }
  }

  @Test func lightThatRisesWithTheBloodIsTurned() {
    var light = SimulatedLight.steady(66, seconds: 60)
    for index in light.samples.indices { light.samples[index].light = 23000 - light.samples[index].light }
    var detector = PulseDetector()
    var intervals: [Double] = []
    for sample in light.samples {
      detector.add(at: sample.time, light: sample.light, counter: sample.counter) {
        if case .beat(let beat) = $0, let interval = beat.interval { intervals.append(interval) }
      }
    }
    #expect(detector.polarity == 1 && intervals.count > 35)
    #expect(intervals.allSatisfy { abs($0 - 60.0 / 66) < 0.03 })
  }

  /// The first seconds are no fault of the light.
  @Test func theFirstSecondsSettle() {
    let said = Said(SimulatedLight.steady(66, seconds: 20).samples)
    let first = said.seconds.prefix { $0.quality < Beat.acceptance }
    #expect((2...6).contains(first.count) && first.allSatisfy { $0.reason == .settling })
    #expect(said.seconds.dropFirst(first.count).allSatisfy { $0.reason == .good && $0.quality > 0.9 })
  }

  /// The estimated error of a beat's time is near the true one: it is the floor of a variability.
  @Test(arguments: [25.0, 50, 100], [8.0, 20]) func theTimingErrorIsEstimated(_ rate: Double, noise: Double) {
    let beats = SimulatedLight.varying(0.85, by: 0.03, seconds: 180)
    let said = Said(SimulatedLight(beats: beats, rate: rate, seconds: 180, noise: noise).samples)
    let found = said.beats.filter { $0.isGoodForRate && $0.time > 8 }
    let delays = found.compactMap { beat in
      beats.map { beat.time - $0 }.min { abs($0 - 0.13) < abs($1 - 0.13) }
    }
    let mean = delays.reduce(0, +) / Double(delays.count)
    let error = (delays.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(delays.count)).squareRoot()
    let estimate = found.map(\.timingError).sorted()[found.count / 2]
    #expect(found.count > 180 && (0.6...1.8).contains(estimate / error), "\(estimate) for \(error)")
  }

  // MARK: Silence

  @Test(arguments: [1.0, 4.0, 7.0]) func tooFewSamplesGiveNoBeat(_ rate: Double) {
    let said = Said(SimulatedLight.steady(66, at: rate, seconds: 120).samples)
    #expect(said.beats.isEmpty && !said.seconds.isEmpty)
    #expect(said.seconds.dropFirst(20).allSatisfy { $0.reason == .rateTooLow && $0.quality == 0 })
  }

  @Test func aTableHasNoPulse() {
    var random = SeededGenerator(seed: 5)
    let samples = (0..<3000).map { index in
      SimulatedLight.Sample(
        time: Double(index) / 25, light: 420 + Double.random(in: -8...8, using: &random).rounded(),
        counter: UInt8(truncatingIfNeeded: index))
    }
    let said = Said(samples)
    #expect(said.intervals.isEmpty)
    #expect(said.seconds.count > 110 && said.seconds.allSatisfy { $0.quality < 0.5 })
  }

  @Test func lightThatStandsStillIsSaturation() {
    var light = SimulatedLight.steady(66, seconds: 60)
    for index in light.samples.indices where light.samples[index].time > 30 {
      light.samples[index].light = 16383
    }
    let said = Said(light.samples)
    #expect(said.accepted.allSatisfy { $0.time < 31 } && said.accepted.count > 25)
    let late = said.seconds.filter { $0.start > 34 }
    #expect(late.count > 18 && late.allSatisfy { $0.quality < 0.5 && $0.reason == .saturation })
  }

  /// Steady walking has a rhythm of its own, which no measure of shape notices.
  @Test func movementIsNotTakenForAPulse() {
    var light = SimulatedLight.steady(72, seconds: 60)
    for index in light.samples.indices where (20..<45).contains(light.samples[index].time) {
      let phase = light.samples[index].time * 1.8
      let step = abs((phase - phase.rounded()) * 2) - 0.5
      light.samples[index].light += 500 * step
      light.samples[index].acceleration = SIMD3(0.1 + 0.5 * step, -0.98 + 0.6 * step, 0.15)
    }
    let said = Said(light.samples)
    #expect(said.accepted.allSatisfy { !(21..<44.5).contains($0.time) })
    let moved = said.seconds.filter { (23..<43).contains($0.start) }
    #expect(moved.allSatisfy { $0.quality < 0.5 && $0.reason == .motion })
    #expect(said.accepted.contains { $0.time > 52 }, "it comes back")
  }

  @Test func lostContactIsSaid() {
    var light = SimulatedLight.steady(66, seconds: 60)
    for index in light.samples.indices where (20..<32).contains(light.samples[index].time) {
      light.samples[index].light = 350 + Double(index % 7)
    }
    let said = Said(light.samples)
    #expect(said.beats.allSatisfy { !(21..<32).contains($0.time) })
    #expect(said.seconds.filter { (22..<30).contains($0.start) }.allSatisfy { $0.reason == .noContact })
    #expect(
      said.interruptions.contains { (20..<22).contains($0) }
        && said.interruptions.contains { (32..<34).contains($0) })
    #expect(said.accepted.contains { (34..<38).contains($0.time) }, "the wave is still known")
  }

  // MARK: Holes

  @Test func noIntervalLeadsAcrossAHole() {
    let light = SimulatedLight.steady(60, seconds: 60)
    let said = Said(light.samples.filter { !(20.2..<22.7).contains($0.time) })
    #expect(said.interruptions.contains { (20..<23).contains($0) })
    #expect(said.intervals.allSatisfy { $0 < 1.1 } && said.intervals.count > 45)
  }

  @Test func aLostPacketIsFilledAndItsBeatIsNotUsed() {
    let light = SimulatedLight.steady(60, seconds: 60)
    let said = Said(light.samples.enumerated().filter { $0.offset % 61 != 0 }.map(\.element))
    #expect(said.interruptions.count == 1 && said.intervals.count > 40)
    #expect(said.intervals.allSatisfy { abs($0 - 1) < 0.03 })
  }

  @Test func aClockThatIsSetBreaksTheLine() {
    var light = SimulatedLight.steady(60, seconds: 60)
    for index in light.samples.indices where light.samples[index].time > 30 {
      light.samples[index].time -= 7.5
    }
    let said = Said(light.samples)
    #expect(said.interruptions.count == 2 && said.intervals.count > 45)
    #expect(said.intervals.allSatisfy { abs($0 - 1) < 0.03 })
  }

  @Test func anInterruptionIsKeptApart() {
    let light = SimulatedLight.steady(60, seconds: 40)
    var detector = PulseDetector()
    var last: Beat?
    for (index, sample) in light.samples.enumerated() {
      if index == 500 { detector.interrupt { _ in } }
      detector.add(at: sample.time, light: sample.light, counter: sample.counter) {
        guard case .beat(let beat) = $0 else { return }
        if let interval = beat.interval { #expect(!(beat.time > 20 && beat.time - interval < 20)) }
        last = beat
      }
    }
    #expect(last.map { $0.time > 37 && $0.interval != nil } == true)
  }

  /// Numbers of an untrusted file.
  @Test(arguments: 1...20) func anyNumbersAreTaken(_ seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let odd: [Double] = [
      .nan, .infinity, -.infinity, 0, -1, 1e300, .leastNonzeroMagnitude, 65535, 1e12, -1e12,
    ]
    var detector = PulseDetector()
    var time = 0.0
    var events = 0
    for index in 0..<5000 {
      time += Double.random(in: -0.01...0.09, using: &random)
      func pick(_ usual: Double) -> Double {
        random.next() % 40 == 0 ? odd.randomElement(using: &random) ?? 0 : usual
      }
      let light = pick(11500 + Double.random(in: -300...300, using: &random))
      let acceleration = SIMD3(pick(0.1), pick(-1), pick(0))
      let arrival = pick(time)
      detector.add(
        at: arrival, light: light, acceleration: random.next() % 3 == 0 ? nil : acceleration,
        counter: random.next() % 2 == 0 ? UInt8(truncatingIfNeeded: index) : nil
      ) { _ in events += 1 }
    }
    detector.finish { _ in events += 1 }
    #expect(events < 50000)
  }

  /// A packet in 255 has the counter of the one 256 before it.
  @Test func theCounterWraps() {
    let said = Said(SimulatedLight.steady(60, seconds: 120).samples)
    #expect(said.interruptions.count == 1 && said.intervals.count > 105)
  }

  @Test func timesOfEqualValueAreTaken() {
    let light = SimulatedLight.steady(60, seconds: 60, event: 0.12)
    #expect(Set(light.samples.map(\.time)).count < light.samples.count)
    #expect(Said(light.samples).intervals.allSatisfy { abs($0 - 1) < 0.05 })
  }

  @Test func anExtraBeatIsMarked() {
    var beats = Array(stride(from: 0.5, to: 60, by: 0.9))
    beats[30] -= 0.3
    let said = Said(SimulatedLight(beats: beats, seconds: 60).samples)
    let extra = said.beats.filter {
      abs($0.time - 0.13 - beats[30]) < 0.1 || abs($0.time - 0.13 - beats[31]) < 0.1
    }
    #expect(extra.map(\.reason) == [.ectopic, .ectopic] && extra.allSatisfy { !$0.isGoodForVariability })
  }

  @Test func stuckAccelerationIsNoRest() {
    var detector = PulseDetector()
    for (index, sample) in SimulatedLight.steady(60, seconds: 20).samples.enumerated() {
      let acceleration = index < 250 ? SIMD3(0.1, Double(index % 3) / 1000 - 1, 0) : SIMD3(0.1, -1, 0)
      detector.add(at: sample.time, light: sample.light, acceleration: acceleration, counter: sample.counter)
      { _ in }
      if index == 200 { #expect(detector.watchesMotion) }
    }
    #expect(!detector.watchesMotion)
  }
}
