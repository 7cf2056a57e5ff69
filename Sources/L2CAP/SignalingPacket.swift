import HCI
import HaloBluetoothCore

/// A command on the LE signalling channel: code, identifier, length, data (Core Specification Vol 3, Part A, 4).
package struct SignalingPacket: Hashable, Sendable {
  /// The kind of a command (4, Table 4.2).
  package struct Code: HCICode {
    package var rawValue: UInt8

    package init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    package static let commandReject = Code(rawValue: 0x01)
    package static let connectionRequest = Code(rawValue: 0x02)
    package static let connectionResponse = Code(rawValue: 0x03)
    package static let configurationRequest = Code(rawValue: 0x04)
    package static let configurationResponse = Code(rawValue: 0x05)
    package static let disconnectionRequest = Code(rawValue: 0x06)
    package static let disconnectionResponse = Code(rawValue: 0x07)
    package static let echoRequest = Code(rawValue: 0x08)
    package static let echoResponse = Code(rawValue: 0x09)
    package static let informationRequest = Code(rawValue: 0x0A)
    package static let informationResponse = Code(rawValue: 0x0B)
    package static let connectionParameterUpdateRequest = Code(rawValue: 0x12)
    package static let connectionParameterUpdateResponse = Code(rawValue: 0x13)
    package static let leCreditBasedConnectionRequest = Code(rawValue: 0x14)
    package static let leCreditBasedConnectionResponse = Code(rawValue: 0x15)
    package static let flowControlCredit = Code(rawValue: 0x16)
    package static let creditBasedConnectionRequest = Code(rawValue: 0x17)
    package static let creditBasedConnectionResponse = Code(rawValue: 0x18)
    package static let creditBasedReconfigureRequest = Code(rawValue: 0x19)
    package static let creditBasedReconfigureResponse = Code(rawValue: 0x1A)

    /// Whether it is an answer. Answers are never answered, not even unknown ones: otherwise two devices could reject
    /// each other forever.
    var isAnswer: Bool {
      switch self {
      case .commandReject, .connectionResponse, .configurationResponse, .disconnectionResponse, .echoResponse,
        .informationResponse, .connectionParameterUpdateResponse, .leCreditBasedConnectionResponse,
        .flowControlCredit, .creditBasedConnectionResponse, .creditBasedReconfigureResponse:
        true
      default: false
      }
    }
  }

  package var code: Code
  /// Matches a request with its response; never zero.
  package var identifier: UInt8
  /// The bytes behind the header.
  package var data: [UInt8]

  package init(code: Code, identifier: UInt8, data: [UInt8]) {
    self.code = code
    self.identifier = identifier
    self.data = data
  }

  package init(code: Code, identifier: UInt8, data: some PacketFields) {
    self.init(code: code, identifier: identifier, data: data.encoded())
  }

  /// Reads the single command in an LE signalling frame.
  /// - Throws: `DecodeError` if the length does not match the data.
  package init(parsing reader: inout ByteReader) throws(DecodeError) {
    let header = try SignalingHeader(parsing: &reader)
    code = header.code
    identifier = header.identifier
    data = try reader.readBytes(Int(header.length))
    try reader.expectEnd()
  }

  package func write(into writer: inout ByteWriter) {
    let header = SignalingHeader {
      $0.code = code
      $0.identifier = identifier
      $0.length = UInt16(truncatingIfNeeded: data.count)
    }
    header.write(into: &writer)
    writer.write(data)
  }

  /// Decodes the data as the fields of its command.
  package func fields<Fields: PacketFields>(_ type: Fields.Type) -> Fields? {
    data.withReader { reader in
      guard let fields = try? Fields(parsing: &reader), reader.isAtEnd else { return nil }
      return fields
    }
  }
}

/// The first four bytes of a signalling command (4).
package struct SignalingHeader: PacketFields {
  package var code = SignalingPacket.Code(rawValue: 0)
  package var identifier: UInt8 = 0
  /// The length of the data, in bytes.
  package var length: UInt16 = 0

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("code", &code)
    try fields.value("identifier", &identifier)
    try fields.value("length", &length, .unit("bytes"))
  }
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
