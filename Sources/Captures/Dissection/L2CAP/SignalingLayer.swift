import HaloBluetoothCore
import L2CAP

/// A command on a signalling channel (Core Specification Vol 3, Part A, 4).
package struct SignalingLayer: Hashable, Sendable {
  package var code: SignalingPacket.Code
  package var identifier: UInt8
  /// In ``DissectedPacket/source``.
  package var range: Range<Int>

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
  package var name: String { code.name ?? "code \(Hex.string(code.rawValue))" }

  var reference: String { code.reference }

  func writeSummary(of source: RawSpan, to text: inout TextBuffer) {
    text.write(name)
    text.write(", id ", Int(identifier))
    let fields = FieldList()
    list(source, to: fields)
    var separator: StaticString = ": "
    for entry in fields.entries where entry.depth == 1 && !entry.value.isEmpty {
      text.write(separator)
      text.write(fields.bytes(entry.name))
      text.write(" ")
      text.write(fields.bytes(entry.value))
      separator = ", "
    }
  }

  func list(_ source: RawSpan, to list: FieldList) {
    // On BR/EDR, several commands may share a frame (4).
    for (range, code) in SignalingLayer.commands(in: source, range) {
      list.read(source, range, reference: code.reference) { lister throws(DecodeError) in
        var (identifier, length) = (UInt8(0), UInt16(0))
        _ = try lister.take { r throws(DecodeError) in try r.readUInt8() }
        lister.note("code", code.title, number: FieldNumber(Int64(code.rawValue)), from: 0)
        try lister.value("identifier", &identifier)
        try lister.value("length", &length, .unit("bytes"))
        try lister.group("data") { lister throws(DecodeError) in
          if var data = code.data { try data.list(&lister) }
          lister.showRest("bytes")
        }
      }
    }
  }

  /// The commands in a frame, each with its range; the last one may be damaged.
  static func commands(
    in source: RawSpan, _ range: Range<Int>
  ) -> [(range: Range<Int>, code: SignalingPacket.Code)] {
    var commands: [(range: Range<Int>, code: SignalingPacket.Code)] = []
    var start = range.lowerBound
    while start < range.upperBound, let code = source.byte(at: start).map(SignalingPacket.Code.init) {
      var end = range.upperBound
      if let low = source.byte(at: start + 2), let high = source.byte(at: start + 3) {
        let next = start + 4 + (Int(high) << 8 | Int(low))
        if next + 4 <= range.upperBound { end = next }
      }
      commands.append((start..<end, code))
      start = end
    }
    return commands
  }
}
