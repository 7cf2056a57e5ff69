import HCI
import HaloBluetoothCore
import HaloGATT
import HaloSecurityManager
import L2CAP

/// The security of one link: encrypts it with the key of a bond, pairs, and answers the peer's Security Manager (Core
/// Specification Vol 3, Part H, 2.4).
///
/// One thing is under way at a time: encryption, or a pairing. Whoever wants security meanwhile waits for its end.
@BluetoothActor
final class SecurityManager {
  /// Called for the user.
  var onEvent: ((LinkEvent) -> Void)?

  private let l2cap: L2CAPLink
  private let host: SecurityHost?
  private let timers: Timers
  /// The address of this side that stays.
  private let identity: BluetoothAddress
  /// Ends the link: it can't be trusted.
  private let disconnect: () -> Void
  /// The keys of the peer: stored, or of this link alone.
  private(set) var bond: Bond?
  /// The signatures of both sides.
  let signing: LinkSigning?

  private var pairing: LinkPairing?
  private var isEncrypting = false
  /// Whether the bond of a pairing is being stored.
  private var isStoring = false
  private var waiters: [(level: LESecurityLevel, completion: (Result<Void, StackError>) -> Void)] = []
  /// The end of the time in which the central has to react to a Security Request, or in which this side has to wait.
  private var timer: Timers.Token?
  /// Whether a pairing has timed out: no other one may follow on this link.
  private var isBarred = false
  private var lastSecurityRequest: Instant?
  /// The refusal that was reported last: a peer may ask again and again.
  private var reportedRefusal: LinkEvent?

  private static let shortestRequestPause = Duration.seconds(1)

  init(
    _ l2cap: L2CAPLink, _ host: SecurityHost?, timers: Timers, identity: BluetoothAddress,
    disconnect: @escaping () -> Void
  ) {
    self.l2cap = l2cap
    self.host = host
    self.timers = timers
    self.identity = identity
    self.disconnect = disconnect
    signing = host.map {
      LinkSigning($0, peer: l2cap.connection.peer, own: identity, role: l2cap.connection.role, timers: timers)
    }
    bond = host?.bonded(connection.role).bond(with: peer, as: identity)
    signing?.onEvent = { [weak self] event in self?.onEvent?(event) }
    l2cap[.securityManager] = { [unowned self] pdu, _ in receive(Array(pdu)) }
    connection.onKeyRequest = { [unowned self] random, diversifier in key(random, diversifier) }
  }

  private var connection: LEConnection { l2cap.connection }
  private var peer: BluetoothAddress { connection.peer }

  /// The security of the link, for attributes.
  var security: LinkSecurity {
    let key = connection.key
    return LinkSecurity(
      isEncrypted: connection.isEncrypted, isAuthenticated: key?.isAuthenticated ?? false,
      isPaired: bond != nil || key != nil, keySize: key?.size ?? 16)
  }

  private var level: LESecurityLevel {
    guard connection.isEncrypted, let key = connection.key else { return .none }
    return LESecurityLevel(
      PairingStrength(
        isAuthenticated: key.isAuthenticated, isSecureConnections: bond?.isSecureConnections == true,
        keySize: key.size))
  }

  // MARK: Raising the security

  /// See ``ATTLink/secure(to:completion:)``.
  func secure(to level: LESecurityLevel, completion: @escaping (Result<Void, StackError>) -> Void) {
    guard connection.isConnected else { return completion(.failure(.notConnected)) }
    if self.level >= level { return completion(.success(())) }
    waiters.append((level, completion))
    raise()
  }

  private func raise() {
    guard pairing == nil, !isEncrypting, !isStoring, timer == nil, let wanted = waiters.map(\.level).max()
    else { return }
    switch connection.role {
    case .peripheral: sendSecurityRequest(wanted)
    default:
      if !connection.isEncrypted, let key = bond?.keyAsCentral { return encrypt(with: key) }
      beginPairing(wanted)
    }
  }

