import HaloBluetoothCore

/// Encrypts a block with AES-128.
public struct LEEncrypt: HCICompletingCommand {
  public static let info = HCICommandInfo(0x2017, "LE Encrypt", "7.8.22", octet: 27, bit: 6)

  /// 16 bytes each, least significant byte first.
  public var key: [UInt8] = []
  /// 16 bytes, the least significant first.
  public var plaintext: [UInt8] = []

  public struct Response: PacketFields {
    /// 16 bytes, the least significant first.
    public var encrypted: [UInt8] = []

    public init() {}

    public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.bytes("encrypted", &encrypted, count: 16)
    }
  }

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.bytes("key", &key, count: 16, .key)
    try fields.bytes("plaintext", &plaintext, count: 16)
  }
}

/// Reads eight random bytes.
public struct LERand: HCICompletingCommand, HCIEmpty {
  public static let info = HCICommandInfo(0x2018, "LE Rand", "7.8.23", octet: 27, bit: 7)

  public struct Response: PacketFields {
    /// Eight random bytes.
    public var number: UInt64 = 0

    public init() {}

    public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("random number", &number, .hex)
    }
  }

  public init() {}
}

/// Encrypts a link with a key from an earlier pairing.
public struct LEEnableEncryption: HCIStatusCommand, HCILinkFields {
  public static let info = HCICommandInfo(
    0x2019, "LE Enable Encryption", "7.8.24", octet: 28, bit: 0,
    endsWith: [.event(.encryptionChange), .event(.encryptionChangeV2), .event(.encryptionKeyRefreshComplete)])

  public var handle = ConnectionHandle()
  public var random: UInt64 = 0
  public var encryptedDiversifier: UInt16 = 0
  /// 16 bytes, the least significant first.
  public var longTermKey: [UInt8] = []

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("random number", &random, .hex)
    try fields.value("encrypted diversifier", &encryptedDiversifier, .hex)
    try fields.bytes("long term key", &longTermKey, count: 16, .key)
  }
}

/// Answers LE Long Term Key Request with the key.
public struct LELongTermKeyRequestReply: HCICompletingCommand, HCILinkFields {
  public typealias Response = LinkOnly

  public static let info = HCICommandInfo(
    0x201A, "LE Long Term Key Request Reply", "7.8.25", octet: 28, bit: 1)

  public var handle = ConnectionHandle()
  /// 16 bytes, the least significant first.
  public var longTermKey: [UInt8] = []

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.bytes("long term key", &longTermKey, count: 16, .key)
  }
}

/// Answers LE Long Term Key Request without a key.
public struct LELongTermKeyRequestNegativeReply: HCICompletingCommand, HCILinkFields {
  public typealias Response = LinkOnly

  public static let info = HCICommandInfo(
    0x201B, "LE Long Term Key Request Negative Reply", "7.8.26", octet: 28, bit: 2)

  public var handle = ConnectionHandle()

  public init() {}
}

/// Adds a device to those whose resolvable addresses the controller resolves.
public struct LEAddDeviceToResolvingList: HCICompletingCommand {
  public static let info = HCICommandInfo(
    0x2027, "LE Add Device To Resolving List", "7.8.38", octet: 34, bit: 3)

  public var identity = BluetoothAddress.zero
  /// 16 bytes, the least significant first.
  public var peerIRK: [UInt8] = []
  /// 16 bytes, the least significant first.
  public var localIRK: [UInt8] = []

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.typedAddress("identity address", type: "identity address type", &identity)
    try fields.bytes("peer IRK", &peerIRK, count: 16, .key)
    try fields.bytes("local IRK", &localIRK, count: 16, .key)
  }
}

/// The identity address of a device in the resolving list.
public protocol HCIIdentityFields: PacketFields {
  var identity: BluetoothAddress { get set }
}

extension HCIIdentityFields {
  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.typedAddress("identity address", type: "identity address type", &identity)
  }
}

/// Removes a device from the resolving list.
public struct LERemoveDeviceFromResolvingList: HCICompletingCommand, HCIIdentityFields {
  public static let info = HCICommandInfo(
    0x2028, "LE Remove Device From Resolving List", "7.8.39", octet: 34, bit: 4)

  public var identity = BluetoothAddress.zero

  public init() {}
}

/// Empties the resolving list.
public struct LEClearResolvingList: HCICompletingCommand, HCIEmpty {
  public static let info = HCICommandInfo(0x2029, "LE Clear Resolving List", "7.8.40", octet: 34, bit: 5)

  public init() {}
}

/// Reads how many devices the resolving list can hold.
public struct LEReadResolvingListSize: HCICompletingCommand, HCIEmpty {
  public typealias Response = ListSize

  public static let info = HCICommandInfo(0x202A, "LE Read Resolving List Size", "7.8.41", octet: 34, bit: 6)

  public init() {}
}

/// A resolvable private address in use.
public struct ResolvableAddress: PacketFields {
  public var address = BluetoothAddress(0, .random)

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.address("resolvable address", &address, kind: .random)
  }
}

/// Reads the resolvable address that a peer currently uses.
public struct LEReadPeerResolvableAddress: HCICompletingCommand, HCIIdentityFields {
  public typealias Response = ResolvableAddress

  public static let info = HCICommandInfo(
    0x202B, "LE Read Peer Resolvable Address", "7.8.42", octet: 34, bit: 7)

  public var identity = BluetoothAddress.zero

  public init() {}
}

/// Reads the resolvable address that the controller currently uses with a peer.
public struct LEReadLocalResolvableAddress: HCICompletingCommand, HCIIdentityFields {
  public typealias Response = ResolvableAddress

  public static let info = HCICommandInfo(
    0x202C, "LE Read Local Resolvable Address", "7.8.43", octet: 35, bit: 0)

  public var identity = BluetoothAddress.zero

  public init() {}
}

/// Enables or disables address resolution.
public struct LESetAddressResolutionEnable: HCICompletingCommand, HCISwitch {
  public static let info = HCICommandInfo(
    0x202D, "LE Set Address Resolution Enable", "7.8.44", octet: 35, bit: 1)

  public var isEnabled = false

  public init() {}
}

/// Sets how long a resolvable private address is used.
public struct LESetResolvablePrivateAddressTimeout: HCICompletingCommand {
  public static let info = HCICommandInfo(
    0x202E, "LE Set Resolvable Private Address Timeout", "7.8.45", octet: 35, bit: 2)

  /// In seconds, 1 to 3600.
  public var timeout: UInt16 = 0

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("timeout", &timeout, .unit("s"))
  }
}

/// Whether a peer may use its identity address beside resolvable ones.
public struct LESetPrivacyMode: HCICompletingCommand {
  public static let info = HCICommandInfo(0x204E, "LE Set Privacy Mode", "7.8.77", octet: 39, bit: 2)

  public var identity = BluetoothAddress.zero
  /// 0 network privacy, 1 device privacy.
  public var mode: UInt8 = 0

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.typedAddress("identity address", type: "identity address type", &identity)
    try fields.value("privacy mode", &mode, .names([0: "network", 1: "device"]))
  }
}
