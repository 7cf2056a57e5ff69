import HaloBluetoothCore
import RingLink
import TestSupport
import Testing

struct SpotMeasurementTests {
  /// The course that was captured: zeros, intervals, values, silence.
  @Test func returnsOneValueAndAsksRingToStoreIt() {
    let talk = MeasurementDialogue(.heartRate)
    #expect(talk.sent == ["69 01 01"])
    for _ in 0..<31 { talk.ring(hex("6901000000000000000000000000006a")) }
    talk.ring(hex("690100000000770200000000000000e3"))
    talk.ring(hex("690100000000770200000000000000e3"))
    talk.tick(.heartRate, interval: 690, times: 17)
    talk.ring(hex("690100560000c3020000000000000085"))
    #expect(talk.result == nil)
    talk.tick(.heartRate, 88, interval: 700, times: 9)
    #expect(talk.result == nil)
    talk.timers.advance(by: .milliseconds(1500))
    #expect(talk.sent == ["69 01 01", "6a 01 58"])
    talk.acknowledge(.heartRate)
    #expect(
      talk.reading == MeasurementReading(kind: .heartRate, value: .heartRate(88), beatInterval: 700))
    #expect(talk.events.filter { $0 == .warmingUp }.count == 50)
    // Repetitions are no new beats.
    #expect(
      talk.events.filter { $0 != .warmingUp } == [
        .beatInterval(631), .beatInterval(690), .beatInterval(707), .beatInterval(700),
      ])
  }

  @Test func oxygenEndsWithFinalStatusFromRing() {
    let talk = MeasurementDialogue(.oxygen)
    talk.tick(.oxygen, times: 50)
    talk.tick(.oxygen, 95, times: 2)
    talk.ring(hex("690300610100000000000000000000ce"))
    talk.acknowledge(.oxygen)
    #expect(talk.reading == MeasurementReading(kind: .oxygen, value: .oxygen(97)))
    #expect(talk.sent == ["69 03 01", "6a 03 61"])
  }

  @Test func aRingThatDoesNotStopIsStopped() {
    let talk = MeasurementDialogue(.heartRate)
    talk.tick(.heartRate, times: 50)
    talk.tick(.heartRate, 80, interval: 750, times: 13)
    #expect(talk.sent.last == "6a 01 50")
    // Not even the stop is answered: that is waited for no longer than anything.
    talk.timers.advance(by: .seconds(2))
    #expect(talk.reading?.value == .heartRate(80))
  }

  @Test(arguments: [
    ("6908002d0000470300000000000000e8", MeasurementKind.stress, MeasuredValue.stress(45), 839),
    ("690a002a000089030000000000000029", .variability, .variability(42), 905),
  ])
  func marksValuesReplacedByFirmware(
    frame: String, kind: MeasurementKind, value: MeasuredValue, interval: Int
  ) {
    let talk = MeasurementDialogue(kind)
    talk.ring(hex(frame))
    talk.timers.advance(by: .milliseconds(1500))
    // The ring is not asked to keep it.
    #expect(talk.sent.last == "6a 0\(kind == .stress ? "8" : "a")")
    talk.acknowledge(kind)
    #expect(
      talk.reading
        == MeasurementReading(kind: kind, value: value, estimate: .replaced, beatInterval: interval))
  }

  @Test func bloodPressureLiesInTheBytesBehind() {
    let talk = MeasurementDialogue(.bloodPressure)
    var update = MeasurementUpdate(.bloodPressure)
    update.second = 121
    update.third = 79
    talk.ring(CommandTable.measurementStart.frame(of: update))
    talk.timers.advance(by: .milliseconds(1500))
    talk.acknowledge(.bloodPressure)
    #expect(talk.reading?.value == .bloodPressure(systolic: 121, diastolic: 79))
    #expect(talk.reading?.estimate == .fabricated)
    #expect(MeasurementKind.bloodPressure.isFabricated && MeasurementKind.bloodSugar.isFabricated)
    #expect(!MeasurementKind.heartRate.isFabricated && !MeasurementKind.stress.isFabricated)
  }

  /// The layout is that of the vendor's software (qring_sdk_flutter, `StopHeartRateRsp`).
  @Test func severalValuesAtOnce() throws {
    let talk = MeasurementDialogue(.combined)
    talk.ring(hex("690c0000000000000000000000000075"))
    talk.ring(hex("690c00000000c302000000000000003a"))
    #expect(talk.events == [.warmingUp, .beatInterval(707), .warmingUp])
    talk.ring(hex("690c00482a1ec3020078500000000092"))
    talk.timers.advance(by: .milliseconds(1500))
    // Several values have no place in the command that ends it.
    #expect(talk.sent == ["69 0c 01", "6a 0c"])
    talk.acknowledge(.combined)
    let reading = try #require(talk.reading)
    var values = CombinedMeasurement()
    (values.beatsPerMinute, values.variability, values.stress, values.beatInterval) = (72, 42, 30, 707)
    (values.systolic, values.diastolic) = (120, 80)
    #expect(reading == MeasurementReading(kind: .combined, value: .combined(values), beatInterval: 707))
    #expect(reading.value.number == 72 && "\(reading)" == "combined values: 72 bpm, 707 ms from beat to beat")
    #expect(values.frame.bytes == hex("690c00482a1ec3020078500000000092"))
  }

  /// A rate of 95 to 98 whose beats say something else is not believed here either.
  @Test func aSuspiciousRateAmongSeveralValues() {
    let talk = MeasurementDialogue(.combined)
    var values = CombinedMeasurement()
    values.beatsPerMinute = 97
    values.beatInterval = 850
    talk.ring(values.frame)
    talk.timers.advance(by: .milliseconds(1500))
    talk.acknowledge(.combined)
    #expect(talk.reading?.estimate == .suspicious)
  }

  /// Something may be in the bytes from the beginning: what counts is what the ring has sent last.
  @Test func bytesAreThoseOfTheEnd() {
    let talk = MeasurementDialogue(.bodyTemperature)
    for _ in 0..<59 { talk.ring(hex("690b0001000000000000000000000075")) }
    #expect(talk.result == nil && talk.sent == ["69 0b 01"])
    talk.ring(hex("690b006d0100000000000000000000e2"))
    talk.timers.advance(by: .milliseconds(1500))
    talk.acknowledge(.bodyTemperature)
    #expect(talk.reading?.value == .bytes([0x6D, 0x01] + Array(repeating: 0, count: 10)))
  }

  /// A ring that does not end it is stopped.
  @Test func severalValuesHaveADeadline() {
    let talk = MeasurementDialogue(.combined)
    var values = CombinedMeasurement()
    values.beatsPerMinute = 72
    for second in 0..<76 where talk.result == nil {
      values.variability = UInt8(second)
      talk.ring(values.frame, after: .seconds(1))
      if talk.sent.count > 1 { talk.acknowledge(.combined) }
    }
    #expect(talk.sent == ["69 0c 01", "6a 0c"] && talk.reading?.value.number == 72)
  }

  /// No source states where the temperature is: the bytes are the result.
  @Test func aBodyTemperatureIsBytes() {
    let talk = MeasurementDialogue(.bodyTemperature)
    talk.ring(hex("690b0000000000000000000000000074"))
    talk.ring(hex("690b006d0100000000000000000000e2"))
    talk.timers.advance(by: .milliseconds(1500))
    #expect(talk.sent.last == "6a 0b")
    talk.acknowledge(.bodyTemperature)
    #expect(talk.reading?.value == .bytes([0x6D, 0x01] + Array(repeating: 0, count: 10)))
    #expect(
      talk.reading.map { "\($0)" } == "body temperature: 6d 01 00 00 00 00 00 00 00 00 00 00")
  }

  /// A failed check ends with a random 95 to 98.
  @Test(arguments: [
    // Came only when the check ended.
    (zeros: 59, values: [97], interval: 0, kind: MeasurementKind.heartRate, isSuspicious: true),
    (zeros: 59, values: [96], interval: 0, kind: .oxygen, isSuspicious: true),
    // Contradicts the beats, or what came before.
    (zeros: 50, values: [96, 97], interval: 850, kind: .heartRate, isSuspicious: true),
    (zeros: 50, values: [71, 70, 95], interval: 630, kind: .heartRate, isSuspicious: true),
    (zeros: 50, values: [96, 97], interval: 0, kind: .heartRate, isSuspicious: true),
    // A heart that really beats so, and blood as it is.
    (zeros: 50, values: [94, 96, 97], interval: 620, kind: .heartRate, isSuspicious: false),
    (zeros: 50, values: [96, 97], interval: 0, kind: .oxygen, isSuspicious: false),
    // Another number is not what the firmware would put there.
    (zeros: 59, values: [99], interval: 0, kind: .heartRate, isSuspicious: false),
  ])
  func aFailedCheckIsSeenThrough(
    check: (zeros: Int, values: [UInt8], interval: UInt16, kind: MeasurementKind, isSuspicious: Bool)
  ) {
    let talk = MeasurementDialogue(check.kind)
    talk.tick(check.kind, interval: check.interval, times: check.zeros)
    for value in check.values { talk.tick(check.kind, value, interval: check.interval) }
    talk.timers.advance(by: .milliseconds(1500))
    talk.acknowledge(check.kind)
    #expect(talk.reading?.estimate == (check.isSuspicious ? .suspicious : nil))
    #expect(talk.reading?.value.number == check.values.last.map(Int.init))
  }

  // MARK: Ends without a value

  @Test func reportsRingNotWorn() {
    let talk = MeasurementDialogue(.heartRate)
    talk.tick(.heartRate, times: 6)
    talk.ring(hex("6901010000000000000000000000006b"))
    #expect(talk.sent == ["69 01 01", "6a 01"])
    talk.acknowledge(.heartRate)
    #expect(talk.failure == .notWorn)
  }

  @Test(arguments: [(UInt8(2), MeasurementFailure.notWorn), (7, .status(7))])
  func otherStatusesEndIt(status: UInt8, failure: MeasurementFailure) {
    let talk = MeasurementDialogue(.oxygen)
    // A value beside it does not count.
    talk.tick(.oxygen, status: status, 97)
    talk.acknowledge(.oxygen)
    #expect(talk.failure == failure)
  }

  @Test func aRingThatNeverAnswers() {
    let talk = MeasurementDialogue(.heartRate)
    talk.timers.advance(by: .seconds(5))
    #expect(talk.sent == ["69 01 01", "6a 01"])
    talk.timers.advance(by: .seconds(2))
    #expect(talk.error == .notAnswered(.frame(0x69), seconds: 5))
  }

  @Test func reportsRingFallingSilent() {
    let talk = MeasurementDialogue(.heartRate)
    talk.tick(.heartRate, times: 20)
    talk.timers.advance(by: .seconds(7))
    #expect(talk.failure == .fellSilent(seconds: 5))
    #expect(talk.sent.last == "6a 01")
  }

  @Test(arguments: [(MeasurementKind.heartRate, 45.0), (.variability, 75)])
  func reportsMissingValueAfterTimeout(kind: MeasurementKind, seconds: Double) {
    let talk = MeasurementDialogue(kind)
    talk.tick(kind, interval: 800, times: Int(seconds * 2))
    talk.timers.advance(by: .seconds(2))
    #expect(talk.failure == .noValue(seconds: seconds))
  }

  @Test func anotherMeasurementTakesTheSensor() {
    let talk = MeasurementDialogue(.heartRate)
    // Still under way from before.
    talk.tick(.oxygen, 97)
    #expect(talk.sent.count == 1)
    talk.tick(.heartRate, times: 4)
    talk.tick(.oxygen)
    talk.acknowledge(.heartRate)
    #expect(talk.failure == .takenOver(by: .oxygen))
  }

  @Test func aRingThatDoesNotKnowIt() {
    let talk = MeasurementDialogue(.stress)
    talk.ring(hex("e9ee0000000000000000000000000000").withChecksum, after: .milliseconds(20))
    #expect(talk.error == .refused(.frame(0x69), .notSupported))
    // There is nothing to stop.
    #expect(talk.sent == ["69 08 01"])
  }

  @Test func theLinkIsLost() {
    let talk = MeasurementDialogue(.heartRate)
    talk.tick(.heartRate, times: 3)
    talk.dispatcher.close(.disconnected("out of reach"))
    #expect(talk.error == .disconnected("out of reach"))
    #expect(talk.sent == ["69 01 01"])
  }

  @Test func cancellationStopsMeasurementImmediately() {
    let talk = MeasurementDialogue(.heartRate)
    talk.tick(.heartRate, times: 3)
    talk.session.stop(because: .cancelled)
    #expect(talk.sent == ["69 01 01", "6a 01"])
    talk.acknowledge(.heartRate)
    #expect(talk.error == .cancelled)
    talk.session.stop()
    #expect(talk.sent.count == 2)
  }

  // MARK: Disturbances

  @Test func ignoresUnrelatedFrames() {
    let talk = MeasurementDialogue(.heartRate)
    var heard: [RingEvent] = []
    talk.dispatcher.onEvent = { heard.append($0) }
    for _ in 0..<50 {
      talk.tick(.heartRate)
      talk.ring(hex("7312000bef0222090007cf0000000082"), after: .zero)
      talk.ring(hex("2ff40000000000000000000000000023"), after: .zero)
      talk.ring(hex("a10100a000c2007200950100000000"), after: .zero)
      talk.ring(hex("690100590000c3020000000000000085"), after: .zero)  // a wrong checksum
    }
    talk.tick(.heartRate, 70, interval: 857, times: 2)
    talk.timers.advance(by: .milliseconds(1500))
    talk.acknowledge(.heartRate)
    #expect(talk.reading?.value == .heartRate(70))
    #expect(heard.count == 100)
  }

  @Test func anotherCommandIsAnsweredMeanwhile() {
    let talk = MeasurementDialogue(.heartRate)
    talk.tick(.heartRate, times: 5)
    var battery: RingFrame?
    talk.dispatcher.start(
      RingExchange(.frame(CommandTable.battery.request())) { answer in
        if case .frame(let frame) = answer { battery = frame }
        return .done
      } completion: { _ in
      })
    talk.tick(.heartRate)
    talk.ring(hex("03400000000000000000000000000043"), after: .zero)
    #expect(battery != nil)
    #expect(talk.result == nil)
  }

  /// After any end, the next command works, and the next measurement too.
  @Test func afterAFailureEverythingWorks() {
    let talk = MeasurementDialogue(.heartRate)
    talk.timers.advance(by: .seconds(20))
    #expect(talk.error != nil)
    var isAnswered = false
    talk.dispatcher.start(
      RingExchange(.frame(CommandTable.battery.request()), accept: { _ in .done }) { isAnswered = $0 == nil })
    talk.ring(hex("03400000000000000000000000000043"))
    #expect(isAnswered)
    var second: MeasurementReading?
    let next = MeasurementSession(.oxygen, dispatcher: talk.dispatcher, timers: talk.timers)
    next.onEnd = { second = (try? $0.get()).flatMap { $0 } }
    next.start()
    talk.ring(hex("690300610100000000000000000000ce"))
    talk.acknowledge(.oxygen)
    #expect(second?.value == .oxygen(97))
  }

  /// Whatever a ring sends, it is over in time.
  @Test(arguments: 0..<50)
  func anyRingComesToAnEnd(seed: UInt64) {
    var dice = SeededGenerator(seed: seed)
    let talk = MeasurementDialogue([.heartRate, .oxygen, .variability, .bloodPressure][Int(seed % 4)])
    var passed = Duration.zero
    while talk.result == nil, passed < .seconds(120) {
      let time = Duration.milliseconds(Int.random(in: 0...900, using: &dice))
      passed += time
      var payload = (0..<14).map { _ in UInt8.random(in: 0...3, using: &dice) }
      payload[0] = UInt8.random(in: 0...3, using: &dice) == 0 ? 3 : talk.session.kind.rawValue
      payload[1] = UInt8.random(in: 0...99, using: &dice) == 0 ? 1 : 0
      let command: RingCommand = Bool.random(using: &dice) ? 0x69 : 0x73
      if let frame = try? RingFrame(command, payload: payload) { talk.ring(frame, after: time) }
    }
    #expect(talk.result != nil)
    #expect(passed <= .seconds(80))
  }
}

extension [UInt8] {
  /// The same with the right last byte.
  fileprivate var withChecksum: [UInt8] { dropLast() + [dropLast().reduce(0, &+)] }
}
