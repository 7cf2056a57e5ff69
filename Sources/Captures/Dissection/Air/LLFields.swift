import HCI
import HaloBluetoothCore

/// The fields of LL Control PDUs behind the opcode (Core Specification Vol 6, Part B, 2.4.2), each in a row: those whose
/// values something else depends on are types of their own.
enum LLFields {
  /// The central's parts of the session key and of its initialization vector, and the numbers that select the long-term key.
  static let encryptionRequest: [DecodedField] = [
    .value("Rand", UInt64(0), .hex), .uint16("EDIV", .hex), .value("SKD_C", UInt64(0), .hex),
    .value("IV_C", UInt32(0), .hex),
  ]
  /// The peripheral's parts of the session key and of its initialization vector.
  static let encryptionResponse: [DecodedField] = [
    .value("SKD_P", UInt64(0), .hex), .value("IV_P", UInt32(0), .hex),
  ]
  /// The opcode that a device does not know.
  static let unknown: [DecodedField] = [.value("unknown type", LLOpcodeField(rawValue: 0))]
  /// The opcode that a device rejects, and why.
  static let rejection: [DecodedField] = [
    .value("rejected opcode", LLOpcodeField(rawValue: 0)), .value("error code", HCIErrorCode.success),
  ]
  static let features: [DecodedField] = [.value("features", LEFeatures(), .bits(LEFeatures.bits))]
  static let version: [DecodedField] = [
    .value("version", CoreVersion(rawValue: 0)), .value("company", CompanyIdentifier(rawValue: 0)),
    .uint16("subversion", .hex),
  ]
  /// The parameters that a side would accept, and when events of its other connections are.
  static let connectionParameters: [DecodedField] = [
    .value("connection interval min", ConnectionInterval()),
    .value("connection interval max", ConnectionInterval()), .uint16("latency", .unit("events")),
    .value("supervision timeout", SupervisionTimeout()), .uint8("preferred periodicity", .unit("x 1.25 ms")),
    .uint16("reference event"), .uint16("offset 0", .names([0xFFFF: "none"])),
    .uint16("offset 1", .names([0xFFFF: "none"])), .uint16("offset 2", .names([0xFFFF: "none"])),
    .uint16("offset 3", .names([0xFFFF: "none"])), .uint16("offset 4", .names([0xFFFF: "none"])),
    .uint16("offset 5", .names([0xFFFF: "none"])),
  ]
  /// The longest PDUs that the sender receives and sends.
  static let lengths: [DecodedField] = [
    .uint16("max RX octets", .unit("bytes")), .uint16("max RX time", .unit("us")),
    .uint16("max TX octets", .unit("bytes")), .uint16("max TX time", .unit("us")),
  ]
  static let phys: [DecodedField] = [.value("TX PHYs", PHYSet()), .value("RX PHYs", PHYSet())]
  static let minimumChannels: [DecodedField] = [.value("PHYs", PHYSet()), .uint8("min used channels")]
  static let clockAccuracy: [DecodedField] = [.value("SCA", SleepClockAccuracy(rawValue: 0))]
  /// How long a Constant Tone Extension should be, and of which kind.
  static let toneRequest: [DecodedField] = [.value("min CTE length and type", ToneExtension(rawValue: 0))]
  /// A Connected Isochronous Stream that the central wants.
  static let streamRequest: [DecodedField] = [
    .uint8("CIG ID"), .uint8("CIS ID"), .value("PHY central to peripheral", PHYSet()),
    .value("PHY peripheral to central", PHYSet()), .value("max SDU C to P", FramedUnit(rawValue: 0)),
    .uint16("max SDU P to C", .unit("bytes")), .microseconds("SDU interval C to P"),
    .microseconds("SDU interval P to C"), .uint16("max PDU C to P", .unit("bytes")),
    .uint16("max PDU P to C", .unit("bytes")), .uint8("NSE"), .microseconds("sub interval"),
    .value("burst numbers", BurstNumbers(rawValue: 0)), .uint8("FT C to P"), .uint8("FT P to C"),
    .value("ISO interval", ConnectionInterval()), .microseconds("CIS offset min"),
    .microseconds("CIS offset max"), .uint16("connection event"),
  ]
  static let streamResponse: [DecodedField] = [
    .microseconds("CIS offset min"), .microseconds("CIS offset max"), .uint16("connection event"),
  ]
  static let streamIndication: [DecodedField] = [
    .value("access address", AccessAddress(rawValue: 0)), .microseconds("CIS offset"),
    .microseconds("CIG sync delay"), .microseconds("CIS sync delay"), .uint16("connection event"),
  ]
  static let streamTermination: [DecodedField] = [
    .uint8("CIG ID"), .uint8("CIS ID"), .value("error code", HCIErrorCode.success),
  ]
  static let powerRequest: [DecodedField] = [
    .value("PHY", PowerPHY(rawValue: 0)), .value("delta", Int8(0), .unit("dB")),
    .value("TX power", Int8(0), .power),
  ]
  static let powerResponse: [DecodedField] = [
    .value("power limits", PowerLimits(rawValue: 0)), .value("delta", Int8(0), .unit("dB")),
    .value("TX power", Int8(0), .power), .uint8("acceptable reduction", .unit("dB")),
  ]
  static let powerChange: [DecodedField] = [
    .value("PHY", PowerPHY(rawValue: 0)), .value("power limits", PowerLimits(rawValue: 0)),
    .value("delta", Int8(0), .unit("dB")), .value("TX power", Int8(0), .power),
  ]
  /// The subrating that the peripheral wants.
  static let subrateRequest: [DecodedField] = [
    .uint16("subrate factor min"), .uint16("subrate factor max"), .uint16("max latency", .unit("events")),
    .uint16("continuation number"), .value("supervision timeout", SupervisionTimeout()),
  ]
  static let subrate: [DecodedField] = [
    .uint16("subrate factor"), .uint16("subrate base event"), .uint16("latency", .unit("events")),
    .uint16("continuation number"), .value("supervision timeout", SupervisionTimeout()),
  ]
  static let channelReporting: [DecodedField] = [
    .uint8("reporting", .names([0: "disabled", 1: "enabled"])), .uint8("min spacing", .unit("x 200 ms")),
    .uint8("max delay", .unit("x 200 ms")),
  ]
  /// Two bits for each channel: 0 unknown, 1 good, 3 bad.
  static let channelStatus: [DecodedField] = [.bytes("channel classification", 10)]
  /// A page of the features that do not fit into 64 bits.
  static let featurePage: [DecodedField] = [
    .uint8("max page"), .uint8("page"),
    .bytes("features", 24).styled { .bits(LEFeatures.bits(ofPage: UInt8(truncatingIfNeeded: $0[1]))) },
  ]
  /// Where the periodic advertising of some device is found.
  static let periodicSync: [DecodedField] = [
    .uint16("ID", .hex), .group("SyncInfo", SyncInfo()), .uint16("connection event"),
    .uint16("last periodic event"), .value("SID, address type and SCA", SetAndAccuracy()),
    // Its type is in the field before, and not shown with it.
    .value("PHY", PHYSet()), .address("AdvA", .random), .uint16("sync connection event"),
  ]
  /// The same, of periodic advertising with responses.
  static let periodicSyncWithResponses: [DecodedField] =
    periodicSync + [
      .value("response access address", AccessAddress()), .uint8("subevents"),
      .uint8("subevent interval", .unit("x 1.25 ms")), .uint8("response slot delay", .unit("x 1.25 ms")),
      .uint8("response slot spacing", .unit("x 0.125 ms")),
    ]
}

