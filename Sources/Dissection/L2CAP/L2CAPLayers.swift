import BluetoothCore
import HCI
import L2CAP

/// An L2CAP frame, at the packet that completes it (Core Specification Vol 3, Part A, 3).
public struct L2CAPLayer: Hashable, Sendable {
  public var channel: ChannelID
  /// Header and payload, in ``DissectedPacket/source``.
  public var range: Range<Int>
  /// The number of packets that carried it.
  public var fragments: Int
  /// The protocol of a dynamic channel, if the capture shows how it was opened.
  public var psm: PSM?
  /// Of a credit-based channel: the frames that the sender may still send after this one.
  public var credits: Int?
  /// Of a credit-based channel: the data of the unit that this frame completes, in ``DissectedPacket/source``.
  public var unit: Range<Int>?

  /// In bytes, as the header has it.
  public var length: Int { range.count - BasicHeader.length }
  /// Without the header.
  public var payload: Range<Int> { range.lowerBound + BasicHeader.length..<range.upperBound }

  var summary: String {
    var words = psm.map { "\($0), \(channel)" } ?? "\(channel)"
    words += ", \(length) bytes"
    if fragments > 1 { words += ", from \(fragments) fragments" }
    if let credits {
      words += unit == nil ? ", part of a unit" : ", unit of \(unit?.count ?? 0) bytes"
      words += ", \(credits) credits left"
    }
    return words
  }

  func fields(of source: RawSpan, hasUpperLayer: Bool) -> [PacketField] {
    let end = hasUpperLayer ? unit?.lowerBound ?? payload.lowerBound : range.upperBound
    var lister = FieldLister(source, range.lowerBound..<end, reference: "Vol 3, Part A, 3.1")
    lister.readAll { lister throws(DecodeError) in
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
    return lister.fields
  }
}

/// A PDU of the Security Manager (Core Specification Vol 3, Part H, 3).
public struct SMPLayer: Hashable, Sendable {
  public var code: SecurityManagerCode
  /// In ``DissectedPacket/source``.
  public var range: Range<Int>

  init?(_ source: RawSpan, _ range: Range<Int>) {
    guard !range.isEmpty, let code = source.byte(at: range.lowerBound) else { return nil }
    self.code = SecurityManagerCode(rawValue: code)
    self.range = range
  }

  /// In the terms of the specification.
  public var name: String { code.name ?? "code \(Hex.string(code.rawValue))" }

  var reference: String { code.reference }

  func summary(of source: RawSpan) -> String {
    let reason = fields(of: source).first { $0.name == "reason" }
    return reason.map { "\(name): \($0.value)" } ?? name
  }

  func fields(of source: RawSpan) -> [PacketField] {
    var lister = FieldLister(source, range, reference: reference)
    lister.readAll { lister throws(DecodeError) in
      let name = name
      try lister.show("code", { r throws(DecodeError) in try r.readUInt8() }) {
        "\(name) (\(Hex.string($0)))"
      }
      guard var fields = code.fields else { return lister.showRest("parameters") }
      try fields.list(&lister)
    }
    return lister.fields
  }
}
