import HaloPulse
import TestSupport
import Testing

/// The rate on a screen.
@Suite struct PulseMonitorTests {
  private func monitor(_ samples: [SimulatedLight.Sample]) -> PulseMonitor {
    var monitor = PulseMonitor()
    for sample in samples {
      monitor.add(
        at: sample.time, light: sample.light, acceleration: sample.acceleration, counter: sample.counter)
    }
    return monitor
  }

  private func rate(_ samples: [SimulatedLight.Sample]) -> Double? { monitor(samples).beatsPerMinute }

  @Test(arguments: [45.0, 60, 72, 97, 120, 150], [12.5, 25, 100])
  func beatsAreCounted(_ beats: Double, rate: Double) throws {
    let found = try #require(self.rate(SimulatedLight.steady(beats, at: rate, seconds: 20).samples))
    #expect(abs(found - beats) <= 1)
  }

  /// The receive times of a link with an interval of 30 ms.
  @Test func estimatesPulseDespiteJitter() throws {
    let light = SimulatedLight.steady(72, seconds: 20, event: 0.03, isCounted: false)
    #expect(try abs(#require(rate(light.samples)) - 72) <= 1)
  }

  @Test func estimatesNoPulseFromUnsuitableData() {
    #expect(rate(SimulatedLight.steady(72, at: 1, seconds: 60).samples) == nil, "a rate that can't show it")
    #expect(rate(SimulatedLight.steady(72, seconds: 4).samples) == nil, "too short")
    var random = SeededGenerator(seed: 1)
    let noise = (0..<1000).map {
      SimulatedLight.Sample(
        time: Double($0) / 25, light: Double.random(in: 1...4096, using: &random).rounded())
    }
    #expect(rate(noise) == nil)
    #expect(rate((0..<1000).map { SimulatedLight.Sample(time: Double($0) / 25, light: 5) }) == nil)
  }

  @Test func gapResetsPulseEstimate() {
    var monitor = monitor(SimulatedLight.steady(72, seconds: 20).samples)
    #expect(monitor.beatsPerMinute != nil)
    monitor.add(at: 60, light: 11000)
    #expect(monitor.beatsPerMinute == nil)
    // A time that goes back, as of another clock.
    monitor.add(at: 0, light: 11000)
    #expect(monitor.beatsPerMinute == nil)
  }

  /// A heart of two rates: the second is shown ten seconds after it began.
  @Test func theRateFollowsTheHeart() throws {
    let slow = Array(stride(from: 0.5, to: 30, by: 1.0))
    let beats = slow + Array(stride(from: 30.5, to: 60, by: 0.75))
    #expect(try abs(#require(rate(SimulatedLight(beats: beats, seconds: 50).samples)) - 80) < 1)
  }

  @Test func aWeakPulseGivesARateAndNoVariability() throws {
    let light = SimulatedLight.steady(66, seconds: 90, noise: 34)
    let monitor = monitor(light.samples)
    #expect(monitor.variability.summary(at: 90).rmssd == nil)
    #expect(try abs(#require(monitor.beatsPerMinute) - 66) < 3)
  }
}