extension DecodedField {
  fileprivate static func microseconds(_ name: StaticString) -> DecodedField {
    value(name, UInt24(), .unit("us"))
  }
}

/// The longest SDU (12 bits), and whether units are framed.
private struct FramedUnit: HCICode {
  var rawValue: UInt16

  var description: String {
    "\(rawValue & 0x0FFF) bytes, " + (rawValue & 0x8000 == 0 ? "unframed" : "framed")
  }
}

/// The values of both directions, four bits each.
private struct BurstNumbers: HCICode {
  var rawValue: UInt8

  var description: String { "\(rawValue & 0x0F) C to P, \(rawValue >> 4) P to C" }
}

/// PHYs of power control, where the two codings of LE Coded differ.
private struct PowerPHY: HCICode {
  var rawValue: UInt8

  static let names: [UInt8: String] = [1: "LE 1M", 2: "LE 2M", 4: "LE Coded, S=8", 8: "LE Coded, S=2"]
}

/// The flags of a power: the least or the greatest that is supported.
private struct PowerLimits: HCICode {
  var rawValue: UInt8

  static let names: [UInt8: String] = [0: "none", 1: "min", 2: "max", 3: "min and max"]
}

/// SID (4 bits), address type (1 bit), clock accuracy (3 bits).
private struct SetAndAccuracy: HCICode {
  var rawValue: UInt8

  var description: String {
    let kind: BluetoothAddress.Kind = rawValue & 0x10 == 0 ? .public : .random
    return "SID \(rawValue & 0x0F), \(kind), SCA \(SleepClockAccuracy(rawValue: rawValue >> 5))"
  }
}

/// An opcode as a field.
struct LLOpcodeField: HCICode {
  var rawValue: UInt8

  var description: String {
    let digits = Hex.string(rawValue)
    return LLControlOpcode(rawValue: rawValue).name.map { "\($0) (\(digits))" } ?? digits
  }
}

/// Other parameters from a connection event on.
struct LLConnectionUpdate: PacketFields {
  var windowSize: UInt8 = 0
  var windowOffset: UInt16 = 0
  var parameters = LinkParameters()
  var instant: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("window size", &windowSize, .unit("x 1.25 ms"))
    try fields.value("window offset", &windowOffset, .unit("x 1.25 ms"))
    try parameters.visit(&fields)
    try fields.value("instant", &instant)
  }
}

/// Other channels from a connection event on.
struct LLChannelMap: PacketFields {
  var channels = ChannelMap()
  var instant: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("channel map", &channels)
    try fields.value("instant", &instant)
  }
}

/// Why a connection ends, or a request is rejected.
struct LLError: PacketFields {
  var error = HCIErrorCode.success

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("error code", &error)
  }
}

/// Other PHYs from a connection event on.
struct LLPHYUpdate: PacketFields {
  var fromCentral = PHYSet()
  var fromPeripheral = PHYSet()
  var instant: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("PHY central to peripheral", &fromCentral)
    try fields.value("PHY peripheral to central", &fromPeripheral)
    try fields.value("instant", &instant)
  }
}
