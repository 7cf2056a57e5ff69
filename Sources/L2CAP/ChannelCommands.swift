import HCI
import HaloBluetoothCore

// Commands that open, configure and close channels, which the stack does not do (Core Specification Vol 3, Part A, 4.2
// to 4.11 and 4.22 to 4.28).

struct ChannelRequest: PacketFields {
  var psm = ExtensiblePSM()
  var source: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("PSM", &psm)
    try fields.value("source CID", &source, .hex)
  }
}

struct ChannelResponse: PacketFields {
  var ends = ChannelEnd()
  var result: UInt16 = 0
  var status: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try ends.visit(&fields)
    try fields.value(
      "result", &result,
      .names([
        0: "successful", 1: "pending", 2: "PSM not supported", 3: "security block", 4: "no resources",
        6: "invalid source CID", 7: "source CID already allocated",
      ]))
    try fields.value(
      "status", &status,
      .names([0: "no further information", 1: "authentication pending", 2: "authorization pending"]))
  }
}

struct ChannelEnd: PacketFields {
  var destination: UInt16 = 0
  var source: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("destination CID", &destination, .hex)
    try fields.value("source CID", &source, .hex)
  }
}

struct Echo: PacketFields {
  var data: [UInt8] = []

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.rest("echo data", &data)
  }
}

// MARK: Configuration

struct ConfigurationRequest: PacketFields {
  var destination: UInt16 = 0
  var flags = ConfigurationFlags()
  var options: [ConfigurationOption] = []

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("destination CID", &destination, .hex)
    try fields.value("flags", &flags)
    try fields.items(nil, &options)
  }
}

struct ConfigurationResponse: PacketFields {
  var source: UInt16 = 0
  var flags = ConfigurationFlags()
  var result: UInt16 = 0
  var options: [ConfigurationOption] = []

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("source CID", &source, .hex)
    try fields.value("flags", &flags)
    try fields.value(
      "result", &result,
      .names([
        0: "success", 1: "unacceptable parameters", 2: "rejected", 3: "unknown options", 4: "pending",
        5: "flow specification rejected",
      ]))
    try fields.items(nil, &options)
  }
}

struct ConfigurationFlags: HCICode {
  var rawValue: UInt16

  var description: String { rawValue & 1 == 0 ? Hex.string(rawValue) : "continues (\(Hex.string(rawValue)))" }
}

/// An option: type, length, value (5).
struct ConfigurationOption: PacketFields {
  var type = Kind()
  var length: UInt8 = 0
  var number: UInt16 = 0
  var mode = Mode()
  var value: [UInt8] = []

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("option", &type)
    try fields.value("option length", &length, .unit("bytes"))
    switch (type.rawValue & 0x7F, length) {
    case (1, 2): try fields.value("MTU", &number, .unit("bytes"))
    case (2, 2): try fields.value("flush timeout", &number, .unit("ms"))
    case (4, 9): try mode.visit(&fields)
    case (5, 1):
      var check = UInt8(truncatingIfNeeded: number)
      try fields.value("FCS", &check, .names([0: "none", 1: "16 bits"]))
      number = UInt16(check)
    case (7, 2): try fields.value("maximum window", &number)
    default: try fields.bytes("option value", &value, count: Int(length))
    }
  }

  /// The highest bit marks a hint, which may be ignored.
  struct Kind: HCICode {
    var rawValue: UInt8

    private static let known: [UInt8: String] = [
      1: "MTU", 2: "flush timeout", 3: "QoS", 4: "retransmission and flow control", 5: "FCS",
      6: "extended flow specification", 7: "extended window size",
    ]

    var description: String {
      let name = Self.known[rawValue & 0x7F] ?? "type \(rawValue & 0x7F)"
      return rawValue & 0x80 == 0 ? name : "\(name), hint"
    }
  }

  /// Retransmission and flow control (5.4).
  struct Mode: PacketFields {
    var mode: UInt8 = 0
    var window: UInt8 = 0
    var transmissions: UInt8 = 0
    var retransmissionTimeout: UInt16 = 0
    var monitorTimeout: UInt16 = 0
    var mps: UInt16 = 0

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value(
        "mode", &mode,
        .names([
          0: "basic", 1: "retransmission", 2: "flow control", 3: "enhanced retransmission", 4: "streaming",
        ]))
      try fields.value("window size", &window)
      try fields.value("maximum transmissions", &transmissions)
      try fields.value("retransmission timeout", &retransmissionTimeout, .unit("ms"))
      try fields.value("monitor timeout", &monitorTimeout, .unit("ms"))
      try fields.value("MPS", &mps, .unit("bytes"))
    }
  }
}

// MARK: Information

struct InformationRequest: PacketFields {
  var type: UInt16 = 0

