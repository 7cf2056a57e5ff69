import HCI
import HaloBluetoothCore

extension SignalingPacket.Code {
  /// The specification of a command: name, section, data.
  private static let table: [Self: (name: String, section: String, data: (any PacketFields)?)] = [
    .commandReject: ("Command Reject", "4.1", CommandReject()),
    .connectionRequest: (
      "Connection Request", "4.2", DecodedFields([.value("PSM", ExtensiblePSM()), .source])
    ),
    .connectionResponse: (
      "Connection Response", "4.3",
      DecodedFields([
        .destination, .source,
        .uint16(
          "result",
          .names([
            0: "successful", 1: "pending", 2: "PSM not supported", 3: "security block", 4: "no resources",
            6: "invalid source CID", 7: "source CID already allocated",
          ])),
        .uint16(
          "status",
          .names([0: "no further information", 1: "authentication pending", 2: "authorization pending"])),
      ])
    ),
    .configurationRequest: (
      "Configuration Request", "4.4", DecodedFields([.destination, .configurationFlags, .options])
    ),
    .configurationResponse: (
      "Configuration Response", "4.5",
      DecodedFields([
        .source, .configurationFlags,
        .uint16(
          "result",
          .names([
            0: "success", 1: "unacceptable parameters", 2: "rejected", 3: "unknown options", 4: "pending",
            5: "flow specification rejected",
          ])),
        .options,
      ])
    ),
    .disconnectionRequest: ("Disconnection Request", "4.6", ChannelEnd()),
    .disconnectionResponse: ("Disconnection Response", "4.7", ChannelEnd()),
    .echoRequest: ("Echo Request", "4.8", DecodedFields([.rest("echo data")])),
    .echoResponse: ("Echo Response", "4.9", DecodedFields([.rest("echo data")])),
    .informationRequest: (
      "Information Request", "4.10", DecodedFields([.uint16("type", .names(InformationResponse.types))])
    ),
    .informationResponse: ("Information Response", "4.11", InformationResponse()),
    .connectionParameterUpdateRequest: (
      "Connection Parameter Update Request", "4.20", ConnectionParameterUpdateRequest()
    ),
    .connectionParameterUpdateResponse: (
      "Connection Parameter Update Response", "4.21", ConnectionParameterUpdateResponse()
    ),
    .leCreditBasedConnectionRequest: (
      "LE Credit Based Connection Request", "4.22", DecodedFields([.spsm, .source, .creditSizes])
    ),
    .leCreditBasedConnectionResponse: (
      "LE Credit Based Connection Response", "4.23",
      DecodedFields([.destination, .creditSizes, .creditResult])
    ),
    .flowControlCredit: (
      "Flow Control Credit", "4.24", DecodedFields([.uint16("CID", .hex), .uint16("credits")])
    ),
    .creditBasedConnectionRequest: (
      "Credit Based Connection Request", "4.25", DecodedFields([.spsm, .creditSizes, .sources])
    ),
    .creditBasedConnectionResponse: (
      "Credit Based Connection Response", "4.26",
      DecodedFields([.creditSizes, .creditResult, .destinations])
    ),
    .creditBasedReconfigureRequest: (
      "Credit Based Reconfigure Request", "4.27",
      DecodedFields([.uint16("MTU"), .uint16("MPS"), .destinations])
    ),
    .creditBasedReconfigureResponse: (
      "Credit Based Reconfigure Response", "4.28",
      DecodedFields([
        .uint16(
          "result",
          .names([
            0: "successful", 1: "MTU would be smaller", 2: "MPS would be smaller",
            3: "invalid destination CID",
            4: "unacceptable parameters",
          ]))
      ])
    ),
  ]

  /// Name and number.
  package var description: String { "\(name ?? "code") (\(Hex.string(rawValue)))" }

  /// The name in the specification; nil if unknown.
  package var name: String? { Self.table[self]?.name }

  /// `Vol 3, Part A, 4.20`.
  package var reference: String { "Vol 3, Part A, " + (Self.table[self]?.section ?? "4") }

  /// The data, all zero; nil if it is not declared.
  package var data: (any PacketFields)? { Self.table[self]?.data }
}

/// A command that could not be answered (4.1).
package struct CommandReject: PacketFields {
  /// Why it could not (Table 4.4).
  enum Reason: UInt16 {
    case commandNotUnderstood = 0
    case mtuExceeded = 1
    case invalidCID = 2
  }

  /// 0 command not understood, 1 MTU exceeded, 2 invalid CID.
  package var reason: UInt16 = 0
  /// The largest MTU, or the two identifiers of the channel; empty for other reasons.
  package var data: [UInt16] = []

  package init() {}

  init(reason: Reason, data: [UInt16]) {
    self.reason = reason.rawValue
    self.data = data
  }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value(
      "reason", &reason, .names([0: "command not understood", 1: "MTU exceeded", 2: "invalid CID"]))
    guard let left = fields.bytesLeft else {
      for index in data.indices { try fields.value("data", &data[index]) }
      return
    }
    data = Array(repeating: 0, count: reason == 1 ? min(1, left / 2) : reason == 2 ? min(2, left / 2) : 0)
    for index in data.indices {
      if reason == 1 {
        try fields.value("maximum MTU", &data[index], .unit("bytes"))
      } else {
        try fields.value(index == 0 ? "local CID" : "remote CID", &data[index], .hex)
      }
    }
  }
}

/// The parameters that a peripheral requests (4.20).
package struct ConnectionParameterUpdateRequest: PacketFields {
  package var parameters = ConnectionParameters()

  package init() {}

  package init(_ parameters: ConnectionParameters) {
    self.parameters = parameters
  }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("interval min", &parameters.intervalMin)
    try fields.value("interval max", &parameters.intervalMax)
    try fields.value("latency", &parameters.latency, .unit("events"))
    try fields.value("timeout", &parameters.supervisionTimeout)
  }
}

/// The central's answer (4.21).
package struct ConnectionParameterUpdateResponse: PacketFields {
  /// 0 is accepted, 1 is rejected.
  package var result: UInt16 = 0

  package init() {}

  package init(isAccepted: Bool) {
    result = isAccepted ? 0 : 1
  }

  /// Whether the parameters will be used.
  package var isAccepted: Bool { result == 0 }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("result", &result, .names([0: "accepted", 1: "rejected"]))
  }
}
