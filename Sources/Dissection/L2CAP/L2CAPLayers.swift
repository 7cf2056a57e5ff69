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

  var summary: String {
    "\(channel), \(length) bytes" + (fragments > 1 ? ", from \(fragments) fragments" : "")
  }

  func fields(of source: RawSpan, hasUpperLayer: Bool) -> [PacketField] {
    var lister = FieldLister(
      source, hasUpperLayer ? range.lowerBound..<payload.lowerBound : range,
      reference: "Vol 3, Part A, 3.1")
    lister.readAll { lister throws(DecodeError) in
      var header = BasicHeader()
      try header.list(&lister)
      lister.showRest("payload")
    }
    return lister.fields
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

  func summary(of source: RawSpan) -> String {
    let data = fields(of: source).filter { $0.depth == 1 }
    let words = data.map { "\($0.name) \($0.value)" }.joined(separator: ", ")
    return "\(name), id \(identifier)" + (words.isEmpty ? "" : ": \(words)")
  }

  func fields(of source: RawSpan) -> [PacketField] {
    var lister = FieldLister(source, range, reference: reference)
    lister.readAll { lister throws(DecodeError) in
      var header = SignalingHeader()
      try header.list(&lister)
      try lister.group("data") { lister throws(DecodeError) in
        if var data = code.data { try data.list(&lister) }
        lister.showRest("bytes")
      }
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
