import BluetoothCore

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
    try fields.bytes("key", &key, count: 16)
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
  public static let info = HCICommandInfo(0x2019, "LE Enable Encryption", "7.8.24", octet: 28, bit: 0)

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
    try fields.bytes("long term key", &longTermKey, count: 16)
  }
}

/// Answers LE Long Term Key Request with the key.
public struct LELongTermKeyRequestReply: HCICompletingCommand, HCILinkFields {
  public typealias Response = LinkReturnParameters

  public static let info = HCICommandInfo(
    0x201A, "LE Long Term Key Request Reply", "7.8.25", octet: 28, bit: 1)

  public var handle = ConnectionHandle()
  /// 16 bytes, the least significant first.
  public var longTermKey: [UInt8] = []

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.bytes("long term key", &longTermKey, count: 16)
  }
}

/// Answers LE Long Term Key Request without a key.
public struct LELongTermKeyRequestNegativeReply: HCICompletingCommand, HCILinkFields {
  public typealias Response = LinkReturnParameters

  public static let info = HCICommandInfo(
    0x201B, "LE Long Term Key Request Negative Reply", "7.8.26", octet: 28, bit: 2)

  public var handle = ConnectionHandle()

  public init() {}
}
