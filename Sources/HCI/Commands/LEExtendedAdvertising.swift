import HaloBluetoothCore

/// Sets the random address of an advertising set.
package struct LESetAdvertisingSetRandomAddress: HCICompletingCommand {
  package static let info = HCICommandInfo(
    0x2035, "LE Set Advertising Set Random Address", "7.8.52", octet: 36, bit: 1)

  /// The handle of the advertising set: 0 to 0xEF.
  package var advertisingHandle: UInt8 = 0
  package var address = BluetoothAddress(0, .random)

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("advertising handle", &advertisingHandle)
    try fields.address("random address", &address, kind: .random)
  }
}

/// Sets the parameters of an advertising set.
package struct LESetExtendedAdvertisingParameters: HCICompletingCommand {
  package static let info = HCICommandInfo(
    0x2036, "LE Set Extended Advertising Parameters", "7.8.53", octet: 36, bit: 2)

  /// The handle of the advertising set: 0 to 0xEF.
  package var advertisingHandle: UInt8 = 0
  package var properties: AdvertisingEventProperties = []
  package var intervalMin = ExtendedAdvertisingInterval()
  package var intervalMax = ExtendedAdvertisingInterval()
  package var channels = AdvertisingChannels.all
  package var ownAddressType = OwnAddressType.public
  package var peerAddress = BluetoothAddress.zero
  /// A mask: bit 0 for scan requests, bit 1 for connection requests, from the Filter Accept List only.
  package var filterPolicy: UInt8 = 0
  /// In dBm; 127 for no preference.
  package var power: Int8 = .max
  package var primaryPHY = LEPHY.le1M
  /// The number of advertising events that may be skipped before AUX_ADV_IND.
  package var secondaryMaxSkip: UInt8 = 0
  package var secondaryPHY = LEPHY.le1M
  /// Advertising_SID, 0 to 15.
  package var sid: UInt8 = 0
  package var reportsScanRequests = false

  package struct Response: PacketFields {
    /// In dBm.
    package var power: Int8 = 0

    package init() {}

    package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("selected transmit power", &power, .power)
    }
  }

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
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
package struct AdvertisingEventProperties: OptionSet, HCICode {
  package var rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  package static let connectable = AdvertisingEventProperties(rawValue: 1 << 0)
  package static let scannable = AdvertisingEventProperties(rawValue: 1 << 1)
  package static let directed = AdvertisingEventProperties(rawValue: 1 << 2)
  package static let directedHighDuty = AdvertisingEventProperties(rawValue: 1 << 3)
  /// With the PDUs that scanners before Bluetooth 5 receive, too.
  package static let legacy = AdvertisingEventProperties(rawValue: 1 << 4)
}

/// A fragment of the data of an advertising set (7.8.54, 7.8.55).
package protocol HCIAdvertisingDataFields: PacketFields {
  var advertisingHandle: UInt8 { get set }
  var operation: UInt8 { get set }
  var fragmentPreference: UInt8 { get set }
  var data: [UInt8] { get set }
}

extension HCIAdvertisingDataFields {
  /// The most data of a fragment.
  package static var largestData: Int { 251 }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("advertising handle", &advertisingHandle)
    try fields.value(
      "operation", &operation,
      .names([
        0: "intermediate fragment", 1: "first fragment", 2: "last fragment", 3: "complete data",
        4: "unchanged, new DID",
      ]))
    try fields.value(
      "fragment preference", &fragmentPreference, .names([0: "may fragment", 1: "should not fragment"]))
    try fields.advertisingData(&data, limit: Self.largestData)
  }
}

