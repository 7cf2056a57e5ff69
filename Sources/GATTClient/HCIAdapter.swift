import BluetoothCore
import EventLoop
import HCI
import L2CAP

/// A radio at the other end of an HCI transport: host controller, L2CAP and all are ours.
@BluetoothActor
public final class HCIAdapter: Adapter {
  public var onReport: ((AdvertisingReport, Instant) -> Void)? {
    get { host.onReport }
    set { host.onReport = newValue }
  }
  public var onScanFailure: ((HCIError) -> Void)? {
    get { host.onScanFailure }
    set { host.onScanFailure = newValue }
  }
  public var onFailure: ((HCIError) -> Void)? {
    get { host.onFailure }
    set { host.onFailure = newValue }
  }

  public var droppedPackets: Int? { transport.droppedPackets }

  private let transport: any HCITransport
  private let host: HostController

  /// - Parameter randomAddress: used if the controller has no public address; made up if nil
  public init(_ transport: any HCITransport, randomAddress: BluetoothAddress? = nil) {
    self.transport = transport
    let madeUp = BluetoothAddress(UInt64.random(in: 0..<1 << 46) | 3 << 46, .random)
    // The transport holds the host, so the host does not hold the transport.
    host = HostController(timers: EventLoop.shared.timers, randomAddress: randomAddress ?? madeUp) {
      [weak transport] in transport?.send($0)
    }
  }

  isolated deinit {
    close()
  }

  /// What arrived and was of no use.
  public var counters: HostController.Counters { host.counters }
  /// How many ACL packets wait for room in the controller.
  public var waitingPackets: Int { host.waitingPackets }

  /// Sets the controller up. Each command has a deadline; a task that is cancelled returns at once.
  public func start() async throws(HCIError) -> AdapterInformation {
    let host = self.host
    transport.onPacket = { packet, time in host.receive(packet, at: time) }
    transport.onClose = { reason in host.transportClosed(reason) }
    transport.start()
    let controller = try await awaitCallback(cancelled: HCIError.cancelled) { done in
      host.initialize(completion: done)
    }
    return AdapterInformation(
      address: controller.address, version: "\(controller.version.hciVersion)",
      usesExtendedScan: controller.usesExtendedScan)
  }

  public func setScan(_ parameters: ScanParameters?) {
    host.setScan(parameters)
  }

  public func connect(
    _ request: ConnectionRequest, completion: @escaping (Result<any ATTLink, HCIError>) -> Void
  ) -> () -> Void {
    host.connect(request) { result in
      completion(result.map { HCILink(L2CAPLink($0), of: self) })
    }
  }

  public func close() {
    host.close()
    transport.onPacket = nil
    transport.onClose = nil
    transport.close()
  }
}

/// An ATT link over our own L2CAP.
@BluetoothActor
final class HCILink: ATTLink {
  var onPDU: ((RawSpan, Instant) -> Void)? {
    get { l2cap.onAttributePDU }
    set { l2cap.onAttributePDU = newValue }
  }
  var onClosed: ((LinkLoss) -> Void)?
  var onEvent: ((LinkEvent) -> Void)?
  var peer: BluetoothAddress { l2cap.connection.peer }
  var parameters: LinkParameters? { l2cap.connection.parameters }

  var hasRoom: Bool { l2cap.hasRoom }
  var excessParameterRequests: Int { l2cap.connection.excessParameterRequests }
  var onRoom: (() -> Void)? {
    get { l2cap.onRoom }
    set { l2cap.onRoom = newValue }
  }

  private let l2cap: L2CAPLink
  /// A link keeps its radio.
  private let adapter: HCIAdapter
  private var endedByUs = false

  init(_ l2cap: L2CAPLink, of adapter: HCIAdapter) {
    self.l2cap = l2cap
    self.adapter = adapter
    // The link object lives for as long as the link does.
    l2cap.onDisconnected = { reason in
      let onClosed = self.onClosed
      self.onClosed = nil
      self.onEvent = nil
      onClosed?(self.loss(reason))
    }
    l2cap.onParameterRequest = { [weak self] wish, isAccepted in
      self?.onEvent?(.parameterRequest(wish, isAccepted: isAccepted))
    }
    l2cap.connection.onParameters = { [weak self] parameters in self?.onEvent?(.parameters(parameters)) }
  }

  /// The first cause counts: a radio that fails takes its links along.
  private func loss(_ reason: HCIErrorCode) -> LinkLoss {
    switch l2cap.connection.failure {
    case .cancelled?: .local
    case let failure?: .adapter(failure)
    case nil: endedByUs ? .local : .remote(reason)
    }
  }

  func send(_ pdu: RawSpan) {
    l2cap.send(pdu)
  }

  func disconnect() {
    endedByUs = true
    l2cap.connection.disconnect()
  }

  func readRSSI() async throws(HCIError) -> Int8? {
    try await awaitCallback(cancelled: HCIError.cancelled) { done in
      l2cap.connection.readRSSI(completion: done)
    }
  }
}
