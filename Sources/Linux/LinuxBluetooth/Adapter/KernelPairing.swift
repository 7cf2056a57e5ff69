import GAP
import HCI
import HaloBluetoothCore
import HaloSecurityManager

/// Pairing on an adapter that the kernel drives: the kernel pairs, asks programs, and tells them the keys, which it forgets
/// when the machine is switched off.
///
/// Where bluetoothd runs, all that is its own: its keys are loaded, its agent answers, and what it does not know it refuses,
/// also after another program has agreed. This side pairs only where it does not run.
@BluetoothActor
final class KernelPairing {
  /// Called with what the user should know.
  var onNote: ((String) -> Void)?

  let host: SecurityHost
  let links: KernelLinks
  private let queue: ManagementQueue
  private let timers: Timers
  private let isPrivileged: Bool
  private let runsBluetoothd: () -> Bool
  private(set) var index: AdapterIndex
  private var own = BluetoothAddress.zero
  private var bonds: KernelBonds
  /// Whether the kernel has the keys of the bonds.
  private var hasLoaded = false
  /// What the kernel takes for the abilities of the user.
  private var ioCapability: IOCapability?
  /// Whether the adapter was made bondable by this program, which ends that.
  private var hasMadeBondable = false
  /// Makes sure that it is ended if this process cannot.
  var onLastCommand: ((ManagementPacket?) -> Void)?
  /// The peers whose pairing has asked the user, until it has ended.
  private var asked: [BluetoothAddress] = []
  /// How the pairings are made whose keys are not there yet, as the kernel's questions show, by the address of the link.
  private var methods: [BluetoothAddress: PairingMethod] = [:]

  /// - Parameters:
  ///   - queue: of the management
  ///   - isPrivileged: whether it was opened with CAP_NET_ADMIN; without it the kernel takes no keys, and asks nothing
  ///   - runsBluetoothd: whether bluetoothd runs now
  init(
    _ host: SecurityHost, _ links: KernelLinks, _ queue: ManagementQueue, _ index: AdapterIndex,
    timers: Timers, isPrivileged: Bool, runsBluetoothd: @escaping () -> Bool
  ) {
    (self.host, self.links, self.queue, self.index) = (host, links, queue, index)
    (self.timers, self.isPrivileged, self.runsBluetoothd) = (timers, isPrivileged, runsBluetoothd)
    bonds = KernelBonds(host)
  }

  // MARK: The adapter

  /// The adapter is there, or there again: the kernel has no key of it.
  ///
  /// - Parameters:
  ///   - own: its address
  ///   - settings: its settings
  func begin(_ index: AdapterIndex, own: BluetoothAddress, _ settings: ManagementSettings) {
    self.index = index
    self.own = own
    hasLoaded = false
    ioCapability = nil
    guard isPrivileged, host.settings.policy != .never, !isOthers else { return }
    load()
    guard host.mayPair else { return }
    if !settings.contains(.lowEnergy) { send(.setLowEnergy(true)) }
    setSecureConnections()
    updateIOCapability()
    guard !settings.contains(.bondable) else { return }
    hasMadeBondable = true
    onLastCommand?(ManagementPacket(.setBondable(false), to: index))
    send(.setBondable(true))
  }

  /// Ends what this program has set.
  func end() {
    guard hasMadeBondable else { return }
    hasMadeBondable = false
    onLastCommand?(nil)
    if !runsBluetoothd() { queue.enqueue(.setBondable(false), to: index) { _ in } }
  }

  /// Whether the pairings of the adapter are bluetoothd's. It may have been started meanwhile, and has replaced the keys then.
  var isOthers: Bool {
    guard runsBluetoothd() else { return false }
    hasLoaded = false
    ioCapability = nil
    hasMadeBondable = false
    onLastCommand?(nil)
    return true
  }

  /// An adapter for both kinds of Bluetooth has Secure Connections only with Secure Simple Pairing.
  private func setSecureConnections(isRepeated: Bool = false) {
    let mode: SecureConnectionsMode = host.settings.requiresSecureConnections ? .only : .on
    queue.enqueue(.setSecureConnections(mode), to: index) { [weak self] result in
      guard let self, case .failure(let error) = result else { return }
      guard !isRepeated, error.cause == .system(Int32(ManagementStatus.rejected.rawValue)) else {
        onNote?("pairing: \(error)")
        return
      }
      send(.setSecureSimplePairing(true))
      setSecureConnections(isRepeated: true)
    }
  }

  private func updateIOCapability() {
    guard ioCapability != host.ioCapability else { return }
    ioCapability = host.ioCapability
    send(.setIOCapability(host.ioCapability))
  }

