import HaloBluetoothCore

/// The scan parameters for one PHY.
package struct PHYScanParameters: PacketFields {
  package var type = ScanType.passive
  /// The time from the start of one window to the start of the next.
  package var interval = ScanInterval()
  /// How long to listen; at most ``interval``.
  package var window = ScanInterval()

  package init() {}

  package init(type: ScanType, interval: ScanInterval, window: ScanInterval) {
    self.type = type
    self.interval = interval
    self.window = window
  }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("type", &type)
    try fields.value("interval", &interval)
    try fields.value("window", &window)
  }
}

/// Sets the scan parameters; not allowed while scanning.
package struct LESetScanParameters: HCICompletingCommand {
  package static let info = HCICommandInfo(0x200B, "LE Set Scan Parameters", "7.8.10", octet: 26, bit: 2)

  package var scan = PHYScanParameters()
  package var ownAddressType = OwnAddressType.public
  package var filterPolicy = ScanFilterPolicy.acceptAll

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try scan.visit(&fields)
    try fields.value("own address type", &ownAddressType)
    try fields.value("filter policy", &filterPolicy)
  }
}

/// Starts or stops scanning. Some controllers return an error if scanning is already stopped.
package struct LESetScanEnable: HCICompletingCommand {
  package static let info = HCICommandInfo(0x200C, "LE Set Scan Enable", "7.8.11", octet: 26, bit: 3)

  package var isEnabled = false
  package var filtersDuplicates = false

  package init() {}

  package init(isEnabled: Bool, filtersDuplicates: Bool = false) {
    self.isEnabled = isEnabled
    self.filtersDuplicates = filtersDuplicates
  }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("enabled", &isEnabled)
    try fields.value("filter duplicates", &filtersDuplicates)
  }
}

/// Sets the parameters for scanning legacy and extended advertising, for each PHY.
package struct LESetExtendedScanParameters: HCICompletingCommand {
  package static let info = HCICommandInfo(
    0x2041, "LE Set Extended Scan Parameters", "7.8.64", octet: 37, bit: 5)

  package var ownAddressType = OwnAddressType.public
  package var filterPolicy = ScanFilterPolicy.acceptAll
  /// The scan on LE 1M; nil for none.
  package var le1M: PHYScanParameters?
  /// The scan on LE Coded; nil for none. Primary advertising does not exist on LE 2M.
  package var leCoded: PHYScanParameters?

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
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
package struct LESetExtendedScanEnable: HCICompletingCommand {
  package static let info = HCICommandInfo(0x2042, "LE Set Extended Scan Enable", "7.8.65", octet: 37, bit: 6)

  package var isEnabled = false
  package var duplicates = DuplicateFilter.off
  package var duration = ScanDuration()
  package var period = ScanPeriod()

  package init() {}

  package init(isEnabled: Bool, duplicates: DuplicateFilter = .off) {
    self.isEnabled = isEnabled
    self.duplicates = duplicates
  }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("enabled", &isEnabled)
    try fields.value("filter duplicates", &duplicates)
    try fields.value("duration", &duration)
    try fields.value("period", &period)
  }
}

/// The kind of a scan: with or without scan requests (7.8.10).
package struct ScanType: HCICode {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let passive = ScanType(rawValue: 0)
  package static let active = ScanType(rawValue: 1)

  package static let names: [UInt8: String] = [0: "passive", 1: "active"]
}

/// Which advertisements are reported (7.8.10).
package struct ScanFilterPolicy: HCICode {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let acceptAll = ScanFilterPolicy(rawValue: 0)
  package static let filterAcceptList = ScanFilterPolicy(rawValue: 1)

  package static let names: [UInt8: String] = [
    0: "all but directed to others", 1: "filter accept list",
    2: "all, also directed to resolvable addresses",
    3: "filter accept list, also directed to resolvable addresses",
  ]
}

/// The filter by which an extended scan reports each device only once (7.8.65).
package struct DuplicateFilter: HCICode {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let off = DuplicateFilter(rawValue: 0)
  package static let on = DuplicateFilter(rawValue: 1)

  package static let names: [UInt8: String] = [0: "no", 1: "yes", 2: "reset each period"]
}
