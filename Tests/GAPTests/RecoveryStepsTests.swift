import HCI
import HaloBluetoothCore
import Testing

@testable import GAP

@Suite struct RecoveryStepsTests {
  @Test func runsRecoveryStepsAtMostOncePerMinute() {
    var steps = RecoverySteps()
    let first = steps.begin(at: Instant(nanoseconds: 0))
    let note = steps.note(.powerCycle, .failed("permission denied"))
    let second = steps.begin(at: Instant(nanoseconds: 59_000_000_000))
    #expect(first && !second)
    #expect(note == "radio: off and on: permission denied")
    #expect(steps.report == ["off and on: permission denied"])
    let third = steps.begin(at: Instant(nanoseconds: 60_000_000_000))
    #expect(third)
    #expect(steps.report.isEmpty)
  }

  @Test func theErrorNamesEachStep() {
    let error = StackError(
      "go on with hci0", .controllerSilent(["cancel: done", "off and on: not powered"]))
    #expect(
      "\(error)"
        == "cannot go on with hci0: the controller does not answer (cancel: done; off and on: not powered); "
        + "unplug it and plug it in again")
  }
}
