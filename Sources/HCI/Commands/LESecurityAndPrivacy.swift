import HaloBluetoothCore

/// Reads eight random bytes.
package struct LERand: HCICompletingCommand, HCIEmpty {
  package static let info = HCICommandInfo(0x2018, "LE Rand", "7.8.23", octet: 27, bit: 7)

  package struct Response: PacketFields {
    /// Eight random bytes.
    package var number: UInt64 = 0

    package init() {}

    package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("random number", &number, .hex)
    }
  }

  package init() {}
}

/// Encrypts a link with a key from an earlier pairing.
package struct LEEnableEncryption: HCIStatusCommand, HCILinkFields {
  package static let info = HCICommandInfo(
    0x2019, "LE Enable Encryption", "7.8.24", octet: 28, bit: 0,
    endsWith: [.event(.encryptionChange), .event(.encryptionChangeV2), .event(.encryptionKeyRefreshComplete)])

  package var handle = ConnectionHandle()
  package var random: UInt64 = 0
  package var encryptedDiversifier: UInt16 = 0
  /// 16 bytes, the least significant first.
  package var longTermKey: [UInt8] = []

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("random number", &random, .hex)
    try fields.value("encrypted diversifier", &encryptedDiversifier, .hex)
    try fields.bytes("long term key", &longTermKey, count: 16, .key)
  }
}

/// Answers LE Long Term Key Request with the key.
package struct LELongTermKeyRequestReply: HCICompletingCommand, HCILinkFields {
  package typealias Response = LinkOnly

  package static let info = HCICommandInfo(
    0x201A, "LE Long Term Key Request Reply", "7.8.25", octet: 28, bit: 1)

  package var handle = ConnectionHandle()
  /// 16 bytes, the least significant first.
  package var longTermKey: [UInt8] = []

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.bytes("long term key", &longTermKey, count: 16, .key)
  }
}

/// Answers LE Long Term Key Request without a key.
package struct LELongTermKeyRequestNegativeReply: HCICompletingCommand, HCILinkFields {
  package typealias Response = LinkOnly

  package static let info = HCICommandInfo(
    0x201B, "LE Long Term Key Request Negative Reply", "7.8.26", octet: 28, bit: 2)

  package var handle = ConnectionHandle()

  package init() {}
}

/// Adds a device to those whose resolvable addresses the controller resolves.
package struct LEAddDeviceToResolvingList: HCICompletingCommand {
  package static let info = HCICommandInfo(
    0x2027, "LE Add Device To Resolving List", "7.8.38", octet: 34, bit: 3)

  package var identity = BluetoothAddress.zero
  /// 16 bytes, the least significant first.
  package var peerIRK: [UInt8] = []
  /// 16 bytes, the least significant first.
  package var localIRK: [UInt8] = []

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.typedAddress("identity address", type: "identity address type", &identity)
    try fields.bytes("peer IRK", &peerIRK, count: 16, .key)
    try fields.bytes("local IRK", &localIRK, count: 16, .key)
  }
}

/// Removes a device from the resolving list.
package struct LERemoveDeviceFromResolvingList: HCICompletingCommand {
  package static let info = HCICommandInfo(
    0x2028, "LE Remove Device From Resolving List", "7.8.39", octet: 34, bit: 4)

  package var identity = BluetoothAddress.zero

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.typedAddress("identity address", type: "identity address type", &identity)
  }
}

/// Empties the resolving list.
package struct LEClearResolvingList: HCICompletingCommand, HCIEmpty {
  package static let info = HCICommandInfo(0x2029, "LE Clear Resolving List", "7.8.40", octet: 34, bit: 5)

  package init() {}
}

/// Reads how many devices the resolving list can hold.
package struct LEReadResolvingListSize: HCICompletingCommand, HCIEmpty {
  package typealias Response = ListSize

  package static let info = HCICommandInfo(0x202A, "LE Read Resolving List Size", "7.8.41", octet: 34, bit: 6)

  package init() {}
}

/// Enables or disables address resolution.
package struct LESetAddressResolutionEnable: HCICompletingCommand, HCISwitch {
  package static let info = HCICommandInfo(
    0x202D, "LE Set Address Resolution Enable", "7.8.44", octet: 35, bit: 1)

  package var isEnabled = false

  package init() {}
}

/// Sets how long a resolvable private address is used.
package struct LESetResolvablePrivateAddressTimeout: HCICompletingCommand {
  package static let info = HCICommandInfo(
    0x202E, "LE Set Resolvable Private Address Timeout", "7.8.45", octet: 35, bit: 2)

  /// In seconds, 1 to 3600.
  package var timeout: UInt16 = 0

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("timeout", &timeout, .unit("s"))
  }
}

/// Sets whether a peer may use its identity address beside resolvable ones.
package struct LESetPrivacyMode: HCICompletingCommand {
  package static let info = HCICommandInfo(0x204E, "LE Set Privacy Mode", "7.8.77", octet: 39, bit: 2)

  package var identity = BluetoothAddress.zero
  /// 0 network privacy, 1 device privacy.
  package var mode: UInt8 = 0

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.typedAddress("identity address", type: "identity address type", &identity)
    try fields.value("privacy mode", &mode, .names([0: "network", 1: "device"]))
  }
}
