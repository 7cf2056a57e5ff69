import HaloBluetoothCore

/// Sets the random address of an advertising set.
public struct LESetAdvertisingSetRandomAddress: HCICompletingCommand {
  public static let info = HCICommandInfo(
    0x2035, "LE Set Advertising Set Random Address", "7.8.52", octet: 36, bit: 1)

  /// The handle of the advertising set: 0 to 0xEF.
  public var advertisingHandle: UInt8 = 0
  public var address = BluetoothAddress(0, .random)

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("advertising handle", &advertisingHandle)
    try fields.address("random address", &address, kind: .random)
  }
}

/// Sets the parameters of an advertising set.
public struct LESetExtendedAdvertisingParameters: HCICompletingCommand {
  public static let info = HCICommandInfo(
    0x2036, "LE Set Extended Advertising Parameters", "7.8.53", octet: 36, bit: 2)

  /// The handle of the advertising set: 0 to 0xEF.
  public var advertisingHandle: UInt8 = 0
  public var properties: AdvertisingEventProperties = []
  public var intervalMin = ExtendedAdvertisingInterval()
  public var intervalMax = ExtendedAdvertisingInterval()
  public var channels = AdvertisingChannels.all
  public var ownAddressType = OwnAddressType.public
  public var peerAddress = BluetoothAddress.zero
  /// A mask: bit 0 for scan requests, bit 1 for connection requests, from the Filter Accept List only.
  public var filterPolicy: UInt8 = 0
  /// In dBm; 127 for no preference.
  public var power: Int8 = .max
  public var primaryPHY = LEPHY.le1M
  /// The number of advertising events that may be skipped before AUX_ADV_IND.
  public var secondaryMaxSkip: UInt8 = 0
  public var secondaryPHY = LEPHY.le1M
  /// Advertising_SID, 0 to 15.
  public var sid: UInt8 = 0
  /// Whether LE Scan Request Received is sent.
  public var reportsScanRequests = false

  public struct Response: PacketFields {
    /// In dBm.
    public var power: Int8 = 0

    public init() {}

    public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("selected transmit power", &power, .power)
    }
  }

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("advertising handle", &advertisingHandle)
    try fields.value("event properties", &properties, .bits(AdvertisingEventProperties.bits))
    try fields.value("primary interval min", &intervalMin)
    try fields.value("primary interval max", &intervalMax)
    try fields.value("primary channels", &channels, .bits(AdvertisingChannels.bits))
    try fields.value("own address type", &ownAddressType)
    let isUsed = properties.contains(.directed) || ownAddressType.usesPeerAddress
    try fields.typedAddress("peer address", type: "peer address type", &peerAddress, isUsed: isUsed)
    try fields.value("filter policy", &filterPolicy, .names(AdvertisingType.filterPolicies))
    try fields.value("transmit power", &power, .namesOrUnit([127: "no preference"], "dBm"))
    try fields.value("primary PHY", &primaryPHY)
    try fields.value("secondary max skip", &secondaryMaxSkip, .namesOrUnit([0: "none"], "events"))
    // Legacy PDUs have no secondary channel, and no set identifier.
    let isLegacy = properties.contains(.legacy)
    try fields.value("secondary PHY", &secondaryPHY, isLegacy ? .words("not used") : .plain)
    try fields.value("advertising SID", &sid, isLegacy ? .words("not used") : .plain)
    try fields.value("scan request notification", &reportsScanRequests)
  }
}

/// The properties of the events of an advertising set (7.8.53).
public struct AdvertisingEventProperties: OptionSet, HCICode {
  public var rawValue: UInt16

  public init(rawValue: UInt16) { self.rawValue = rawValue }

  public static let connectable = AdvertisingEventProperties(rawValue: 1 << 0)
  public static let scannable = AdvertisingEventProperties(rawValue: 1 << 1)
  public static let directed = AdvertisingEventProperties(rawValue: 1 << 2)
  public static let directedHighDuty = AdvertisingEventProperties(rawValue: 1 << 3)
  /// With the PDUs that scanners before Bluetooth 5 receive, too.
  public static let legacy = AdvertisingEventProperties(rawValue: 1 << 4)
}

/// A fragment of the data of an advertising set (7.8.54, 7.8.55).
public protocol HCIAdvertisingDataFields: PacketFields {
  var advertisingHandle: UInt8 { get set }
  var operation: UInt8 { get set }
  var fragmentPreference: UInt8 { get set }
  var data: [UInt8] { get set }
}

