import ATT
import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

/// A radio that fails and is made ready again: the steps for a controller that does not answer, and the wait for a way
/// that is closed.
@BluetoothActor
@Suite(.onTheLoop) struct RecoveryTests {
  /// A stage whose controller does not answer from the next command on, and whose link is lost with that.
  private func silent(until reset: Bool = false) async throws -> (Stage, Notes) {
    let (stage, connection) = try await Stage.connected()
    let notes = Notes(stage.adapter)
    stage.radio.answer = { [radio = stage.radio] opcode, _ in
      if reset, opcode == Reset.opcode {
        radio.answer = nil
        return nil
      }
      return []
    }
    let error = await failure { () async throws(StackError) in try await connection.readRSSI() }
    #expect(error == .commandTimedOut(ReadRSSI.opcode))
    #expect(stage.failures == [.commandTimedOut(ReadRSSI.opcode)])
    #expect(!connection.isConnected)
    return (stage, notes)
  }

  @BluetoothActor
  private final class Notes {
    private(set) var lines: [String] = []

    init(_ adapter: HCIAdapter) {
      adapter.onNote = { [weak self] in self?.lines.append($0) }
    }

    /// What was tried.
    var steps: [String] {
      lines.filter { $0.hasPrefix("radio: ") }.map { String($0.dropFirst("radio: ".count)) }
    }
  }

  /// Nothing is left behind: the peer can be connected to as if nothing had happened.
  private func checkUse(of stage: Stage) async throws {
    stage.peer.handle = nil
    let connection = try await stage.connect()
    #expect(try await connection.gatt.read(AttributeHandle(0x0022)) == [77])
    await connection.disconnect()
  }

  @Test func aSilentControllerIsReset() async throws {
    let (stage, notes) = try await silent(until: true)
    try await stage.within(.seconds(1)) { try await stage.central.recover(within: .seconds(60)) }
    #expect(notes.steps == ["cancel: done", "disconnect: done", "reset: done"])
    #expect(notes.lines.last == "the controller can be used again")
    #expect(stage.radio.reopenings == 0 && stage.failures.count == 1)
    try await checkUse(of: stage)
    await stage.central.stop()
  }

  @Test func reopensTransportWhenResetFails() async throws {
    let (stage, notes) = try await silent()
    stage.radio.reopening = { [radio = stage.radio] in radio.answer = nil }
    try await stage.within(.milliseconds(3300)) {
      try await stage.central.recover(within: .seconds(60))
    }
    #expect(notes.steps.map { $0.prefix { $0 != ":" } } == ["cancel", "disconnect", "reset", "off and on"])
    #expect(notes.steps[2].hasPrefix("reset: the controller did not answer"))
    #expect(notes.steps[3] == "off and on: done")
    // A reset in vain is no failure of its own.
    #expect(stage.failures.count == 1)
    try await checkUse(of: stage)
    await stage.central.stop()
  }

  /// It is waited for until the time is over; then the first cause is reported.
  @Test func failsAfterAllRecoveryStepsFail() async throws {
    let (stage, notes) = try await silent()
    stage.radio.reopening = {}
    let error = await stage.within(.seconds(14)) {
      await failure { () async throws(StackError) in try await stage.central.recover(within: .seconds(10))
      }
    }
    #expect(error == .commandTimedOut(ReadRSSI.opcode))
    #expect(notes.steps.count == 4 && notes.steps[3].hasPrefix("off and on: the controller did not answer"))
    #expect(stage.radio.reopenings < 5)
    #expect(stage.failures.count == 1)
    await stage.central.stop()
  }

  /// The way to it can't be opened twice: nothing is waited for, and the error names what was done.
  @Test func failsImmediatelyWhenTransportCannotReopen() async throws {
    let (stage, _) = try await silent()
    let error = await stage.within(.milliseconds(3100)) {
      await failure { () async throws(StackError) in try await stage.central.recover(within: .seconds(60))
      }
    }
    let text = error?.description ?? ""
    #expect(text.contains("cancel: done; disconnect: done; reset: the controller did not answer"), "\(text)")
    #expect(text.contains("off and on: left out, as the controller can't be opened again"), "\(text)")
    await stage.central.stop()
  }

