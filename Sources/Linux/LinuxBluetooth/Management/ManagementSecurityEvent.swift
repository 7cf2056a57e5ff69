import HCI
import HaloBluetoothCore

/// An event of a pairing (BlueZ, doc/mgmt-api.txt). The kernel sends it to all programs that have opened the management with
/// CAP_NET_ADMIN.
package enum ManagementSecurityEvent: Hashable, Sendable {
  /// New Long Term Key, with whether it is to be kept.
  case longTermKey(ManagementLongTermKey, isKept: Bool)
  /// New Identity Resolving Key: the address that the peer had at the pairing, and whether it is to be kept.
  case identityKey(ManagementIdentityKey, at: BluetoothAddress, isKept: Bool)
  /// New Signature Resolving Key: of the peer, or of this side.
  case signatureKey([UInt8], of: BluetoothAddress, isPeers: Bool, isKept: Bool)
  /// User Confirmation Request: the number that the peer should show, too; nil if only the pairing is to be allowed.
  case confirmation(BluetoothAddress, UInt32?)
  /// User Passkey Request.
  case passkeyRequest(BluetoothAddress)
  /// Passkey Notify: the passkey to show, and how many of its digits the peer has typed.
  case passkeyShown(BluetoothAddress, UInt32, entered: UInt8)
  /// Authentication Failed.
  case failed(BluetoothAddress, ManagementStatus)

  /// - Parameter code: of the event
  /// - Returns: nil for an event that has nothing to do with pairing
  init?(_ code: UInt16, parsing reader: inout ByteReader) throws(DecodeError) {
    switch code {
    case 0x000A:
      let isKept = try reader.readUInt8() != 0
      self = .longTermKey(try ManagementLongTermKey(parsing: &reader), isKept: isKept)
    case 0x000F:
      let peer = try BluetoothAddress(parsingKernel: &reader)
      let isPermission = try reader.readUInt8() != 0
      let number = try reader.readUInt32()
      self = .confirmation(peer, isPermission ? nil : number)
    case 0x0010: self = .passkeyRequest(try BluetoothAddress(parsingKernel: &reader))
    case 0x0011:
      let peer = try BluetoothAddress(parsingKernel: &reader)
      self = .failed(peer, ManagementStatus(rawValue: try reader.readUInt8()))
    case 0x0017:
      let peer = try BluetoothAddress(parsingKernel: &reader)
      let passkey = try reader.readUInt32()
      self = .passkeyShown(peer, passkey, entered: try reader.readUInt8())
    case 0x0018:
      let isKept = try reader.readUInt8() != 0
      let address = try BluetoothAddress(parsing: &reader, kind: .random)
      let identity = try BluetoothAddress(parsingKernel: &reader)
      let key = ManagementIdentityKey(identity: identity, key: try reader.readBytes(16))
      self = .identityKey(key, at: address, isKept: isKept)
    case 0x0019:
      let isKept = try reader.readUInt8() != 0
      let peer = try BluetoothAddress(parsingKernel: &reader)
      // Local and remote, each of an unauthenticated and of an authenticated pairing.
      let kind = try reader.readUInt8()
      let key = try reader.readBytes(16)
      self = .signatureKey(key, of: peer, isPeers: kind & 1 == 1, isKept: isKept)
    default: return nil
    }
  }
}
