import HCI
import HaloBluetoothCore
import TestLoop
import Testing

@testable import GAP

/// How a radio that has failed is recovered: which steps, in which order, and when no more.
@BluetoothActor
@Suite(.onTheLoop) struct AdapterRecoveryTests {
  /// A radio whose steps and openings end as the test says.
  private final class Radio: RecoverableRadio {
    let name = "hci7"
    var outcomes: [RecoverySteps.Step: RecoverySteps.Outcome] = [:]
    /// The results of the next openings; nil after them.
    var openings: [AdapterInformation?] = []
    private(set) var steps: [RecoverySteps.Step] = []
    private(set) var openingTimes: [Duration] = []
    private let timers = testTimers

    func perform(_ step: RecoverySteps.Step) async throws(StackError) -> RecoverySteps.Outcome {
      steps.append(step)
      return outcomes[step] ?? .failed("no")
    }

    func reopen(within time: Duration) async throws(StackError) -> AdapterInformation? {
      openingTimes.append(time)
      return openings.isEmpty ? nil : openings.removeFirst()
    }

    func change() async { await timers.sleep(for: .seconds(1)) }
  }

  private static let information = AdapterInformation(
    address: BluetoothAddress(1, .public), version: "5.0", usesExtendedScan: false)
  private nonisolated static let timeout = StackError.commandTimedOut(HCIOpcode(rawValue: 0x0C03))

  private let radio = Radio()
  private let recovery = AdapterRecovery(timers: testTimers)

  private func recover(_ failure: StackError, within time: Duration = .seconds(60)) async -> StackError? {
    do throws(StackError) {
      let information = try await recovery.recover(radio, from: failure, within: time)
      #expect(information == Self.information)
      return nil
    } catch {
      return error
    }
  }

  @Test func stopsAtFirstSuccessfulStep() async {
    radio.outcomes = [.cancel: .done(), .disconnect: .leftOut("x"), .reset: .recovered(Self.information)]
    #expect(await recover(Self.timeout) == nil)
    #expect(radio.steps == [.cancel, .disconnect, .reset])
    #expect(radio.openingTimes.isEmpty)
  }

  @Test func stopsAtUnrecoverableStep() async {
    radio.outcomes = [.reset: .unrecoverable("no way")]
    let error = await recover(Self.timeout)
    #expect("\(error.map { "\($0)" } ?? "")".contains("reset: no way"))
    #expect(error?.fault == .final)
    #expect(radio.steps == [.cancel, .disconnect, .reset])
    #expect(radio.openingTimes.isEmpty)
  }

  /// A radio that is not there does not answer either, and no step would help.
  @Test func aRadioThatIsGoneIsWaitedFor() async {
    radio.openings = [nil, nil, Self.information]
    let start = testTimers.now
    #expect(await recover(.transportClosed("unplugged")) == nil)
    #expect(radio.steps.isEmpty)
    #expect(testTimers.now - start == .seconds(2))
    #expect(radio.openingTimes == [.seconds(60), .seconds(59), .seconds(58)])
  }

  @Test func theWaitEndsWithTheReason() async {
    let start = testTimers.now
    #expect(
      await recover(.transportClosed("unplugged"), within: .seconds(3)) == .transportClosed("unplugged"))
    #expect(testTimers.now - start == .seconds(3))
    // The last attempt has time to open, too.
    #expect(radio.openingTimes.last == .milliseconds(500))
  }

  /// All steps have failed: it may come back by itself. One that fails again within the minute is only opened, and said to be
  /// left alone by the steps, until the minute is over.
  @Test func runsStepsAtMostOncePerMinute() async {
    radio.openings = [Self.information]
    #expect(await recover(Self.timeout) == nil)
    #expect(radio.steps == RecoverySteps.Step.allCases)
    let (begin, notes) = (testTimers.now, Notes(recovery))
    radio.openings = Array(repeating: nil, count: 4) + [Self.information]
    #expect(await recover(.hardwareError(1)) == nil)
    #expect(radio.steps.count == 4 && testTimers.now - begin < .seconds(10))
    #expect(notes.lines[1] == "radio: it is not switched off and on again in the next 60 s")
    radio.openings = []
    #expect(await recover(Self.timeout, within: .seconds(70)) == Self.timeout)
    #expect(radio.steps.count == 8)
  }

  @BluetoothActor private final class Notes {
    var lines: [String] = []

    init(_ recovery: AdapterRecovery) {
      recovery.onNote = { [weak self] in self?.lines.append($0) }
    }
  }

  /// A way that opens at once, and closes at once, as `socat` does whose serial line is missing: it was opened 45 times a second.
  @Test(arguments: [StackError.transportClosed("the other side has closed it"), Self.timeout])
  func eachFailureAfterARecoveryPassesMoreTime(_ failure: StackError) async {
    let begin = testTimers.now
    for _ in 0..<12 {
      radio.openings = [Self.information]
      #expect(await recover(failure) == nil)
    }
    // 0, 0.25, 0.5, ... 8, 10, 10 ... seconds.
    #expect(testTimers.now - begin >= .seconds(60))
    // After a minute without a failure, the next is the first.
    await testTimers.sleep(for: .seconds(61))
    let next = testTimers.now
    radio.openings = [Self.information]
    #expect(await recover(failure) == nil)
    #expect(testTimers.now == next)
  }

  @Test func pauseEndsAtCallersDeadline() async {
    for _ in 0..<8 {
      radio.openings = [Self.information]
      _ = await recover(.transportClosed("x"))
    }
    let begin = testTimers.now
    radio.openings = []
    #expect(await recover(.transportClosed("x"), within: .seconds(2)) == .transportClosed("x"))
    #expect(testTimers.now - begin == .seconds(2))
  }
}
