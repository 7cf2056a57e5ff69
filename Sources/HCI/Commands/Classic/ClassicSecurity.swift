import HaloBluetoothCore

// Commands for pairing, authentication and encryption on BR/EDR. The stack does not send them; they are decoded for captures
// of other hosts (Core Specification Vol 4, Part E, 7.1 to 7.5).

/// The key of a bonded device.
struct LinkKeyRequestReply: HCICompletingCommand {
  static let info = HCICommandInfo(0x040B, "Link Key Request Reply", "7.1.10", octet: 1, bit: 2)

  var peerAddress = BluetoothAddress.zero
  var key: [UInt8] = []

  typealias Response = PeerOnly

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.peerAddress(&peerAddress)
    try fields.bytes("link key", &key, count: 16, .key)
  }
}

/// There is no key for a device.
struct LinkKeyRequestNegativeReply: HCICompletingCommand, HCIPeerFields {
  static let info = HCICommandInfo(0x040C, "Link Key Request Negative Reply", "7.1.11", octet: 1, bit: 3)

  var peerAddress = BluetoothAddress.zero

  typealias Response = PeerOnly
}

/// The PIN for legacy pairing.
struct PINCodeRequestReply: HCICompletingCommand {
  static let info = HCICommandInfo(0x040D, "PIN Code Request Reply", "7.1.12", octet: 1, bit: 4)

  var peerAddress = BluetoothAddress.zero
  var length: UInt8 = 0
  var pin: [UInt8] = []

  typealias Response = PeerOnly

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.peerAddress(&peerAddress)
    try fields.value("PIN length", &length, .unit("bytes"))
    try fields.bytes("PIN", &pin, count: 16, .text)
  }
}

/// There is no PIN.
struct PINCodeRequestNegativeReply: HCICompletingCommand, HCIPeerFields {
  static let info = HCICommandInfo(0x040E, "PIN Code Request Negative Reply", "7.1.13", octet: 1, bit: 5)

  var peerAddress = BluetoothAddress.zero

  typealias Response = PeerOnly
}

/// Authenticates a device.
struct AuthenticationRequested: HCIStatusCommand, HCILinkFields {
  static let info = HCICommandInfo(
    0x0411, "Authentication Requested", "7.1.15", octet: 1, bit: 7,
    endsWith: [.event(.authenticationComplete)])

  var handle = ConnectionHandle()
}

/// Switches encryption of a link.
struct SetConnectionEncryption: HCIStatusCommand, HCILinkFields {
  static let info = HCICommandInfo(
    0x0413, "Set Connection Encryption", "7.1.16", octet: 2, bit: 0,
    endsWith: [.event(.encryptionChange), .event(.encryptionChangeV2)])

  var handle = ConnectionHandle()
  var enabled = false

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("enabled", &enabled)
  }
}

/// Makes a new link key.
struct ChangeConnectionLinkKey: HCIStatusCommand, HCILinkFields {
  static let info = HCICommandInfo(
    0x0415, "Change Connection Link Key", "7.1.17", octet: 2, bit: 1,
    endsWith: [.event(.changeConnectionLinkKeyComplete)])

  var handle = ConnectionHandle()
}

/// Reads keys from the controller.
struct ReadStoredLinkKey: HCICompletingCommand {
  static let info = HCICommandInfo(0x0C0D, "Read Stored Link Key", "7.3.8", octet: 6, bit: 5)

  var peerAddress = BluetoothAddress.zero
  var all = false

  struct Response: PacketFields {
    var maximum: UInt16 = 0
    var read: UInt16 = 0

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("maximum keys", &maximum)
      try fields.value("keys read", &read)
    }
  }

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.peerAddress(&peerAddress)
    try fields.value("all", &all)
  }
}

/// Deletes keys from the controller.
struct DeleteStoredLinkKey: HCICompletingCommand {
  static let info = HCICommandInfo(0x0C12, "Delete Stored Link Key", "7.3.10", octet: 6, bit: 7)

  var peerAddress = BluetoothAddress.zero
  var all = false

  struct Response: PacketFields {
    var deleted: UInt16 = 0

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("keys deleted", &deleted)
    }
  }

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.peerAddress(&peerAddress)
    try fields.value("all", &all)
  }
}

/// Whether each link is authenticated.
struct WriteAuthenticationEnable: HCICompletingCommand, HCISwitch {
  static let info = HCICommandInfo(0x0C20, "Write Authentication Enable", "7.3.24", octet: 8, bit: 5)

  var isEnabled = false
}

/// Sets the shortest key.
struct SetMinEncryptionKeySize: HCICompletingCommand {
  static let info = HCICommandInfo(0x0C84, "Set Min Encryption Key Size", "7.3.102", octet: 45, bit: 7)

  var size: UInt8 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("minimum key size", &size, .unit("bytes"))
  }
}

/// Reads how long a link may be without authenticated data.
struct ReadAuthenticatedPayloadTimeout: HCICompletingCommand, HCILinkFields {
  static let info = HCICommandInfo(0x0C7B, "Read Authenticated Payload Timeout", "7.3.93", octet: 32, bit: 4)

  var handle = ConnectionHandle()

  struct Response: HCILinkFields {
    var handle = ConnectionHandle()
    var timeout: UInt16 = 0

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.connectionHandle(&handle)
      try fields.value("timeout", &timeout, .unit("x 10 ms"))
    }
  }
}

/// Sets how long a link may be without authenticated data.
struct WriteAuthenticatedPayloadTimeout: HCICompletingCommand, HCILinkFields {
  static let info = HCICommandInfo(0x0C7C, "Write Authenticated Payload Timeout", "7.3.94", octet: 32, bit: 5)

  var handle = ConnectionHandle()
  var timeout: UInt16 = 0

  typealias Response = LinkOnly

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("timeout", &timeout, .unit("x 10 ms"))
  }
}
