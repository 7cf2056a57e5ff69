/// Which device a peer is, over time: the key of what is remembered of devices.
///
/// It is the address that the device uses on the air. Devices with a resolvable private address have a new identity with each
/// new address (Core Specification Vol 3, Part C, 10.8), as no bond says which of them belong together.
package struct PeerIdentity: Hashable, Sendable {
  /// The address at which the device is connected to.
  package let address: BluetoothAddress

  /// The device that has this address on the air, or had it when it was remembered.
  package init(_ address: BluetoothAddress) { self.address = address }
}

extension PeerIdentity: CustomStringConvertible {
  package var description: String { address.description }
}
