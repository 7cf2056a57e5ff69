import BluetoothCore

/// Changes the parameters of a link. LE Connection Update Complete follows, with those in force.
public struct LEConnectionUpdate: HCIStatusCommand, HCILinkFields {
  public static let info = HCICommandInfo(0x2013, "LE Connection Update", "7.8.18", octet: 27, bit: 2)

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
      try fields.bytes("channel map", &channelMap, count: 5)
    }
  }

  public init() {}
}

/// Reads the features of the peer's link layer. LE Read Remote Features Complete follows.
public struct LEReadRemoteFeatures: HCIStatusCommand, HCILinkFields {
  public static let info = HCICommandInfo(0x2016, "LE Read Remote Features", "7.8.21", octet: 27, bit: 5)

  public var handle = ConnectionHandle()

  public init() {}
}

/// Accepts the parameters requested by the peer, or similar ones.
public struct LERemoteConnectionParameterRequestReply: HCICompletingCommand, HCILinkFields {
  public typealias Response = LinkReturnParameters

  public static let info = HCICommandInfo(
    0x2020, "LE Remote Connection Parameter Request Reply", "7.8.31", octet: 33, bit: 4)

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
  public typealias Response = LinkReturnParameters

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
