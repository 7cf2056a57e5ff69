import HCI
import HaloBluetoothCore
import HaloSecurityManager

/// Why the bond of a pairing is not kept. The one that there is stays.
package enum BondRefusal: Error, Hashable {
  /// The peer says that it is a device with a bond, and is known by another address.
  case claimed
  /// The bond that there is protects more.
  case weaker
}

extension SecurityHost {
  /// The bond of a pairing, as it may be kept.
  ///
  /// - Parameters:
  ///   - new: what the pairing has made
  ///   - old: the bond with the device that the peer says it is; nil if there is none
  ///   - address: the address of the peer on the link
  ///   - role: the role of this side
  package func judge(
    _ new: Bond, inPlaceOf old: Bond?, at address: BluetoothAddress, _ role: LERole
  ) throws(BondRefusal) -> Bond {
    if let old {
      // A peer with an address that changes can say that it is any device.
      let isOwn = bonded(.peripheral).identity(of: address).isSameDevice(as: old.peer)
      guard isOwn || settings.allowsRepairing else { throw .claimed }
      guard new.strength.isAtLeast(old.strength) else { throw .weaker }
    }
    var bond = new
    if role == .peripheral, !bond.strength.isAuthenticated { bond.keyAsCentral = nil }
    return bond
  }
}
