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
    var outcomes: [RecoveryLadder.Step: RecoveryLadder.Outcome] = [:]
    /// The results of the next openings; nil after them.
    var openings: [AdapterInformation?] = []
    private(set) var steps: [RecoveryLadder.Step] = []
    private(set) var openingTimes: [Duration] = []
    private let timers = testTimers

    func carryOut(_ step: RecoveryLadder.Step) async throws(HCIError) -> RecoveryLadder.Outcome {
      steps.append(step)
      return outcomes[step] ?? .failed("no")
    }

    func reopen(within time: Duration) async throws(HCIError) -> AdapterInformation? {
      openingTimes.append(time)
      return openings.isEmpty ? nil : openings.removeFirst()
    }

    func change() async { await timers.sleep(for: .seconds(1)) }
  }

  private static let information = AdapterInformation(
    address: BluetoothAddress(1, .public), version: "5.0", usesExtendedScan: false)
  private static let timeout = HCIError.commandTimedOut(HCIOpcode(rawValue: 0x0C03))

  private let radio = Radio()
  private let recovery = AdapterRecovery(timers: testTimers)

  private func recover(_ failure: HCIError, within time: Duration = .seconds(60)) async -> HCIError? {
    do throws(HCIError) {
      let information = try await recovery.recover(radio, from: failure, within: time)
      #expect(information == Self.information)
      return nil
    } catch {
      return error
    }
  }

  @Test func theStepsEndWithTheFirstThatHelps() async {
    radio.outcomes = [.cancel: .done(), .disconnect: .leftOut("x"), .reset: .recovered(Self.information)]
    #expect(await recover(Self.timeout) == nil)
    #expect(radio.steps == [.cancel, .disconnect, .reset])
    #expect(radio.openingTimes.isEmpty)
  }

  @Test func aStepWithoutHopeIsTheLast() async {
    radio.outcomes = [.reset: .hopeless("no way")]
    let error = await recover(Self.timeout)
    #expect("\(error.map { "\($0)" } ?? "")".contains("reset: no way"))
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

  /// All steps have failed: it may come back by itself. A second failure within the minute is reported.
  @Test func theStepsAreTakenOnceAMinute() async {
    radio.openings = [Self.information]
    #expect(await recover(Self.timeout) == nil)
    #expect(radio.steps == RecoveryLadder.Step.allCases)
    let error = await recover(.hardwareError(1))
    #expect(radio.steps.count == 4)
    #expect("\(error.map { "\($0)" } ?? "")".contains("off and on: no"))
    await testTimers.sleep(for: .seconds(60))
    radio.openings = [Self.information]
    #expect(await recover(Self.timeout) == nil)
    #expect(radio.steps.count == 8)
  }
}