  private func load() {
    hasLoaded = true
    let (keys, identities) = bonds.forKernel(of: own)
    // Without bonds, the keys that others have loaded are left alone.
    if !keys.isEmpty { send(.loadLongTermKeys(keys)) }
    // The kernel asks peers for their identity only after that.
    if !keys.isEmpty || host.mayPair { send(.loadIdentityKeys(identities)) }
  }

  private func send<Response>(_ command: ManagementCommand<Response>) {
    queue.enqueue(command, to: index) { [weak self] result in
      if case .failure(let error) = result { self?.onNote?("pairing: \(error)") }
    }
  }

  // MARK: Links

  /// The bond with a peer; nil if there is none, or if it is bluetoothd's.
  ///
  /// - Parameter role: the role of this side
  func bond(with peer: BluetoothAddress, _ role: LERole) -> Bond? {
    bonds.bond(with: peer, of: own, role: role)
  }

  /// Whether the kernel knows a device by its private addresses. It waits for the one that stays then, and would not connect to
  /// another one.
  func resolves(_ identity: BluetoothAddress) -> Bool {
    (isOthers || isPrivileged && hasLoaded) && bond(with: identity, .central)?.identityResolvingKey != nil
  }

  /// Prepares the kernel to raise the security of a link.
  ///
  /// - Parameter completion: called at once or later, with why it may not be raised
  func prepare(
    _ link: KernelLink, to level: LESecurityLevel, completion: @escaping (StackError?) -> Void
  ) {
    let peer = link.peer
    guard host.settings.policy != .never else {
      return completion(.pairingNotAllowed(peer, "and this program was told not to encrypt links"))
    }
    // Which keys bluetoothd has is not known: the kernel encrypts with one, or pairs, and is told no then.
    if isOthers { return completion(nil) }
    guard isPrivileged else { return completion(StackError("encrypt the link", .missing(.netAdmin))) }
    if !hasLoaded { load() }
    let bond = bond(with: peer, link.role)
    if let bond, bond.level >= level { return completion(nil) }
    guard host.settings.policy.pairs else {
      return completion(.pairingNotAllowed(peer, "and this program was not told to pair"))
    }
    updateIOCapability()
    guard bond == nil else { return completion(nil) }
    let settings = host.settings
    guard
      self.bond(with: peer, .peripheral) == nil || settings.allowsRepairing || settings.replacesUncheckedBonds
    else {
      return completion(.repairingRefused(peer))
    }
    // The kernel may still have the key of a bond that was forgotten.
    queue.enqueue(.unpair(peer), to: index) { _ in completion(nil) }
  }

  /// Whether a raise to this level makes a bond.
  func makesBond(on link: KernelLink, for level: LESecurityLevel) -> Bool {
    guard isPrivileged, host.settings.policy.pairs, host.settings.bonds, !isOthers else { return false }
    return bond(with: link.peer, link.role).map { $0.level < level } ?? true
  }

  /// A raise has ended, or the link.
  func ended(with peer: BluetoothAddress, _ error: StackError?) {
    guard let place = asked.firstIndex(of: peer) else { return }
    asked.remove(at: place)
    host.agent?.pairingEnded(with: peer, error)
  }

  /// Has the kernel prepare the adapter anew, unless that would end links of other programs.
  ///
  /// - Parameter done: called with whether it does
  func switchOffAndOn(then done: @escaping (Bool) -> Void) {
    guard !isOthers, !links.haveOthers else { return done(false) }
    queue.enqueue(.setPowered(false), to: index) { [queue, index] _ in
      queue.enqueue(.setPowered(true), to: index) { _ in }
    }
    done(true)
  }

  // MARK: Events

  func receive(_ event: ManagementSecurityEvent) {
    switch event {
    case .confirmation(let peer, let number):
      ask(number.map { .compare($0) } ?? .allow, peer) { [weak self] answer in
        self?.send(.replyToConfirmation(of: peer, isConfirmed: answer == .accept))
      }
    case .passkeyRequest(let peer):
      ask(.enterPasskey, peer) { [weak self] answer in
        guard case .passkey(let number) = answer, number < 1_000_000 else {
          self?.send(.replyToPasskeyRequest(of: peer, nil))
          return
        }
        self?.send(.replyToPasskeyRequest(of: peer, number))
      }
    case .passkeyShown(let peer, let number, entered: 0):
      ask(.showPasskey(number), peer) { [weak self] answer in
        if answer == .refuse { self?.send(.replyToPasskeyRequest(of: peer, nil)) }
      }
    case .passkeyShown: break
    case .failed(let peer, _):
      let link = link(to: peer)
      link?.protection.pairingFailed()
      ended(with: link?.peer ?? peer, .kernelPairingFailed(peer))
    case .identityKey(let key, let address, let isKept):
      bonds.identify(address, as: key)
      if isKept { keep(key.identity) { $0.identityResolvingKey = key.key } }
    case .longTermKey(let key, let isKept):
      guard isKept, key.kind != .debug else {
        if let link = link(to: key.peer) {
          completed(
            link,
            PairingStrength(
              isAuthenticated: key.key.isAuthenticated, isSecureConnections: key.kind.isSecureConnections,
              keySize: key.key.size), isKept: false)
        }
        return
      }
      keep(key.peer) { $0.add(key) }
    case .signatureKey(let key, let peer, let isPeers, let isKept):
      guard isKept else { return }
      let signing = Bond.SigningKey(key: key)
      keep(peer) { if isPeers { $0.peerSigning = signing } else { $0.ownSigning = signing } }
    }
  }

