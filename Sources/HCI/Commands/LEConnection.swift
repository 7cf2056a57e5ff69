import HaloBluetoothCore

/// The connection parameters that a host requests, in the order that all commands share (Core Specification Vol 4, Part
/// E, 7.8.12).
package struct ConnectionParameters: PacketFields, Hashable {
  package var intervalMin = ConnectionInterval()
  package var intervalMax = ConnectionInterval()
  /// The number of connection events that the peripheral may skip: 0 to 499.
  package var latency: UInt16 = 0
  package var supervisionTimeout = SupervisionTimeout()
  package var eventLengthMin = ConnectionEventLength()
  package var eventLengthMax = ConnectionEventLength()

  package init() {}

  package init(
    intervalMin: ConnectionInterval, intervalMax: ConnectionInterval, latency: UInt16 = 0,
    supervisionTimeout: SupervisionTimeout
  ) {
    self.intervalMin = intervalMin
    self.intervalMax = intervalMax
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
  }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("connection interval min", &intervalMin)
    try fields.value("connection interval max", &intervalMax)
    try fields.value("latency", &latency, .unit("events"))
    try fields.value("supervision timeout", &supervisionTimeout)
    try fields.value("connection event length min", &eventLengthMin)
    try fields.value("connection event length max", &eventLengthMax)
  }

  /// Whether the specification allows these parameters: each is in its range, and the supervision timeout is longer
  /// than two connection intervals times the latency plus one. Some controllers accept others.
  package var isLegal: Bool {
    let interval = Int64(intervalMax.rawValue) * ConnectionInterval.step
    let timeout = Int64(supervisionTimeout.rawValue) * SupervisionTimeout.step
    return intervalMin.isLegal && intervalMax.isLegal && intervalMin <= intervalMax && latency <= 499
      && supervisionTimeout.isLegal && timeout > (Int64(latency) + 1) * interval * 2
      && eventLengthMin <= eventLengthMax
  }
}

/// How long and how often to listen for the peer (7.8.12).
package struct InitiatorScan: PacketFields {
  package var interval = ScanInterval()
  package var window = ScanInterval()

  package init() {}

  package init(interval: ScanInterval, window: ScanInterval) {
    self.interval = interval
    self.window = window
  }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("scan interval", &interval)
    try fields.value("scan window", &window)
  }
}

/// Connects to the first matching advertiser. LE Connection Complete follows with the link or the error; the controller
/// has no time limit.
package struct LECreateConnection: HCIStatusCommand {
  package static let info = HCICommandInfo(
    0x200D, "LE Create Connection", "7.8.12", octet: 26, bit: 4,
    endsWith: [
      .leEvent(.connectionComplete), .leEvent(.enhancedConnectionComplete),
      .leEvent(.enhancedConnectionCompleteV2),
    ])

  package var scan = InitiatorScan()
  package var filterPolicy = InitiatorFilterPolicy.peerAddress
  package var peerAddress = BluetoothAddress.zero
  package var ownAddressType = OwnAddressType.public
  package var parameters = ConnectionParameters()

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try scan.visit(&fields)
    try fields.value("initiator filter policy", &filterPolicy)
    let isUsed = filterPolicy == .peerAddress
    try fields.typedAddress("peer address", type: "peer address type", &peerAddress, isUsed: isUsed)
    try fields.value("own address type", &ownAddressType)
    try parameters.visit(&fields)
  }
}

/// Connects to the first matching advertiser, legacy or extended, with parameters for each PHY. LE (Enhanced)
/// Connection Complete follows with the link or the error.
package struct LEExtendedCreateConnection: HCIStatusCommand {
  package static let info = HCICommandInfo(
    0x2043, "LE Extended Create Connection", "7.8.66", octet: 37, bit: 7,
    endsWith: [
      .leEvent(.connectionComplete), .leEvent(.enhancedConnectionComplete),
      .leEvent(.enhancedConnectionCompleteV2),
    ])

  /// The scan and connection parameters for one PHY.
  package struct Initiation: PacketFields {
    /// Not used for LE 2M, which has no primary advertising.
    package var scan = InitiatorScan()
    package var parameters = ConnectionParameters()

    package init() {}

    package init(scan: InitiatorScan, parameters: ConnectionParameters) {
      self.scan = scan
      self.parameters = parameters
    }

    package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try scan.visit(&fields)
      try parameters.visit(&fields)
    }
  }

  package var filterPolicy = InitiatorFilterPolicy.peerAddress
  package var ownAddressType = OwnAddressType.public
  package var peerAddress = BluetoothAddress.zero
  /// For LE 1M; nil to omit it. The same applies to the other two.
  package var le1M: Initiation?
  package var le2M: Initiation?
  package var leCoded: Initiation?

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("initiator filter policy", &filterPolicy)
    try fields.value("own address type", &ownAddressType)
    let isUsed = filterPolicy == .peerAddress
    try fields.typedAddress("peer address", type: "peer address type", &peerAddress, isUsed: isUsed)
    var phys = LEPHYs(le1M: le1M != nil, le2M: le2M != nil, leCoded: leCoded != nil)
    try fields.value("PHYs", &phys, .bits(LEPHYs.bits))
    try fields.check(
      phys.isSubset(of: [.le1M, .le2M, .leCoded]),
      "no set of physical layers to connect on: \(phys)")
    try fields.group("LE 1M", &le1M, isPresent: phys.contains(.le1M))
    try fields.group("LE 2M", &le2M, isPresent: phys.contains(.le2M))
    try fields.group("LE Coded", &leCoded, isPresent: phys.contains(.leCoded))
  }
}

/// Cancels LE (Extended) Create Connection. LE Connection Complete always follows: with Unknown Connection Identifier,
/// or with a link that was established first.
package struct LECreateConnectionCancel: HCICompletingCommand, HCIEmpty {
  package static let info = HCICommandInfo(0x200E, "LE Create Connection Cancel", "7.8.13", octet: 26, bit: 5)

  package init() {}
}

/// Which devices to connect to (7.8.12).
package struct InitiatorFilterPolicy: HCICode {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let peerAddress = InitiatorFilterPolicy(rawValue: 0)
  /// Any device of the list; the peer address is ignored.
  package static let filterAcceptList = InitiatorFilterPolicy(rawValue: 1)

  package static let names: [UInt8: String] = [0: "the peer address", 1: "the filter accept list"]
}
