import HaloBluetoothCore

/// Sets the advertising parameters; not allowed while advertising.
package struct LESetAdvertisingParameters: HCICompletingCommand {
  package static let info = HCICommandInfo(
    0x2006, "LE Set Advertising Parameters", "7.8.5", octet: 25, bit: 5)

  package var intervalMin = AdvertisingInterval()
  package var intervalMax = AdvertisingInterval()
  package var type = AdvertisingType.connectableUndirected
  package var ownAddressType = OwnAddressType.public
  /// The target of directed advertising.
  package var peerAddress = BluetoothAddress.zero
  package var channels = AdvertisingChannels.all
  /// Which devices may send scan requests (bit 0) or connection requests (bit 1): all (0), or those on the filter
  /// accept list (1).
  package var filterPolicy: UInt8 = 0

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("interval min", &intervalMin)
    try fields.value("interval max", &intervalMax)
    try fields.value("type", &type)
    try fields.value("own address type", &ownAddressType)
    let isUsed = type.isDirected || ownAddressType.usesPeerAddress
    try fields.typedAddress("peer address", type: "peer address type", &peerAddress, isUsed: isUsed)
    try fields.value("channels", &channels, .bits(AdvertisingChannels.bits))
    try fields.value("filter policy", &filterPolicy, .names(AdvertisingType.filterPolicies))
  }
}

/// Sets the advertising data.
package struct LESetAdvertisingData: HCICompletingCommand {
  package static let info = HCICommandInfo(0x2008, "LE Set Advertising Data", "7.8.7", octet: 25, bit: 7)

  package var data = LegacyAdvertisingData()

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try data.visit(&fields)
  }
}

/// Sets the scan response data.
package struct LESetScanResponseData: HCICompletingCommand {
  package static let info = HCICommandInfo(0x2009, "LE Set Scan Response Data", "7.8.8", octet: 26, bit: 0)

  package var data = LegacyAdvertisingData()

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try data.visit(&fields)
  }
}

/// Starts or stops advertising.
package struct LESetAdvertisingEnable: HCICompletingCommand, HCISwitch {
  package static let info = HCICommandInfo(0x200A, "LE Set Advertising Enable", "7.8.9", octet: 26, bit: 1)

  package var isEnabled = false

  package init() {}
}

/// The kind of an advertisement (7.8.5).
package struct AdvertisingType: HCICode {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Any device may connect and send scan requests.
  package static let connectableUndirected = AdvertisingType(rawValue: 0)
  package static let connectableDirectedHighDuty = AdvertisingType(rawValue: 1)
  /// Any device may send scan requests.
  package static let scannableUndirected = AdvertisingType(rawValue: 2)
  package static let nonConnectableUndirected = AdvertisingType(rawValue: 3)
  package static let connectableDirectedLowDuty = AdvertisingType(rawValue: 4)

  package static let names: [UInt8: String] = [
    0: "connectable, undirected", 1: "connectable, directed, high duty cycle", 2: "scannable, undirected",
    3: "not connectable, undirected", 4: "connectable, directed, low duty cycle",
  ]

  /// Whether it is for one device.
  var isDirected: Bool { self == .connectableDirectedHighDuty || self == .connectableDirectedLowDuty }

  /// From whom requests are answered (7.8.5).
  static let filterPolicies: [UInt64: String] = [
    0: "all", 1: "scan requests of the filter accept list",
    2: "connection requests of the filter accept list",
    3: "requests of the filter accept list",
  ]
}

/// The channels that advertisements are sent on (7.8.5).
package struct AdvertisingChannels: OptionSet, HCICode {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let channel37 = AdvertisingChannels(rawValue: 1)
  package static let channel38 = AdvertisingChannels(rawValue: 2)
  package static let channel39 = AdvertisingChannels(rawValue: 4)
  package static let all: AdvertisingChannels = [.channel37, .channel38, .channel39]
}

/// Up to 31 bytes of advertising data in a field of fixed size: a length, then 31 bytes (7.8.7).
package struct LegacyAdvertisingData: PacketFields, Hashable {
  package static let capacity = 31

  package private(set) var bytes: [UInt8] = []

  package init() {}

  /// Takes the first 31 bytes.
  package init(_ bytes: [UInt8]) {
    self.bytes = Array(bytes.prefix(Self.capacity))
  }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    var length = UInt8(bytes.count)
    try fields.value("data length", &length, .unit("bytes"))
    try fields.check(
      length <= Self.capacity, "advertising data has up to \(Self.capacity) bytes, not \(length)")
    try fields.bytes("data", &bytes, count: Int(length), as: ADFields.self)
    var padding: [UInt8] = []
    try fields.bytes("padding", &padding, count: Self.capacity - Int(length))
  }
}
