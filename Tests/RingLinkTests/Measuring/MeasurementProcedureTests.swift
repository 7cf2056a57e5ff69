import HaloBluetoothCore
import TestSupport
import Testing

@testable import RingLink

/// A measurement as a dialogue of frames: no dispatcher, no timers, no link.
@Suite struct MeasurementProcedureTests {
  private struct Dialogue {
    var procedure: MeasurementProcedure
    var now = Instant.zero

    init(_ kind: MeasurementKind, _ method: MeasurementSession.Method = .spot) {
      procedure = MeasurementProcedure(kind, method: method)
    }

    mutating func start() -> [MeasurementProcedure.Action] { procedure.start(at: now) }

    /// Half a second, and then a frame.
    mutating func ring(_ frame: RingFrame) -> [MeasurementProcedure.Action] {
      now = now + .milliseconds(500)
      return procedure.receive(frame, at: now, now: now)
    }

    mutating func update(
      _ kind: MeasurementKind, _ value: UInt8 = 0, status: UInt8 = 0
    ) -> [MeasurementProcedure.Action] {
      var update = MeasurementUpdate(kind)
      update.value = value
      update.status = status
      return ring(CommandTable.measurementStart.frame(of: update))
    }

    /// Advances to the next deadline.
    ///
    /// - Returns: how long that took, and what is done then
    mutating func advance() throws -> (Duration, [MeasurementProcedure.Action]) {
      let deadline = try #require(procedure.nextDeadline)
      let pause = deadline - now
      now = deadline
      return (pause, procedure.advance(to: now))
    }
  }

  private func start(_ kind: MeasurementKind, action: UInt8 = 1) -> RingFrame {
    CommandTable.measurementStart.request(MeasurementStart(kind, action: action))
  }

  private func stop(_ kind: MeasurementKind, _ value: UInt8 = 0) -> RingFrame {
    CommandTable.measurementStop.request(MeasurementStop(kind, value: value))
  }

  @Test func spotMeasurementEndsWithLastValueBeforeSilence() throws {
    var dialogue = Dialogue(.heartRate)
    #expect(dialogue.start() == [.send(start(.heartRate))])
    let warm = dialogue.update(.heartRate)
    #expect(warm == [.report(.warmingUp, dialogue.now)])
    #expect(dialogue.update(.heartRate, 70) == [])
    #expect(dialogue.update(.heartRate, 72) == [])
    let (pause, actions) = try dialogue.advance()
    #expect(pause == .milliseconds(1500))
    let reading = MeasurementReading(kind: .heartRate, value: .heartRate(72))
    #expect(actions == [.finish(.success(reading), stop: stop(.heartRate, 72))])
    #expect(dialogue.procedure.nextDeadline == nil)
  }

  /// A value that keeps coming is taken six seconds after the first one.
  @Test func spotMeasurementEndsDespiteContinuedUpdates() throws {
    var dialogue = Dialogue(.heartRate)
    _ = dialogue.start()
    for _ in 0..<12 { _ = dialogue.update(.heartRate, 70) }
    let (pause, actions) = try dialogue.advance()
    #expect(pause == .milliseconds(500))
    guard case .finish(.success(let reading), _) = actions.first else {
      Issue.record("\(actions)")
      return
    }
    #expect(reading?.value == .heartRate(70))
  }

