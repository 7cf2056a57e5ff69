import HCI
import HaloBluetoothCore

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

/// The two identifiers of a channel that is closed (4.6 and 4.7).
package struct ChannelEnd: PacketFields {
  package var destination: UInt16 = 0
  package var source: UInt16 = 0

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("destination CID", &destination, .hex)
    try fields.value("source CID", &source, .hex)
  }
}
