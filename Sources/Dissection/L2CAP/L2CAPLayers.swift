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

  /// In bytes, as the header has it.
  public var length: Int { range.count - BasicHeader.length }
  /// Without the header.
  public var payload: Range<Int> { range.lowerBound + BasicHeader.length..<range.upperBound }

  func writeSummary(to text: inout TextBuffer) {
    text.write(channel.description)
    text.write(", ")
    text.write(length)
    text.write(" bytes")
    guard fragments > 1 else { return }
    text.write(", from ")
    text.write(fragments)
    text.write(" fragments")
  }

  func list(_ source: RawSpan, hasUpperLayer: Bool, to list: inout FieldList) {
    let part = hasUpperLayer ? range.lowerBound..<payload.lowerBound : range
    list.read(source, part, reference: "Vol 3, Part A, 3.1") { lister throws(DecodeError) in
      var header = BasicHeader()
      try header.list(&lister)
      lister.showRest("payload")
    }
  }
}

/// A command on a signalling channel (Core Specification Vol 3, Part A, 4).
public struct SignalingLayer: Hashable, Sendable {
  public var code: SignalingPacket.Code
  public var identifier: UInt8
  /// In ``DissectedPacket/source``.
  public var range: Range<Int>

  init?(_ source: RawSpan, _ range: Range<Int>) {
    guard let code = source.byte(at: range.lowerBound),
      let identifier = source.byte(at: range.lowerBound + 1),
      range.count >= 4
    else { return nil }
    self.code = SignalingPacket.Code(rawValue: code)
    self.identifier = identifier
    self.range = range
  }

  /// In the terms of the specification.
  public var name: String { code.name ?? "code \(Hex.string(code.rawValue))" }

  var reference: String { code.reference }

  func writeSummary(of source: RawSpan, to text: inout TextBuffer) {
    text.write(name)
    text.write(", id ")
    text.write(Int(identifier))
    var fields = FieldList()
    list(source, to: &fields)
    var separator: StaticString = ": "
    for entry in fields.entries where entry.depth == 1 {
      text.write(separator)
      text.write(fields.bytes(entry.name))
      text.write(" ")
      text.write(fields.bytes(entry.value))
      separator = ", "
    }
  }

  func list(_ source: RawSpan, to list: inout FieldList) {
    list.read(source, range, reference: reference) { lister throws(DecodeError) in
      var header = SignalingHeader()
      try header.list(&lister)
      try lister.group("data") { lister throws(DecodeError) in
        if var data = code.data { try data.list(&lister) }
        lister.showRest("bytes")
      }
    }
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

  func writeSummary(of source: RawSpan, to text: inout TextBuffer) {
    text.write(name)
    var fields = FieldList()
    list(source, to: &fields)
    guard let index = fields.entries.indices.first(where: { fields.isNamed($0, "reason") }) else { return }
    text.write(": ")
    text.write(fields.bytes(fields.entries[index].value))
  }

  func list(_ source: RawSpan, to list: inout FieldList) {
    list.read(source, range, reference: reference) { lister throws(DecodeError) in
      let name = name
      try lister.show("code", { r throws(DecodeError) in try r.readUInt8() }) {
        "\(name) (\(Hex.string($0)))"
      }
      guard var fields = code.fields else { return lister.showRest("parameters") }
      try fields.list(&lister)
    }
  }
}
