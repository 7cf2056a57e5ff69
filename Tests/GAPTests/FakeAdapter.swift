import BluetoothCore
import GAP
import GATTClient
import HCI
import TestLink
import TestLoop
import TestSupport

/// A radio that a test plays.
@BluetoothActor
final class FakeAdapter: Adapter {
  let timers = testTimers
  var onReport: ((AdvertisingReport, Instant) -> Void)?
  var onScanRefusal: ((HCIError?) -> Void)?
  var onFailure: ((HCIError) -> Void)?

  private(set) var scans: [ScanParameters?] = []
  private(set) var isClosed = false
  private(set) var cancellations = 0
  /// The peers that were connected to, and those that another program has a link to.
  private(set) var attempts: [UInt64] = []
  private(set) var deadlines: [Duration] = []
  var linkedPeers: Set<UInt64> = []
  /// What connecting ends with; nil if it does not end.
  var link: Result<FakeLink, HCIError>?
  private var completion: ((Result<any ATTLink, HCIError>) -> Void)?

  func start() async throws(HCIError) -> AdapterInformation {
    AdapterInformation(address: BluetoothAddress(1, .public), version: "5.0", usesExtendedScan: false)
  }

  func recover(within time: Duration) async throws(HCIError) -> AdapterInformation {
    AdapterInformation(address: BluetoothAddress(2, .public), version: "5.0", usesExtendedScan: false)
  }

  func setScan(_ parameters: ScanParameters?) { scans.append(parameters) }

  func connect(
    _ request: ConnectionRequest, completion: @escaping (Result<any ATTLink, HCIError>) -> Void
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
  func finish(_ error: HCIError) { completion?(.failure(error)) }

  func hasLink(to peer: BluetoothAddress) -> Bool { linkedPeers.contains(peer.value) }

  func close() { isClosed = true }

  func report(_ number: UInt64, rssi: Int8? = -60, _ data: String = "020106") {
    onReport?(
      AdvertisingReport(
        address: BluetoothAddress(number, .random), eventType: [.legacy, .connectable, .scannable],
        rssi: rssi, data: hex(data)), timers.now)
  }
}
