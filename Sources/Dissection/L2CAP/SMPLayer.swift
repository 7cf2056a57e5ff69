import BluetoothCore
import L2CAP

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