/// Sets the advertising data of an advertising set.
package struct LESetExtendedAdvertisingData: HCICompletingCommand, HCIAdvertisingDataFields {
  package static let info = HCICommandInfo(
    0x2037, "LE Set Extended Advertising Data", "7.8.54", octet: 36, bit: 3)

  /// The handle of the advertising set: 0 to 0xEF.
  package var advertisingHandle: UInt8 = 0
  /// 0 intermediate, 1 first, 2 last fragment, 3 complete data, 4 unchanged data.
  package var operation: UInt8 = 3
  /// 0: the controller may fragment the data; 1: it should not.
  package var fragmentPreference: UInt8 = 0
  /// At most 251 bytes.
  package var data: [UInt8] = []

  package init() {}
}

/// Sets the scan response data of an advertising set.
package struct LESetExtendedScanResponseData: HCICompletingCommand, HCIAdvertisingDataFields {
  package static let info = HCICommandInfo(
    0x2038, "LE Set Extended Scan Response Data", "7.8.55", octet: 36, bit: 4)

  /// The handle of the advertising set: 0 to 0xEF.
  package var advertisingHandle: UInt8 = 0
  /// 0 intermediate, 1 first, 2 last fragment, 3 complete data, 4 unchanged data.
  package var operation: UInt8 = 3
  /// 0: the controller may fragment the data; 1: it should not.
  package var fragmentPreference: UInt8 = 0
  /// At most 251 bytes.
  package var data: [UInt8] = []

  package init() {}
}

/// Starts or stops advertising sets.
package struct LESetExtendedAdvertisingEnable: HCICompletingCommand {
  package static let info = HCICommandInfo(
    0x2039, "LE Set Extended Advertising Enable", "7.8.56", octet: 36, bit: 5)

  /// An advertising set to switch on or off.
  package struct AdvertisingSet: PacketFields {
    /// The handle of the advertising set: 0 to 0xEF.
    package var handle: UInt8 = 0
    package var duration = ScanDuration()
    /// The number of advertising events after which it ends; 0 for no limit.
    package var maxEvents: UInt8 = 0

    package init() {}

    package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("advertising handle", &handle)
      try fields.value("duration", &duration)
      try fields.value("max events", &maxEvents, .names([0: "no limit"]))
    }
  }

  package var isEnabled = false
  package var sets: [AdvertisingSet] = []

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("enabled", &isEnabled)
    // Without sets, all are stopped.
    let isEnabled = isEnabled
    try fields.list("sets", &sets, limit: 63, isEnabled ? .plain : .names([0: "all"]))
  }
}

/// Reads the maximum length of advertising data.
package struct LEReadMaximumAdvertisingDataLength: HCICompletingCommand, HCIEmpty {
  package static let info = HCICommandInfo(
    0x203A, "LE Read Maximum Advertising Data Length", "7.8.57", octet: 36, bit: 6)

  package struct Response: PacketFields {
    /// In bytes.
    package var length: UInt16 = 0

    package init() {}

    package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("max advertising data length", &length, .unit("bytes"))
    }
  }

  package init() {}
}

/// Reads the number of supported advertising sets.
package struct LEReadNumberOfSupportedAdvertisingSets: HCICompletingCommand, HCIEmpty {
  package static let info = HCICommandInfo(
    0x203B, "LE Read Number of Supported Advertising Sets", "7.8.58", octet: 36, bit: 7)

  package struct Response: PacketFields {
    /// The number of advertising sets that the controller supports at the same time.
    package var count: UInt8 = 0

    package init() {}

    package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("advertising sets", &count)
    }
  }

  package init() {}
}

/// Removes an advertising set.
package struct LERemoveAdvertisingSet: HCICompletingCommand {
  package static let info = HCICommandInfo(0x203C, "LE Remove Advertising Set", "7.8.59", octet: 37, bit: 0)

  /// The handle of the advertising set: 0 to 0xEF.
  package var advertisingHandle: UInt8 = 0

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("advertising handle", &advertisingHandle)
  }
}

/// Removes all advertising sets.
package struct LEClearAdvertisingSets: HCICompletingCommand, HCIEmpty {
  package static let info = HCICommandInfo(0x203D, "LE Clear Advertising Sets", "7.8.60", octet: 37, bit: 1)

  package init() {}
}
