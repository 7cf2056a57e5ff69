import GAP
import GATTClient
import HCI
import HaloBluetoothCore
import TestLink
import TestLoop
import Testing

/// Connections to peers that may be absent: how they listen, not only what they end with.
@BluetoothActor
@Suite(.onTheLoop) struct PendingConnectionTests {
  private let adapter = FakeAdapter()
  private let central: Central

  init() {
    central = Central(adapter)
  }

  private final class Results {
    var all: [Result<GATTLink, GAPError>] = []
  }

  private func pending(_ peer: UInt64, _ results: Results = Results()) -> PendingConnection {
    central.connectWhenHeard(ConnectionRequest(peer: BluetoothAddress(peer, .random))) {
      results.all.append($0)
    }
  }

  /// A scan response says nothing that it needs, and costs both ends packets.
  @Test func itsScanIsPassive() {
    let pending = pending(1)
    #expect(adapter.scans.last??.isActive == false)
    pending.cancel()
  }

  /// Continuous scanning costs power: it is for the time in which a user waits.
  @Test func itListensContinuouslyForHalfAMinute() async {
    let pending = pending(1)
    let eager = adapter.scans.last ?? nil
    #expect(eager?.window == eager?.interval)
    await testTimers.sleep(for: .milliseconds(29_999))
    #expect(adapter.scans.count == 1)
    await testTimers.sleep(for: .milliseconds(2))
    let gentle = adapter.scans.last ?? nil
    #expect(
      gentle?.window == ScanParameters.gentle.window && gentle?.interval == ScanParameters.gentle.interval)
    #expect(gentle?.isActive == false)
    // The radio does not stop in between, and the change is the last one.
    #expect(!adapter.scans.contains(nil))
    let count = adapter.scans.count
    await testTimers.sleep(for: .seconds(3600))
    #expect(adapter.scans.count == count)
    pending.cancel()
    #expect(adapter.scans.last == .some(nil))
  }

  @Test func onlyItsPeerThatCanBeConnectedToCounts() {
    let pending = pending(1)
    adapter.report(2)
    adapter.onReport?(
      AdvertisingReport(
        address: BluetoothAddress(1, .random), eventType: [.legacy, .scannable], rssi: -60, data: []),
      testTimers.now)
    #expect(adapter.attempts == [])
    adapter.report(1)
    #expect(adapter.attempts == [1])
    // It does not listen while it connects, and does not connect twice.
    #expect(adapter.scans.last == .some(nil))
    adapter.report(1)
    #expect(adapter.attempts == [1])
    pending.cancel()
  }

  @Test func cancellingEndsTheScan() {
    let results = Results()
    let pending = pending(1, results)
    pending.cancel()
    #expect(adapter.scans.last == .some(nil))
    adapter.report(1)
    #expect(adapter.attempts == [] && results.all.isEmpty)
  }

  @Test func cancellingEndsTheAttempt() {
    let results = Results()
    let pending = pending(1, results)
    adapter.report(1)
    #expect(adapter.attempts == [1] && adapter.cancellations == 0)
    pending.cancel()
    #expect(adapter.cancellations == 1)
    #expect(results.all.isEmpty)
    // Nothing of it is left: no scan, no timer.
    pending.cancel()
    #expect(adapter.cancellations == 1 && adapter.scans.last == .some(nil))
    #expect(adapter.timers.nextDeadline == nil)
  }

  @Test func lettingGoOfItCancelsIt() {
    var pending: PendingConnection? = pending(1)
    adapter.report(1)
    #expect(pending != nil)
    pending = nil
    #expect(adapter.cancellations == 1)
  }

  @Test func aPeerThatIsNotCaughtIsListenedForAgain() {
    let results = Results()
    let pending = pending(1, results)
    adapter.link = .failure(.peerNotFound(BluetoothAddress(1, .random), seconds: 5))
    adapter.report(1)
    #expect(adapter.attempts == [1] && results.all.isEmpty)
    #expect(adapter.scans.last??.isActive == false)
    adapter.link = .failure(.cancelled)
    adapter.report(1)
    #expect(adapter.attempts == [1, 1] && results.all.count == 1)
    #expect(adapter.scans.last == .some(nil))
    pending.cancel()
  }

  /// An attempt that has ended is not cancelled: the next one of the adapter may be another's.
  @Test func anAttemptThatHasEndedIsNotCancelled() {
    let pending = pending(1)
    adapter.report(1)
    adapter.finish(.peerDidNotAnswer(BluetoothAddress(1, .random), seconds: 5))
    #expect(adapter.scans.last??.isActive == false)
    pending.cancel()
    #expect(adapter.cancellations == 0 && adapter.scans.last == .some(nil))
  }

  /// Half a minute may end while it connects: it listens gently after that, and does not listen before.
  @Test func itListensGentlyAfterALongAttempt() async {
    let pending = pending(1)
    adapter.report(1)
    let count = adapter.scans.count
    await testTimers.sleep(for: .seconds(31))
    #expect(adapter.scans.count == count)
    adapter.finish(.peerDidNotAnswer(BluetoothAddress(1, .random), seconds: 30))
    let gentle = adapter.scans.last ?? nil
    #expect(gentle?.window == ScanParameters.gentle.window && gentle?.isActive == false)
    pending.cancel()
  }

  @Test func aPeerWithALinkIsNotWaitedFor() async throws {
    let link = FakeLink()
    adapter.linkedPeers = [link.peer.value]
    adapter.link = .success(link)
    let results = Results()
    let pending = pending(link.peer.value, results)
    #expect(adapter.scans.isEmpty && adapter.attempts == [link.peer.value])
    #expect(results.all.count == 1)
    #expect(try results.all.first?.get().isConnected == true)
    pending.cancel()
  }

  /// Two peers are heard in one turn: each is connected to, and the scan of the one does not end with the other's.
  @Test func twoThatAreHeardAtOnceAreBothConnectedTo() {
    let pending = [pending(1), pending(2), pending(3)]
    adapter.report(1)
    adapter.report(2)
    #expect(adapter.attempts == [1, 2])
    #expect(adapter.scans.last??.isActive == false)
    for pending in pending { pending.cancel() }
    #expect(adapter.scans.last == .some(nil))
  }
}
