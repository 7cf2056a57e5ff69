import Foundation
package import HaloBluetoothCore

/// A peripheral's identifier is its address and address type in the form of a UUID of version 8 (RFC 9562, 5.8), so that
/// it is the same in each run, and a peripheral can be connected to by its identifier alone:
/// `68616C6F-7261-8077-8000-` or `8001-`, by the type, and the address.
extension UUID {
  private static let prefix: [UInt8] = [0x68, 0x61, 0x6C, 0x6F, 0x72, 0x61, 0x80, 0x77, 0x80]

  init(_ peer: PeerIdentity) {
    let address = peer.address
    var bytes = Self.prefix + [address.kind.rawValue]
    for shift in stride(from: 40, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: address.value >> UInt64(shift)))
    }
    self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  /// The device; nil for an identifier that was not made here.
  var peer: PeerIdentity? {
    let bytes = withUnsafeBytes(of: uuid) { Array($0) }
    let kind = BluetoothAddress.Kind(rawValue: bytes[9])
    guard bytes.starts(with: Self.prefix), kind.isKnown else { return nil }
    return PeerIdentity(BluetoothAddress(bytes[10...].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }, kind))
  }
}

extension CBPeripheral {
  package static func identifier(of address: BluetoothAddress) -> UUID { UUID(PeerIdentity(address)) }
  package static func address(of identifier: UUID) -> BluetoothAddress? { identifier.peer?.address }
}

/// A peer is one object for its manager: a copy is the peer itself, so that it can be the key of an `NSDictionary`.
extension CBPeer: NSCopying {
  public func copy(with zone: NSZone? = nil) -> Any { self }
}
