import ATT
import BluetoothCore
import Central
import EventLoop
import GATTClient
import HCI
import TestSupport

/// Waits until the loop has nothing else to do.
@BluetoothActor
func settle() async {
  await testTimers.sleep(for: .nanoseconds(1))
}

/// A radio that a test plays.
@BluetoothActor
final class FakeAdapter: Adapter {
  let timers = testTimers
  var onReport: ((AdvertisingReport, Instant) -> Void)?
  var onScanFailure: ((HCIError) -> Void)?
  var onFailure: ((HCIError) -> Void)?

  private(set) var scans: [ScanParameters?] = []
  private(set) var isClosed = false
  private(set) var cancellations = 0
  /// What connecting ends with; nil if it does not end.
  var link: Result<FakeLink, HCIError>?
  private var completion: ((Result<any ATTLink, HCIError>) -> Void)?

  func start() async throws(HCIError) -> AdapterInformation {
    AdapterInformation(address: BluetoothAddress(1, .public), version: "5.0", usesExtendedScan: false)
  }

  func setScan(_ parameters: ScanParameters?) { scans.append(parameters) }

  func connect(
    _ request: ConnectionRequest, completion: @escaping (Result<any ATTLink, HCIError>) -> Void
  ) -> () -> Void {
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

  func close() { isClosed = true }

  func report(_ number: UInt64, rssi: Int8? = -60, _ data: String = "020106") {
    onReport?(
      AdvertisingReport(
        address: BluetoothAddress(number, .random), eventType: [.legacy, .connectable, .scannable],
        rssi: rssi, data: hex(data)), timers.now)
  }
}

/// A link that a test plays: what is sent is answered from a table, or not at all.
@BluetoothActor
final class FakeLink: ATTLink {
  let timers = testTimers
  let peer = BluetoothAddress(0xC011_2233_A1B2, .random)
  var parameters: LinkParameters?
  var onPDU: ((RawSpan, Instant) -> Void)?
  var onClosed: ((LinkLoss) -> Void)?
  var onEvent: ((LinkEvent) -> Void)?

  private(set) var sent: [String] = []
  private var answers: [String: [String]] = [:]

  /// Answers `request` with PDUs, one after the other, each time.
  func answer(_ request: String, _ pdus: String...) {
    answers[request.filter { $0 != " " }] = pdus
  }

  func takeSent() -> [String] {
    defer { sent = [] }
    return sent
  }

  func send(_ pdu: RawSpan) {
    let text = Hex.string(Array(pdu))
    sent.append(text)
    guard let pdus = answers[text] else { return }
    timers.schedule(after: .zero) { [weak self] in
      for pdu in pdus { self?.receive(pdu) }
    }
  }

  func receive(_ pdu: String) {
    let bytes = hex(pdu)
    onPDU?(bytes.span.bytes, timers.now)
  }

  func lose(_ loss: LinkLoss) {
    let onClosed = self.onClosed
    self.onClosed = nil
    onClosed?(loss)
  }

  func disconnect() {
    timers.schedule(after: .milliseconds(10)) { self.lose(.local) }
  }

  func readRSSI() async throws(HCIError) -> Int8? { -50 }

  /// A client on this link.
  func client() async throws -> GATTClient {
    let adapter = FakeAdapter()
    adapter.link = .success(self)
    return try await Central(adapter).connect(ConnectionRequest(peer: peer))
  }
}
