import BluetoothCore

/// The parameters in force on a link (Core Specification Vol 4, Part E, 7.7.65.1, 7.7.65.3).
public struct LinkParameters: PacketFields, Hashable {
  public var interval = ConnectionInterval()
  /// The number of connection events that the peripheral may skip.
  public var latency: UInt16 = 0
  public var supervisionTimeout = SupervisionTimeout()

  public init() {}

  public init(interval: ConnectionInterval, latency: UInt16 = 0, supervisionTimeout: SupervisionTimeout) {
    self.interval = interval
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
  }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("connection interval", &interval)
    try fields.value("latency", &latency, .unit("events"))
    try fields.value("supervision timeout", &supervisionTimeout)
  }
}

/// The parameters of a link have changed, or the change has failed (7.7.65.3).
public struct LEConnectionUpdateComplete: HCILinkFields {
  public var status = HCIErrorCode.success
  public var handle = ConnectionHandle()
  public var parameters = LinkParameters()

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.connectionHandle(&handle)
    try parameters.visit(&fields)
  }
}

/// The features supported by the peer's link layer (7.7.65.4).
public struct LEReadRemoteFeaturesComplete: HCILinkFields {
  public var status = HCIErrorCode.success
  public var handle = ConnectionHandle()
  public var features: LEFeatures = []

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.connectionHandle(&handle)
    try fields.value("features", &features)
  }
}

/// The peer requests encryption of a link, for which its key is needed (7.7.65.5).
public struct LELongTermKeyRequest: HCILinkFields {
  public var handle = ConnectionHandle()
  /// The random number (Rand), least significant byte first on the wire.
  public var random: UInt64 = 0
  /// EDIV.
  public var encryptedDiversifier: UInt16 = 0

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("random number", &random, .hex)
    try fields.value("encrypted diversifier", &encryptedDiversifier, .hex)
  }
}

/// The peer requests other parameters, and waits for a reply (7.7.65.6).
public struct LERemoteConnectionParameterRequest: HCILinkFields {
  public var handle = ConnectionHandle()
  public var intervalMin = ConnectionInterval()
  public var intervalMax = ConnectionInterval()
  /// The number of connection events that the peripheral may skip.
  public var latency: UInt16 = 0
  public var supervisionTimeout = SupervisionTimeout()

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("connection interval min", &intervalMin)
    try fields.value("connection interval max", &intervalMax)
    try fields.value("latency", &latency, .unit("events"))
    try fields.value("supervision timeout", &supervisionTimeout)
  }
}

/// The longest packets on a link have changed (7.7.65.7).
public struct LEDataLengthChange: HCILinkFields {
  public var handle = ConnectionHandle()
  public var lengths = DataLengths()

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try lengths.visit(&fields)
  }
}

/// The PHYs that a link uses now (7.7.65.12).
public struct LEPHYUpdateComplete: HCILinkFields {
  public var status = HCIErrorCode.success
  public var handle = ConnectionHandle()
  public var phys = LinkPHYs()

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.connectionHandle(&handle)
    try phys.visit(&fields)
  }
}

/// The channel selection algorithm of a link (7.7.65.20).
public struct LEChannelSelectionAlgorithm: HCILinkFields {
  public var handle = ConnectionHandle()
  /// 0 is algorithm #1, 1 is algorithm #2.
  public var algorithm: UInt8 = 0

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("channel selection algorithm", &algorithm, .names([0: "#1", 1: "#2"]))
  }
}

// MARK: Events that the stack does not use

/// The controller's public key for pairing (7.7.65.8).
public struct LEReadLocalP256PublicKeyComplete: PacketFields {
  public var status = HCIErrorCode.success
  /// 32 bytes each, least significant byte first.
  public var x: [UInt8] = []
  public var y: [UInt8] = []

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.bytes("public key X", &x, count: 32)
    try fields.bytes("public key Y", &y, count: 32)
  }
}

/// A Diffie-Hellman key (7.7.65.9).
public struct LEGenerateDHKeyComplete: PacketFields {
  public var status = HCIErrorCode.success
  public var key: [UInt8] = []

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.bytes("Diffie-Hellman key", &key, count: 32)
  }
}

/// An advertising set has ended, with or without a link (7.7.65.18).
public struct LEAdvertisingSetTerminated: PacketFields {
  public var status = HCIErrorCode.success
  /// Of the advertising set: 0 to 0xEF.
  public var advertisingHandle: UInt8 = 0
  public var handle = ConnectionHandle()
  /// The number of advertising events sent.
  public var events: UInt8 = 0

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.value("advertising handle", &advertisingHandle)
    try fields.connectionHandle(&handle)
    try fields.value("advertising events", &events)
  }
}

/// A scanner has sent a scan request (7.7.65.19).
public struct LEScanRequestReceived: PacketFields {
  /// Of the advertising set: 0 to 0xEF.
  public var advertisingHandle: UInt8 = 0
  public var scanner = BluetoothAddress.zero

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("advertising handle", &advertisingHandle)
    try fields.typedAddress("scanner address", type: "scanner address type", &scanner)
  }
}
