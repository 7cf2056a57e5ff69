import HCI
import HaloBluetoothCore

/// The fields of an LL Control PDU that is only shown, behind the opcode (Core Specification Vol 6, Part B, 2.4.2): the
/// PDUs whose values something else depends on are types of their own.
struct LLFields: PacketFields, ExpressibleByArrayLiteral {
  struct Field: Sendable {
    var name: StaticString
    var value: any FieldValue
    var style: FieldStyle
  }

  private var fields: [Field] = []

  init() {}

  init(arrayLiteral fields: Field...) { self.fields = fields }

  mutating func visit<V: FieldVisitor & ~Escapable>(_ visitor: inout V) throws(V.Failure) {
    for field in fields { try Self.visit(field.value, field, &visitor) }
  }

  private static func visit<V: FieldVisitor & ~Escapable>(
    _ value: some FieldValue, _ field: Field, _ visitor: inout V
  ) throws(V.Failure) {
    var value = value
    try visitor.value(field.name, &value, field.style)
  }
}

extension LLFields {
  /// No data.
  static let nothing: Self = []
  /// The central's part of what the session key is made of, and which long-term key to take.
  static let encryptionRequest: Self = [
    field("Rand", UInt64(0), .hex), word("EDIV", .hex), field("SKD_C", UInt64(0), .hex),
    field("IV_C", UInt32(0), .hex),
  ]
  /// The peripheral's part of what the session key is made of.
  static let encryptionResponse: Self = [field("SKD_P", UInt64(0), .hex), field("IV_P", UInt32(0), .hex)]
  /// The opcode that a device does not know.
  static let unknown: Self = [field("unknown type", LLOpcodeField(rawValue: 0))]
  /// The opcode that a device rejects, and why.
  static let rejection: Self = [
    field("rejected opcode", LLOpcodeField(rawValue: 0)), field("error code", HCIErrorCode.success),
  ]
  static let features: Self = [field("features", LEFeatures(), .bits(LEFeatures.bits))]
  static let version: Self = [
    field("version", CoreVersion(rawValue: 0)), field("company", CompanyIdentifier(rawValue: 0)),
    word("subversion", .hex),
  ]
  /// The parameters that a side would accept, and when events of its other connections are.
  static let connectionParameters: Self = [
    field("connection interval min", ConnectionInterval()),
    field("connection interval max", ConnectionInterval()), word("latency", .unit("events")),
    field("supervision timeout", SupervisionTimeout()), byte("preferred periodicity", .unit("x 1.25 ms")),
    word("reference event"), word("offset 0", .names([0xFFFF: "none"])),
    word("offset 1", .names([0xFFFF: "none"])), word("offset 2", .names([0xFFFF: "none"])),
    word("offset 3", .names([0xFFFF: "none"])), word("offset 4", .names([0xFFFF: "none"])),
    word("offset 5", .names([0xFFFF: "none"])),
  ]
  /// The longest PDUs that the sender receives and sends.
  static let lengths: Self = [
    word("max RX octets", .unit("bytes")), word("max RX time", .unit("us")),
    word("max TX octets", .unit("bytes")), word("max TX time", .unit("us")),
  ]
  static let phys: Self = [field("TX PHYs", PHYSet()), field("RX PHYs", PHYSet())]
  static let minimumChannels: Self = [field("PHYs", PHYSet()), byte("min used channels")]
  static let clockAccuracy: Self = [field("SCA", SleepClockAccuracy(rawValue: 0))]
  /// How long a Constant Tone Extension should be, and of which kind.
  static let toneRequest: Self = [field("min CTE length and type", ToneExtension(rawValue: 0))]
  /// A Connected Isochronous Stream that the central wants.
  static let streamRequest: Self = [
    byte("CIG ID"), byte("CIS ID"), field("PHY central to peripheral", PHYSet()),
    field("PHY peripheral to central", PHYSet()), field("max SDU C to P", FramedUnit(rawValue: 0)),
    word("max SDU P to C", .unit("bytes")), microseconds("SDU interval C to P"),
    microseconds("SDU interval P to C"), word("max PDU C to P", .unit("bytes")),
    word("max PDU P to C", .unit("bytes")), byte("NSE"), microseconds("sub interval"),
    field("burst numbers", BurstNumbers(rawValue: 0)), byte("FT C to P"), byte("FT P to C"),
    field("ISO interval", ConnectionInterval()), microseconds("CIS offset min"),
    microseconds("CIS offset max"), word("connection event"),
  ]
  static let streamResponse: Self = [
    microseconds("CIS offset min"), microseconds("CIS offset max"), word("connection event"),
  ]
  static let streamIndication: Self = [
    field("access address", AccessAddress(rawValue: 0)), microseconds("CIS offset"),
    microseconds("CIG sync delay"), microseconds("CIS sync delay"), word("connection event"),
  ]
  static let streamTermination: Self = [
    byte("CIG ID"), byte("CIS ID"), field("error code", HCIErrorCode.success),
  ]
  static let powerRequest: Self = [
    field("PHY", PowerPHY(rawValue: 0)), field("delta", Int8(0), .unit("dB")),
    field("TX power", Int8(0), .power),
  ]
  static let powerResponse: Self = [
    field("power limits", PowerLimits(rawValue: 0)), field("delta", Int8(0), .unit("dB")),
    field("TX power", Int8(0), .power), byte("acceptable reduction", .unit("dB")),
  ]
  static let powerChange: Self = [
    field("PHY", PowerPHY(rawValue: 0)), field("power limits", PowerLimits(rawValue: 0)),
    field("delta", Int8(0), .unit("dB")), field("TX power", Int8(0), .power),
  ]
  /// The subrating that the peripheral wants.
  static let subrateRequest: Self = [
    word("subrate factor min"), word("subrate factor max"), word("max latency", .unit("events")),
    word("continuation number"), field("supervision timeout", SupervisionTimeout()),
  ]
  static let subrate: Self = [
    word("subrate factor"), word("subrate base event"), word("latency", .unit("events")),
    word("continuation number"), field("supervision timeout", SupervisionTimeout()),
  ]
  static let channelReporting: Self = [
    byte("reporting", .names([0: "disabled", 1: "enabled"])), byte("min spacing", .unit("x 200 ms")),
    byte("max delay", .unit("x 200 ms")),
  ]

  private static func field(
    _ name: StaticString, _ value: any FieldValue, _ style: FieldStyle = .plain
  ) -> Field {
    Field(name: name, value: value, style: style)
  }

  private static func byte(_ name: StaticString, _ style: FieldStyle = .plain) -> Field {
    field(name, UInt8(0), style)
  }

  private static func word(_ name: StaticString, _ style: FieldStyle = .plain) -> Field {
    field(name, UInt16(0), style)
  }

  private static func microseconds(_ name: StaticString) -> Field { field(name, UInt24(), .unit("us")) }
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

/// Whether a power is the least or the greatest that is supported.
private struct PowerLimits: HCICode {
  var rawValue: UInt8

  static let names: [UInt8: String] = [0: "none", 1: "min", 2: "max", 3: "min and max"]
}
