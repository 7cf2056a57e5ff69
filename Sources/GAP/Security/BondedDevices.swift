import HCI
import HaloBluetoothCore
import HaloSecurityManager

/// The devices with which there is a bond, as this side knows them in one role; see ``Bond/isOfChosenPeer``.
package struct BondedDevices {
  /// The newest last.
  private let bonds: [Bond]
  private let resolver: AddressResolver?

  /// - Parameters:
  ///   - bonds: all bonds, the newest last
  ///   - role: the role of this side
  ///   - cryptography: the functions, which are loaded if a device changes its address; nil if they are not installed
  init(_ bonds: [Bond], _ role: LERole, _ cryptography: @autoclosure () -> (any Cryptography)?) {
    let bonds = bonds.filter { $0.counts(for: role) }
    let hides = bonds.contains { $0.identityResolvingKey != nil }
    self.bonds = bonds
    resolver = hides ? cryptography().flatMap { try? AddressResolver($0, bonds) } : nil
  }

  /// The address that stays of a bonded device, for one that changes; the same address for all others.
  package func identity(of address: BluetoothAddress) -> BluetoothAddress {
    address.isResolvable ? resolver?.identity(of: address) ?? address : address
  }

  /// The bond with a peer; nil if there is none.
  ///
  /// - Parameters:
  ///   - peer: its address on the air, or the one that stays
  ///   - own: the address of this side, by which the peer knows it
  package func bond(with peer: BluetoothAddress, as own: BluetoothAddress) -> Bond? {
    let identity = identity(of: peer)
    return bonds.last { $0.peer.isSameDevice(as: identity) && $0.own.isSameDevice(as: own) }
  }

  /// Whether there is a key to resolve the addresses of this device.
  package func mayHide(_ identity: BluetoothAddress) -> Bool {
    bonds.contains { $0.peer.isSameDevice(as: identity) && $0.identityResolvingKey != nil }
  }

  /// The devices that change their addresses, the newest first: each device, and each key, once.
  ///
  /// - Parameters:
  ///   - own: the address of this side that stays
  ///   - isPrivate: whether this side uses private addresses, too
  func resolvable(as own: BluetoothAddress, isPrivate: Bool) -> [ResolvableDevice] {
    var devices: [ResolvableDevice] = []
    for bond in bonds.reversed() where bond.own.isSameDevice(as: own) {
      guard let key = bond.identityResolvingKey,
        !devices.contains(where: { $0.key == key || $0.identity == bond.peer.plain })
      else { continue }
      devices.append(
        ResolvableDevice(bond.peer, key: key, ownKey: isPrivate ? bond.ownIdentityResolvingKey : nil))
    }
    return devices
  }
}
