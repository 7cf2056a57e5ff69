import ATT
import HCI
import HaloBluetoothCore
import HaloSecurityManager

/// The signatures of one link: signs what this side writes, and checks what the peer has signed (Core Specification Vol 3,
/// Part C, 10.4). A link that is encrypted needs none.
///
/// A counter is used once, also if the program or the machine ends in any moment: those of this side are taken from the bond
/// before they are used, and one of the peer is kept in the bond before its write takes effect.
@BluetoothActor
package final class LinkSigning {
  /// Called for the user.
  package var onEvent: ((LinkEvent) -> Void)?
  /// Called when a command can be signed that could not before.
  package var onReady: (() -> Void)?

  private let host: SecurityHost
  private let peer: BluetoothAddress
  private let own: BluetoothAddress
  private let role: LERole
  private let timers: Timers

  /// The counters of this side that were taken from the bond and not used.
  private var reserved: (key: [UInt8], counters: Range<UInt32>)?
  private var isReserving = false
  /// Why none could be taken, for the command that waits.
  private var failure: StackError?
  /// The lowest counter of the peer that is valid, with its key; it may not be kept yet.
  private var lowest: Bond.SigningKey?
  /// The writes that take effect when ``lowest`` is kept.
  private var waiting: [() -> Void] = []
  /// Runs for a while after each change of the file: the writes that come meanwhile share the next one.
  private var pause: Timers.Token?
  /// What was reported: anybody can send wrong signatures for ever.
  private var reported: Set<SignatureFault> = []

  /// A peer that signs without end must not have the file written all the time.
  static let storingPause = Duration.milliseconds(100)
  /// The most writes that wait; later ones are ignored.
  static let mostWaiting = 64

  /// - Parameters:
  ///   - peer: the address of the peer, on the air or the one that stays
  ///   - own: the address of this side that stays
  ///   - role: the role of this side
  package init(
    _ host: SecurityHost, peer: BluetoothAddress, own: BluetoothAddress, role: LERole, timers: Timers
  ) {
    (self.host, self.peer, self.own, self.role, self.timers) = (host, peer, own, role, timers)
  }

  private var bond: Bond? { host.bonded(role).bond(with: peer, as: own) }

  /// The functions, if the library is installed.
  private var functions: SecurityFunctions? { host.cryptography.map { SecurityFunctions($0) } }

  // MARK: The writes of this side

  /// Takes counters from the bond, if there are none left.
  ///
  /// - Returns: whether a command can be signed now, or never will be; if not, ``onReady`` is called later
  package func prepare() -> Bool {
    guard !isReserving else { return false }
    guard failure == nil, functions != nil, let bond, let signing = bond.ownSigning else { return true }
    if let reserved, reserved.key == signing.key, !reserved.counters.isEmpty { return true }
    guard signing.counter < Bond.SigningKey.end, let store = host.bonds else { return true }
    isReserving = true
    // Another program may sign writes to the same device.
    let change = BondChange.update(bond) { _ = $0.ownSigning?.reserve() }
    store.make(change) { [self] result in
      isReserving = false
      switch result {
      case .success(let bond):
        reserved = bond?.ownSigning.map {
          var key = $0; return (key.key, key.reserve())
        }
      case .failure(let error): failure = .counterNotKept(error)
      }
      onReady?()
    }
    return !isReserving
  }

  /// Signs a command. Call ``prepare()`` before.
  ///
  /// - Parameter message: the whole PDU up to the signature
  /// - Throws: `.pairingFailed` if there is no key to sign with
  package func sign(_ message: [UInt8]) throws(StackError) -> ATTSignature {
    guard let functions else { throw .signingNeedsLibrary(peer) }
    let (key, counter) = try nextCounter()
    do throws(CryptographyError) {
      return ATTSignature(
        counter: counter, code: try functions.signature(of: message, counter, key: key))
    } catch {
      throw .signingNeedsLibrary(peer)
    }
  }

  private func nextCounter() throws(StackError) -> (key: [UInt8], counter: UInt32) {
    if let failure = failure.take() { throw failure }
    guard let bond, let signing = bond.ownSigning else { throw .noSigningKey(peer) }
    // The peer could not tell whose signature it is.
    guard !host.usesPrivateAddresses || bond.ownIdentityResolvingKey != nil else {
      throw .unknownPrivateAddress(to: peer)
    }
    guard reserved?.key == signing.key, let counter = reserved?.counters.popFirst() else {
      throw .signaturesUsedUp(peer)
    }
    return (signing.key, counter)
  }

  /// Gives the counters back that were not used. Zephyr, before its pull request 115877, takes no signature whose counter does
  /// not follow the one before.
  private func giveBack() {
    guard let (key, counters) = reserved.take(), !counters.isEmpty, let bond else { return }
    let change = BondChange.update(bond) { bond in
      if bond.ownSigning == Bond.SigningKey(key: key, counter: counters.upperBound) {
        bond.ownSigning?.counter = counters.lowerBound
      }
    }
    // Without it, the counters are left out.
    host.bonds?.make(change) { _ in }
  }

  // MARK: The writes of the peer

  /// Checks a command of the peer. One that is not signed as it should be is ignored: `accept` is not called.
  ///
  /// - Parameters:
  ///   - message: the whole PDU up to the signature
  ///   - accept: called when the command is known to be the peer's, and can't be sent again: with whether its key comes from a
  ///     pairing that was protected against a man in the middle
  package func check(
    _ message: [UInt8], _ signature: ATTSignature, accept: @escaping (_ isAuthenticated: Bool) -> Void
  ) {
    guard let bond, let key = bond.peerSigning else { return report(.noKey) }
    guard let functions else { return report(.noLibrary) }
    // The counter is looked at last: what anybody can send must not change it.
    let isRight = try? functions.isSignature(
      signature.code, of: message, signature.counter, key: key.key)
    guard isRight == true else { return report(.wrongSignature) }
    var state = key
    if let lowest, lowest.key == key.key { state.counter = max(state.counter, lowest.counter) }
    guard state.accept(signature.counter) else { return report(.usedCounter) }
    lowest = state
    guard waiting.count < Self.mostWaiting else { return report(.tooMany) }
    let isAuthenticated = bond.strength.isAuthenticated
    waiting.append { accept(isAuthenticated) }
    if pause == nil { deliver() }
  }

  /// Keeps the counter, and lets the writes take effect that wait for it.
  private func deliver() {
    let writes = waiting
    waiting = []
    guard !writes.isEmpty, let bond, let lowest, bond.peerSigning?.key == lowest.key else { return }
    pause = timers.schedule(after: Self.storingPause) { [weak self] in
      self?.pause = nil
      self?.deliver()
    }
    let change = BondChange.update(bond) { bond in
      guard let kept = bond.peerSigning, kept.key == lowest.key else { return }
      bond.peerSigning?.counter = max(kept.counter, lowest.counter)
    }
    host.bonds?.make(change) { [self] result in
      switch result {
      // It may have been forgotten meanwhile.
      case .success(nil): report(.noKey)
      case .success: for write in writes { write() }
      case .failure(let error): report(.counterNotKept("\(error)"))
      }
    }
  }

  private func report(_ fault: SignatureFault) {
    if reported.insert(fault).inserted { onEvent?(.signatureRefused(fault)) }
  }

  // MARK: The end

  /// The link has ended.
  package func disconnected() {
    timers.cancel(pause.take())
    deliver()
    timers.cancel(pause.take())
    giveBack()
  }
}

/// Why signed writes of a peer are ignored.
package enum SignatureFault: Hashable, Sendable, CustomStringConvertible {
  /// There is no key of the peer.
  case noKey
  case wrongSignature
  /// The counter was used, or a later one.
  case usedCounter
  /// They come faster than their counters can be kept.
  case tooMany
  /// The file of the bonds can't be written, for this reason.
  case counterNotKept(String)
  case noLibrary

  package var description: String {
    switch self {
    case .noKey: "there is no key to check its signature with; pair with the device again"
    case .wrongSignature: "its signature is wrong; another device may pretend to be this one"
    case .usedCounter: "it, or a later one, has come before; somebody may have recorded it"
    case .tooMany: "more come than can be kept track of"
    case .counterNotKept(let reason): "its counter can't be kept: \(reason)"
    case .noLibrary: "libcrypto is missing, which checks its signature; install libssl3 or libssl3t64"
    }
  }
}
