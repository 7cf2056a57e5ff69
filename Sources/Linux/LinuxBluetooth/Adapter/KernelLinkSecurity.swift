import GAP
import Glibc
import HCI
import HaloBluetoothCore
import HaloGATT
import HaloSystem

/// The security of a link of the kernel, and how it is raised.
///
/// The kernel does not report the end of an attempt on the link's socket, which sends nothing meanwhile; after a refusal on
/// this side it never would again. So an attempt ends with the controller's report of encryption, with the kernel's of a
/// failure, with the link, or when its time is over; and a link on which it has failed is ended.
@BluetoothActor
final class KernelLinkSecurity {
  /// The user may have to type a passkey; the kernel gives up 30 s after a device has last said something.
  static let deadline = Duration.seconds(60)
  /// The same without a question to the user.
  static let deadlineWithoutPairing = Duration.seconds(30)
  /// How long the keys of a pairing are waited for, which follow after encryption. A peer that does not bond gives none.
  static let keyDeadline = Duration.seconds(5)

  private(set) var state = LinkSecurity.none
  private unowned let link: KernelLink
  private let socket: L2CAPSocket
  private let adapter: KernelAdapter
  private var waiting: [(level: LESecurityLevel, completion: (Result<Void, StackError>) -> Void)] = []
  private var deadline: Timers.Token?
  private var attempts: UInt64 = 0
  private var attempt = Attempt.none

  /// What is being done to raise the security.
  private enum Attempt {
    case none
    /// The kernel is being prepared.
    case preparing
    /// The kernel works on it.
    case raising(Raise)
    /// The link is encrypted, and the keys of its pairing follow.
    case awaitingKeys(LESecurityLevel)
  }

  private struct Raise {
    let level: LESecurityLevel
    /// Whether it makes a pairing whose keys have not come yet, and does not only use its bond.
    var isPairing: Bool
    /// Whether the user or the settings have said no.
    var isRefused = false
  }

  /// Whether the security is being raised.
  var isRaising: Bool { if case .none = attempt { false } else { true } }

  private var raise: Raise? { if case .raising(let raise) = attempt { raise } else { nil } }

  private var pairing: KernelPairing? { adapter.pairing }
  private var isBonded: Bool { link.isBonded }
  private var peer: BluetoothAddress { link.peer }

  init(_ link: KernelLink, _ socket: L2CAPSocket, _ adapter: KernelAdapter) {
    (self.link, self.socket, self.adapter) = (link, socket, adapter)
    // Another program may have had it encrypted.
    adopt(socket.security)
  }

  // MARK: Raising

  func secure(to level: LESecurityLevel, completion: @escaping (Result<Void, StackError>) -> Void) {
    guard link.isUsable else { return completion(.failure(.notConnected)) }
    guard !isRaising else { return waiting.append((level, completion)) }
    if let security = socket.security, isSufficient(security, for: level) {
      adopt(security)
      return completion(.success(()))
    }
    guard pairing != nil else {
      return completion(.failure(StackError("encrypt the link", .notOffered)))
    }
    waiting.append((level, completion))
    begin()
  }

  private func isSufficient(_ security: KernelSecurityOption, for level: LESecurityLevel) -> Bool {
    security.level >= level && (level == .none || security.keySize >= minimumKeySize)
  }

  private var minimumKeySize: Int { pairing?.host.settings.minimumKeySize ?? 7 }

  private func begin() {
    guard let pairing, let wanted = waiting.first?.level else { return }
    attempt = .preparing
    attempts &+= 1
    let number = attempts
    // The kernel gives the link the level that it is asked for, if the key suffices: all that the bond gives is asked for. A
    // pairing for more is made over the link that the bond has encrypted.
    let bonded = state.isEncrypted ? nil : pairing.bond(with: peer, link.role)?.level
    let raise = Raise(level: bonded ?? wanted, isPairing: pairing.makesBond(on: link, for: bonded ?? wanted))
    pairing.prepare(link, to: raise.level) { [weak self] error in
      guard let self, isRaising, number == attempts else { return }
      if let error { return end(.failure(error)) }
      begin(raise)
    }
  }

  private func begin(_ raise: Raise) {
    guard let pairing else { return end(.failure(.notConnected)) }
    attempt = .raising(raise)
    socket.packets.hold()
    let mayAsk = !pairing.isOthers && pairing.host.settings.policy.pairs
    deadline = adapter.timers.schedule(
      after: mayAsk ? Self.deadline : Self.deadlineWithoutPairing
    ) { [weak self] in
      guard let self else { return }
      refuse(.encryptionTimedOut(peer))
    }
    do throws(SystemError) {
      try socket.raise(to: raise.level)
    } catch {
      if error.errno == EINVAL, let security = socket.security, security.level >= raise.level {
        return settle(security)
      }
      guard error.errno == EINVAL else { return end(.failure(StackError("secure the link", .system(error)))) }
      pairing.switchOffAndOn { [self] isSwitched in
        end(.failure(.notPreparedToPair(pairing.index, isSwitched: isSwitched)))
      }
    }
  }