  static let types: [UInt64: String] = [1: "connectionless MTU", 2: "extended features", 3: "fixed channels"]

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("type", &type, .names(Self.types))
  }
}

struct InformationResponse: PacketFields {
  var type: UInt16 = 0
  var result: UInt16 = 0
  var mtu: UInt16 = 0
  var features = ExtendedFeatures()
  var channels = FixedChannels()

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("type", &type, .names(InformationRequest.types))
    try fields.value("result", &result, .names([0: "success", 1: "not supported"]))
    guard result == 0 else { return }
    switch type {
    case 1: try fields.value("connectionless MTU", &mtu, .unit("bytes"))
    case 2: try fields.value("features", &features)
    case 3: try fields.value("fixed channels", &channels)
    default: break
    }
  }
}

/// The names of the bits that are set, and the number.
private func namesOfBits<Value: FixedWidthInteger & UnsignedInteger>(_ value: Value, _ names: [Int: String])
  -> String
{
  let set = (0..<Value.bitWidth).filter { value >> Value($0) & 1 == 1 }.compactMap { names[$0] }
  return (set.isEmpty ? "none" : set.joined(separator: ", ")) + " (\(Hex.string(value)))"
}

/// 4.12.
struct ExtendedFeatures: HCICode {
  var rawValue: UInt32

  var description: String {
    namesOfBits(
      rawValue,
      [
        0: "flow control mode", 1: "retransmission mode", 2: "bi-directional QoS",
        3: "enhanced retransmission mode", 4: "streaming mode", 5: "FCS option",
        6: "extended flow specification", 7: "fixed channels", 8: "extended window size",
        9: "unicast connectionless data", 10: "enhanced credit-based flow control",
      ])
  }
}

/// 4.13.
struct FixedChannels: HCICode {
  var rawValue: UInt64

  var description: String {
    namesOfBits(
      rawValue,
      [1: "signalling", 2: "connectionless", 3: "AMP manager", 7: "BR/EDR SMP", 63: "AMP test manager"])
  }
}

// MARK: Credit-based channels

/// The MTU, MPS and credits of a credit-based channel (4.22 to 4.26).
struct CreditSizes: PacketFields {
  var mtu: UInt16 = 0
  var mps: UInt16 = 0
  var credits: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("MTU", &mtu)
    try fields.value("MPS", &mps)
    try fields.value("credits", &credits)
  }
}

/// The results of both forms of connection (4.23 and 4.26).
private let creditResults: [UInt64: String] = [
  0: "successful", 2: "SPSM not supported", 4: "no resources", 5: "insufficient authentication",
  6: "insufficient authorization", 7: "encryption key size too short", 8: "insufficient encryption",
  9: "invalid source CID", 10: "source CID already allocated", 11: "unacceptable parameters",
  12: "invalid parameters", 13: "pending", 14: "pending, authentication", 15: "pending, authorization",
]

struct LECreditRequest: PacketFields {
  var spsm = PSM()
  var source: UInt16 = 0
  var sizes = CreditSizes()

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("SPSM", &spsm)
    try fields.value("source CID", &source, .hex)
    try sizes.visit(&fields)
  }
}

struct LECreditResponse: PacketFields {
  var destination: UInt16 = 0
  var sizes = CreditSizes()
  var result: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("destination CID", &destination, .hex)
    try sizes.visit(&fields)
    try fields.value("result", &result, .names(creditResults))
  }
}

struct Credits: PacketFields {
  var channel: UInt16 = 0
  var credits: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("CID", &channel, .hex)
    try fields.value("credits", &credits)
  }
}

struct SourceChannel: PacketFields {
  var channel: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("source CID", &channel, .hex)
  }
}

struct DestinationChannel: PacketFields {
  var channel: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("destination CID", &channel, .hex)
  }
}

struct CreditRequest: PacketFields {
  var spsm = PSM()
  var sizes = CreditSizes()
  var channels: [SourceChannel] = []

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("SPSM", &spsm)
    try sizes.visit(&fields)
    try fields.items(nil, &channels)
  }
}

struct CreditResponse: PacketFields {
  var sizes = CreditSizes()
  var result: UInt16 = 0
  var channels: [DestinationChannel] = []

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try sizes.visit(&fields)
    try fields.value("result", &result, .names(creditResults))
    try fields.items(nil, &channels)
  }
}

struct ReconfigureRequest: PacketFields {
  var mtu: UInt16 = 0
  var mps: UInt16 = 0
  var channels: [DestinationChannel] = []

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("MTU", &mtu)
    try fields.value("MPS", &mps)
    try fields.items(nil, &channels)
  }
}

struct ReconfigureResponse: PacketFields {
  var result: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value(
      "result", &result,
      .names([
        0: "successful", 1: "MTU would be smaller", 2: "MPS would be smaller", 3: "invalid destination CID",
        4: "unacceptable parameters",
      ]))
  }
}