  @Test func healthyControllerNeedsNoRecovery() async throws {
    let (stage, connection) = try await Stage.connected()
    let commands = stage.radio.commands.count
    try await stage.central.recover(within: .seconds(60))
    #expect(stage.radio.commands.count == commands)
    #expect(try await connection.gatt.read(AttributeHandle(0x0022)) == [77])
    await stage.central.stop()
  }

  /// The second failure comes before the minute is over: a reset, without the other steps, mends it.
  @Test func runsStepsAtMostOncePerMinute() async throws {
    let (stage, notes) = try await silent(until: true)
    try await stage.central.recover(within: .seconds(60))
    for (delay, steps) in [(Duration.seconds(10), 4), (.seconds(60), 7)] {
      let connection = try await { () async throws in
        stage.peer.handle = nil
        return try await stage.connect()
      }()
      await stage.sleep(delay)
      stage.radio.answer = { [radio = stage.radio] opcode, _ in
        if opcode == Reset.opcode {
          radio.answer = nil
          return nil
        }
        return []
      }
      _ = await failure { () async throws(StackError) in try await connection.readRSSI() }
      try await stage.within(.milliseconds(500)) {
        try await stage.central.recover(within: .seconds(5))
      }
      #expect(notes.steps.count == steps)
    }
    #expect(notes.steps[3].hasPrefix("it is not switched off and on again in the next "))
    await stage.central.stop()
  }

