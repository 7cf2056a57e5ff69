import GAP
import Glibc
import HCI
import HaloBluetoothCore
import HaloGATT
import HaloSystem

/// An ATT link over the kernel's L2CAP.
@BluetoothActor
final class KernelLink: ATTLink {
  var onPDU: ((RawSpan, Arrival) -> Void)? {
    get { socket.packets.onPacket }
    set { socket.packets.onPacket = role == .peripheral ? newValue.map(afterEvents) : newValue }
  }
  var onClosed: ((LinkLoss) -> Void)?
  var onEvent: ((LinkEvent) -> Void)?
  let peer: BluetoothAddress
  let role: LERole
  var localAddress: BluetoothAddress? { adapter.address.value == 0 ? nil : adapter.address }
  private(set) var parameters: LinkParameters?
  /// Its security, and how it is raised.
  private(set) lazy var protection = KernelLinkSecurity(self, socket, adapter)
  var security: LinkSecurity { protection.state }
  var isBonded: Bool { adapter.pairing?.bond(with: peer, role) != nil }
  /// Where bluetoothd pairs, it signs, too: two programs would use one counter.
  var signing: LinkSigning? { adapter.pairing?.isOthers == false ? signatures : nil }
  private lazy var signatures = adapter.pairing.map { pairing in
    let signing = LinkSigning(
      pairing.host, peer: peer, own: adapter.address, role: role, timers: adapter.timers)
    signing.onEvent = { [weak self] event in self?.onEvent?(event) }
    return signing
  }
  var hasRoom: Bool { socket.packets.hasRoom }
  var onRoom: (() -> Void)? {
    get { socket.packets.onRoom }
    set { socket.packets.onRoom = newValue }
  }
  var handle: ConnectionHandle? { socket.handle }
  var phys: LinkPHYs? { socket.phys }
  var reads: UInt64? { socket.packets.reads }
  var droppedPackets: Int { socket.packets.droppedPackets }

  /// The timeout for ending a link.
  private static let disconnectDeadline = Duration.seconds(2)
  /// The delay before a command is repeated that the controller rejected because another procedure of the link was in
  /// progress.
  private static let retryPause = Duration.seconds(1)

  private let adapter: KernelAdapter
  private let links: KernelLinks
  private let socket: L2CAPSocket
  private let isOurs: Bool
  private let begin: Instant
  private var pin: ConnectionParameterOverride?
  private let updates: EventWaiters<LinkParameters>
  private var endedByUs = false
  /// Whether its socket has ended, and the adapter's end is waited for, which is the reason.
  private(set) var isHeld = false
  private var isOver = false

  init(
    _ adapter: KernelAdapter, _ links: KernelLinks, _ socket: L2CAPSocket, peer: BluetoothAddress,
    role: LERole = .central, parameters: LinkParameters?, isOurs: Bool, pin: ConnectionParameterOverride?
  ) {
    self.adapter = adapter
    self.links = links
    self.socket = socket
    self.peer = peer
    self.role = role
    self.parameters = parameters
    self.isOurs = isOurs
    self.pin = pin
    begin = adapter.timers.current
    updates = EventWaiters(adapter.timers)
    // The link object lives for as long as the link does.
    socket.packets.onClosed = { error in self.socketEnded(error) }
    socket.packets.onDrops = { [weak self] count in self?.onEvent?(.dropped(count)) }
  }

  /// Whether it has neither ended nor is being ended.
  var isUsable: Bool { !isOver && !endedByUs && !isHeld }

  /// A peer may ask as soon as the link is encrypted. The controller has reported that before, on another socket.
  private func afterEvents(
    _ receive: @escaping (RawSpan, Arrival) -> Void
  ) -> (RawSpan, Arrival) -> Void {
    { [weak self] pdu, arrival in
      if let self, adapter.pairing != nil, !protection.state.isEncrypted { adapter.catchUp() }
      receive(pdu, arrival)
    }
  }

  func adopt(_ parameters: LinkParameters) {
    self.parameters = parameters
    updates.receive(.success(parameters))
    onEvent?(.change(.parameters(parameters)))
    holdParameters()
  }

  /// Makes sure that the link uses the requested parameters, if any.
  func holdParameters() {
    guard !isOver, !endedByUs, !isHeld, let handle, let parameters, let pin = self.pin?.parameters else {
      return
    }
    switch self.pin?.verdict(on: parameters) {
    case .restore(let count):
      adapter.onNote?(
        "link: the peer has changed what was requested; the link is set to an interval of \(pin.intervalMin) to \(pin.intervalMax), "
          + "latency \(pin.latency), timeout \(pin.supervisionTimeout) again "
          + "(\(count) of at most \(ConnectionParameterOverride.maximumRequests) times)")
      adapter.update(handle, to: pin) { [weak self] result in
        if case .failure(let error) = result { self?.parametersRefused("\(error)") }
      }
    case .giveUp: adapter.onNote?("link: the peer insists on its parameters; they stay")
    case .leave, nil: break
    }
  }

  /// The controller did not change the parameters, ours or the peer's.
  func parametersRefused(_ status: HCIErrorCode) {
    updates.receive(.failure(.commandFailed(LEConnectionUpdate.opcode, status)))
    parametersRefused("\(status)")
  }

  private func parametersRefused(_ reason: String) {
    adapter.onNote?("link: the controller has not changed the parameters: \(reason)")
    adapter.timers.schedule(after: Self.retryPause) { [weak self] in self?.holdParameters() }
  }

  /// Packets wait in its socket, and in the controller.
  var dropsPacketsAtEnd: Bool { true }

