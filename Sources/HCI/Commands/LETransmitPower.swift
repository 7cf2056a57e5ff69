import BluetoothCore

/// A transmit power.
public struct TransmitPower: PacketFields {
  /// In dBm.
  public var power: Int8 = 0

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("transmit power", &power, .power)
  }
}

/// Reads the power of legacy advertising.
public struct LEReadAdvertisingPhysicalChannelTxPower: HCICompletingCommand, HCIEmpty {
  public typealias Response = TransmitPower

  public static let info = HCICommandInfo(
    0x2007, "LE Read Advertising Physical Channel TX Power", "7.8.6", octet: 25, bit: 6)

  public init() {}
}

/// Reads the minimum and maximum transmit power of the controller.
public struct LEReadTransmitPower: HCICompletingCommand, HCIEmpty {
  public static let info = HCICommandInfo(0x204B, "LE Read Transmit Power", "7.8.74", octet: 38, bit: 7)

  public struct Response: PacketFields {
    /// In dBm, as is the maximum.
    public var min: Int8 = 0
    /// In dBm.
    public var max: Int8 = 0

    public init() {}

    public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("min transmit power", &min, .power)
      try fields.value("max transmit power", &max, .power)
    }
  }

  public init() {}
}
