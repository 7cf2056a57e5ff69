import HaloBluetoothCore
import RingLink
import TestSupport
import Testing

struct ContinuousMeasurementTests {
  private func readings(_ talk: MeasurementDialogue) -> [Int] {
    talk.events.compactMap { if case .reading(let reading) = $0 { reading.value.number } else { nil } }
  }

  @Test func sendsKeepAlivesAndStop() {
    let talk = MeasurementDialogue(.heartRate, method: .continuous)
    #expect(talk.sent == ["69 06 01"])
    talk.tick(.continuousHeartRate, times: 15, every: .seconds(1))
    talk.tick(.continuousHeartRate, 70, times: 30, every: .seconds(1))
    talk.tick(.continuousHeartRate, 71, times: 20, every: .seconds(1))
    #expect(readings(talk).count == 50)
    // At most every 25 seconds.
    #expect(talk.sent == ["69 06 01", "69 06 03", "69 06 03", "69 06 03"])
    talk.session.stop()
    #expect(talk.sent.last == "69 06 04")
    #expect(talk.result == .success(nil))
    talk.timers.advance(by: .seconds(60))
    #expect(talk.sent.count == 5)
  }

  @Test func contactMayComeBack() {
    let talk = MeasurementDialogue(.heartRate, method: .continuous)
    talk.tick(.continuousHeartRate, 70, times: 3, every: .seconds(1))
    talk.tick(.continuousHeartRate, status: 1, 70, times: 20)
    talk.tick(.continuousHeartRate, 72, every: .seconds(1))
    // The last value, repeated without contact, is none.
    #expect(readings(talk) == [70, 70, 70, 72])
    #expect(talk.events.filter { $0 == .contactLost }.count == 1)
    #expect(talk.result == nil)
  }

  /// As watched: 0, 0, 2, and nothing more.
  @Test func aRingThatIsNotWorn() {
    let talk = MeasurementDialogue(.heartRate, method: .continuous)
    talk.tick(.continuousHeartRate, times: 2)
    talk.tick(.continuousHeartRate, status: 2)
    #expect(talk.failure == .notWorn)
    #expect(talk.sent.last == "69 06 04")
  }

  @Test func contactThatDoesNotComeBackEndsIt() {
    let talk = MeasurementDialogue(.heartRate, method: .continuous)
    talk.tick(.continuousHeartRate, 70)
    talk.tick(.continuousHeartRate, status: 1, 70, times: 72)
    #expect(talk.failure == .notWorn)
  }

  @Test(arguments: [(0, 20.0), (5, 10.0)])
  func timesOutOnSilence(values: Int, seconds: Double) {
    let talk = MeasurementDialogue(.heartRate, method: .continuous)
    talk.tick(.continuousHeartRate, times: 1)
    talk.tick(.continuousHeartRate, 70, times: values, every: .seconds(1))
    talk.timers.advance(by: .milliseconds(Int(seconds * 1000) - 1))
    #expect(talk.result == nil)
    talk.timers.advance(by: .milliseconds(1))
    #expect(talk.failure == .fellSilent(seconds: seconds))
    #expect(talk.sent.last == "69 06 04")
  }

  @Test(arguments: [0, 3])
  func failsAfterSixtySecondsOfZeros(values: Int) {
    let talk = MeasurementDialogue(.heartRate, method: .continuous)
    talk.tick(.continuousHeartRate, 70, times: values, every: .seconds(1))
    talk.tick(.continuousHeartRate, times: 59, every: .seconds(1))
    #expect(talk.result == nil)
    talk.tick(.continuousHeartRate, times: 2, every: .seconds(1))
    #expect(talk.failure == .noValue(seconds: 60))
    #expect(talk.sent.last == "69 06 04")
  }

  @Test func usesLegacyHeartRateCommands() {
    let talk = MeasurementDialogue(.heartRate, method: .live)
    #expect(talk.sent == ["1e 01"])
    for _ in 0..<5 { talk.ring(RingFrame(0x1E, 0), after: .seconds(1)) }
    for _ in 0..<20 { talk.ring(RingFrame(0x1E, 74), after: .seconds(1)) }
    #expect(readings(talk) == Array(repeating: 74, count: 20))
    talk.session.stop()
    #expect(talk.sent == ["1e 01", "1e 03", "1e 02"])
  }

  /// The error says whether the ring has answered at all.
  @Test(arguments: [false, true]) func reportsTimeoutOfLegacyHeartRateCommand(hasBegun: Bool) {
    let talk = MeasurementDialogue(.heartRate, method: .live)
    if hasBegun { talk.ring(RingFrame(0x1E, 0)) }
    talk.timers.advance(by: .seconds(20))
    if hasBegun {
      #expect(talk.failure == .fellSilent(seconds: 20))
    } else {
      #expect(talk.error == .notAnswered(.frame(0x1E), seconds: 20))
    }
  }

  @Test func reportsRefusalOfLegacyHeartRateCommand() throws {
    let talk = MeasurementDialogue(.heartRate, method: .live)
    talk.ring(RingFrame(0x9E, 0xEE))
    #expect(talk.error == .refused(.frame(0x1E), .notSupported))
    #expect(talk.sent == ["1e 01"])
  }
}
