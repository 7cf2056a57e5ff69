import HaloBluetoothCore

/// Changes the parameters of a link. LE Connection Update Complete follows, with those in force.
public struct LEConnectionUpdate: HCIStatusCommand, HCILinkFields {
  public static let info = HCICommandInfo(
    0x2013, "LE Connection Update", "7.8.18", octet: 27, bit: 2,
    endsWith: [.leEvent(.connectionUpdateComplete)])

  public var handle = ConnectionHandle()
  public var parameters = ConnectionParameters()

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try parameters.visit(&fields)
  }
}

/// Reads the channel map of a link.
public struct LEReadChannelMap: HCICompletingCommand, HCILinkFields {
  public static let info = HCICommandInfo(0x2015, "LE Read Channel Map", "7.8.20", octet: 27, bit: 4)

  public var handle = ConnectionHandle()

  public struct Response: HCILinkFields {
    public var handle = ConnectionHandle()
    /// Five bytes; bit n is data channel n, 0 to 36.
    public var channelMap: [UInt8] = []

    public init() {}

    public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.connectionHandle(&handle)
      var map = ChannelMap(channelMap)
      try fields.value("channel map", &map)
      channelMap = map.bytes
    }
  }

  public init() {}
}

/// Reads the features of the peer's link layer. LE Read Remote Features Complete follows.
public struct LEReadRemoteFeatures: HCIStatusCommand, HCILinkFields {
  public static let info = HCICommandInfo(
    0x2016, "LE Read Remote Features Page 0", "7.8.21", octet: 27, bit: 5,
    endsWith: [.leEvent(.readRemoteFeaturesComplete)])

  public var handle = ConnectionHandle()

  public init() {}
}

/// Accepts the parameters requested by the peer, or similar ones.
public struct LERemoteConnectionParameterRequestReply: HCICompletingCommand, HCILinkFields {
  public typealias Response = LinkOnly

  public static let info = HCICommandInfo(
    0x2020, "LE Remote Connection Parameter Request Reply", "7.8.31", octet: 33, bit: 4,
    endsWith: [.leEvent(.connectionUpdateComplete)])

  public var handle = ConnectionHandle()
  public var parameters = ConnectionParameters()

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try parameters.visit(&fields)
  }
}

/// Rejects the parameters requested by the peer.
public struct LERemoteConnectionParameterRequestNegativeReply: HCICompletingCommand, HCILinkFields {
  public typealias Response = LinkOnly

  public static let info = HCICommandInfo(
    0x2021, "LE Remote Connection Parameter Request Negative Reply", "7.8.32", octet: 33, bit: 5)

  public var handle = ConnectionHandle()
  public var reason = HCIErrorCode.unacceptableConnectionParameters

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("reason", &reason)
  }
}

/// The longest packets in one direction (7.8.33, 7.8.46).
public struct DataLength: PacketFields, Hashable {
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
public struct DataLengths: PacketFields, Hashable {
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
  public typealias Response = LinkOnly

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

/// Reads the PHYs of a link.
public struct LEReadPHY: HCICompletingCommand, HCILinkFields {
  public static let info = HCICommandInfo(0x2030, "LE Read PHY", "7.8.47", octet: 35, bit: 4)

  public var handle = ConnectionHandle()

  public struct Response: HCILinkFields {
    public var handle = ConnectionHandle()
    public var phys = LinkPHYs()

    public init() {}

    public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.connectionHandle(&handle)
      try phys.visit(&fields)
    }
  }

  public init() {}
}

/// The PHYs of a link.
public struct LinkPHYs: PacketFields, Hashable {
  public var transmit = LEPHY.none
  public var receive = LEPHY.none

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("TX PHY", &transmit)
    try fields.value("RX PHY", &receive)
  }
}

/// The PHYs that a host prefers (7.8.48).
public struct PreferredPHYs: PacketFields {
  /// PHYs to transmit on; nil for no preference.
  public var transmit: LEPHYs?
  /// PHYs to receive on; nil for no preference.
  public var receive: LEPHYs?

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    var noPreference = UInt8((transmit == nil ? 1 : 0) | (receive == nil ? 2 : 0))
    var transmit = self.transmit ?? []
    var receive = self.receive ?? []
    try fields.value("no preference", &noPreference, .bits(Self.noPreferenceBits))
    let preference = noPreference
    try fields.value("TX PHYs", &transmit, preference & 1 == 0 ? .bits(LEPHYs.bits) : .words("not used"))
    try fields.value("RX PHYs", &receive, preference & 2 == 0 ? .bits(LEPHYs.bits) : .words("not used"))
    self.transmit = noPreference & 1 == 0 ? transmit : nil
    self.receive = noPreference & 2 == 0 ? receive : nil
  }
}

/// Sets the preferred PHYs of new links.
public struct LESetDefaultPHY: HCICompletingCommand {
  public static let info = HCICommandInfo(0x2031, "LE Set Default PHY", "7.8.48", octet: 35, bit: 5)

  public var preferred = PreferredPHYs()

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try preferred.visit(&fields)
  }
}

/// Sets the preferred PHYs of a link. LE PHY Update Complete follows.
public struct LESetPHY: HCIStatusCommand, HCILinkFields {
  public static let info = HCICommandInfo(
    0x2032, "LE Set PHY", "7.8.49", octet: 35, bit: 6, endsWith: [.leEvent(.phyUpdateComplete)])

  public var handle = ConnectionHandle()
  public var preferred = PreferredPHYs()
  /// The preferred coding on LE Coded: no preference (0), S=2 (1) or S=8 (2).
  public var codedOptions: UInt16 = 0

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try preferred.visit(&fields)
    try fields.value(
      "LE Coded options", &codedOptions,
      .names([
        0: "no preference", 1: "S=2 preferred", 2: "S=8 preferred", 3: "S=2 required", 4: "S=8 required",
      ]))
  }
}
