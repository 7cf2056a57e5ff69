import BluetoothCore
import HCI

extension SignalingPacket.Code {
  /// The specification of a command: name, section, data.
  private static let table: [Self: (name: String, section: String, data: (any PacketFields)?)] = [
    .commandReject: ("Command Reject", "4.1", CommandReject()),
    .connectionRequest: ("Connection Request", "4.2", ChannelRequest()),
    .connectionResponse: ("Connection Response", "4.3", ChannelResponse()),
    .configurationRequest: ("Configuration Request", "4.4", nil),
    .configurationResponse: ("Configuration Response", "4.5", nil),
    .disconnectionRequest: ("Disconnection Request", "4.6", ChannelEnd()),
    .disconnectionResponse: ("Disconnection Response", "4.7", ChannelEnd()),
    .echoRequest: ("Echo Request", "4.8", nil),
    .echoResponse: ("Echo Response", "4.9", nil),
    .informationRequest: ("Information Request", "4.10", InformationRequest()),
    .informationResponse: ("Information Response", "4.11", nil),
    .connectionParameterUpdateRequest: (
      "Connection Parameter Update Request", "4.20", ConnectionParameterUpdateRequest()
    ),
    .connectionParameterUpdateResponse: (
      "Connection Parameter Update Response", "4.21", ConnectionParameterUpdateResponse()
    ),
    .leCreditBasedConnectionRequest: (
      "LE Credit Based Connection Request", "4.22", LECreditRequest()
    ),
    .leCreditBasedConnectionResponse: (
      "LE Credit Based Connection Response", "4.23", LECreditResponse()
    ),
    .flowControlCredit: ("Flow Control Credit", "4.24", Credits()),
    .creditBasedConnectionRequest: ("Credit Based Connection Request", "4.25", CreditRequest()),
    .creditBasedConnectionResponse: ("Credit Based Connection Response", "4.26", CreditResponse()),
    .creditBasedReconfigureRequest: ("Credit Based Reconfigure Request", "4.27", nil),
    .creditBasedReconfigureResponse: ("Credit Based Reconfigure Response", "4.28", nil),
  ]

  /// Name and number.
  public var description: String { "\(name ?? "code") (\(Hex.string(rawValue)))" }

  /// The name in the specification; nil if unknown.
  public var name: String? { Self.table[self]?.name }

  /// `Vol 3, Part A, 4.20`.
  public var reference: String { "Vol 3, Part A, " + (Self.table[self]?.section ?? "4") }

  /// The data, all zero; nil if it is not declared.
  public var data: (any PacketFields)? { Self.table[self]?.data }
}

/// A command that could not be answered (4.1).
public struct CommandReject: PacketFields {
  /// 0 command not understood, 1 MTU exceeded, 2 invalid CID.
  public var reason: UInt16 = 0

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value(
      "reason", &reason, .names([0: "command not understood", 1: "MTU exceeded", 2: "invalid CID"]))
  }
}

/// The parameters that a peripheral requests (4.20).
public struct ConnectionParameterUpdateRequest: PacketFields {
  public var parameters = ConnectionParameters()

  public init() {}

  public init(_ parameters: ConnectionParameters) {
    self.parameters = parameters
  }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("interval min", &parameters.intervalMin)
    try fields.value("interval max", &parameters.intervalMax)
    try fields.value("latency", &parameters.latency, .unit("events"))
    try fields.value("timeout", &parameters.supervisionTimeout)
  }
}

/// The central's answer (4.21).
public struct ConnectionParameterUpdateResponse: PacketFields {
  /// 0 is accepted, 1 is rejected.
  public var result: UInt16 = 0

  public init() {}

  public init(isAccepted: Bool) {
    result = isAccepted ? 0 : 1
  }

  /// Whether the parameters will be used.
  public var isAccepted: Bool { result == 0 }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("result", &result, .names([0: "accepted", 1: "rejected"]))
  }
}

// MARK: Channels, which the stack does not open

private struct ChannelRequest: PacketFields {
  var psm: UInt16 = 0
  var source: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("PSM", &psm, .hex)
    try fields.value("source CID", &source, .hex)
  }
}

private struct ChannelResponse: PacketFields {
  var ends = ChannelEnd()
  var result: UInt16 = 0
  var status: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try ends.visit(&fields)
    try fields.value(
      "result", &result,
      .names([0: "successful", 1: "pending", 2: "PSM not supported", 3: "security block"]))
    try fields.value("status", &status)
  }
}

private struct ChannelEnd: PacketFields {
  var destination: UInt16 = 0
  var source: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("destination CID", &destination, .hex)
    try fields.value("source CID", &source, .hex)
  }
}

private struct InformationRequest: PacketFields {
  var type: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("type", &type, .names([1: "MTU", 2: "extended features", 3: "fixed channels"]))
  }
}

/// The MTU, MPS and credits of a credit-based channel (4.22 to 4.26).
private struct CreditSizes: PacketFields {
  var mtu: UInt16 = 0
  var mps: UInt16 = 0
  var credits: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("MTU", &mtu)
    try fields.value("MPS", &mps)
    try fields.value("credits", &credits)
  }
}

private struct LECreditRequest: PacketFields {
  var spsm: UInt16 = 0
  var source: UInt16 = 0
  var sizes = CreditSizes()

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("SPSM", &spsm, .hex)
    try fields.value("source CID", &source, .hex)
    try sizes.visit(&fields)
  }
}

private struct LECreditResponse: PacketFields {
  var destination: UInt16 = 0
  var sizes = CreditSizes()
  var result: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("destination CID", &destination, .hex)
    try sizes.visit(&fields)
    try fields.value(
      "result", &result, .names([0: "successful", 2: "SPSM not supported", 4: "no resources"]))
  }
}

private struct Credits: PacketFields {
  var channel: UInt16 = 0
  var credits: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("CID", &channel, .hex)
    try fields.value("credits", &credits)
  }
}

private struct CreditRequest: PacketFields {
  var spsm: UInt16 = 0
  var sizes = CreditSizes()
  var channels: [SourceChannel] = []

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("SPSM", &spsm, .hex)
    try sizes.visit(&fields)
    try fields.items(nil, &channels)
  }

  struct SourceChannel: PacketFields {
    var channel: UInt16 = 0

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("source CID", &channel, .hex)
    }
  }
}

private struct CreditResponse: PacketFields {
  var sizes = CreditSizes()
  var result: UInt16 = 0
  var channels: [DestinationChannel] = []

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try sizes.visit(&fields)
    try fields.value("result", &result)
    try fields.items(nil, &channels)
  }

  struct DestinationChannel: PacketFields {
    var channel: UInt16 = 0

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("destination CID", &channel, .hex)
    }
  }
}
