import HaloBluetoothCore

/// The PDUs of the Security Manager Protocol (Core Specification Vol 3, Part H, 3).
package struct SecurityManagerCode: RawRepresentable, Hashable, Sendable {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let pairingRequest = SecurityManagerCode(rawValue: 0x01)
  package static let pairingFailed = SecurityManagerCode(rawValue: 0x05)
  package static let securityRequest = SecurityManagerCode(rawValue: 0x0B)

  /// Whether the PDU distributes a key: LTK, IRK or CSRK.
  package var isKey: Bool { [0x06, 0x08, 0x0A].contains(rawValue) }

  /// Name, section and fields; each PDU begins with its code.
  private static let table: [UInt8: (name: String, section: String, fields: any PacketFields)] = [
    0x01: ("Pairing Request", "3.5.1", PairingFeatures()),
    0x02: ("Pairing Response", "3.5.2", PairingFeatures()),
    0x03: ("Pairing Confirm", "3.5.3", SixteenBytes(name: "confirm value")),
    0x04: ("Pairing Random", "3.5.4", SixteenBytes(name: "random value")),
    0x05: ("Pairing Failed", "3.5.5", PairingFailed()),
    0x06: ("Encryption Information", "3.6.2", SixteenBytes(name: "LTK", style: .key)),
    0x07: ("Central Identification", "3.6.3", CentralIdentification()),
    0x08: ("Identity Information", "3.6.4", SixteenBytes(name: "IRK", style: .key)),
    0x09: ("Identity Address Information", "3.6.5", IdentityAddress()),
    0x0A: ("Signing Information", "3.6.6", SixteenBytes(name: "CSRK", style: .key)),
    0x0B: ("Security Request", "3.6.7", SecurityRequest()),
    0x0C: ("Pairing Public Key", "3.5.6", PublicKey()),
    0x0D: ("Pairing DHKey Check", "3.5.7", SixteenBytes(name: "check")),
    0x0E: ("Pairing Keypress Notification", "3.5.8", Keypress()),
  ]

  /// The name in the specification; nil if unknown.
  package var name: String? { Self.table[rawValue]?.name }

  /// `Vol 3, Part H, 3.5.1`.
  package var reference: String { "Vol 3, Part H, " + (Self.table[rawValue]?.section ?? "3.3") }

  /// The fields after the code, all zero; nil for unknown codes.
  package var fields: (any PacketFields)? { Self.table[rawValue]?.fields }
}

/// The reason why pairing has failed (3.5.5).
package struct PairingFailed: PacketFields {
  /// A key of ``reasons``.
  package var reason: UInt8 = 0

  package init() {}

  /// The answer to every request for pairing.
  package static let pairingNotSupported = PairingFailed { $0.reason = 0x05 }

  /// The names of the reasons (3.5.5).
  package static let reasons: [UInt64: String] = [
    0x01: "passkey entry failed", 0x02: "OOB not available", 0x03: "authentication requirements",
    0x04: "confirm value failed", 0x05: "pairing not supported", 0x06: "encryption key size",
    0x07: "command not supported", 0x08: "unspecified reason", 0x09: "repeated attempts",
    0x0A: "invalid parameters", 0x0B: "DHKey check failed", 0x0C: "numeric comparison failed",
    0x0D: "BR/EDR pairing in progress", 0x0E: "cross-transport key derivation not allowed",
    0x0F: "key rejected",
  ]

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("reason", &reason, .names(Self.reasons))
  }
}

// MARK: PDUs that the stack does not use

private struct PairingFeatures: PacketFields {
  var capability: UInt8 = 0
  var oob: UInt8 = 0
  var authentication = Authentication()
  var maxKeySize: UInt8 = 0
  var initiatorKeys = KeyDistribution()
  var responderKeys = KeyDistribution()

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value(
      "IO capability", &capability,
      .names([
        0: "display only", 1: "display, yes or no", 2: "keyboard only", 3: "no input, no output",
        4: "keyboard and display",
      ]))
    try fields.value("OOB data", &oob, .names([0: "not present", 1: "present"]))
    try fields.value("authentication", &authentication)
    try fields.value("max key size", &maxKeySize, .unit("bytes"))
    try fields.value("initiator keys", &initiatorKeys)
    try fields.value("responder keys", &responderKeys)
  }
}

/// A value of 16 bytes.
private struct SixteenBytes: PacketFields {
  var name: StaticString = "value"
  var style = FieldStyle.plain
  var value: [UInt8] = []

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    let style = style
    try fields.bytes(name, &value, count: 16, style)
  }
}

private struct CentralIdentification: PacketFields {
  var encryptedDiversifier: UInt16 = 0
  var random: UInt64 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("encrypted diversifier", &encryptedDiversifier, .hex)
    try fields.value("random number", &random, .hex)
  }
}

private struct IdentityAddress: PacketFields {
  var address = BluetoothAddress.zero

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.typedAddress("identity address", type: "identity address type", &address)
  }
}

private struct SecurityRequest: PacketFields {
  var authentication = Authentication()

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("authentication", &authentication)
  }
}

private struct PublicKey: PacketFields {
  var x: [UInt8] = []
  var y: [UInt8] = []

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.bytes("public key X", &x, count: 32)
    try fields.bytes("public key Y", &y, count: 32)
  }
}

private struct Keypress: PacketFields {
  var type: UInt8 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value(
      "keypress", &type,
      .names([0: "started", 1: "digit", 2: "digit erased", 3: "cleared", 4: "completed"]))
  }
}

/// The authentication requirements (3.5.1).
private struct Authentication: FieldCode {
  var rawValue: UInt8 = 0

  var description: String {
    var words = [rawValue & 3 == 1 ? "bonding" : "no bonding"]
    for (bit, word) in [(2, "MITM"), (3, "secure connections"), (4, "keypress"), (5, "CT2")]
    where rawValue & 1 << UInt8(bit) != 0 {
      words.append(word)
    }
    return words.joined(separator: ", ")
  }
}

/// The keys that a side distributes (3.6.1).
private struct KeyDistribution: FieldCode {
  var rawValue: UInt8 = 0

  var description: String {
    let words = ["LTK", "IRK", "CSRK", "link key"].enumerated()
      .filter { rawValue & 1 << UInt8($0.offset) != 0 }.map(\.element)
    return words.isEmpty ? "none" : words.joined(separator: ", ")
  }
}

/// The side of a device that does not pair: a request is rejected, and the peer may continue without (Core Specification
/// Vol 3, Part H, 3.5).
package enum PairingRefusal {
  /// The answer to a PDU; nil if none is required.
  package static func answer(to pdu: RawSpan) -> [UInt8]? {
    switch pdu.byte(at: 0).map(SecurityManagerCode.init) {
    case .pairingRequest?, .securityRequest?:
      var writer = ByteWriter(capacity: 2)
      writer.write(SecurityManagerCode.pairingFailed.rawValue)
      PairingFailed.pairingNotSupported.write(into: &writer)
      return writer.bytes
    default: return nil
    }
  }
}