  func send(_ pdu: RawSpan) {
    socket.packets.send(pdu)
  }

  /// Ends a link that was made for us at once; otherwise the ring would continue to send for the two seconds that the
  /// kernel keeps it, and not advertise. A link shared with another program stays up.
  ///
  /// The socket is closed first: see ``L2CAPSocket/finish()``.
  func disconnect() {
    guard !isOver, !endedByUs else { return }
    endedByUs = true
    let isClosed = isHeld
    if isOurs, let handle {
      links.willEnd(handle, by: adapter.timers.current + Self.disconnectDeadline)
    }
    socket.packets.close { [self] in
      guard isOurs, !isClosed, let handle, !isOver else { return lose(.local) }
      adapter.disconnect(handle)
    }
    adapter.timers.schedule(after: Self.disconnectDeadline) { [weak self] in
      guard let self, !isOver else { return }
      adapter.onNote?(
        "link: it has not ended within \(Int(Self.disconnectDeadline.inSeconds)) s, and is given up")
      lose(.local)
    }
  }

  /// The controller reports that the link has ended, or gets the command to end it. The kernel has yet to process that:
  /// until then closing its socket is safe.
  func finish() {
    guard !isOver, !isHeld else { return }
    if endedByUs { lose(.local) } else { socket.packets.finish() }
  }

  private func socketEnded(_ error: SystemError?) {
    // The controller may have reported why, on another socket.
    if let handle, !links.knowsReason(of: handle) { adapter.catchUp() }
    guard !isOver else { return }
    // If the adapter is gone, its failure ends the link, too.
    guard let loss = links.loss(of: self, error) else {
      isHeld = true
      return
    }
    lose(loss)
  }

  /// The controller does not know the link. The kernel learns that when it has the controller end it, which it would do two
  /// seconds later only.
  func vanish() {
    guard !isOver else { return }
    let handle = isOurs ? self.handle : nil
    socket.packets.close { [adapter] in
      if let handle { adapter.disconnect(handle) }
    }
    lose(.remote(.connectionTimeout))
  }

  /// Ends a link that is not as secure as it has to be.
  func abandon() {
    guard isUsable else { return }
    let handle = isOurs ? self.handle : nil
    socket.packets.close { [adapter] in
      if let handle { adapter.disconnect(handle) }
    }
    lose(.remote(.authenticationFailure))
  }

  /// The link is gone.
  func lose(_ loss: LinkLoss) {
    guard !isOver else { return }
    isOver = true
    let loss = endedByUs ? .local : explained(loss)
    links.remove(self)
    onEvent = nil
    updates.fail(.notConnected)
    socket.packets.onClosed = nil
    socket.packets.close()
    protection.linkEnded(loss)
    signatures?.disconnected()
    onClosed.take()?(loss)
  }

  /// The kernel does not report before the end of the link that a peer has asked for pairing.
  private func explained(_ loss: LinkLoss) -> LinkLoss {
    guard role == .central, loss.isByPeer else { return loss }
    let age = adapter.timers.current - begin
    // One that has lived longer was paired with, or does without.
    guard age < PairingWatch.earlyTime else { return loss }
    if let handle, links.pairing.hasRequest(on: handle) { return .pairingRefused }
    links.pairing.lostEarly()
    return loss
  }

  func setPHYs(_ phys: LEPHYs, completion: @escaping (Result<LinkPHYs, StackError>) -> Void) {
    guard !isOver, !isHeld else { return completion(.failure(.notConnected)) }
    do throws(SystemError) {
      try KernelPHY.set(phys, of: socket.packets.descriptor)
      // The kernel does not report the end of the procedure.
      completion(.success(socket.phys ?? .le1M))
    } catch {
      let reason = error.errno == ENOPROTOOPT ? StackError.notOffered : .system(error)
      completion(.failure(StackError("change the PHY", reason)))
    }
  }

  func update(
    _ parameters: ConnectionParameters, completion: @escaping (Result<LinkParameters, StackError>) -> Void
  ) {
    guard !isOver, !isHeld, let handle else { return completion(.failure(.notConnected)) }
    if pin != nil {
      pin = ConnectionParameterOverride(
        ConnectionRequest(peer: peer, parameters: parameters, parameterPolicy: .keep))
    }
    let id = updates.add(LEConnectionUpdate.opcode, completion)
    adapter.update(handle, to: parameters) { [updates] result in
      if case .failure(let error) = result { updates.end(id, .failure(error)) }
    }
  }

  /// Requests the program's preferences; those that it leaves open are the kernel's choice.
  func request(_ preferences: LinkPreferences) {
    let report = { [weak self] (error: StackError) -> Void in self?.onEvent?(.change(.rejected(error))) }
    if let phys = preferences.phys {
      setPHYs(phys) { if case .failure(let error) = $0 { report(error) } }
    }
    if let length = preferences.dataLength {
      setDataLength(length) { if case .failure(let error) = $0 { report(error) } }
    }
  }

  func secure(to level: LESecurityLevel, completion: @escaping (Result<Void, StackError>) -> Void) {
    protection.secure(to: level, completion: completion)
  }

  func readRSSI() async throws(StackError) -> Int8? {
    guard let handle else { return nil }
    return try await adapter.readRSSI(handle)
  }
}

extension HCIErrorCode {
  /// The meaning of the kernel's error number for the end of a link, where the controller's code is not known.
  init(losing error: SystemError?) {
    self =
      switch error?.errno {
      case ETIMEDOUT: .connectionTimeout
      case ECONNRESET: .remoteUserTerminatedConnection
      case ECONNABORTED: .connectionTerminatedByLocalHost
      default: .unspecifiedError
      }
  }
}
