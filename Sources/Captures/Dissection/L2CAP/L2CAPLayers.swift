import HCI
import HaloBluetoothCore
import HaloSecurityManager
import L2CAP

/// An L2CAP frame, at the packet that completes it (Core Specification Vol 3, Part A, 3).
package struct L2CAPLayer: Hashable, Sendable {
  package var channel: ChannelID
  /// Header and payload, in ``DissectedPacket/source``.
  package var range: Range<Int>
  /// The number of packets that carried it.
  package var fragments: Int
  /// The protocol of a dynamic channel, if the capture shows how it was opened.
  package var psm: PSM?
  /// On a credit-based channel, the number of frames that the sender may still send after this one.
  package var credits: Int?
  /// On a credit-based channel, the data of the unit that this frame completes, in ``DissectedPacket/source``.
  package var unit: Range<Int>?

  /// In bytes, as the header has it.
  package var length: Int { range.count - BasicHeader.length }
  /// Without the header.
  package var payload: Range<Int> { range.lowerBound + BasicHeader.length..<range.upperBound }

  func writeSummary(to text: inout TextBuffer) {
    if let psm { text.write("", psm.description, ", ") }
    text.write("", channel.description, ", ")
    text.write("", length, " bytes")
    if fragments > 1 { text.write(", from ", fragments, " fragments") }
    guard let credits else { return }
    if let unit {
      text.write(", unit of ", unit.count, " bytes, ")
    } else {
      text.write(", part of a unit, ")
    }
    text.write("", credits, " credits left")
  }

  func list(_ source: RawSpan, hasUpperLayer: Bool, to list: FieldList) {
    let end = hasUpperLayer ? unit?.lowerBound ?? payload.lowerBound : range.upperBound
    list.read(source, range.lowerBound..<end, reference: "Vol 3, Part A, 3.1") { lister throws(DecodeError) in
      var header = BasicHeader()
      try header.list(&lister)
      if let psm { lister.note("PSM", "\(psm)") }
      if let credits {
        lister.note("credits left", "\(credits)")
        if unit != nil {
          try lister.show("SDU length", { r throws(DecodeError) in try r.readUInt16() }) { "\($0) bytes" }
        }
      }
      lister.showRest("payload")
    }
  }
}

/// A PDU of the Security Manager (Core Specification Vol 3, Part H, 3).
package struct SMPLayer: Hashable, Sendable {
  package var code: SecurityManagerCode
  /// In ``DissectedPacket/source``.
  package var range: Range<Int>

  init?(_ source: RawSpan, _ range: Range<Int>) {
    guard !range.isEmpty, let code = source.byte(at: range.lowerBound) else { return nil }
    self.code = SecurityManagerCode(rawValue: code)
    self.range = range
  }

  /// In the terms of the specification.
  package var name: String { code.name ?? "code \(Hex.string(code.rawValue))" }

  func writeSummary(of source: RawSpan, to text: inout TextBuffer) {
    text.write(name)
    let fields = FieldList()
    list(source, to: fields)
    for index in fields.entries.indices {
      let isReason = fields.isNamed(index, "reason")
      guard isReason || code.isKey && !fields.isNamed(index, "code") else { continue }
      text.write(": ")
      if !isReason {
        text.write(fields.bytes(fields.entries[index].name))
        text.write(" ")
      }
      return text.write(fields.bytes(fields.entries[index].value))
    }
  }

  func list(_ source: RawSpan, to list: FieldList) {
    list.read(source, range, reference: code.reference) { lister throws(DecodeError) in
      let name = name
      try lister.byte("code") {
        "\(name) (\(Hex.string($0)))"
      }
      guard var fields = code.fields else { return lister.showRest("parameters") }
      try fields.list(&lister)
    }
  }
}

extension SecurityManagerCode {
  /// Name, section and fields; each PDU begins with its code.
  private static let table: [UInt8: (name: String, section: String, fields: [DecodedField])] = [
    0x01: ("Pairing Request", "3.5.1", pairingFeatures),
    0x02: ("Pairing Response", "3.5.2", pairingFeatures),
    0x03: ("Pairing Confirm", "3.5.3", [.bytes("confirm value", 16)]),
    0x04: ("Pairing Random", "3.5.4", [.bytes("random value", 16)]),
    0x05: ("Pairing Failed", "3.5.5", [.fields(PairingFailed())]),
    0x06: ("Encryption Information", "3.6.2", [.bytes("LTK", 16, .key)]),
    0x07: (
      "Central Identification", "3.6.3",
      [.uint16("encrypted diversifier", .hex), .value("random number", UInt64(), .hex)]
    ),
    0x08: ("Identity Information", "3.6.4", [.bytes("IRK", 16, .key)]),
    0x09: (
      "Identity Address Information", "3.6.5",
      [.typedAddress("identity address", type: "identity address type")]
    ),
    0x0A: ("Signing Information", "3.6.6", [.bytes("CSRK", 16, .key)]),
    0x0B: ("Security Request", "3.6.7", [.value("authentication", Authentication())]),
    0x0C: ("Pairing Public Key", "3.5.6", [.bytes("public key X", 32), .bytes("public key Y", 32)]),
    0x0D: ("Pairing DHKey Check", "3.5.7", [.bytes("check", 16)]),
    0x0E: (
      "Pairing Keypress Notification", "3.5.8",
      [
        .uint8(
          "keypress",
          .names([0: "started", 1: "digit", 2: "digit erased", 3: "cleared", 4: "completed"]))
      ]
    ),
  ]

  private static let pairingFeatures: [DecodedField] = [
    .uint8(
      "IO capability",
      .names([
        0: "display only", 1: "display, yes or no", 2: "keyboard only", 3: "no input, no output",
        4: "keyboard and display",
      ])),
    .uint8("OOB data", .names([0: "not present", 1: "present"])), .value("authentication", Authentication()),
    .uint8("max key size", .unit("bytes")), .value("initiator keys", KeyDistribution()),
    .value("responder keys", KeyDistribution()),
  ]

  /// Whether the PDU distributes a key: LTK, IRK or CSRK.
  var isKey: Bool { [0x06, 0x08, 0x0A].contains(rawValue) }

  /// The name in the specification; nil if unknown.
  var name: String? { Self.table[rawValue]?.name }

  /// `Vol 3, Part H, 3.5.1`.
  var reference: String { "Vol 3, Part H, " + (Self.table[rawValue]?.section ?? "3.3") }

  /// The fields after the code, all zero; nil for unknown codes.
  var fields: DecodedFields? { (Self.table[rawValue]?.fields).map { DecodedFields($0) } }
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
