import HaloBluetoothCore
import HaloGATT
import HaloPulse
import RingLink
import Testing

@testable import HaloCommands

/// What a strap says of what its ring measures.
@Suite struct StrapStateTests {
  private func reading(_ beats: Int, _ estimate: EstimateReason? = nil) -> MeasurementEvent {
    .reading(MeasurementReading(kind: .continuousHeartRate, value: .heartRate(beats), estimate: estimate))
  }

  private func at(_ seconds: Double) -> Instant { .zero + .nanoseconds(Int64(seconds * 1e9)) }

  private static let none: [UInt8] = [0x04, 0]

  @Test func reportsNoContactWithoutValue() {
    var state = StrapState()
    #expect(state.measurement(at: at(0)).encoded == Self.none)
    state.take(.warmingUp, at: at(1))
    state.take(.beatInterval(850), at: at(2))
    #expect(state.measurement(at: at(2)).encoded == Self.none)
  }

  /// Contact is supported and detected; there are no intervals.
  @Test func encodesMeasurementWithContact() {
    var state = StrapState()
    state.take(reading(70), at: at(1))
    #expect(state.measurement(at: at(1.5)).encoded == [0x06, 70])
    state.take(reading(71), at: at(2))
    #expect(state.measurement(at: at(2)).encoded == [0x06, 71])
  }

  /// The times of beats are rounded to 1/1024 s, so that the sum of many intervals is the time that has passed.
  @Test func intervalsAreThoseOfBeatsAndDoNotDrift() {
    var state = StrapState()
    var sum = 0
    for index in 1...600 {
      let time = 100 + 0.8333 * Double(index)
      let beat = Beat(
        time: time, interval: index == 1 ? nil : 0.8333, quality: 1, reason: .good, timingError: 0, said: time
      )
      state.take(beat, rate: 72.003, at: at(time))
      let measurement = state.measurement(at: at(time))
      #expect(measurement.beatsPerMinute == 72 && measurement.intervals.count == (index == 1 ? 0 : 1))
      sum += measurement.intervals.reduce(0) { $0 + Int($1) }
    }
    #expect(abs(Double(sum) / 1024 - 599 * 0.8333) < 0.001)
    #expect(state.measurement(at: at(601)).intervals.isEmpty, "each is said once")
  }

  @Test func aRefusedBeatGivesNoInterval() {
    var state = StrapState()
    state.take(vital: 70, at: at(1))
    state.take(
      Beat(time: 1, interval: nil, quality: 0.2, reason: .motion, timingError: 0, said: 1), rate: nil,
      at: at(1))
    #expect(state.measurement(at: at(1)).encoded == [0x06, 70])
    state.take(vital: 0, at: at(5))
    #expect(state.measurement(at: at(6.1)).encoded == Self.none)
  }

  /// A value of the smallest MTU has room for nine.
  @Test func theOldestIntervalsGiveWay() {
    var state = StrapState()
    for index in 1...12 {
      let time = Double(index)
      state.take(
        Beat(
          time: time, interval: index % 2 == 0 ? 1 : 0.5, quality: 1, reason: .good, timingError: 0,
          said: time),
        rate: 60, at: at(time))
    }
    #expect(state.measurement(at: at(12)).encoded.count == 20)
  }

  @Test func aValueIsNotSaidForLongerThanFiveSeconds() {
    var state = StrapState()
    state.take(reading(70), at: at(1))
    #expect(state.measurement(at: at(6)).encoded == [0x06, 70])
    #expect(state.measurement(at: at(6.001)).encoded == Self.none)
    // An update without a value does not make it newer.
    state.take(.warmingUp, at: at(7))
    #expect(state.measurement(at: at(7)).encoded == Self.none)
    state.take(reading(66), at: at(8))
    #expect(state.measurement(at: at(8)).encoded == [0x06, 66])
  }

  @Test func aRingThatLosesTheSkinIsAStrapWithoutContact() {
    var state = StrapState()
    state.take(reading(70), at: at(1))
    state.take(.contactLost, at: at(2))
    #expect(state.measurement(at: at(2)).encoded == Self.none)
    state.take(reading(72), at: at(3))
    #expect(state.measurement(at: at(3)).encoded == [0x06, 72])
  }

  @Test func aRingThatIsLostIsAStrapWithoutContact() {
    var state = StrapState()
    state.take(reading(70), at: at(1))
    state.stop()
    #expect(state.measurement(at: at(1)).encoded == Self.none)
  }

  /// The number with which firmware ends a failed check.
  @Test(arguments: 95...98) func omitsSuspiciousHeartRate(_ beats: Int) {
    var state = StrapState()
    state.take(reading(70), at: at(1))
    state.take(reading(beats, .suspicious), at: at(2))
    #expect(state.measurement(at: at(2)).encoded == Self.none)
    // One that is measured is one.
    state.take(reading(beats), at: at(3))
    #expect(state.measurement(at: at(3)).encoded == [0x06, UInt8(beats)])
  }

  @Test func ignoresInvalidHeartRates() {
    var state = StrapState()
    state.take(reading(0), at: at(1))
    #expect(state.measurement(at: at(1)).encoded == Self.none)
    state.take(.reading(MeasurementReading(kind: .oxygen, value: .oxygen(97))), at: at(2))
    #expect(state.measurement(at: at(2)).encoded == Self.none)
    state.take(reading(-5), at: at(3))
    #expect(state.measurement(at: at(3)).encoded == Self.none)
  }

  @Test func aValueAbove255HasTwoBytes() {
    var state = StrapState()
    state.take(reading(256), at: at(1))
    #expect(state.measurement(at: at(1)).encoded == [0x07, 0, 1])
    state.take(reading(1_000_000), at: at(2))
    #expect(state.measurement(at: at(2)).encoded == [0x07, 0xFF, 0xFF])
  }
}