  @Test func aContinuousMeasurementIsKeptAliveAndStopped() throws {
    var dialogue = Dialogue(.heartRate, .continuous)
    #expect(dialogue.start() == [.send(start(.continuousHeartRate))])
    for _ in 0..<39 { _ = dialogue.update(.continuousHeartRate, 70) }
    let (pause, actions) = try dialogue.advance()
    #expect(pause == .milliseconds(500))
    #expect(
      actions == [.send(start(.continuousHeartRate, action: MeasurementStart.keepAliveAction))])
    #expect(
      dialogue.procedure.stop() == [
        .finish(.success(nil), stop: start(.continuousHeartRate, action: MeasurementStart.stopAction))
      ])
    #expect(dialogue.procedure.stop() == [])
    #expect(dialogue.update(.continuousHeartRate, 70) == [])
  }

  @Test func timesOutOnSilence() throws {
    var dialogue = Dialogue(.oxygen)
    _ = dialogue.start()
    let (pause, actions) = try dialogue.advance()
    #expect(pause == .seconds(5))
    #expect(
      actions == [.finish(.failure(.notAnswered(.frame(0x69), seconds: 5)), stop: stop(.oxygen))])
  }

  @Test func aRefusalNeedsNoStop() throws {
    var dialogue = Dialogue(.stress)
    _ = dialogue.start()
    #expect(
      dialogue.ring(RingFrame(0xE9, 0xEE)) == [
        .finish(.failure(.refused(.frame(0x69), .notSupported)), stop: nil)
      ])
  }

  @Test func aLostLinkNeedsNoStop() {
    var dialogue = Dialogue(.heartRate)
    _ = dialogue.start()
    #expect(
      dialogue.procedure.fail(.disconnected("out of reach")) == [
        .finish(.failure(.disconnected("out of reach")), stop: nil)
      ])
  }

  @Test func aRingThatIsNotWornIsStopped() {
    var dialogue = Dialogue(.heartRate)
    _ = dialogue.start()
    #expect(
      dialogue.update(.heartRate, status: 1) == [
        .finish(.failure(.measurement(.heartRate, .notWorn)), stop: stop(.heartRate))
      ])
  }
}

/// Whether a value of 95 to 98 is one of those with which firmware ends a failed check (ring reference, 4.9).
@Suite struct EstimateDetectorTests {
  private func verdict(
    _ kind: MeasurementKind, _ values: [Int], after time: Duration = .seconds(26), beat: Int? = 625
  ) -> EstimateReason? {
    var judge = EstimateDetector()
    for value in values { judge.add(value, after: time) }
    return judge.verdict(kind, beatInterval: beat)
  }

  /// A first value after 29 seconds came when the check ended.
  @Test func aLateValueIsSuspicious() {
    #expect(verdict(.oxygen, [97], after: .milliseconds(28_999)) == nil)
    #expect(verdict(.oxygen, [97], after: .seconds(29)) == .suspicious)
    var judge = EstimateDetector()
    judge.add(97, after: .seconds(26))
    judge.add(96, after: .seconds(30))
    #expect(judge.verdict(.oxygen, beatInterval: nil) == nil, "only the first one counts")
  }

  @Test(arguments: [(94, nil), (95, .suspicious), (98, .suspicious), (99, nil)] as [(Int, EstimateReason?)])
  func onlyValuesFrom95To98AreSuspicious(_ value: Int, _ expected: EstimateReason?) {
    #expect(verdict(.oxygen, [value], after: .seconds(30)) == expected)
    #expect(verdict(.heartRate, [value], beat: nil) == expected)
  }

  /// By more than 12 from the first value, unless that is one of them, too.
  @Test(
    arguments: [
      ([83, 95], nil), ([82, 95], .suspicious), ([108, 96], nil), ([109, 96], .suspicious), ([95, 98], nil),
      ([98, 95], nil), ([110, 98], nil), ([111, 98], .suspicious),
    ] as [([Int], EstimateReason?)])
  func aJumpIsSuspicious(_ values: [Int], _ expected: EstimateReason?) {
    #expect(verdict(.oxygen, values) == expected)
  }

  /// 60 s by the interval is the rate; by more than 12 from it. Of SpO2 the beats say nothing.
  @Test(
    arguments: [
      (722, nil), (723, .suspicious), (560, nil), (550, .suspicious), (0, .suspicious), (-1, .suspicious),
      (nil, .suspicious), (632, nil),
    ] as [(Int?, EstimateReason?)])
  func beatsThatContradictAreSuspicious(_ beat: Int?, _ expected: EstimateReason?) {
    #expect(verdict(.heartRate, [95], beat: beat) == expected)
    #expect(verdict(.oxygen, [95], beat: beat) == nil)
  }

  @Test func otherQuantitiesAreAlwaysEstimates() {
    #expect(verdict(.stress, [40]) == .replaced && verdict(.bloodSugar, [95]) == .fabricated)
    #expect(EstimateDetector().verdict(.heartRate, beatInterval: 600) == nil)
  }
}
