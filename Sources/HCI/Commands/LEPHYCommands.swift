import BluetoothCore

/// Reads the PHYs of a link.
public struct LEReadPHY: HCICompletingCommand, HCILinkFields {
  public static let info = HCICommandInfo(0x2030, "LE Read PHY", "7.8.47", octet: 35, bit: 4)

  public var handle = ConnectionHandle()

  public struct Response: HCILinkFields {
    public var handle = ConnectionHandle()
    public var phys = LinkPHYs()

    public init() {}

    public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.connectionHandle(&handle)
      try phys.visit(&fields)
    }
  }

  public init() {}
}

/// The PHYs of a link.
public struct LinkPHYs: PacketFields {
  public var transmit = LEPHY.none
  public var receive = LEPHY.none

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("TX PHY", &transmit)
    try fields.value("RX PHY", &receive)
  }
}

/// The PHYs that a host prefers (7.8.48).
public struct PreferredPHYs: PacketFields {
  /// PHYs to transmit on; nil for no preference.
  public var transmit: LEPHYs?
  /// PHYs to receive on; nil for no preference.
  public var receive: LEPHYs?

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    var noPreference = UInt8((transmit == nil ? 1 : 0) | (receive == nil ? 2 : 0))
    var transmit = self.transmit ?? []
    var receive = self.receive ?? []
    try fields.value("no preference", &noPreference, .hex)
    try fields.value("TX PHYs", &transmit)
    try fields.value("RX PHYs", &receive)
    self.transmit = noPreference & 1 == 0 ? transmit : nil
    self.receive = noPreference & 2 == 0 ? receive : nil
  }
}

/// Sets the preferred PHYs of new links.
public struct LESetDefaultPHY: HCICompletingCommand {
  public static let info = HCICommandInfo(0x2031, "LE Set Default PHY", "7.8.48", octet: 35, bit: 5)

  public var preferred = PreferredPHYs()

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try preferred.visit(&fields)
  }
}

/// Sets the preferred PHYs of a link. LE PHY Update Complete follows.
public struct LESetPHY: HCIStatusCommand, HCILinkFields {
  public static let info = HCICommandInfo(0x2032, "LE Set PHY", "7.8.49", octet: 35, bit: 6)

  public var handle = ConnectionHandle()
  public var preferred = PreferredPHYs()
  /// The preferred coding on LE Coded: no preference (0), S=2 (1) or S=8 (2).
  public var codedOptions: UInt16 = 0

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try preferred.visit(&fields)
    try fields.value("LE Coded options", &codedOptions, .hex)
  }
}
