import BluetoothCore

/// What a host wishes for a link, in the order that all commands share (Core Specification Vol 4, Part E, 7.8.12).
public struct ConnectionParameters: HCICodable, Hashable {
  public var intervalMin: ConnectionInterval
  public var intervalMax: ConnectionInterval
  /// How many connection events the peripheral may sleep through: 0 to 499.
  public var latency: UInt16
  public var supervisionTimeout: SupervisionTimeout
  public var eventLengthMin: ConnectionEventLength
  public var eventLengthMax: ConnectionEventLength

  public init(
    intervalMin: ConnectionInterval, intervalMax: ConnectionInterval, latency: UInt16 = 0,
    supervisionTimeout: SupervisionTimeout,
    eventLengthMin: ConnectionEventLength = ConnectionEventLength(rawValue: 0),
    eventLengthMax: ConnectionEventLength = ConnectionEventLength(rawValue: 0)
  ) {
    self.intervalMin = intervalMin
    self.intervalMax = intervalMax
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
    self.eventLengthMin = eventLengthMin
    self.eventLengthMax = eventLengthMax
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    intervalMin = try ConnectionInterval(parsing: &reader)
    intervalMax = try ConnectionInterval(parsing: &reader)
    latency = try reader.readUInt16()
    supervisionTimeout = try SupervisionTimeout(parsing: &reader)
    eventLengthMin = try ConnectionEventLength(parsing: &reader)
    eventLengthMax = try ConnectionEventLength(parsing: &reader)
  }

  public func write(into writer: inout ByteWriter) {
    intervalMin.write(into: &writer)
    intervalMax.write(into: &writer)
    writer.write(latency)
    supervisionTimeout.write(into: &writer)
    eventLengthMin.write(into: &writer)
    eventLengthMax.write(into: &writer)
  }
}

/// Starts to connect to the first advertisement that fits. The link, or its failure, is told by LE Connection
/// Complete; the wait has no end of its own (7.8.12).
public struct LECreateConnection: HCIStatusCommand, Hashable {
  public static let opcode = HCIOpcode(rawValue: 0x200D)

  public var scanInterval: ScanInterval
  public var scanWindow: ScanInterval
  public var filterPolicy: InitiatorFilterPolicy
  public var peerAddress: BluetoothAddress
  public var ownAddressType: OwnAddressType
  public var parameters: ConnectionParameters

  public init(
    scanInterval: ScanInterval, scanWindow: ScanInterval, filterPolicy: InitiatorFilterPolicy = .peerAddress,
    peerAddress: BluetoothAddress, ownAddressType: OwnAddressType = .public, parameters: ConnectionParameters
  ) {
    self.scanInterval = scanInterval
    self.scanWindow = scanWindow
    self.filterPolicy = filterPolicy
    self.peerAddress = peerAddress
    self.ownAddressType = ownAddressType
    self.parameters = parameters
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    scanInterval = try ScanInterval(parsing: &reader)
    scanWindow = try ScanInterval(parsing: &reader)
    filterPolicy = try InitiatorFilterPolicy(parsing: &reader)
    peerAddress = try reader.readAddress()
    ownAddressType = try OwnAddressType(parsing: &reader)
    parameters = try ConnectionParameters(parsing: &reader)
  }

  public func write(into writer: inout ByteWriter) {
    scanInterval.write(into: &writer)
    scanWindow.write(into: &writer)
    filterPolicy.write(into: &writer)
    writer.writeAddress(peerAddress)
    ownAddressType.write(into: &writer)
    parameters.write(into: &writer)
  }
}

/// Ends the wait of LE (Extended) Create Connection. LE Connection Complete follows in any case: with Unknown
/// Connection Identifier, or with a link that was faster (7.8.13).
public struct LECreateConnectionCancel: HCICompletingCommand, HCIEmpty, Hashable {
  public typealias Response = NoReturnParameters

  public static let opcode = HCIOpcode(rawValue: 0x200E)

  public init() {}
}

/// Whom to connect to (7.8.12).
public struct InitiatorFilterPolicy: HCICode {
  public var rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  public static let peerAddress = InitiatorFilterPolicy(rawValue: 0)
  /// Any device of the list; the peer address is ignored.
  public static let filterAcceptList = InitiatorFilterPolicy(rawValue: 1)
}

extension ConnectionParameters {
  /// Whether a controller may accept these parameters: each in its range, and the supervision timeout longer
  /// than two connection events with all that the peripheral may sleep through (7.8.12). A controller refuses
  /// a command with others, or worse: accepts them.
  public var isLegal: Bool {
    let interval = Int64(intervalMax.rawValue) * ConnectionInterval.step
    let timeout = Int64(supervisionTimeout.rawValue) * SupervisionTimeout.step
    return intervalMin.isLegal && intervalMax.isLegal && intervalMin <= intervalMax && latency <= 499
      && supervisionTimeout.isLegal && timeout > (Int64(latency) + 1) * interval * 2
      && eventLengthMin <= eventLengthMax
  }
}
