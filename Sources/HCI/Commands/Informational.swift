import HaloBluetoothCore

/// Reads the versions that the controller implements, and its manufacturer.
public struct ReadLocalVersionInformation: HCICompletingCommand, HCIEmpty {
  public static let info = HCICommandInfo(
    0x1001, "Read Local Version Information", "7.4.1", octet: 14, bit: 3)

  public struct Response: PacketFields, Hashable {
    public var hciVersion = CoreVersion()
    /// Vendor-specific.
    public var hciSubversion: UInt16 = 0
    /// The version of the link manager or link layer.
    public var lmpVersion = CoreVersion()
    public var manufacturer = CompanyIdentifier()
    /// Vendor-specific.
    public var lmpSubversion: UInt16 = 0

    public init() {}

    public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("HCI version", &hciVersion)
      try fields.value("HCI subversion", &hciSubversion, .hex)
      try fields.value("LMP version", &lmpVersion)
      try fields.value("manufacturer", &manufacturer)
      try fields.value("LMP subversion", &lmpSubversion, .hex)
    }
  }

  public init() {}
}

/// Reads the commands that the controller supports.
public struct ReadLocalSupportedCommands: HCICompletingCommand, HCIEmpty {
  public typealias Response = SupportedCommands

  public static let info = HCICommandInfo(0x1002, "Read Local Supported Commands", "7.4.2", octet: 14, bit: 4)

  public init() {}
}

/// Reads page 0 of the controller's features.
public struct ReadLocalSupportedFeatures: HCICompletingCommand, HCIEmpty {
  public static let info = HCICommandInfo(
    0x1003, "Read Local Supported Features", "7.4.3", octet: 14, bit: 5)

  public struct Response: PacketFields {
    public var features: LMPFeatures = []

    public init() {}

    public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("features", &features, .bits(LMPFeatures.bits(ofPage: 0)))
    }
  }

  public init() {}
}

/// Reads another page of the controller's features.
public struct ReadLocalExtendedFeatures: HCICompletingCommand {
  public static let info = HCICommandInfo(
    0x1004, "Read Local Extended Features", "7.4.4", octet: 14, bit: 6)

  public var page: UInt8 = 0

  public struct Response: PacketFields {
    public var page: UInt8 = 0
    public var lastPage: UInt8 = 0
    public var features: UInt64 = 0

    public init() {}

    public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("page", &page)
      try fields.value("last page", &lastPage)
      let number = page
      try fields.value("features", &features, .bits(LMPFeatures.bits(ofPage: number)))
    }
  }

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("page", &page)
  }
}

/// Reads the controller's buffers for data from the host. LE links share the ACL buffers if LE Read Buffer Size reports
/// none.
public struct ReadBufferSize: HCICompletingCommand, HCIEmpty {
  public typealias Response = BufferSizes

  public static let info = HCICommandInfo(0x1005, "Read Buffer Size", "7.4.5", octet: 14, bit: 7)

  public init() {}
}

/// Buffers for data, of the controller (7.4.5) or of the host (7.3.39).
public struct BufferSizes: PacketFields {
  /// The maximum length of the data in an ACL packet, in bytes.
  public var aclDataLength: UInt16 = 0
  /// The maximum length of the data in a synchronous packet, in bytes.
  public var synchronousDataLength: UInt8 = 0
  /// The number of ACL packet buffers.
  public var aclPackets: UInt16 = 0
  /// The number of synchronous packet buffers.
  public var synchronousPackets: UInt16 = 0

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("ACL data length", &aclDataLength, .unit("bytes"))
    try fields.value("synchronous data length", &synchronousDataLength, .unit("bytes"))
    try fields.value("ACL packets", &aclPackets)
    try fields.value("synchronous packets", &synchronousPackets)
  }
}

/// Reads the controller's public address; all zero if it has none.
public struct ReadBDADDR: HCICompletingCommand, HCIEmpty {
  public static let info = HCICommandInfo(0x1009, "Read BD_ADDR", "7.4.6", octet: 15, bit: 1)

  public struct Response: PacketFields {
    public var address = BluetoothAddress.zero

    public init() {}

    public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.address("address", &address, kind: .public)
    }
  }

  public init() {}
}
