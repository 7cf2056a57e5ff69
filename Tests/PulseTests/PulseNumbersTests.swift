import Testing

@testable import HaloPulse

/// Rates and variabilities, of beats that are given.
@Suite struct PulseNumbersTests {
  private func beats(_ intervals: [Double], from start: Double = 0, error: Double = 0.001) -> [Beat] {
    var time = start
    var result = [
      Beat(time: start, interval: nil, quality: 1, reason: .good, timingError: error, said: start + 1.3)
    ]
    for interval in intervals {
      time += interval
      result.append(
        Beat(time: time, interval: interval, quality: 1, reason: .good, timingError: error, said: time + 1.3))
    }
    return result
  }

  @Test func aRateIsTheMeanOfTenSeconds() {
    var rate = PulseRate()
    for beat in beats(Array(repeating: 0.5, count: 30) + Array(repeating: 1.0, count: 12)) { rate.add(beat) }
    #expect(rate.beatsPerMinute(at: 20) == 60 * 16 / 10.5)
    #expect(rate.beatsPerMinute(at: 27) == 60)
    #expect(rate.beatsPerMinute(at: 35.5) == nil, "two intervals are too few")
    #expect(rate.beatsPerMinute(at: 100) == nil, "no old rate is held")
  }

  @Test func aWeakBeatBelongsToARateAlone() {
    let weak = Beat(time: 1, interval: 0.8, quality: 0.45, reason: .weak, timingError: 0.02, said: 2)
    #expect(weak.isGoodForRate && !weak.isAccepted && !weak.isGoodForVariability)
    let noise = Beat(time: 1, interval: nil, quality: 0.4, reason: .weak, timingError: 0.04, said: 2)
    #expect(!noise.isGoodForRate)
  }

  /// Task Force of the ESC and NASPE, Circulation 1996: the formulas. The numbers are computed by hand.
  @Test func rmssdAndSDNNAreThoseOfTheFormulas() throws {
    var variability = PulseVariability()
    let intervals = (0..<320).map { $0 % 2 == 0 ? 0.9 : 1.0 }
    for beat in beats(intervals) { variability.add(beat) }
    let summary = variability.summary(at: 304)
    #expect(try abs(#require(summary.rmssd) - 0.1) < 1e-9)
    #expect(try abs(#require(summary.sdnn) - 0.05) < 1e-3)
    #expect(abs(summary.floor - 6.0.squareRoot() * 0.001) < 1e-9)
    #expect(summary.coverage > 0.98 && !summary.isEstimate && summary.irregular == 0)
  }

  @Test func noDifferenceLeadsAcrossAHole() throws {
    var variability = PulseVariability(window: 60)
    for beat in beats(Array(repeating: 0.8, count: 40)) { variability.add(beat) }
    for beat in beats(Array(repeating: 1.2, count: 20), from: 35) { variability.add(beat) }
    let summary = variability.summary(at: 60)
    #expect(try #require(summary.rmssd) < 1e-9)
    #expect(summary.sdnn == nil, "one minute is too short")
  }

  @Test func littleCoverageIsAnEstimateAndLessIsNothing() {
    var variability = PulseVariability(window: 60)
    for beat in beats(Array(repeating: 1.0, count: 40)) { variability.add(beat) }
    #expect(variability.summary(at: 60).isEstimate && variability.summary(at: 60).rmssd != nil)
    #expect(variability.summary(at: 75).rmssd == nil)
    #expect(
      variability.summary(at: 1000)
        == PulseVariability.Summary(window: 60, coverage: 0, floor: 0, irregular: 0))
  }

  @Test func anIrregularRhythmHasNoVariability() {
    var variability = PulseVariability(window: 60)
    for (index, beat) in beats(Array(repeating: 1.0, count: 60)).enumerated() {
      var beat = beat
      if index % 6 == 0 { beat.reason = .irregular }
      variability.add(beat)
    }
    let summary = variability.summary(at: 60)
    #expect(summary.rmssd == nil && summary.irregular > 0.1 && summary.coverage > 0.9)
  }

  @Test func memoryIsBounded() {
    var variability = PulseVariability()
    for beat in beats(Array(repeating: 0.28, count: 5000)) { variability.add(beat) }
    #expect(variability.summary(at: 1400).coverage > 0.9)
  }
}
