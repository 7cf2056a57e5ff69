import HaloBluetoothCore

/// The scan parameters for one PHY.
public struct PHYScanParameters: PacketFields {
  public var type = ScanType.passive
  /// The time from the start of one window to the start of the next.
  public var interval = ScanInterval()
  /// How long to listen; at most ``interval``.
  public var window = ScanInterval()

  public init() {}

  public init(type: ScanType, interval: ScanInterval, window: ScanInterval) {
    self.type = type
    self.interval = interval
    self.window = window
  }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("type", &type)
    try fields.value("interval", &interval)
    try fields.value("window", &window)
  }
}

/// Sets the scan parameters; not allowed while scanning.
public struct LESetScanParameters: HCICompletingCommand {
  public static let info = HCICommandInfo(0x200B, "LE Set Scan Parameters", "7.8.10", octet: 26, bit: 2)

  public var scan = PHYScanParameters()
  public var ownAddressType = OwnAddressType.public
  public var filterPolicy = ScanFilterPolicy.acceptAll

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try scan.visit(&fields)
    try fields.value("own address type", &ownAddressType)
    try fields.value("filter policy", &filterPolicy)
  }
}

/// Starts or stops scanning. Some controllers return an error if scanning is already stopped.
public struct LESetScanEnable: HCICompletingCommand {
  public static let info = HCICommandInfo(0x200C, "LE Set Scan Enable", "7.8.11", octet: 26, bit: 3)

  public var isEnabled = false
  /// Whether each device is reported only once.
  public var filtersDuplicates = false

  public init() {}

  public init(isEnabled: Bool, filtersDuplicates: Bool = false) {
    self.isEnabled = isEnabled
    self.filtersDuplicates = filtersDuplicates
  }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("enabled", &isEnabled)
    try fields.value("filter duplicates", &filtersDuplicates)
  }
}

/// Sets the parameters for scanning legacy and extended advertising, for each PHY.
public struct LESetExtendedScanParameters: HCICompletingCommand {
  public static let info = HCICommandInfo(
    0x2041, "LE Set Extended Scan Parameters", "7.8.64", octet: 37, bit: 5)

  public var ownAddressType = OwnAddressType.public
  public var filterPolicy = ScanFilterPolicy.acceptAll
  /// The scan on LE 1M; nil for none.
  public var le1M: PHYScanParameters?
  /// The scan on LE Coded; nil for none. Primary advertising does not exist on LE 2M.
  public var leCoded: PHYScanParameters?

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("own address type", &ownAddressType)
    try fields.value("filter policy", &filterPolicy)
    var phys = LEPHYs(le1M: le1M != nil, le2M: false, leCoded: leCoded != nil)
    try fields.value("PHYs", &phys, .bits(LEPHYs.bits))
    try fields.check(
      phys.isSubset(of: [.le1M, .leCoded]), "no set of physical layers to scan on: \(phys)")
    try fields.group("LE 1M", &le1M, isPresent: phys.contains(.le1M))
    try fields.group("LE Coded", &leCoded, isPresent: phys.contains(.leCoded))
  }
}

/// Starts or stops scanning for legacy and extended advertising.
public struct LESetExtendedScanEnable: HCICompletingCommand {
  public static let info = HCICommandInfo(0x2042, "LE Set Extended Scan Enable", "7.8.65", octet: 37, bit: 6)

  public var isEnabled = false
  public var duplicates = DuplicateFilter.off
  public var duration = ScanDuration()
  public var period = ScanPeriod()

  public init() {}

  public init(isEnabled: Bool, duplicates: DuplicateFilter = .off) {
    self.isEnabled = isEnabled
    self.duplicates = duplicates
  }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("enabled", &isEnabled)
    try fields.value("filter duplicates", &duplicates)
    try fields.value("duration", &duration)
    try fields.value("period", &period)
  }
}

/// Whether to send scan requests (7.8.10).
public struct ScanType: HCICode {
  public var rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let passive = ScanType(rawValue: 0)
  public static let active = ScanType(rawValue: 1)

  public static let names: [UInt8: String] = [0: "passive", 1: "active"]
}

/// Which advertisements are reported (7.8.10).
public struct ScanFilterPolicy: HCICode {
  public var rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let acceptAll = ScanFilterPolicy(rawValue: 0)
  public static let filterAcceptList = ScanFilterPolicy(rawValue: 1)

  public static let names: [UInt8: String] = [
    0: "all but directed to others", 1: "filter accept list",
    2: "all, also directed to resolvable addresses",
    3: "filter accept list, also directed to resolvable addresses",
  ]
}

/// Whether an extended scan reports each device only once (7.8.65).
public struct DuplicateFilter: HCICode {
  public var rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let off = DuplicateFilter(rawValue: 0)
  public static let on = DuplicateFilter(rawValue: 1)
  /// Once in each period.
  public static let resetEachPeriod = DuplicateFilter(rawValue: 2)

  public static let names: [UInt8: String] = [0: "no", 1: "yes", 2: "reset each period"]
}