  private func link(to peer: BluetoothAddress) -> KernelLink? {
    links.first { $0.peer == peer || bonds.identity(of: $0.peer) == peer }
  }

  /// Questions about the links of other programs are theirs.
  private func ask(
    _ question: PairingQuestion, _ peer: BluetoothAddress, answer: @escaping (PairingAnswer) -> Void
  ) {
    guard let link = link(to: peer) else { return }
    let reply = { [weak link] (given: PairingAnswer) -> Void in
      if given == .refuse { link?.protection.willRefuse() }
      answer(given)
    }
    guard !isOthers else {
      // bluetoothd has begun it, or it is ours, and refused.
      if link.protection.isRaising { reply(.refuse) }
      return
    }
    let isNew = !link.protection.state.isEncrypted && bond(with: link.peer, .peripheral) != nil
    guard !isNew || host.settings.allowsRepairing || link.protection.isRaising else {
      onNote?(
        "\(peer) has a bond, and asks to pair anew without it: refused; if it was reset, forget its bond first"
      )
      return reply(.refuse)
    }
    methods[link.peer] = Self.method(of: question, typesAsInitiator: link.role == .central)
    if host.settings.policy == .ask, !asked.contains(link.peer) { asked.append(link.peer) }
    host.answer(question, about: link.peer, reply)
  }

  /// The keys of a pairing are there; those of LE legacy pairing come one after the other.
  private func completed(_ link: KernelLink, _ strength: PairingStrength, isKept: Bool) {
    if let method = methods.removeValue(forKey: link.peer) {
      link.onEvent?(.paired(method, strength, isKept: isKept))
    }
    link.protection.pairingCompleted()
  }

  private static func method(of question: PairingQuestion, typesAsInitiator: Bool) -> PairingMethod {
    switch question {
    case .allow: .justWorks
    case .compare: .numericComparison
    case .enterPasskey: .passkeyEntry(typedBy: typesAsInitiator ? .initiator : .responder)
    case .showPasskey: .passkeyEntry(typedBy: typesAsInitiator ? .responder : .initiator)
    }
  }

  /// Keeps a part of a bond, unless it is weaker than the one that there is.
  private func keep(_ peer: BluetoothAddress, _ change: (inout Bond) -> Void) {
    guard !isOthers, host.settings.bonds, link(to: peer) != nil else { return }
    bonds.change(peer, own, change)
    // A pairing has several parts, which the kernel reports in a row.
    timers.schedule(after: .zero) { [weak self] in self?.store(peer) }
  }

  private func store(_ peer: BluetoothAddress) {
    guard let link = link(to: peer) else { return }
    switch bonds.judge(peer, at: link.peer, role: link.role) {
    case .complete(let bond, let old): keep(bond, inPlaceOf: old, of: link)
    case .incomplete, .same: break
    case .refused(let refusal):
      load()
      link.protection.refuse(refusal == .claimed ? .repairingRefused(peer) : .weakerBond(peer))
    case .shortKey(let size):
      send(.unpair(peer))
      link.protection.refuse(.shortKey(peer, size, minimum: host.settings.minimumKeySize))
    }
  }

  private func keep(_ bond: Bond, inPlaceOf old: Bond?, of link: KernelLink) {
    guard let store = host.bonds else { return completed(link, bond.strength, isKept: false) }
    store.make(.store(bond, inPlaceOf: old)) { [weak self, weak link] result in
      var isKept = true
      if case .failure(let error) = result {
        self?.host.onBondNotKept(error)
        isKept = false
      }
      guard let self, let link else { return }
      ended(with: link.peer, nil)
      completed(link, bond.strength, isKept: isKept)
    }
  }

  /// A link has ended, and a pairing on it.
  func disconnected(_ peer: BluetoothAddress) {
    ended(with: peer, .kernelPairingFailed(peer))
    methods[peer] = nil
    bonds.finish(bonds.identity(of: peer) ?? peer)
  }
}
