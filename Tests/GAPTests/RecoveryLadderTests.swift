import HCI
import HaloBluetoothCore
import Testing

@testable import GAP

@Suite struct RecoveryLadderTests {
  @Test func itIsClimbedOnceAMinute() {
    var ladder = RecoveryLadder()
    let first = ladder.begin(at: Instant(nanoseconds: 0))
    let note = ladder.note(.powerCycle, .failed("permission denied"))
    let second = ladder.begin(at: Instant(nanoseconds: 59_000_000_000))
    #expect(first && !second)
    #expect(note == "radio: off and on: permission denied")
    #expect(ladder.report == ["off and on: permission denied"])
    let third = ladder.begin(at: Instant(nanoseconds: 60_000_000_000))
    #expect(third)
    #expect(ladder.report.isEmpty)
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
