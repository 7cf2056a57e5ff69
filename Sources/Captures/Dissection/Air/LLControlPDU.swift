import BluetoothCore
import HCI

// The data of LL Control PDUs, behind the opcode (Core Specification Vol 6, Part B, 2.4.2). LLControlOpcode says which
// belongs to which opcode.

/// No data.
struct LLNothing: PacketFields {
  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {}
}

/// Other parameters from a connection event on.
struct LLConnectionUpdate: PacketFields {
  var windowSize: UInt8 = 0
  var windowOffset: UInt16 = 0
  var parameters = LinkParameters()
  var instant: UInt16 = 0

  init() {}

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

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("channel map", &channels)
    try fields.value("instant", &instant)
  }
}

/// Why a connection ends, or a request is rejected.
struct LLError: PacketFields {
  var error = HCIErrorCode.success

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("error code", &error)
  }
}

/// The central's part of what the session key is made of, and which long-term key to take.
struct LLEncryptionRequest: PacketFields {
  var random: UInt64 = 0
  var diversifier: UInt16 = 0
  var sessionDiversifier: UInt64 = 0
  var vector: UInt32 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("Rand", &random, .hex)
    try fields.value("EDIV", &diversifier, .hex)
    try fields.value("SKD_C", &sessionDiversifier, .hex)
    try fields.value("IV_C", &vector, .hex)
  }
}

/// The peripheral's part of what the session key is made of.
struct LLEncryptionResponse: PacketFields {
  var sessionDiversifier: UInt64 = 0
  var vector: UInt32 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("SKD_P", &sessionDiversifier, .hex)
    try fields.value("IV_P", &vector, .hex)
  }
}

/// The opcode that a device does not know.
struct LLUnknown: PacketFields {
  var opcode = LLOpcodeField()

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("unknown type", &opcode)
  }
}

/// The opcode that a device rejects, and why.
struct LLRejection: PacketFields {
  var opcode = LLOpcodeField()
  var error = HCIErrorCode.success

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("rejected opcode", &opcode)
    try fields.value("error code", &error)
  }
}

/// An opcode as a field.
struct LLOpcodeField: HCICode {
  var rawValue: UInt8

  init(rawValue: UInt8) { self.rawValue = rawValue }

  var description: String {
    let digits = Hex.string(rawValue)
    return LLControlOpcode(rawValue: rawValue).name.map { "\($0) (\(digits))" } ?? digits
  }
}

struct LLFeatures: PacketFields {
  var features: LEFeatures = []

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("features", &features, .bits(LEFeatures.bits))
  }
}

/// A page of the features that do not fit into 64 bits.
struct LLFeaturePage: PacketFields {
  var most: UInt8 = 0
  var page: UInt8 = 0
  var features: [UInt8] = []

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("max page", &most)
    try fields.value("page", &page)
    let number = page
    try fields.bytes("features", &features, count: 24, .bits(LEFeatures.bits(ofPage: number)))
  }
}

struct LLVersion: PacketFields {
  var version = CoreVersion(rawValue: 0)
  var company = CompanyIdentifier(rawValue: 0)
  var subversion: UInt16 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("version", &version)
    try fields.value("company", &company)
    try fields.value("subversion", &subversion, .hex)
  }
}

/// The parameters that a side would accept, and when events of its other connections are.
struct LLConnectionParameters: PacketFields {
  var least = ConnectionInterval()
  var most = ConnectionInterval()
  var latency: UInt16 = 0
  var timeout = SupervisionTimeout()
  var periodicity: UInt8 = 0
  var event: UInt16 = 0
  var offsets: [UInt16] = Array(repeating: 0xFFFF, count: 6)

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("connection interval min", &least)
    try fields.value("connection interval max", &most)
    try fields.value("latency", &latency, .unit("events"))
    try fields.value("supervision timeout", &timeout)
    try fields.value("preferred periodicity", &periodicity, .unit("x 1.25 ms"))
    try fields.value("reference event", &event)
    let names: [StaticString] = ["offset 0", "offset 1", "offset 2", "offset 3", "offset 4", "offset 5"]
    for index in names.indices {
      try fields.value(names[index], &offsets[index], .names([0xFFFF: "none"]))
    }
  }
}

/// The longest PDUs that the sender receives and sends.
struct LLLengths: PacketFields {
  var receive = DataLength()
  var transmit = DataLength()

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("max RX octets", &receive.octets, .unit("bytes"))
    try fields.value("max RX time", &receive.time, .unit("us"))
    try fields.value("max TX octets", &transmit.octets, .unit("bytes"))
    try fields.value("max TX time", &transmit.time, .unit("us"))
  }
}

struct LLPHYs: PacketFields {
  var transmit = PHYSet()
  var receive = PHYSet()

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("TX PHYs", &transmit)
    try fields.value("RX PHYs", &receive)
  }
}

/// Other PHYs from a connection event on.
struct LLPHYUpdate: PacketFields {
  var fromCentral = PHYSet()
  var fromPeripheral = PHYSet()
  var instant: UInt16 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("PHY central to peripheral", &fromCentral)
    try fields.value("PHY peripheral to central", &fromPeripheral)
    try fields.value("instant", &instant)
  }
}

struct LLMinimumChannels: PacketFields {
  var phys = PHYSet()
  var channels: UInt8 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("PHYs", &phys)
    try fields.value("min used channels", &channels)
  }
}

struct LLClockAccuracy: PacketFields {
  var accuracy = SleepClockAccuracy(rawValue: 0)

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("SCA", &accuracy)
  }
}

/// How long a Constant Tone Extension should be, and of which kind.
struct LLToneRequest: PacketFields {
  var request = ToneExtension(rawValue: 0)

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("min CTE length and type", &request)
  }
}