extension HCIAdvertisingDataFields {
  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("advertising handle", &advertisingHandle)
    try fields.value(
      "operation", &operation,
      .names([
        0: "intermediate fragment", 1: "first fragment", 2: "last fragment", 3: "complete data",
        4: "unchanged, new DID",
      ]))
    try fields.value(
      "fragment preference", &fragmentPreference, .names([0: "may fragment", 1: "should not fragment"]))
    try fields.advertisingData(&data)
  }
}

/// Sets the advertising data of an advertising set.
public struct LESetExtendedAdvertisingData: HCICompletingCommand, HCIAdvertisingDataFields {
  public static let info = HCICommandInfo(
    0x2037, "LE Set Extended Advertising Data", "7.8.54", octet: 36, bit: 3)

  /// The handle of the advertising set: 0 to 0xEF.
  public var advertisingHandle: UInt8 = 0
  /// 0 intermediate, 1 first, 2 last fragment, 3 complete data, 4 unchanged data.
  public var operation: UInt8 = 3
  /// 0: the controller may fragment the data; 1: it should not.
  public var fragmentPreference: UInt8 = 0
  /// At most 251 bytes.
  public var data: [UInt8] = []

  public init() {}
}

/// Sets the scan response data of an advertising set.
public struct LESetExtendedScanResponseData: HCICompletingCommand, HCIAdvertisingDataFields {
  public static let info = HCICommandInfo(
    0x2038, "LE Set Extended Scan Response Data", "7.8.55", octet: 36, bit: 4)

  /// The handle of the advertising set: 0 to 0xEF.
  public var advertisingHandle: UInt8 = 0
  /// 0 intermediate, 1 first, 2 last fragment, 3 complete data, 4 unchanged data.
  public var operation: UInt8 = 3
  /// 0: the controller may fragment the data; 1: it should not.
  public var fragmentPreference: UInt8 = 0
  /// At most 251 bytes.
  public var data: [UInt8] = []

  public init() {}
}

/// Starts or stops advertising sets.
public struct LESetExtendedAdvertisingEnable: HCICompletingCommand {
  public static let info = HCICommandInfo(
    0x2039, "LE Set Extended Advertising Enable", "7.8.56", octet: 36, bit: 5)

  /// An advertising set to switch on or off.
  public struct AdvertisingSet: PacketFields {
    /// The handle of the advertising set: 0 to 0xEF.
    public var handle: UInt8 = 0
    public var duration = ScanDuration()
    /// The number of advertising events after which it ends; 0 for no limit.
    public var maxEvents: UInt8 = 0

    public init() {}

    public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("advertising handle", &handle)
      try fields.value("duration", &duration)
      try fields.value("max events", &maxEvents, .names([0: "no limit"]))
    }
  }

  public var isEnabled = false
  public var sets: [AdvertisingSet] = []

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("enabled", &isEnabled)
    // Without sets, all are stopped.
    let isEnabled = isEnabled
    try fields.list("sets", &sets, limit: 63, isEnabled ? .plain : .names([0: "all"]))
  }
}

/// Reads the maximum length of advertising data.
public struct LEReadMaximumAdvertisingDataLength: HCICompletingCommand, HCIEmpty {
  public static let info = HCICommandInfo(
    0x203A, "LE Read Maximum Advertising Data Length", "7.8.57", octet: 36, bit: 6)

  public struct Response: PacketFields {
    /// In bytes.
    public var length: UInt16 = 0

    public init() {}

    public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("max advertising data length", &length, .unit("bytes"))
    }
  }

  public init() {}
}

/// Reads the number of supported advertising sets.
public struct LEReadNumberOfSupportedAdvertisingSets: HCICompletingCommand, HCIEmpty {
  public static let info = HCICommandInfo(
    0x203B, "LE Read Number of Supported Advertising Sets", "7.8.58", octet: 36, bit: 7)

  public struct Response: PacketFields {
    /// The number of advertising sets that the controller supports at the same time.
    public var count: UInt8 = 0

    public init() {}

    public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("advertising sets", &count)
    }
  }

  public init() {}
}

/// Removes an advertising set.
public struct LERemoveAdvertisingSet: HCICompletingCommand {
  public static let info = HCICommandInfo(0x203C, "LE Remove Advertising Set", "7.8.59", octet: 37, bit: 0)

  /// The handle of the advertising set: 0 to 0xEF.
  public var advertisingHandle: UInt8 = 0

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("advertising handle", &advertisingHandle)
  }
}

/// Removes all advertising sets.
public struct LEClearAdvertisingSets: HCICompletingCommand, HCIEmpty {
  public static let info = HCICommandInfo(0x203D, "LE Clear Advertising Sets", "7.8.60", octet: 37, bit: 1)

  public init() {}
}
