import HaloBluetoothCore

/// The parameters in force on a link (Core Specification Vol 4, Part E, 7.7.65.1, 7.7.65.3).
package struct LinkParameters: PacketFields, Hashable {
  package var interval = ConnectionInterval()
  /// The number of connection events that the peripheral may skip.
  package var latency: UInt16 = 0
  package var supervisionTimeout = SupervisionTimeout()

  package init() {}

  package init(interval: ConnectionInterval, latency: UInt16 = 0, supervisionTimeout: SupervisionTimeout) {
    self.interval = interval
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
  }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("connection interval", &interval)
    try fields.value("latency", &latency, .unit("events"))
    try fields.value("supervision timeout", &supervisionTimeout)
  }
}

/// The parameters of a link have changed, or the change has failed (7.7.65.3).
package struct LEConnectionUpdateComplete: HCILinkFields {
  package var status = HCIErrorCode.success
  package var handle = ConnectionHandle()
  package var parameters = LinkParameters()

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.connectionHandle(&handle)
    try parameters.visit(&fields)
  }
}

/// The features supported by the peer's link layer (7.7.65.4).
package struct LEReadRemoteFeaturesComplete: HCILinkFields {
  package var status = HCIErrorCode.success
  package var handle = ConnectionHandle()
  package var features: LEFeatures = []

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.connectionHandle(&handle)
    try fields.value("features", &features, .bits(LEFeatures.bits))
  }
}

/// The peer requests encryption of a link, for which its key is needed (7.7.65.5).
package struct LELongTermKeyRequest: HCILinkFields {
  package var handle = ConnectionHandle()
  /// The random number (Rand), least significant byte first on the wire.
  package var random: UInt64 = 0
  /// EDIV.
  package var encryptedDiversifier: UInt16 = 0

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("random number", &random, .hex)
    try fields.value("encrypted diversifier", &encryptedDiversifier, .hex)
  }
}

/// The peer requests other parameters, and waits for a reply (7.7.65.6).
package struct LERemoteConnectionParameterRequest: HCILinkFields {
  package var handle = ConnectionHandle()
  package var intervalMin = ConnectionInterval()
  package var intervalMax = ConnectionInterval()
  /// The number of connection events that the peripheral may skip.
  package var latency: UInt16 = 0
  package var supervisionTimeout = SupervisionTimeout()

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("connection interval min", &intervalMin)
    try fields.value("connection interval max", &intervalMax)
    try fields.value("latency", &latency, .unit("events"))
    try fields.value("supervision timeout", &supervisionTimeout)
  }
}

/// The longest packets on a link have changed (7.7.65.7).
package struct LEDataLengthChange: HCILinkFields {
  package var handle = ConnectionHandle()
  package var lengths = DataLengths()

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try lengths.visit(&fields)
  }
}

/// The PHYs that a link uses now (7.7.65.12).
package struct LEPHYUpdateComplete: HCILinkFields {
  package var status = HCIErrorCode.success
  package var handle = ConnectionHandle()
  package var phys = LinkPHYs()

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.connectionHandle(&handle)
    try phys.visit(&fields)
  }
}

/// The channel selection algorithm of a link (7.7.65.20).
package struct LEChannelSelectionAlgorithm: HCILinkFields {
  package var handle = ConnectionHandle()
  /// 0 is algorithm #1, 1 is algorithm #2.
  package var algorithm: UInt8 = 0

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("channel selection algorithm", &algorithm, .names([0: "#1", 1: "#2"]))
  }
}

/// An advertising set has ended, with or without a link (7.7.65.18).
package struct LEAdvertisingSetTerminated: PacketFields {
  package var status = HCIErrorCode.success
  /// The handle of the advertising set: 0 to 0xEF.
  package var advertisingHandle: UInt8 = 0
  package var handle = ConnectionHandle()
  /// The number of advertising events sent.
  package var events: UInt8 = 0

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.value("advertising handle", &advertisingHandle)
    // Only a connection ends advertising with success.
    let hasConnection = status == .success
    try fields.value("connection handle", &handle, hasConnection ? .plain : .words("not valid"))
    try fields.value("advertising events", &events)
  }
}

// MARK: Events that the stack does not use

/// A link was established, or has failed (Core Specification Vol 4, Part E, 7.7.65.1 and 7.7.65.10). The controller's
/// version and the event mask determine which of three forms it sends; they have the same meaning.
package struct LEConnectionComplete: PacketFields {
  /// The form on the wire.
  package enum Form: Hashable, Sendable {
    /// LE Connection Complete.
    case plain
    /// LE Enhanced Connection Complete, with resolvable private addresses.
    case enhanced
    /// LE Enhanced Connection Complete version 2, which also identifies the periodic advertising that the link resulted
    /// from.
    case enhancedV2

    var subevent: LESubevent {
      switch self {
      case .plain: .connectionComplete
      case .enhanced: .enhancedConnectionComplete
      case .enhancedV2: .enhancedConnectionCompleteV2
      }
    }
  }

  package var form = Form.plain
  /// If this is an error, only ``role`` and ``peerAddress`` may be valid.
  package var status = HCIErrorCode.success
  package var handle = ConnectionHandle()
  package var role = LERole.central
  package var peerAddress = BluetoothAddress.zero
  /// The resolvable private address that this side used; nil if none, or not reported.
  package var localResolvableAddress: BluetoothAddress?
  /// The resolvable private address that the peer used; nil if none, or not reported.
  package var peerResolvableAddress: BluetoothAddress?
  package var parameters = LinkParameters()
  package var clockAccuracy = ClockAccuracy.ppm500
  /// The periodic advertising that this side sent; nil if none, or not reported.
  package var advertisingHandle: UInt8?
  /// The periodic advertising that this side received; nil if none, or not reported.
  package var syncHandle: UInt16?

  package init() {}

  package init(form: Form) { self.form = form }

  /// Whether it is about a link in the peripheral role, or about directed advertising that is over. The role may be wrong in
  /// other failures.
  package var isOfPeripheral: Bool {
    role == .peripheral && (status == .success || status == .advertisingTimeout)
  }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.connectionHandle(&handle)
    try fields.value("role", &role)
    try fields.typedAddress("peer address", type: "peer address type", &peerAddress)
    if form != .plain {
      try fields.optionalAddress("local resolvable private address", &localResolvableAddress)
      try fields.optionalAddress("peer resolvable private address", &peerResolvableAddress)
    }
    try parameters.visit(&fields)
    // Only a peripheral learns it.
    let isCentral = role == .central
    try fields.value(
      "central clock accuracy", &clockAccuracy, isCentral ? .words("not valid in this role") : .plain)
    if form == .enhancedV2 {
      try fields.value("advertising handle", &advertisingHandle, none: .max, .names([0xFF: "none"]))
      try fields.value("sync handle", &syncHandle, none: .max, .names([0xFFFF: "none"]))
    }
  }
}

extension FieldVisitor where Self: ~Escapable {
  /// A random address; all zero means none.
  @_lifetime(self: copy self)
  fileprivate mutating func optionalAddress(
    _ name: StaticString, _ address: inout BluetoothAddress?
  ) throws(Failure) {
    var present = address ?? BluetoothAddress(0, .random)
    try self.address(name, &present, kind: .random, .names([0: "none"]))
    address = present.value == 0 ? nil : present
  }
}
