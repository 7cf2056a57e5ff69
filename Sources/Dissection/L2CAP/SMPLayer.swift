import BluetoothCore

/// A PDU of the Security Manager (Core Specification Vol 3, Part H, 3).
public struct SMPLayer: Hashable, Sendable {
  public var code: UInt8
  /// In ``DissectedPacket/source``.
  public var range: Range<Int>

  init?(_ source: RawSpan, _ range: Range<Int>) {
    guard !range.isEmpty, let code = source.byte(at: range.lowerBound) else { return nil }
    self.code = code
    self.range = range
  }

  private static let names: [UInt8: (name: String, section: String)] = [
    0x01: ("Pairing Request", "3.5.1"), 0x02: ("Pairing Response", "3.5.2"),
    0x03: ("Pairing Confirm", "3.5.3"), 0x04: ("Pairing Random", "3.5.4"), 0x05: ("Pairing Failed", "3.5.5"),
    0x06: ("Encryption Information", "3.6.2"), 0x07: ("Central Identification", "3.6.3"),
    0x08: ("Identity Information", "3.6.4"), 0x09: ("Identity Address Information", "3.6.5"),
    0x0A: ("Signing Information", "3.6.6"), 0x0B: ("Security Request", "3.6.7"),
    0x0C: ("Pairing Public Key", "3.5.6"), 0x0D: ("Pairing DHKey Check", "3.5.7"),
    0x0E: ("Pairing Keypress Notification", "3.5.8"),
  ]

  private static let reasons: [UInt8: String] = [
    0x01: "passkey entry failed", 0x02: "OOB not available", 0x03: "authentication requirements",
    0x04: "confirm value failed", 0x05: "pairing not supported", 0x06: "encryption key size",
    0x07: "command not supported", 0x08: "unspecified reason", 0x09: "repeated attempts",
    0x0A: "invalid parameters", 0x0B: "DHKey check failed", 0x0C: "numeric comparison failed",
    0x0D: "BR/EDR pairing in progress", 0x0E: "cross-transport key derivation not allowed",
    0x0F: "key rejected",
  ]

  /// In the specification's words.
  public var name: String { Self.names[code]?.name ?? "code \(Hex.string(code))" }

  var reference: String { "Vol 3, Part H, " + (Self.names[code]?.section ?? "3.3") }

  func summary(of source: RawSpan) -> String {
    guard code == 0x05, let reason = source.byte(at: range.lowerBound + 1) else { return name }
    return "\(name): \(Self.reasons[reason] ?? Hex.string(reason))"
  }

  func fields(of source: RawSpan) -> [PacketField] {
    var f = FieldReader(source, range, reference: reference)
    f.readAll { f throws(DecodeError) in
      let name = name
      try f.value("code", { r throws(DecodeError) in try r.readUInt8() }) { "\(name) (\(Hex.string($0)))" }
      switch code {
      case 0x01, 0x02:
        try f.uint8(
          "IO capability",
          words: [
            0: "display only", 1: "display, yes or no", 2: "keyboard only", 3: "no input, no output",
            4: "keyboard and display",
          ])
        try f.uint8("OOB data", words: [0: "not there", 1: "there"])
        try Self.readAuthentication(&f)
        try f.uint8("largest key", unit: "bytes")
        try Self.readKeys("initiator's keys", &f)
        try Self.readKeys("responder's keys", &f)
      case 0x03, 0x04, 0x06, 0x08, 0x0A, 0x0D: try f.bytes("value", 16)
      case 0x05: try f.uint8("reason", words: Self.reasons)
      case 0x07:
        try f.hex16("encrypted diversifier")
        try f.hex64("random number")
      case 0x09: try f.typedAddress("identity address")
      case 0x0B: try Self.readAuthentication(&f)
      case 0x0C:
        try f.bytes("public key, X", 32)
        try f.bytes("public key, Y", 32)
      case 0x0E:
        try f.uint8(
          "keypress", words: [0: "started", 1: "digit", 2: "digit erased", 3: "cleared", 4: "completed"])
      default: f.rest("parameters")
      }
    }
    return f.fields
  }

  private static func readAuthentication(_ f: inout FieldReader) throws(DecodeError) {
    try f.value("authentication", { r throws(DecodeError) in try r.readUInt8() }) { bits in
      var words = [bits & 3 == 1 ? "bonding" : "no bonding"]
      for (bit, word) in [(2, "MITM"), (3, "secure connections"), (4, "keypress"), (5, "CT2")]
      where bits & 1 << UInt8(bit) != 0 {
        words.append(word)
      }
      return words.joined(separator: ", ")
    }
  }

  private static func readKeys(_ name: String, _ f: inout FieldReader) throws(DecodeError) {
    try f.value(name, { r throws(DecodeError) in try r.readUInt8() }) { bits in
      let words = ["LTK", "IRK", "CSRK", "link key"].enumerated()
        .filter { bits & 1 << UInt8($0.offset) != 0 }.map(\.element)
      return words.isEmpty ? "none" : words.joined(separator: ", ")
    }
  }
}
