import HaloBluetoothCore

/// The addresses on the air of bonded devices. Others are not kept: there are as many as bonds, at most.
struct PrivateAddresses {
  /// How long an address is taken for the current one. A device keeps it for a quarter of an hour as a rule (Core Specification
  /// Vol 3, Part C, appendix A), but who was not heard lately may have another one.
  private static let recentTime = Duration.seconds(30)

  private var current: [PeerIdentity: (address: BluetoothAddress, time: Instant)] = [:]

  /// - Parameters:
  ///   - identity: the address that stays
  ///   - address: the address on the air, which may be the same
  mutating func heard(_ identity: BluetoothAddress, at address: BluetoothAddress, _ time: Instant) {
    current[PeerIdentity(identity)] = (address, time)
  }

  /// The device has another address now, perhaps: it has ended its advertising for a link, or does not answer any more.
  mutating func forget(_ identity: BluetoothAddress) { current[PeerIdentity(identity)] = nil }

  func recent(of identity: BluetoothAddress, at time: Instant) -> BluetoothAddress? {
    guard let (address, last) = current[PeerIdentity(identity)], time - last < Self.recentTime else {
      return nil
    }
    return address
  }
}