  private func encrypt(with key: LongTermKey) {
    isEncrypting = true
    connection.encrypt(with: key) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success:
        isEncrypting = false
        settle()
      // The reason of the disconnection follows.
      case .failure(let error) where error.code == .notConnected: return
      case .failure(let error):
        isEncrypting = false
        fail(
          error.hciCode == .pinOrKeyMissing
            ? missingKey : error.code == .commandTimedOut ? .encryptionTimedOut(peer) : error)
        // A link to a peer with a bond is not used in clear.
        disconnect()
      }
    }
  }

  /// Why the peer does not find its key.
  private var missingKey: StackError {
    host?.usesPrivateAddresses == true && bond?.ownIdentityResolvingKey == nil
      ? .unknownPrivateAddress(to: peer) : .keyMissing(at: peer)
  }

  /// Tells those that have got what they wanted, and goes on for the others.
  private func settle() {
    let level = self.level
    let done = waiters.filter { $0.level <= level }
    waiters.removeAll { $0.level <= level }
    for waiter in done { waiter.completion(.success(())) }
    raise()
  }

  private func fail(_ error: StackError) {
    let failed = waiters
    waiters = []
    for waiter in failed { waiter.completion(.failure(error)) }
  }

  // MARK: Events of the link

  /// Encryption is on, or off.
  func encryptionChanged(isOn: Bool) {
    // At a central, the end of its request says that encryption is on.
    if let pairing, !isOn || connection.role == .peripheral { return pairing.encryptionChanged(isOn: isOn) }
    guard connection.role == .peripheral else { return }
    timers.cancel(timer.take())
    settle()
  }

  func disconnected(_ reason: HCIErrorCode) {
    timers.cancel(timer.take())
    pairing?.disconnected()
    signing?.disconnected()
    let differs = reason == .micFailure || reason == .pinOrKeyMissing
    fail(isEncrypting && differs ? missingKey : .notConnected)
    onEvent = nil
  }

  /// The key that the controller of a peripheral is given. While a pairing is under way, that is its key, and only after
  /// both sides have shown that they have it.
  private func key(_ random: UInt64, _ diversifier: UInt16) -> LongTermKey? {
    if let pairing { return random == 0 && diversifier == 0 ? pairing.pendingKey : nil }
    guard let key = bond?.keyAsPeripheral, key.random == random, key.diversifier == diversifier else {
      return nil
    }
    return key
  }

  // MARK: The peer's Security Manager

  private func receive(_ pdu: [UInt8]) {
    guard !isBarred, let first = pdu.first else { return }
    if let pairing { return pairing.receive(pdu) }
    switch (SecurityManagerCode(rawValue: first), connection.role) {
    case (.pairingRequest, .peripheral): answerPairingRequest(pdu)
    case (.securityRequest, .central): answerSecurityRequest()
    case (.pairingRequest, _), (.securityRequest, _): refuse(.commandNotSupported)
    case (.pairingFailed, .peripheral): securityRequestFailed(pdu)
    case (.pairingFailed, _), (.pairingKeypressNotification, _): break
    // There is no pairing that this could belong to.
    case (let code, _) where code.prototype != nil: refuse(.unspecifiedReason)
    default: break
    }
  }

  /// The central does not pair, as this side has asked it to.
  private func securityRequestFailed(_ pdu: [UInt8]) {
    guard timer != nil, let failed = try? PairingFailed(pdu: pdu.span.bytes) else { return }
    timers.cancel(timer.take())
    fail(.pairingFailed(.peer(failed.reason), with: peer))
  }

  /// A peer that floods requests and does not receive the answers gets none, and the link is kept.
  private func refuse(_ reason: PairingFailureReason, _ event: LinkEvent? = nil) {
    if connection.hasRoom { send(PairingFailed { $0.reason = reason }.pdu) }
    guard let event, event != reportedRefusal else { return }
    reportedRefusal = event
    onEvent?(event)
  }

  private func send(_ pdu: [UInt8]) { l2cap.send(pdu.span.bytes, on: .securityManager) }

  private func answerPairingRequest(_ pdu: [UInt8]) {
    beginForPeer()
    pairing?.receive(pdu)
  }

  /// Begins the pairing that the peer wants, or refuses it.
  private func beginForPeer() {
    guard let host, host.pairs else { return refuse(.pairingNotSupported, .pairingRefused) }
    guard mayReplaceBond(host) else { return refuse(.authenticationRequirements, .repairingRefused) }
    if host.attempts.wait(of: peer, at: timers.now) != nil { return refuse(.repeatedAttempts) }
    begin(.encrypted, host)
  }

  /// Whether the peer may pair: one with a bond over the link that its key encrypts, as another device may pretend to be it.
  private func mayReplaceBond(_ host: SecurityHost) -> Bool {
    let hasBond = bond != nil || host.bonded(.peripheral).bond(with: peer, as: identity) != nil
    return !hasBond || connection.isEncrypted || host.settings.allowsRepairing
  }

  /// A peer with a bond gets encryption, and never a new pairing.
  private func answerSecurityRequest() {
    let now = timers.now
    if let last = lastSecurityRequest, now - last < Self.shortestRequestPause { return }
    lastSecurityRequest = now
    guard !isEncrypting else { return }
    if let key = bond?.keyAsCentral { return encrypt(with: key) }
    // It has what it asks for. If an attribute needs more, this side finds out.
    if !connection.isEncrypted { beginForPeer() }
  }

  // MARK: Pairing

  private func beginPairing(_ level: LESecurityLevel) {
    guard let host, host.settings.policy.pairs else {
      return fail(
        .pairingNotAllowed(peer, "which is not allowed here"))
    }
    guard host.cryptography != nil else {
      return fail(.pairingNotAllowed(peer, "for which libcrypto is missing; install libssl3 or libssl3t64"))
    }
    if level >= .authenticated, host.ioCapability == .noInputNoOutput, host.settings.outOfBand == nil {
      return fail(
        .pairingNotAllowed(
          peer, "with a number that a person compares or types; there is nobody to ask"))
    }
    guard !isBarred else { return fail(.pairingFailed(.timeout, with: peer)) }
    guard mayReplaceBond(host) || bond == nil && host.settings.replacesUncheckedBonds else {
      return fail(.repairingRefused(peer))
    }
    guard let wait = host.attempts.wait(of: peer, at: timers.now) else { return begin(level, host) }
    timer = timers.schedule(after: wait) { [weak self] in
      self?.timer = nil
      self?.raise()
    }
  }

  private func begin(_ level: LESecurityLevel, _ host: SecurityHost) {
    guard let cryptography = host.cryptography,
      let secrets = try? host.makeSecrets(identity: identity)
    else {
      refuse(.unspecifiedReason)
      return fail(.pairingFailed(.local(.unspecifiedReason), with: peer))
    }
    let pairing = LinkPairing(
      Pairing(PairingSetup(connection, level, host, secrets, replacing: bond), cryptography), with: peer,
      timers: timers, agent: host.agent,
      send: { [unowned self] pdu in send(pdu) },
      encrypt: { [weak self, connection] key in
        connection.encrypt(with: key) { result in
          if case .failure(let error) = result, error.code == .notConnected { return }
          self?.pairing?.encryptionChanged(isOn: (try? result.get()) != nil)
        }
      },
      onEnd: { [weak self] result in self?.ended(result, host) })
    self.pairing = pairing
    pairing.begin()
  }

  private func ended(_ result: Result<PairingResult, PairingFailure>, _ host: SecurityHost) {
    pairing = nil
    timers.cancel(timer.take())
    switch result {
    case .success(let result): keep(result, host)
    case .failure(let failure):
      // A central that comes back asks this side's user again.
      if failure != .disconnected || connection.role == .peripheral {
        host.attempts.failed(peer, at: timers.now)
      }
      isBarred = failure == .timeout
      let error = StackError.pairingFailed(failure, with: peer)
      onEvent?(.pairingFailed(error))
      fail(error)
      // Keys were lost, or nothing may follow.
      if connection.isEncrypted || isBarred { disconnect() }
    }
  }

  private func keep(_ result: PairingResult, _ host: SecurityHost) {
    let new = Bond(result, with: peer, own: identity)
    let old = host.bonded(.peripheral).bond(with: new.peer, as: identity)
    var bond: Bond
    do throws(BondRefusal) {
      bond = try host.judge(new, inPlaceOf: old, at: peer, connection.role)
    } catch {
      return refuse(error, new.peer, host)
    }
    host.attempts.succeeded(peer)
    bond.client = self.bond?.client
    bond.name = host.name(bond.peer, as: identity)
    self.bond = bond
    // A device whose address changes, and that has given no identity, would not be recognized.
    let isKept =
      result.isBonding && host.settings.bonds && !result.usesDebugKey && bond.peer.isIdentity
    guard isKept, host.bonds != nil else { return paired(result, isKept: false) }
    isStoring = true
    make(.store(bond, inPlaceOf: old), host) { [weak self] isKept in
      self?.isStoring = false
      self?.paired(result, isKept: isKept)
    }
  }

  /// The peer has paired, but must not have this bond: the link ends.
  private func refuse(_ refusal: BondRefusal, _ claimed: BluetoothAddress, _ host: SecurityHost) {
    let error: StackError =
      switch refusal {
      case .claimed: .repairingRefused(claimed)
      case .weaker: .pairingFailed(.local(.authenticationRequirements), with: peer)
      }
    host.attempts.failed(peer, at: timers.now)
    onEvent?(.pairingFailed(error))
    fail(error)
    disconnect()
  }

  private func make(
    _ change: BondChange, _ host: SecurityHost, completion: @escaping (_ isKept: Bool) -> Void
  ) {
    host.bonds?.make(change) { result in
      switch result {
      case .success: completion(true)
      case .failure(let error):
        host.onBondNotKept(error)
        completion(false)
      }
    }
  }

  private func paired(_ result: PairingResult, isKept: Bool) {
    onEvent?(.paired(result.method, result.strength, isKept: isKept))
    settle()
  }

  /// Keeps what a server has to know of the peer, if the link is that of its bond.
  func keep(_ client: ClientRecord?) {
    guard let bond, connection.isEncrypted, pairing == nil, bond.client != client else { return }
    self.bond?.client = client
    // Without a stored bond, the peer is unknown the next time.
    guard let host, host.bonded(.peripheral).bond(with: bond.peer, as: identity) != nil else { return }
    make(.update(bond) { $0.client = client }, host) { _ in }
  }

  // MARK: The peripheral's wish

  /// The central alone can encrypt or pair; this side can ask it to.
  private func sendSecurityRequest(_ level: LESecurityLevel) {
    guard let host, host.pairs || bond != nil else {
      return fail(.pairingNotAllowed(peer, "which is not allowed here"))
    }
    var authentication: AuthenticationRequirements = .secureConnections
    if host.settings.bonds { authentication.insert(.bonding) }
    if level >= .authenticated || host.ioCapability != .noInputNoOutput { authentication.insert(.mitm) }
    send(SecurityRequest { $0.authentication = authentication }.pdu)
    timer = timers.schedule(after: LinkPairing.timeout) { [weak self] in
      guard let self else { return }
      timer = nil
      if pairing == nil { fail(.encryptionTimedOut(peer)) }
    }
  }
}
