import GAP
import HCI
import HaloBluetoothCore
import TestLoop
import TestSupport

/// An adapter that a test plays, as a `Central` uses it: of HCI or of the kernel. Tests of what a radio does use the `Air`.
@BluetoothActor
package final class FakeAdapter: Adapter {
  package let timers = testTimers
  package var onReport: ((AdvertisingReport, Instant) -> Void)?
  package var onScanRefusal: ((StackError?) -> Void)?
  package var onFailure: ((StackError) -> Void)?

  package private(set) var scans: [ScanParameters?] = []
  package private(set) var isClosed = false
  package private(set) var cancellations = 0
  /// The peers that were connected to, and those that another program has a link to.
  package private(set) var attempts: [UInt64] = []
  package private(set) var deadlines: [Duration] = []
  package var linkedPeers: Set<UInt64> = []
  /// What connecting ends with; nil if it does not end.
  package var link: Result<FakeLink, StackError>?
  private var completion: ((Result<any ATTLink, StackError>) -> Void)?

  package init() {}

  package func start() async throws(StackError) -> AdapterInformation {
    AdapterInformation(address: BluetoothAddress(1, .public), version: "5.0", usesExtendedScan: false)
  }

  /// What a recovery ends with, and after which time; nil if it does not end until it is cancelled.
  package var recovery: Result<Void, StackError>? = .success(())
  package var recoveryTime = Duration.zero
  package private(set) var recoveries = 0
  package private(set) var cancelledRecoveries = 0

  package func recover(within time: Duration) async throws(StackError) -> AdapterInformation {
    recoveries += 1
    let end = recovery == nil ? time : recoveryTime
    if end > .zero { await timers.sleep(for: end) }
    if Task.isCancelled {
      cancelledRecoveries += 1
      throw .cancelled
    }
    try recovery?.get()
    return AdapterInformation(address: BluetoothAddress(2, .public), version: "5.0", usesExtendedScan: false)
  }

  /// What is to be advertised now; nil for nothing.
  package private(set) var advertised: Advertising?
  /// How the last attempt to advertise has ended; nil if it is advertised.
  package func advertise(_ result: StackError?) { set?.onResult?(result) }
  private var set: AdvertisingSet?

  package func setAdvertising(_ advertising: Advertising?, in set: AdvertisingSet) throws(StackError) {
    advertised = advertising
    self.set = set
  }

  package func setScan(_ parameters: ScanParameters?) { scans.append(parameters) }

  package func connect(
    _ request: ConnectionRequest, completion: @escaping (Result<any ATTLink, StackError>) -> Void
  ) -> () -> Void {
    attempts.append(request.peer.value)
    deadlines.append(request.deadline)
    if let link {
      completion(link.map { $0 })
      return {}
    }
    self.completion = completion
    return {
      self.cancellations += 1
      self.completion?(.failure(.cancelled))
    }
  }

  /// Ends the attempt to connect that is open.
  package func finish(_ error: StackError) { completion?(.failure(error)) }

  package func hasLink(to peer: BluetoothAddress) -> Bool { linkedPeers.contains(peer.value) }

  package func close() { isClosed = true }

  /// A peripheral advertises.
  package func report(_ number: UInt64, rssi: Int8? = -60, _ data: String = "020106") {
    report(BluetoothAddress(number, .random), rssi: rssi, hex(data))
  }

  /// A peripheral answers a scan request.
  package func respond(_ number: UInt64, _ data: String = "") {
    onReport?(
      AdvertisingReport(
        address: BluetoothAddress(number, .random), eventType: [.legacy, .scannable, .scanResponse],
        rssi: -60,
        data: hex(data)), timers.now)
  }

  package func report(_ address: BluetoothAddress, rssi: Int8?, _ data: [UInt8]) {
    onReport?(
      AdvertisingReport(
        address: address, eventType: [.legacy, .connectable, .scannable], rssi: rssi, data: data), timers.now)
  }
}
