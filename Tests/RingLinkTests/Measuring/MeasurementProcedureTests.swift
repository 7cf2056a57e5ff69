import BluetoothCore
import RingLink
import TestSupport
import Testing

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

  @Test func aSpotMeasurementEndsWithTheLastValueBeforeTheSilence() throws {
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
  @Test func aSpotMeasurementThatDoesNotFallSilentEndsAllTheSame() throws {
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

  @Test func silenceEndsIt() throws {
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
