import HCI
import HaloBluetoothCore
import HaloGATT
import L2CAP

/// An ATT link over this package's L2CAP.
@BluetoothActor
final class HCILink: ATTLink {
  var onPDU: ((RawSpan, Arrival) -> Void)? {
    get { l2cap[.attribute] }
    set { l2cap[.attribute] = newValue }
  }
  var onClosed: ((LinkLoss) -> Void)?
  var onEvent: ((LinkEvent) -> Void)?
  var peer: BluetoothAddress { l2cap.connection.peer }
  var role: LERole { l2cap.connection.role }
  var localAddress: BluetoothAddress? { l2cap.connection.localAddress }
  var security: LinkSecurity { manager.security }
  var isBonded: Bool { manager.bond != nil }
  var signing: LinkSigning? { manager.signing }
  var clientRecord: ClientRecord? {
    get { manager.bond?.client }
    set { manager.keep(newValue) }
  }
  var parameters: LinkParameters? { l2cap.connection.parameters }
  var phys: LinkPHYs? { l2cap.connection.phys }
  var dataLengths: DataLengths? { l2cap.connection.dataLengths }

  var hasUnsentPackets: Bool { l2cap.connection.unsentPackets > 0 }
  var unfinished: LinkProcedure? { l2cap.connection.unfinished }
  var hasRoom: Bool { l2cap.connection.hasRoom }
  var excessParameterRequests: Int { l2cap.connection.excessParameterRequests }
  var onRoom: (() -> Void)? {
    get { l2cap.connection.onRoom }
    set { l2cap.connection.onRoom = newValue }
  }

  private let l2cap: L2CAPLink
  private let manager: SecurityManager
  /// A link keeps its radio.
  private let adapter: HCIAdapter
  private var endedByUs = false

  init(_ l2cap: L2CAPLink, of adapter: HCIAdapter) {
    self.l2cap = l2cap
    self.adapter = adapter
    let connection = l2cap.connection
    manager = SecurityManager(l2cap, adapter.security, timers: adapter.timers, identity: adapter.identity) {
      connection.disconnect()
    }
    manager.onEvent = { [unowned self] event in
      if case .paired(_, _, isKept: true) = event { self.adapter.bondsChanged() }
      onEvent?(event)
    }
    // The link object lives for as long as the link does.
    l2cap.onDisconnected = { reason in
      self.manager.disconnected(reason)
      self.onEvent = nil
      self.onClosed.take()?(self.loss(reason))
    }
    l2cap.onParameterRequest = { [unowned self] request, isAccepted in
      onEvent?(.parameterRequest(request, isAccepted: isAccepted))
    }
    l2cap.connection.onChange = { [unowned self] change in
      onEvent?(.change(change))
      if case .encryption(let isOn) = change { manager.encryptionChanged(isOn: isOn) }
    }
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
    l2cap.send(pdu, on: .attribute)
  }

  func disconnect() {
    endedByUs = true
    l2cap.connection.disconnect()
  }

  func update(
    _ parameters: ConnectionParameters, completion: @escaping (Result<LinkParameters, StackError>) -> Void
  ) {
    l2cap.update(parameters, completion: completion)
  }

  func setPHYs(_ phys: LEPHYs, completion: @escaping (Result<LinkPHYs, StackError>) -> Void) {
    l2cap.connection.setPHYs(phys, completion: completion)
  }

  func setDataLength(_ octets: Int, completion: @escaping (Result<Void, StackError>) -> Void) {
    l2cap.connection.setDataLength(octets, completion: completion)
  }

  func secure(to level: LESecurityLevel, completion: @escaping (Result<Void, StackError>) -> Void) {
    manager.secure(to: level, completion: completion)
  }

  func readRSSI() async throws(StackError) -> Int8? {
    try await awaitCallback(cancelled: StackError.cancelled) { l2cap.connection.readRSSI(completion: $0) }
  }
}
