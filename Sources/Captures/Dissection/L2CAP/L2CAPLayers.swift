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

  /// - Parameter fields: memory for the fields; its contents are overwritten
  func writeSummary(of source: RawSpan, to text: inout TextBuffer, using fields: FieldList) {
    text.write(name)
    fields.removeAll()
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
      guard var fields = code.prototype?.fields else { return lister.showRest("parameters") }
      try fields.list(&lister)
    }
  }
}

extension SecurityManagerCode {
  /// Whether the PDU distributes a key: LTK, IRK or CSRK.
  var isKey: Bool { [.encryptionInformation, .identityInformation, .signingInformation].contains(self) }

  /// The name in the specification; nil if unknown.
  var name: String? { Self.names[rawValue] }

  /// `Vol 3, Part H, 3.5.1`.
  var reference: String { "Vol 3, Part H, " + (prototype?.section ?? "3.3") }
}