  /// A dongle that is pulled out, and plugged in again some time later.
  @Test func reopensTransportWhenAdapterReturns() async throws {
    let (stage, connection) = try await Stage.connected()
    let notes = Notes(stage.adapter)
    let back = stage.now + .seconds(20)
    stage.radio.reopening = { () throws(StackError) in
      if testTimers.now < back { throw .transportClosed("not there") }
    }
    stage.radio.fail("hci0: the adapter was removed")
    #expect(
      try await connection.disconnection() == .adapter(.transportClosed("hci0: the adapter was removed")))
    try await stage.within(.milliseconds(20_600)) {
      try await stage.central.recover(within: .seconds(60))
    }
    #expect(notes.steps == [])
    #expect(stage.radio.reopenings > 10)
    try await checkUse(of: stage)
    await stage.central.stop()
  }

  @Test func waitForTransportTimesOut() async throws {
    let (stage, _) = try await Stage.connected()
    stage.radio.reopening = { () throws(StackError) in throw .transportClosed("not there") }
    stage.radio.fail("gone")
    let error = await stage.within(.milliseconds(5400)) {
      await failure { () async throws(StackError) in try await stage.central.recover(within: .seconds(5))
      }
    }
    #expect(error == .transportClosed("gone"))
    await stage.central.stop()
  }

  @Test(arguments: [false, true]) func aWaitThatIsCancelledEndsAtOnce(isSilent: Bool) async throws {
    let stage: Stage
    if isSilent {
      stage = try await silent().0
    } else {
      stage = try await Stage.connected().stage
      stage.radio.reopening = { () throws(StackError) in throw .transportClosed("not there") }
      stage.radio.fail("gone")
    }
    let task = spawn { try await stage.central.recover(within: .seconds(60)) }
    await stage.sleep(.milliseconds(1700))
    await stage.within(.milliseconds(200)) {
      task.cancel()
      await #expect(throws: StackError.cancelled) { try await task.value }
    }
    await stage.central.stop()
  }

  /// Hardware Error (Vol 4, Part E, 7.7.16) that a controller reports again and again.
  @Test func reopensTransportAfterRepeatedHardwareErrors() async throws {
    let (stage, _) = try await Stage.connected()
    let notes = Notes(stage.adapter)
    stage.radio.reopening = { [radio = stage.radio] in radio.answer = nil }
    for _ in 0..<3 {
      stage.radio.deliver(hex("04 10 01 42"))
      await stage.sleep(.seconds(1))
    }
    stage.radio.answer = { opcode, _ in opcode == Reset.opcode ? [] : nil }
    stage.radio.deliver(hex("04 10 01 42"))
    await stage.sleep(.seconds(1))
    #expect(stage.failures == [.hardwareError(0x42)])
    try await stage.central.recover(within: .seconds(60))
    #expect(notes.steps.count == 4 && notes.steps.last == "off and on: done")
    try await checkUse(of: stage)
    await stage.central.stop()
  }

  /// A controller that falls silent in the middle of a link, and has no command to leave without an answer.
  @Test func detectsSilentControllerDuringDataTransfer() async throws {
    let (stage, connection) = try await Stage.connected()
    stage.radio.answer = { _, _ in [] }
    stage.radio.returnsCredits = false
    stage.radio.carriesData = false
    let read = spawn { try await connection.gatt.read(AttributeHandle(0x0022)) }
    await stage.within(.milliseconds(9100)) {
      #expect((try? await connection.disconnection()) == .adapter(.commandTimedOut(ReadBDADDR.opcode)))
    }
    await #expect(throws: StackError.self) { try await read.value }
    await stage.central.stop()
  }

  /// A controller that answers, and sends no data for longer than the link could last without an acknowledgement.
  @Test func aControllerThatKeepsDataIsReset() async throws {
    let (stage, connection) = try await Stage.connected()
    stage.radio.returnsCredits = false
    stage.radio.carriesData = false
    let read = spawn { try await connection.gatt.read(AttributeHandle(0x0022)) }
    await stage.within(.seconds(8)) {
      #expect((try? await connection.disconnection()) == .adapter(.packetsStalled(1, seconds: 7)))
    }
    _ = await read.result
    #expect(stage.failures == [])
    stage.radio.returnsCredits = true
    stage.radio.carriesData = true
    try await checkUse(of: stage)
    await stage.central.stop()
  }

  // MARK: What the controller does not end

  /// A creation that was cancelled, and that the controller goes on with: it refuses the next one.
  @Test func anAttemptThatDoesNotEndIsEndedByAReset() async throws {
    let stage = Stage()
    try await stage.central.start()
    stage.peer.isThere = false
    stage.radio.answer = { [radio = stage.radio] opcode, _ in
      switch opcode {
      case LECreateConnectionCancel.opcode: return [HCIEvent.complete(opcode, [0]).packet]
      case LECreateConnection.opcode where radio.commands.contains(LECreateConnectionCancel.opcode):
        return [HCIEvent.status(opcode, HCIErrorCode(rawValue: 0x0C)).packet]
      case Reset.opcode:
        radio.answer = nil
        return nil
      default: return nil
      }
    }
    let first = await failure { () async throws(StackError) in try await stage.connect() }
    #expect(first == .peerNotFound(stage.peer.address, seconds: 5))
    #expect(stage.failures == [])
    let second = await stage.within(.seconds(1)) {
      await failure { () async throws(StackError) in try await stage.connect() }
    }
    let cause = StackError.hostControllerMismatch(
      .commandFailed(LECreateConnection.opcode, .commandDisallowed))
    #expect(second == cause && stage.failures == [])
    stage.peer.isThere = true
    try await checkUse(of: stage)
    await stage.central.stop()
  }

  /// A link that the controller does not end, so that it refuses another one to the same peer.
  @Test func aLinkThatDoesNotEndIsEndedByAReset() async throws {
    let (stage, connection) = try await Stage.connected()
    stage.radio.answer = { [radio = stage.radio] opcode, _ in
      switch opcode {
      case Disconnect.opcode: return [HCIEvent.status(opcode).packet]
      case LECreateConnection.opcode: return [HCIEvent.status(opcode, HCIErrorCode(rawValue: 0x0B)).packet]
      case Reset.opcode:
        radio.answer = nil
        return nil
      default: return nil
      }
    }
    await stage.within(.milliseconds(5100)) { await connection.disconnect() }
    let error = await failure { () async throws(StackError) in try await stage.connect() }
    #expect(
      error == .hostControllerMismatch(.commandFailed(LECreateConnection.opcode, .connectionAlreadyExists)))
    #expect(stage.failures == [])
    try await checkUse(of: stage)
    await stage.central.stop()
  }
}
