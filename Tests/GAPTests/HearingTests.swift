import GAP
import HCI
import HaloBluetoothCore
import TestLink
import TestLoop
import Testing

/// Waiting for a device that may be absent: how the radio listens meanwhile.
@BluetoothActor
@Suite(.onTheLoop) struct HearingTests {
  private let adapter = FakeAdapter()
  private let central: Central

  init() {
    central = Central(adapter)
  }

  private final class Outcome {
    var isHeard = false
  }

  private func wait(for peer: UInt64) -> (task: Task<Void, any Error>, outcome: Outcome) {
    let (outcome, central) = (Outcome(), self.central)
    let task = spawn {
      try await central.untilHeard(
        PeerIdentity(BluetoothAddress(peer, .random)), eagerUntil: testTimers.now + Central.eagerTime)
      outcome.isHeard = true
    }
    return (task, outcome)
  }

  /// A scan response says nothing that is needed, and costs both ends packets.
  @Test func theScanIsPassive() async {
    let (task, _) = wait(for: 1)
    await settle()
    #expect(adapter.scans.last??.isActive == false)
    task.cancel()
  }

  /// Continuous scanning costs power: it is for the time in which a user waits.
  @Test func scansContinuouslyForThirtySeconds() async {
    let (task, _) = wait(for: 1)
    await settle()
    let eager = adapter.scans.last ?? nil
    #expect(eager?.window == eager?.interval)
    await testTimers.sleep(for: .milliseconds(29_990))
    #expect(adapter.scans.count == 1)
    await testTimers.sleep(for: .milliseconds(20))
    let gentle = adapter.scans.last ?? nil
    #expect(
      gentle?.window == ScanParameters.gentle.window && gentle?.interval == ScanParameters.gentle.interval)
    #expect(gentle?.isActive == false)
    let count = adapter.scans.count
    await testTimers.sleep(for: .seconds(3600))
    #expect(adapter.scans.count == count)
    task.cancel()
    await settle()
    #expect(adapter.scans.last == .some(nil))
  }

  @Test func onlyTheDeviceThatCanBeConnectedToCounts() async throws {
    let (task, outcome) = wait(for: 1)
    await settle()
    adapter.report(2)
    adapter.onReport?(
      AdvertisingReport(
        address: BluetoothAddress(1, .random), eventType: [.legacy, .scannable], rssi: -60, data: []),
      testTimers.now)
    await settle()
    #expect(!outcome.isHeard)
    adapter.report(1)
    // The radio is free to connect at once.
    #expect(adapter.scans.last == .some(nil))
    try await task.value
    #expect(outcome.isHeard)
  }

  @Test func cancellingEndsTheScan() async {
    let (task, _) = wait(for: 1)
    await settle()
    task.cancel()
    await #expect(throws: StackError.cancelled) { try await task.value }
    #expect(adapter.scans.last == .some(nil) && adapter.timers.nextDeadline == nil)
  }

  @Test func aDeviceWithALinkIsNotWaitedFor() async throws {
    adapter.linkedPeers = [1]
    try await wait(for: 1).task.value
    #expect(adapter.scans.isEmpty)
  }

  /// Two devices are heard in one turn, and a third is waited for.
  @Test func theScanGoesOnForOthers() async throws {
    let waits = [wait(for: 1), wait(for: 2), wait(for: 3)]
    await settle()
    adapter.report(1)
    adapter.report(2)
    try await waits[0].task.value
    try await waits[1].task.value
    #expect(adapter.scans.last??.isActive == false && !waits[2].outcome.isHeard)
    waits[2].task.cancel()
    await settle()
    #expect(adapter.scans.last == .some(nil))
  }
}
