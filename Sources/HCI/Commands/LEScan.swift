import BluetoothCore

/// Says how to scan; only while not scanning (Core Specification Vol 4, Part E, 7.8.10).
public struct LESetScanParameters: HCICompletingCommand, Hashable {
  public typealias Response = NoReturnParameters

  public static let opcode = HCIOpcode(rawValue: 0x200B)

  public var type: ScanType
  /// The time from the start of one window to the start of the next.
  public var interval: ScanInterval
  /// How long to listen; at most ``interval``.
  public var window: ScanInterval
  public var ownAddressType: OwnAddressType
  public var filterPolicy: ScanFilterPolicy

  public init(
    type: ScanType, interval: ScanInterval, window: ScanInterval, ownAddressType: OwnAddressType = .public,
    filterPolicy: ScanFilterPolicy = .acceptAll
  ) {
    self.type = type
    self.interval = interval
    self.window = window
    self.ownAddressType = ownAddressType
    self.filterPolicy = filterPolicy
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    type = try ScanType(parsing: &reader)
    interval = try ScanInterval(parsing: &reader)
    window = try ScanInterval(parsing: &reader)
    ownAddressType = try OwnAddressType(parsing: &reader)
    filterPolicy = try ScanFilterPolicy(parsing: &reader)
  }

  public func write(into writer: inout ByteWriter) {
    type.write(into: &writer)
    interval.write(into: &writer)
    window.write(into: &writer)
    ownAddressType.write(into: &writer)
    filterPolicy.write(into: &writer)
  }
}

/// Starts or stops to scan. Some controllers refuse to stop what is stopped already (7.8.11).
public struct LESetScanEnable: HCICompletingCommand, Hashable {
  public typealias Response = NoReturnParameters

  public static let opcode = HCIOpcode(rawValue: 0x200C)

  public var isEnabled: Bool
  /// Whether a device is reported once only.
  public var filtersDuplicates: Bool

  public init(isEnabled: Bool, filtersDuplicates: Bool = false) {
    self.isEnabled = isEnabled
    self.filtersDuplicates = filtersDuplicates
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    isEnabled = try reader.readBool()
    filtersDuplicates = try reader.readBool()
  }

  public func write(into writer: inout ByteWriter) {
    writer.write(isEnabled)
    writer.write(filtersDuplicates)
  }
}

/// Starts or stops to scan for legacy and extended advertising (7.8.65).
public struct LESetExtendedScanEnable: HCICompletingCommand, Hashable {
  public typealias Response = NoReturnParameters

  public static let opcode = HCIOpcode(rawValue: 0x2042)

  public var isEnabled: Bool
  public var duplicates: DuplicateFilter
  public var duration: ScanDuration
  public var period: ScanPeriod

  public init(
    isEnabled: Bool, duplicates: DuplicateFilter = .off, duration: ScanDuration = ScanDuration(rawValue: 0),
    period: ScanPeriod = ScanPeriod(rawValue: 0)
  ) {
    self.isEnabled = isEnabled
    self.duplicates = duplicates
    self.duration = duration
    self.period = period
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    isEnabled = try reader.readBool()
    duplicates = try DuplicateFilter(parsing: &reader)
    duration = try ScanDuration(parsing: &reader)
    period = try ScanPeriod(parsing: &reader)
  }

  public func write(into writer: inout ByteWriter) {
    writer.write(isEnabled)
    duplicates.write(into: &writer)
    duration.write(into: &writer)
    period.write(into: &writer)
  }
}

/// Whether to ask advertisers for their scan response (7.8.10).
public struct ScanType: HCICode {
  public var rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  public static let passive = ScanType(rawValue: 0)
  public static let active = ScanType(rawValue: 1)
}

/// Which advertisements are reported (7.8.10).
public struct ScanFilterPolicy: HCICode {
  public var rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  public static let acceptAll = ScanFilterPolicy(rawValue: 0)
  public static let filterAcceptList = ScanFilterPolicy(rawValue: 1)
}

/// Whether an extended scan reports a device once only (7.8.65).
public struct DuplicateFilter: HCICode {
  public var rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  public static let off = DuplicateFilter(rawValue: 0)
  public static let on = DuplicateFilter(rawValue: 1)
  /// Once in each period.
  public static let resetEachPeriod = DuplicateFilter(rawValue: 2)
}

/// Says how to scan for legacy and extended advertising, for each physical layer of its own (7.8.64).
public struct LESetExtendedScanParameters: HCICompletingCommand, Hashable {
  public typealias Response = NoReturnParameters

  public static let opcode = HCIOpcode(rawValue: 0x2041)

  /// How to scan on one physical layer.
  public struct Scan: HCICodable, Hashable {
    public var type: ScanType
    /// The time from the start of one window to the start of the next.
    public var interval: ScanInterval
    /// How long to listen; at most ``interval``.
    public var window: ScanInterval

    public init(type: ScanType, interval: ScanInterval, window: ScanInterval) {
      self.type = type
      self.interval = interval
      self.window = window
    }

    public init(parsing reader: inout ByteReader) throws(DecodeError) {
      type = try ScanType(parsing: &reader)
      interval = try ScanInterval(parsing: &reader)
      window = try ScanInterval(parsing: &reader)
    }

    public func write(into writer: inout ByteWriter) {
      type.write(into: &writer)
      interval.write(into: &writer)
      window.write(into: &writer)
    }
  }

  public var ownAddressType: OwnAddressType
  public var filterPolicy: ScanFilterPolicy
  /// The scan on LE 1M; nil for none.
  public var le1M: Scan?
  /// The scan on LE Coded; nil for none. Primary advertising does not exist on LE 2M.
  public var leCoded: Scan?

  public init(
    ownAddressType: OwnAddressType = .public, filterPolicy: ScanFilterPolicy = .acceptAll, le1M: Scan?,
    leCoded: Scan? = nil
  ) {
    self.ownAddressType = ownAddressType
    self.filterPolicy = filterPolicy
    self.le1M = le1M
    self.leCoded = leCoded
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    ownAddressType = try OwnAddressType(parsing: &reader)
    filterPolicy = try ScanFilterPolicy(parsing: &reader)
    let phys = try LEPHYs(parsing: &reader)
    guard !phys.isEmpty, phys.isSubset(of: [.le1M, .leCoded]) else {
      throw reader.invalid("no set of physical layers to scan on: \(Hex.string(phys.rawValue))")
    }
    le1M = phys.contains(.le1M) ? try Scan(parsing: &reader) : nil
    leCoded = phys.contains(.leCoded) ? try Scan(parsing: &reader) : nil
  }

  public func write(into writer: inout ByteWriter) {
    ownAddressType.write(into: &writer)
    filterPolicy.write(into: &writer)
    var phys: LEPHYs = []
    if le1M != nil { phys.insert(.le1M) }
    if leCoded != nil { phys.insert(.leCoded) }
    phys.write(into: &writer)
    le1M?.write(into: &writer)
    leCoded?.write(into: &writer)
  }
}
