import GAP
import HCI
import HaloBluetoothCore
import HaloSecurityManager

/// The bonds of an adapter, whose keys the kernel reports one by one and takes all at once.
@BluetoothActor
struct KernelBonds {
  enum Outcome: Hashable {
    /// It is complete, and has to be kept in place of the one that there was.
    case complete(Bond, inPlaceOf: Bond?)
    /// It has no key yet.
    case incomplete
    /// Nothing has changed.
    case same
    case refused(BondRefusal)
    /// The key has fewer bytes than the settings require.
    case shortKey(Int)
  }

  /// A bond of a pairing that was just made.
  private struct New {
    let old: Bond?
    var bond: Bond
    var isStored = false
  }

  private let host: SecurityHost
  private var new: [BluetoothAddress: New] = [:]
  /// The identities of peers by the address that they have on their link.
  private var identities: [BluetoothAddress: BluetoothAddress] = [:]
  /// A peer could change its address as often as it likes.
  private static let mostIdentities = 64

  init(_ host: SecurityHost) { self.host = host }

  mutating func identify(_ address: BluetoothAddress, as key: ManagementIdentityKey) {
    guard address.value != 0 else { return }
    if identities.count >= Self.mostIdentities { identities = [:] }
    identities[address] = key.identity
  }

  /// The address of a peer that stays; nil if it has shown none.
  func identity(of peer: BluetoothAddress) -> BluetoothAddress? { identities[peer] }

  /// - Parameter role: the role of this side; see `Bond.isOfChosenPeer`
  func bond(with peer: BluetoothAddress, of own: BluetoothAddress, role: LERole) -> Bond? {
    bond(with: peer, of: own).flatMap { $0.counts(for: role) ? $0 : nil }
  }

  private func bond(with peer: BluetoothAddress, of own: BluetoothAddress) -> Bond? {
    let peer = identity(of: peer) ?? peer
    return host.bonds?.bonds.last { $0.isBetween(peer, own) }
  }

  /// The keys of all bonds of an adapter. If a peer has several bonds, the newest one counts.
  func forKernel(
    of own: BluetoothAddress
  ) -> (keys: [ManagementLongTermKey], identities: [ManagementIdentityKey]) {
    var keys: [ManagementLongTermKey] = []
    var identities: [ManagementIdentityKey] = []
    var peers: Set<UInt64> = []
    for bond in (host.bonds?.bonds ?? []).reversed()
    where bond.own.value == own.value && peers.insert(bond.peer.value).inserted {
      keys += bond.kernelKeys
      if let key = bond.identityResolvingKey, key.count == 16 {
        identities.append(ManagementIdentityKey(identity: bond.peer, key: key))
      }
    }
    return (keys, identities)
  }

  /// Changes the bond of the pairing that is being made with a peer.
  mutating func change(_ peer: BluetoothAddress, _ own: BluetoothAddress, _ change: (inout Bond) -> Void) {
    var entry =
      new[peer]
      ?? New(
        old: bond(with: peer, of: own), bond: Bond(peer: peer, own: own, isSecureConnections: false))
    let before = entry.bond
    change(&entry.bond)
    if entry.bond != before { entry.isStored = false }
    new[peer] = entry
  }

  /// Judges the bond of the pairing that was made with a peer.
  ///
  /// - Parameters:
  ///   - address: the address of the peer on the link
  ///   - role: the role of this side
  mutating func judge(_ peer: BluetoothAddress, at address: BluetoothAddress, role: LERole) -> Outcome {
    guard var entry = new[peer], entry.bond.strength.keySize > 0 else { return .incomplete }
    guard !entry.isStored else { return .same }
    let size = entry.bond.strength.keySize
    new[peer] = nil
    guard size >= host.settings.minimumKeySize else { return .shortKey(size) }
    entry.bond.name = entry.old?.name
    do throws(BondRefusal) {
      let bond = try host.judge(entry.bond, inPlaceOf: entry.old, at: address, role)
      entry.isStored = true
      new[peer] = entry
      return .complete(bond, inPlaceOf: entry.old)
    } catch {
      return .refused(error)
    }
  }

  /// The link of the pairing has ended: keys that come later are those of another one.
  mutating func finish(_ peer: BluetoothAddress) { new[peer] = nil }
}

extension Bond {
  func isBetween(_ peer: BluetoothAddress, _ own: BluetoothAddress) -> Bool {
    self.peer.value == peer.value && self.peer.kernelType == peer.kernelType && self.own.value == own.value
  }

  /// The level of a link that is encrypted with its keys.
  var level: LESecurityLevel { LESecurityLevel(strength) }

  mutating func add(_ key: ManagementLongTermKey) {
    isSecureConnections = key.kind.isSecureConnections
    if isSecureConnections || key.isForCentral { keyAsCentral = key.key }
    if isSecureConnections || !key.isForCentral { keyAsPeripheral = key.key }
  }

  fileprivate var kernelKeys: [ManagementLongTermKey] {
    func key(_ key: LongTermKey?, isForCentral: Bool) -> ManagementLongTermKey? {
      key.flatMap {
        $0.value.count != 16 || !(7...16).contains($0.size)
          ? nil
          : ManagementLongTermKey(
            $0, of: peer, isSecureConnections: isSecureConnections, isForCentral: isForCentral)
      }
    }
    if isSecureConnections {
      return [key(keyAsCentral ?? keyAsPeripheral, isForCentral: false)].compactMap { $0 }
    }
    return [key(keyAsCentral, isForCentral: true), key(keyAsPeripheral, isForCentral: false)]
      .compactMap { $0 }
  }
}