  /// The kernel has the link encrypted: checks what it has got.
  private func settle(_ security: KernelSecurityOption) {
    adopt(security)
    guard let raise else { return }
    guard security.keySize >= minimumKeySize else {
      return refuse(.shortKey(peer, security.keySize, minimum: minimumKeySize))
    }
    // The first step is done, or another caller wants more.
    guard security.level >= raise.level else { return refuse(.levelNotReached(peer, security.level)) }
    guard raise.isPairing else { return end(.success(())) }
    // A link that ends before has no bond, on either side.
    attempt = .awaitingKeys(raise.level)
    adapter.timers.cancel(deadline.take())
    deadline = adapter.timers.schedule(after: Self.keyDeadline) { [weak self] in self?.end(.success(())) }
  }

  /// The keys of a pairing are kept, or will not be.
  func pairingCompleted() {
    switch attempt {
    case .awaitingKeys: end(.success(()))
    case .raising(var raise):
      raise.isPairing = false
      attempt = .raising(raise)
    case .none, .preparing: break
    }
  }

  /// Ends the attempt. Those who wait for a higher level get another one.
  private func end(_ result: Result<Void, StackError>) {
    let reached: LESecurityLevel?
    switch attempt {
    case .none: return
    case .preparing: reached = nil
    case .raising(let raise): reached = raise.level
    case .awaitingKeys(let level): reached = level
    }
    attempt = .none
    adapter.timers.cancel(deadline.take())
    socket.packets.sendHeld()
    let done: [(level: LESecurityLevel, completion: (Result<Void, StackError>) -> Void)]
    if case .success = result, let reached {
      done = waiting.filter { $0.level <= reached }
      waiting.removeAll { $0.level <= reached }
    } else {
      done = waiting
      waiting = []
    }
    if case .success = result { pairing?.ended(with: peer, nil) }
    if !waiting.isEmpty { begin() }
    for each in done { each.completion(result) }
  }

  /// Ends the link, as it may not be used like this: after a failure, its socket does not work either.
  func refuse(_ error: StackError) {
    // Before the kernel works on it, nothing has happened to the link.
    let mustEnd = if case .preparing = attempt { false } else { true }
    end(.failure(error))
    if mustEnd { link.abandon() }
  }

  // MARK: What happens

  /// The user or the settings say no to the kernel's question.
  func willRefuse() {
    guard var raise else { return }
    raise.isRefused = true
    attempt = .raising(raise)
  }

  /// The kernel reports that a pairing has failed.
  func pairingFailed() {
    switch attempt {
    case .none, .preparing: return
    case .raising, .awaitingKeys: break
    }
    if adapter.pairing?.isOthers == true { return refuse(.bluetoothdPairs(peer)) }
    refuse(raise?.isRefused == true ? .refusedHere(peer) : .kernelPairingFailed(peer))
  }

  /// The controller reports that encryption was switched on or off, or that this has failed. The kernel handles that later.
  func encryptionChanged(_ status: HCIErrorCode, isOn: Bool) {
    guard status == .success else {
      // The kernel ends the link.
      if status == .pinOrKeyMissing { return end(.failure(.keyMissing(at: peer))) }
      return end(.failure(StackError("encrypt the link", .commandFailed(LEEnableEncryption.opcode, status))))
    }
    guard isOn else {
      state.isEncrypted = false
      link.onEvent?(.change(.encryption(false)))
      // Controllers exist that stay in clear after a pause (CVE-2025-52435).
      return link.abandon()
    }
    if let security = socket.security, security.level > .none, security.keySize > 0 {
      return encrypted(security)
    }
    adapter.whenEventsAreHandled { [weak self] in
      guard let self, link.isUsable, let security = socket.security else { return }
      encrypted(security)
    }
  }

  private func encrypted(_ security: KernelSecurityOption) {
    adopt(security)
    link.onEvent?(.change(.encryption(true)))
    settle(security)
  }

  private func adopt(_ security: KernelSecurityOption?) {
    guard let security else { return }
    state.isEncrypted = security.level >= .encrypted
    state.isAuthenticated = security.level >= .authenticated
    if security.keySize > 0 { state.keySize = security.keySize }
    state.isPaired = state.isEncrypted || isBonded
  }

  /// The link is gone.
  func linkEnded(_ loss: LinkLoss) {
    let wasWorking =
      switch attempt {
      case .none, .preparing: false
      case .raising, .awaitingKeys: true
      }
    attempt = .none
    adapter.timers.cancel(deadline.take())
    let left = waiting
    waiting = []
    let error: StackError =
      switch loss {
      case .remote(.pinOrKeyMissing): .keyMissing(at: peer)
      // The keys differ.
      case .remote(.micFailure) where isBonded: .keyMissing(at: peer)
      case .remote(.authenticationFailure) where pairing?.isOthers == true: .bluetoothdPairs(peer)
      case .remote(.authenticationFailure): .kernelPairingFailed(peer)
      case .local where wasWorking && pairing?.isOthers == true: .bluetoothdPairs(peer)
      case .local where wasWorking: .kernelPairingFailed(peer)
      default: wasWorking ? .endedWhileSecured(peer, loss) : .notConnected
      }
    for each in left { each.completion(.failure(error)) }
    pairing?.disconnected(peer)
  }
}
