import BluetoothCore

/// Reads the RSSI of a link.
public struct ReadRSSI: HCICompletingCommand, HCILinkFields {
  public static let info = HCICommandInfo(0x1405, "Read RSSI", "7.5.4", octet: 15, bit: 5)

  public var handle = ConnectionHandle()

  public struct Response: HCILinkFields {
    public var handle = ConnectionHandle()
    /// In dBm; nil if unavailable.
    public var rssi: Int8?

    public init() {}

    public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.connectionHandle(&handle)
      try fields.value("RSSI", &rssi, none: .max, .power)
    }
  }

  public init() {}
}

/// Reads the length of a link's encryption key.
public struct ReadEncryptionKeySize: HCICompletingCommand, HCILinkFields {
  public static let info = HCICommandInfo(0x1408, "Read Encryption Key Size", "7.5.7", octet: 20, bit: 4)

  public var handle = ConnectionHandle()

  public struct Response: HCILinkFields {
    public var handle = ConnectionHandle()
    /// In bytes.
    public var keySize: UInt8 = 0

    public init() {}

    public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.connectionHandle(&handle)
      try fields.value("key size", &keySize, .unit("bytes"))
    }
  }

  public init() {}
}
