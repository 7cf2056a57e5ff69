import BluetoothCore

/// The longest packets in one direction (7.8.33, 7.8.46).
public struct DataLength: PacketFields {
  /// Payload: 27 to 251 bytes.
  public var octets: UInt16 = 0
  /// Time on air: 328 to 17040 microseconds.
  public var time: UInt16 = 0

  public init() {}

  public init(octets: UInt16, time: UInt16) {
    self.octets = octets
    self.time = time
  }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("max octets", &octets, .unit("bytes"))
    try fields.value("max time", &time, .unit("us"))
  }
}

/// The longest packets in both directions.
public struct DataLengths: PacketFields {
  public var transmit = DataLength()
  public var receive = DataLength()

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("TX max octets", &transmit.octets, .unit("bytes"))
    try fields.value("TX max time", &transmit.time, .unit("us"))
    try fields.value("RX max octets", &receive.octets, .unit("bytes"))
    try fields.value("RX max time", &receive.time, .unit("us"))
  }
}

/// Sets the longest packets to send on a link. LE Data Length Change follows if that changes them.
public struct LESetDataLength: HCICompletingCommand, HCILinkFields {
  public typealias Response = LinkReturnParameters

  public static let info = HCICommandInfo(0x2022, "LE Set Data Length", "7.8.33", octet: 33, bit: 6)

  public var handle = ConnectionHandle()
  public var transmit = DataLength()

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try transmit.visit(&fields)
  }
}

/// Reads the initial maximum packet length of new links.
public struct LEReadSuggestedDefaultDataLength: HCICompletingCommand, HCIEmpty {
  public typealias Response = DataLength

  public static let info = HCICommandInfo(
    0x2023, "LE Read Suggested Default Data Length", "7.8.34", octet: 33, bit: 7)

  public init() {}
}

/// Sets the initial maximum packet length of new links.
public struct LEWriteSuggestedDefaultDataLength: HCICompletingCommand {
  public static let info = HCICommandInfo(
    0x2024, "LE Write Suggested Default Data Length", "7.8.35", octet: 34, bit: 0)

  public var transmit = DataLength()

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try transmit.visit(&fields)
  }
}

/// Reads the maximum packet length that the controller supports.
public struct LEReadMaximumDataLength: HCICompletingCommand, HCIEmpty {
  public typealias Response = DataLengths

  public static let info = HCICommandInfo(0x202F, "LE Read Maximum Data Length", "7.8.46", octet: 35, bit: 3)

  public init() {}
}
