import BluetoothCore

/// Starts to connect to the first legacy or extended advertisement that fits, with parameters for each physical
/// layer of its own. The link, or its failure, is told by LE (Enhanced) Connection Complete
/// (Core Specification Vol 4, Part E, 7.8.66).
public struct LEExtendedCreateConnection: HCIStatusCommand, Hashable {
  public static let opcode = HCIOpcode(rawValue: 0x2043)

  /// How to look for the peer, and to talk with it, on one physical layer.
  public struct Initiation: HCICodable, Hashable {
    /// Not used for LE 2M, on which there is no primary advertising.
    public var scanInterval: ScanInterval
    /// Not used for LE 2M.
    public var scanWindow: ScanInterval
    public var parameters: ConnectionParameters

    public init(scanInterval: ScanInterval, scanWindow: ScanInterval, parameters: ConnectionParameters) {
      self.scanInterval = scanInterval
      self.scanWindow = scanWindow
      self.parameters = parameters
    }

    public init(parsing reader: inout ByteReader) throws(DecodeError) {
      scanInterval = try ScanInterval(parsing: &reader)
      scanWindow = try ScanInterval(parsing: &reader)
      parameters = try ConnectionParameters(parsing: &reader)
    }

    public func write(into writer: inout ByteWriter) {
      scanInterval.write(into: &writer)
      scanWindow.write(into: &writer)
      parameters.write(into: &writer)
    }
  }

  public var filterPolicy: InitiatorFilterPolicy
  public var ownAddressType: OwnAddressType
  public var peerAddress: BluetoothAddress
  /// For LE 1M; nil to leave it out. The same holds for the other two.
  public var le1M: Initiation?
  public var le2M: Initiation?
  public var leCoded: Initiation?

  public init(
    filterPolicy: InitiatorFilterPolicy = .peerAddress, ownAddressType: OwnAddressType = .public,
    peerAddress: BluetoothAddress, le1M: Initiation?, le2M: Initiation? = nil, leCoded: Initiation? = nil
  ) {
    self.filterPolicy = filterPolicy
    self.ownAddressType = ownAddressType
    self.peerAddress = peerAddress
    self.le1M = le1M
    self.le2M = le2M
    self.leCoded = leCoded
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    filterPolicy = try InitiatorFilterPolicy(parsing: &reader)
    ownAddressType = try OwnAddressType(parsing: &reader)
    peerAddress = try reader.readAddress()
    let phys = try LEPHYs(parsing: &reader)
    guard !phys.isEmpty, phys.isSubset(of: [.le1M, .le2M, .leCoded]) else {
      throw reader.invalid("no set of physical layers to connect on: \(Hex.string(phys.rawValue))")
    }
    le1M = phys.contains(.le1M) ? try Initiation(parsing: &reader) : nil
    le2M = phys.contains(.le2M) ? try Initiation(parsing: &reader) : nil
    leCoded = phys.contains(.leCoded) ? try Initiation(parsing: &reader) : nil
  }

  public func write(into writer: inout ByteWriter) {
    filterPolicy.write(into: &writer)
    ownAddressType.write(into: &writer)
    writer.writeAddress(peerAddress)
    var phys: LEPHYs = []
    if le1M != nil { phys.insert(.le1M) }
    if le2M != nil { phys.insert(.le2M) }
    if leCoded != nil { phys.insert(.leCoded) }
    phys.write(into: &writer)
    le1M?.write(into: &writer)
    le2M?.write(into: &writer)
    leCoded?.write(into: &writer)
  }
}
