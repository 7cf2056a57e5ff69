import HaloBluetoothCore

/// Reads all features of the controller.
public struct LEReadAllLocalSupportedFeatures: HCICompletingCommand, HCIEmpty {
  public static let info = HCICommandInfo(
    0x2087, "LE Read All Local Supported Features", "7.8.128", octet: 47, bit: 2)

  public struct Response: PacketFields {
    /// The highest page that has a feature.
    public var maxPage: UInt8 = 0
    /// 248 bytes: page 0 with 64 bits, then pages of 192 bits.
    public var features: [UInt8] = []

    public init() {}

    public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("max page", &maxPage)
      try fields.bytes("LE features", &features, count: 248, .bits(LEFeatures.bits))
    }
  }

  public init() {}
}

/// Reads the features of the peer, up to a page.
public struct LEReadAllRemoteFeatures: HCIStatusCommand, HCILinkFields {
  public static let info = HCICommandInfo(
    0x2088, "LE Read All Remote Features", "7.8.129", octet: 47, bit: 3)

  public var handle = ConnectionHandle()
  /// The highest page to ask for.
  public var pages: UInt8 = 0

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("pages requested", &pages)
  }
}

/// All features of the peer have been read (7.7.65.38).
public struct LEReadAllRemoteFeaturesComplete: HCILinkFields {
  public var status = HCIErrorCode.success
  public var handle = ConnectionHandle()
  /// The highest page in which the peer has a feature.
  public var maxRemotePage: UInt8 = 0
  /// The highest page that is valid in ``features``.
  public var maxValidPage: UInt8 = 0
  /// 248 bytes: page 0 with 64 bits, then pages of 192 bits.
  public var features: [UInt8] = []

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.connectionHandle(&handle)
    try fields.value("max remote page", &maxRemotePage)
    try fields.value("max valid page", &maxValidPage)
    try fields.bytes("features", &features, count: 248, .bits(LEFeatures.bits))
  }
}
