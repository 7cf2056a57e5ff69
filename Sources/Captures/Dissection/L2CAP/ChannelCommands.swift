import HCI
import HaloBluetoothCore
import L2CAP

// Commands that open, configure and close channels, which the stack does not do (Core Specification Vol 3, Part A, 4.2
// to 4.11 and 4.22 to 4.28).

extension DecodedField {
  static let destination = uint16("destination CID", .hex)
  static let source = uint16("source CID", .hex)
  static let destinations = items(DecodedFields([destination]))
  static let sources = items(DecodedFields([source]))
  static let spsm = value("SPSM", PSM())
  static let configurationFlags = value("flags", ConfigurationFlags())
  static let options = items(ConfigurationOption())

  /// The MTU, MPS and credits of a credit-based channel (4.22 to 4.26).
  static let creditSizes = fields(DecodedFields([uint16("MTU"), uint16("MPS"), uint16("credits")]))

  /// The results of both forms of connection (4.23 and 4.26).
  static let creditResult = uint16(
    "result",
    .names([
      0: "successful", 2: "SPSM not supported", 4: "no resources", 5: "insufficient authentication",
      6: "insufficient authorization", 7: "encryption key size too short", 8: "insufficient encryption",
      9: "invalid source CID", 10: "source CID already allocated", 11: "unacceptable parameters",
      12: "invalid parameters", 13: "pending", 14: "pending, authentication", 15: "pending, authorization",
    ]))
}

// MARK: Configuration

struct ConfigurationFlags: HCICode {
  var rawValue: UInt16

  var description: String { rawValue & 1 == 0 ? Hex.string(rawValue) : "continues (\(Hex.string(rawValue)))" }
}

/// An option: type, length, value (5).
struct ConfigurationOption: PacketFields {
  var type = Kind()
  var length: UInt8 = 0
  var number: UInt16 = 0
  var value: [UInt8] = []

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("option", &type)
    try fields.value("option length", &length, .unit("bytes"))
    switch (type.rawValue & 0x7F, length) {
    case (1, 2): try fields.value("MTU", &number, .unit("bytes"))
    case (2, 2): try fields.value("flush timeout", &number, .unit("ms"))
    case (4, 9):
      var mode = Self.mode
      try mode.visit(&fields)
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
  private static let mode = DecodedFields([
    .uint8(
      "mode",
      .names([
        0: "basic", 1: "retransmission", 2: "flow control", 3: "enhanced retransmission", 4: "streaming",
      ])),
    .uint8("window size"), .uint8("maximum transmissions"), .uint16("retransmission timeout", .unit("ms")),
    .uint16("monitor timeout", .unit("ms")), .uint16("MPS", .unit("bytes")),
  ])
}

// MARK: Information

struct InformationResponse: PacketFields {
  var type: UInt16 = 0
  var result: UInt16 = 0
  var mtu: UInt16 = 0
  var features = ExtendedFeatures()
  var channels = FixedChannels()

  static let types: [UInt64: String] = [1: "connectionless MTU", 2: "extended features", 3: "fixed channels"]

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("type", &type, .names(Self.types))
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
      [1: "signaling", 2: "connectionless", 3: "AMP manager", 7: "BR/EDR SMP", 63: "AMP test manager"])
  }
}
