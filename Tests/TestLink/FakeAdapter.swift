import GAP
import HCI
import HaloBluetoothCore
import TestLoop
import TestSupport

/// An adapter that a test plays, as a `Central` uses it: of HCI or of the kernel. Tests of what a radio does use the `Air`.
@BluetoothActor
public final class FakeAdapter: Adapter {
  public let timers = testTimers
  public var onReport: ((AdvertisingReport, Instant) -> Void)?
  public var onScanRefusal: ((HCIError?) -> Void)?
  public var onFailure: ((HCIError) -> Void)?

  public private(set) var scans: [ScanParameters?] = []
  public private(set) var isClosed = false
  public private(set) var cancellations = 0
  /// The peers that were connected to, and those that another program has a link to.
  public private(set) var attempts: [UInt64] = []
  public private(set) var deadlines: [Duration] = []
  public var linkedPeers: Set<UInt64> = []
  /// What connecting ends with; nil if it does not end.
  public var link: Result<FakeLink, HCIError>?
  private var completion: ((Result<any ATTLink, HCIError>) -> Void)?

  public init() {}

  public func start() async throws(HCIError) -> AdapterInformation {
    AdapterInformation(address: BluetoothAddress(1, .public), version: "5.0", usesExtendedScan: false)
  }

  public func recover(within time: Duration) async throws(HCIError) -> AdapterInformation {
    AdapterInformation(address: BluetoothAddress(2, .public), version: "5.0", usesExtendedScan: false)
  }

  public func setScan(_ parameters: ScanParameters?) { scans.append(parameters) }

  public func connect(
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
  public func finish(_ error: HCIError) { completion?(.failure(error)) }

  public func hasLink(to peer: BluetoothAddress) -> Bool { linkedPeers.contains(peer.value) }

  public func close() { isClosed = true }

  /// A peripheral advertises.
  public func report(_ number: UInt64, rssi: Int8? = -60, _ data: String = "020106") {
    report(BluetoothAddress(number, .random), rssi: rssi, hex(data))
  }

  public func report(_ address: BluetoothAddress, rssi: Int8?, _ data: [UInt8]) {
    onReport?(
      AdvertisingReport(
        address: address, eventType: [.legacy, .connectable, .scannable], rssi: rssi, data: data), timers.now)
  }
}
