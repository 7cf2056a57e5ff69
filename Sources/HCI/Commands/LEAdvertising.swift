import HaloBluetoothCore

/// Sets the advertising parameters; not allowed while advertising.
public struct LESetAdvertisingParameters: HCICompletingCommand {
  public static let info = HCICommandInfo(0x2006, "LE Set Advertising Parameters", "7.8.5", octet: 25, bit: 5)

  public var intervalMin = AdvertisingInterval()
  public var intervalMax = AdvertisingInterval()
  public var type = AdvertisingType.connectableUndirected
  public var ownAddressType = OwnAddressType.public
  /// The target of directed advertising.
  public var peerAddress = BluetoothAddress.zero
  public var channels = AdvertisingChannels.all
  /// Which devices may send scan requests (bit 0) or connection requests (bit 1): all (0), or those on the filter
  /// accept list (1).
  public var filterPolicy: UInt8 = 0

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
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
public struct LESetAdvertisingData: HCICompletingCommand {
  public static let info = HCICommandInfo(0x2008, "LE Set Advertising Data", "7.8.7", octet: 25, bit: 7)

  public var data = LegacyAdvertisingData()

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try data.visit(&fields)
  }
}

/// Sets the scan response data.
public struct LESetScanResponseData: HCICompletingCommand {
  public static let info = HCICommandInfo(0x2009, "LE Set Scan Response Data", "7.8.8", octet: 26, bit: 0)

  public var data = LegacyAdvertisingData()

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try data.visit(&fields)
  }
}

/// Starts or stops advertising.
public struct LESetAdvertisingEnable: HCICompletingCommand, HCISwitch {
  public static let info = HCICommandInfo(0x200A, "LE Set Advertising Enable", "7.8.9", octet: 26, bit: 1)

  public var isEnabled = false

  public init() {}
}

/// The kind of an advertisement (7.8.5).
public struct AdvertisingType: HCICode {
  public var rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Any device may connect and send scan requests.
  public static let connectableUndirected = AdvertisingType(rawValue: 0)
  public static let connectableDirectedHighDuty = AdvertisingType(rawValue: 1)
  /// Any device may send scan requests.
  public static let scannableUndirected = AdvertisingType(rawValue: 2)
  public static let nonConnectableUndirected = AdvertisingType(rawValue: 3)
  public static let connectableDirectedLowDuty = AdvertisingType(rawValue: 4)

  public static let names: [UInt8: String] = [
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
public struct AdvertisingChannels: OptionSet, HCICode {
  public var rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let channel37 = AdvertisingChannels(rawValue: 1)
  public static let channel38 = AdvertisingChannels(rawValue: 2)
  public static let channel39 = AdvertisingChannels(rawValue: 4)
  public static let all: AdvertisingChannels = [.channel37, .channel38, .channel39]
}

/// Up to 31 bytes of advertising data in a field of fixed size: a length, then 31 bytes (7.8.7).
public struct LegacyAdvertisingData: PacketFields, Hashable {
  public static let capacity = 31

  public private(set) var bytes: [UInt8] = []

  public init() {}

  /// Takes the first 31 bytes.
  public init(_ bytes: [UInt8]) {
    self.bytes = Array(bytes.prefix(Self.capacity))
  }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    var length = UInt8(bytes.count)
    try fields.value("data length", &length, .unit("bytes"))
    try fields.check(
      length <= Self.capacity, "advertising data has up to \(Self.capacity) bytes, not \(length)")
    try fields.bytes("data", &bytes, count: Int(length), as: ADFields.self)
    var padding: [UInt8] = []
    try fields.bytes("padding", &padding, count: Self.capacity - Int(length))
  }
}
