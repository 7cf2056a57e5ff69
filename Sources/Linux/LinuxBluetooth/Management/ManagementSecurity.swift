import HCI
import HaloBluetoothCore
import HaloSecurityManager

// Pairing by way of the kernel's Bluetooth management (BlueZ, doc/mgmt-api.txt).

/// A Long Term Key as the kernel has it: 36 bytes of "Load Long Term Keys Command" and "New Long Term Key Event".
package struct ManagementLongTermKey: Hashable, Sendable {
  /// What pairing the key comes from.
  struct Kind: RawRepresentable, Hashable, Sendable {
    var rawValue: UInt8

    static let legacy = Kind(rawValue: 0)
    static let authenticatedLegacy = Kind(rawValue: 1)
    static let secureConnections = Kind(rawValue: 2)
    static let authenticatedSecureConnections = Kind(rawValue: 3)
    /// One whose peer has used the debug key of the specification, which everybody knows.
    static let debug = Kind(rawValue: 4)

    init(rawValue: UInt8) { self.rawValue = rawValue }

    init(isAuthenticated: Bool, isSecureConnections: Bool) {
      rawValue = (isSecureConnections ? 2 : 0) + (isAuthenticated ? 1 : 0)
    }

    var isAuthenticated: Bool { self == .authenticatedLegacy || self == .authenticatedSecureConnections }
    var isSecureConnections: Bool { rawValue >= Kind.secureConnections.rawValue }
  }

  var peer: BluetoothAddress
  var kind: Kind
  /// Whether it is for the central role. A key of LE Secure Connections is for both roles.
  var isForCentral: Bool
  var key: LongTermKey

  init(_ key: LongTermKey, of peer: BluetoothAddress, isSecureConnections: Bool, isForCentral: Bool) {
    (self.key, self.peer, self.isForCentral) = (key, peer, isForCentral)
    kind = Kind(isAuthenticated: key.isAuthenticated, isSecureConnections: isSecureConnections)
  }

  init(parsing reader: inout ByteReader) throws(DecodeError) {
    peer = try BluetoothAddress(parsingKernel: &reader)
    kind = Kind(rawValue: try reader.readUInt8())
    isForCentral = try reader.readUInt8() != 0
    let size = Int(try reader.readUInt8())
    guard (7...16).contains(size) else { throw reader.invalid("key of \(size) bytes") }
    let diversifier = try reader.readUInt16()
    let random = try reader.readUInt64()
    key = LongTermKey(
      try reader.readBytes(16), random: random, diversifier: diversifier,
      isAuthenticated: kind.isAuthenticated, size: size)
  }

  fileprivate func write(into writer: inout ByteWriter) {
    peer.writeKernel(into: &writer)
    writer.write(kind.rawValue)
    writer.write(UInt8(isForCentral ? 1 : 0))
    writer.write(UInt8(truncatingIfNeeded: key.size))
    writer.write(key.diversifier)
    writer.write(key.random)
    writer.write(key.value)
  }
}

/// An Identity Resolving Key, with the address that stays.
package struct ManagementIdentityKey: Hashable, Sendable {
  var identity: BluetoothAddress
  /// 16 bytes, least significant first.
  var key: [UInt8]

  fileprivate func write(into writer: inout ByteWriter) {
    identity.writeKernel(into: &writer)
    writer.write(key)
  }
}

extension BluetoothAddress {
  /// Six bytes, and the kernel's type.
  init(parsingKernel reader: inout ByteReader) throws(DecodeError) {
    self = try BluetoothAddress(parsing: &reader, kind: .public)
    switch try reader.readUInt8() {
    case 1: break
    case 2: kind = .random
    case let type: throw reader.invalid("address of type \(type), which is not LE")
    }
  }

  fileprivate func writeKernel(into writer: inout ByteWriter) {
    write(into: &writer)
    writer.write(kernelType)
  }
}

/// The setting of LE Secure Connections.
enum SecureConnectionsMode: UInt8 {
  case off, on
  /// Pairing without them is refused.
  case only
}

/// All of these require CAP_NET_ADMIN, and `replyTo` answers a question of the kernel.
extension ManagementCommand<Void> {
  /// How many keys a command may have; the kernel takes 1820 of the longer ones.
  static let mostKeys = 1000

  /// Replaces all keys of the adapter, those of other programs included.
  static func loadLongTermKeys(_ keys: some Collection<ManagementLongTermKey>) -> Self {
    Self(0x0013, "give the kernel the keys of bonds") { writer in
      writer.write(UInt16(min(keys.count, mostKeys)))
      for key in keys.prefix(mostKeys) { key.write(into: &writer) }
    }
  }

  /// Replaces all keys that resolve addresses of the adapter.
  static func loadIdentityKeys(_ keys: some Collection<ManagementIdentityKey>) -> Self {
    Self(0x0030, "give the kernel the identities of bonds") { writer in
      writer.write(UInt16(min(keys.count, mostKeys)))
      for key in keys.prefix(mostKeys) { key.write(into: &writer) }
    }
  }

  /// What the user can see and type, for all pairings of the adapter.
  static func setIOCapability(_ capability: IOCapability) -> Self {
    Self(0x0018, "say what the user can see and type") { $0.write(capability.rawValue) }
  }

  /// Has the kernel forget the keys of a device, and end a pairing with it. The link stays.
  static func unpair(_ peer: BluetoothAddress) -> Self {
    Self(0x001B, "have the kernel forget \(peer)") { writer in
      peer.writeKernel(into: &writer)
      writer.write(UInt8(0))
    }
  }

  static func replyToConfirmation(of peer: BluetoothAddress, isConfirmed: Bool) -> Self {
    Self(isConfirmed ? 0x001C : 0x001D, "answer the pairing") { peer.writeKernel(into: &$0) }
  }

  /// - Parameter passkey: nil to refuse, which also ends a pairing whose passkey is shown here
  static func replyToPasskeyRequest(of peer: BluetoothAddress, _ passkey: UInt32?) -> Self {
    Self(passkey == nil ? 0x001F : 0x001E, "answer the pairing") { writer in
      peer.writeKernel(into: &writer)
      if let passkey { writer.write(passkey) }
    }
  }
}

/// The answer is the settings that result.
extension ManagementCommand<ManagementSettings> {
  /// Allows the kernel to pair with peers that keep the keys.
  static func setBondable(_ isBondable: Bool) -> Self {
    setting(0x0009, "allow bonding", isBondable ? 1 : 0)
  }

  static func setSecureSimplePairing(_ isOn: Bool) -> Self {
    setting(0x000B, "switch Secure Simple Pairing on", isOn ? 1 : 0)
  }

  static func setLowEnergy(_ isOn: Bool) -> Self { setting(0x000D, "switch LE on", isOn ? 1 : 0) }

  static func setSecureConnections(_ mode: SecureConnectionsMode) -> Self {
    setting(0x002D, "set LE Secure Connections", mode.rawValue)
  }
}
