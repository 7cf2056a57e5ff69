import ATT
import HCI
import HaloGATT
import HaloBluetoothCore

/// A link to a peer: its properties, its end, and the attributes that go over it (Core Specification Vol 3, Part C).
///
/// An `async` function returns at once when its task is cancelled, unless it says otherwise.
@BluetoothActor
package final class GATTLink {
  /// The address of the peer: of a bonded one, the address that stays.
  package let peer: BluetoothAddress
  /// Which device the peer is.
  package var identity: PeerIdentity { PeerIdentity(peer) }
  /// The client of the peer's attributes.
  package let gatt: GATTClient
  /// The server of the attributes that ``serve(_:)`` was called with; without one, the peer is answered as by a device without
  /// attributes.
  package private(set) var server: ServerBearer?
  /// Whether the peer has asked to pair, which was refused.
  private var hasRefusedPairing = false
  /// Why the link has ended; nil while it exists.
  package private(set) var loss: LinkLoss?
  /// The procedure that was requested and not done when the link was lost, or when it was given up as that was not done. Nil if
  /// there was none, if this side has ended the link otherwise, or if the adapter has failed.
  package var cost: LinkCost? {
    let isAnswer: Bool
    switch loss {
    case .local where isSilent: isAnswer = true
    case .local, .adapter, nil: return nil
    case .remote where isEncrypting: return nil
    case .remote, .pairingRefused: isAnswer = loss?.isByPeer == true
    }
    if bearer.lacksMTUAnswer { return LinkCost(.exchangeMTU, isAnswer: isAnswer) }
    if gatt.lacksServiceChanged { return LinkCost(.serviceChanged, isAnswer: isAnswer) }
    guard let procedure = link.unfinished else { return nil }
    // A link on which values came was not lost because of the requests at its beginning.
    if procedure != .keepParameters, gatt.hasReceivedValues { return nil }
    return LinkCost(procedure, isAnswer: false)
  }

  let link: any ATTLink
  private let bearer: ATTBearer
  private var eventHandlers: [(LinkEvent) -> Void] = []
  private var disconnectionHandlers: [(LinkLoss) -> Void] = []
  private var isEnding = false
  /// Whether it is not used yet, as it has to be encrypted before.
  private var isEncrypting = false
  /// Whether the link was given up, as the peer has not answered a request.
  private var isSilent = false
  private static let provingDeadline = Duration.seconds(2)

  /// The connection on a link that is established.
  ///
  /// - Parameters:
  ///   - link: the link
  ///   - timers: the clock of its deadlines
  ///   - peer: the address of the peer that stays; nil for the one on the air
  ///   - mtu: the largest PDU to receive, in bytes; nil if the MTU is not to be exchanged
  package init(
    _ link: any ATTLink, timers: Timers, peer: BluetoothAddress? = nil, mtu: Int? = ATTBearer.largestMTU
  ) {
    self.link = link
    self.peer = peer ?? link.peer
    // Until the link ends, it and the bearer hold each other.
    let bearer = ATTBearer(
      timers: timers, receiveMTU: mtu ?? ATTBearer.largestMTU, exchangesMTU: mtu != nil
    ) { link.send($0) }
    self.bearer = bearer
    gatt = GATTClient(bearer, timers: timers) { link.hasRoom }
    bearer.onTimeout = { [weak self] _ in
      self?.isSilent = true
      link.disconnect()
    }
    open()
    link.onRoom = { [weak self] in self?.roomAvailable() }
    link.onClosed = { [weak self] loss in self?.closed(loss) }
    link.onEvent = { [weak self] event in self?.happened(event) }
    gatt.signer = CommandSigner(
      isNeeded: { !link.security.isEncrypted },
      prepare: { [weak self] in
        link.signing?.onReady = { self?.gatt.roomAvailable() }
        return link.signing?.prepare() ?? true
      }
    ) { message throws(StackError) in
      guard let signing = link.signing else { throw .signingNotOffered }
      return try signing.sign(message)
    }
    gatt.onInsufficientSecurity = { code, done in
      let needsPerson = code == .insufficientAuthentication && link.security.isEncrypted
      link.secure(to: needsPerson ? .authenticated : .encrypted, completion: done)
    }
  }

  private func open() {
    let bearer = self.bearer
    link.onPDU = { bearer.receive($0, at: $1) }
  }

  /// Encrypts the link to a bonded peer before it is used. Until then, values and answers could come from another device that
  /// pretends to be the peer: they are dropped. Its requests are answered.
  func encryptFirst(completion: @escaping (Result<Void, StackError>) -> Void) {
    let (link, bearer) = (self.link, self.bearer)
    link.onPDU = { pdu, arrival in
      switch ATTOpcode(rawValue: pdu.byte(at: 0) ?? 0).kind {
      case .request, .command, .unknown: bearer.receive(pdu, at: arrival)
      case .indication: link.send(ATTHandleValueConfirmation().bytes.span.bytes)
      case .response, .notification, .confirmation: break
      }
    }
    isEncrypting = true
    link.secure(to: .encrypted) { [weak self] result in
      if case .success = result, self?.isConnected == true {
        self?.isEncrypting = false
        self?.open()
      }
      completion(result)
    }
  }

  /// A link that is no longer used is ended: a peer that stays connected does not advertise.
  isolated deinit {
    guard loss == nil else { return }
    link.onPDU = nil
    bearer.close(LinkLoss.local.description)
    link.disconnect()
  }

  /// Encrypts the link for a user that wants it so, if another user has left it in clear: see
  /// `ConnectionRequest.firstEncryption`.
  package func encrypt(
    for request: ConnectionRequest, completion: @escaping (Result<Void, StackError>) -> Void
  ) {
    let needsIt =
      role == .central && !security.isEncrypted && request.firstEncryption.applies(isBonded: link.isBonded)
    if needsIt { link.secure(to: .encrypted, completion: completion) } else { completion(.success(())) }
  }

  private func roomAvailable() {
    gatt.roomAvailable()
    server?.roomAvailable()
  }

  private func happened(_ event: LinkEvent) {
    switch event {
    case .change(.encryption(let isOn)):
      server?.security = security
      if isOn { restoreClient() }
    // What the client has done on this link is kept from now on.
    case .paired: keepClient()
    default: break
    }
    if event == .pairingRefused { hasRefusedPairing = true }
    for handler in eventHandlers { handler(event) }
  }

  private func closed(_ cause: LinkLoss) {
    let loss = cause.isByPeer && hasRefusedPairing ? .pairingRefused : cause
    self.loss = loss
    link.onPDU = nil
    gatt.close(loss.description)
    let handlers = disconnectionHandlers
    disconnectionHandlers = []
    for handler in handlers { handler(loss) }
  }

  /// When requests are not worth waiting for any longer; see `ATTBearer.limit`.
  package var requestLimit: Instant? {
    get { bearer.limit }
    set { bearer.limit = newValue }
  }

  /// Calls `handler` with each change of the link, for as long as it lasts. Several may use one link.
  package func whenChanged(_ handler: @escaping (LinkEvent) -> Void) { eventHandlers.append(handler) }

  /// When the peer has last sent an ATT PDU; nil if it has sent none.
  package var lastReceived: Instant? { bearer.lastReceived }

  /// The time of the link.
  package var timers: Timers { gatt.timers }

  package var isConnected: Bool { loss == nil }

  // MARK: The server

  /// Lets the peer see attributes of this device from now on, as the permissions and the security of the link allow.
  @discardableResult
  package func serve(_ database: AttributeDatabase) -> ServerBearer {
    let link = self.link
    let server = ServerBearer(database, on: bearer, timers: timers, security: security) { link.hasRoom }
    self.server = server
    server.onRecordChange = { [weak self] in self?.keepClient() }
    server.checkSignature = { link.signing?.check($0, $1, accept: $2) }
    if security.isEncrypted { restoreClient() }
    return server
  }

  /// A bonded client goes on where it was.
  private func restoreClient() {
    guard let server, link.isBonded, let record = link.clientRecord else { return }
    server.restore(record)
  }

  private func keepClient() {
    if let server, link.isBonded { link.clientRecord = server.record }
  }

  /// Answers the peer as a device without attributes from now on; the link stays.
  package func endServing() { server.take()?.stop() }

  // MARK: The end

  /// Ends the link and returns when it has ended: after a few seconds at the latest, if the controller does not report
  /// it. Cancelling the task does not cancel this, as a peer that stays connected does not advertise.
  package func disconnect() async {
    guard loss == nil else { return }
    end()
    await withCheckedContinuation { continuation in
      whenDisconnected { _ in continuation.resume() }
    }
  }

  /// Ends the link, without waiting for its end. Writes without response, and notifications that wait for room, are sent
  /// before, for two seconds at most: see ``hasUnsentWrites``.
  package func end() {
    guard loss == nil, !isEnding else { return }
    isEnding = true
    let link = self.link
    let disconnect = OneShot { link.disconnect() }
    disconnect.expire(after: Self.provingDeadline, in: timers, with: ())
    guard let server else { return prove(then: disconnect) }
    server.whenSent { [weak self] in self?.prove(then: disconnect) }
  }

  private func prove(then disconnect: OneShot<Void>) {
    guard link.dropsPacketsAtEnd, bearer.hasUnconfirmedCommands else {
      disconnect(())
      return
    }
    // The answer, whatever it is, comes after the PDUs that were sent before.
    bearer.request(ATTReadRequest(AttributeHandle(1)), allowsTimeout: true) { _ in disconnect(()) }
  }

  /// Whether values that were written without response may not have been sent when the link was ended.
  package var hasUnsentWrites: Bool {
    link.hasUnsentPackets || link.dropsPacketsAtEnd && bearer.hasUnconfirmedCommands
  }

  /// Calls `handler` once, when the link has ended; at once if it already has. All open operations have failed by then.
  package func whenDisconnected(_ handler: @escaping (LinkLoss) -> Void) {
    if let loss { handler(loss) } else { disconnectionHandlers.append(handler) }
  }

  /// Waits until the link has ended, and returns why. It has no deadline, as a link may last without limit.
  ///
  /// - Throws: when the task is cancelled before that
  package func disconnection() async throws(CancellationError) -> LinkLoss {
    try await awaitCallback(cancelled: CancellationError()) { done in
      whenDisconnected { done(.success($0)) }
    }
  }
}
