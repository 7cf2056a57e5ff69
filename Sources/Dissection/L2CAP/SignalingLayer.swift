import BluetoothCore
import HCI
import L2CAP

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

  private static let names: [UInt8: (name: String, section: Int)] = [
    0x01: ("Command Reject", 1), 0x02: ("Connection Request", 2), 0x03: ("Connection Response", 3),
    0x04: ("Configuration Request", 4), 0x05: ("Configuration Response", 5),
    0x06: ("Disconnection Request", 6), 0x07: ("Disconnection Response", 7), 0x08: ("Echo Request", 8),
    0x09: ("Echo Response", 9), 0x0A: ("Information Request", 10), 0x0B: ("Information Response", 11),
    0x12: ("Connection Parameter Update Request", 20), 0x13: ("Connection Parameter Update Response", 21),
    0x14: ("LE Credit Based Connection Request", 22), 0x15: ("LE Credit Based Connection Response", 23),
    0x16: ("Flow Control Credit", 24), 0x17: ("Credit Based Connection Request", 25),
    0x18: ("Credit Based Connection Response", 26), 0x19: ("Credit Based Reconfigure Request", 27),
    0x1A: ("Credit Based Reconfigure Response", 28),
  ]

  /// In the specification's words.
  public var name: String { Self.names[code.rawValue]?.name ?? "code \(Hex.string(code.rawValue))" }

  var reference: String {
    "Vol 3, Part A, 4" + (Self.names[code.rawValue].map { ".\($0.section)" } ?? "")
  }

  func summary(of source: RawSpan) -> String {
    let data = fields(of: source).filter { $0.depth == 1 }
    let words = data.map { "\($0.name) \($0.value)" }.joined(separator: ", ")
    return "\(name), id \(identifier)" + (words.isEmpty ? "" : ": \(words)")
  }

  func fields(of source: RawSpan) -> [PacketField] {
    var f = FieldReader(source, range, reference: reference)
    f.readAll { f throws(DecodeError) in
      let name = name
      try f.value("code", { r throws(DecodeError) in try r.readUInt8() }) { "\(name) (\(Hex.string($0)))" }
      try f.uint8("identifier")
      try f.uint16("length", unit: "bytes")
      try f.group("data") { f throws(DecodeError) in
        try readData(&f)
        f.rest("bytes")
      }
    }
    return f.fields
  }

  private func readData(_ f: inout FieldReader) throws(DecodeError) {
    switch code.rawValue {
    case 0x01:
      try f.uint16("reason", words: [0: "command not understood", 1: "MTU exceeded", 2: "invalid CID"])
    case 0x02:
      try f.hex16("PSM")
      try f.hex16("source CID")
    case 0x03:
      try f.hex16("destination CID")
      try f.hex16("source CID")
      try f.uint16(
        "result", words: [0: "successful", 1: "pending", 2: "PSM not supported", 3: "security block"])
      try f.uint16("status")
    case 0x06, 0x07:
      try f.hex16("destination CID")
      try f.hex16("source CID")
    case 0x0A: try f.uint16("type", words: [1: "MTU", 2: "extended features", 3: "fixed channels"])
    case 0x12:
      try f.code("interval, least", ConnectionInterval.self)
      try f.code("interval, most", ConnectionInterval.self)
      try f.uint16("latency", unit: "events")
      try f.code("timeout", SupervisionTimeout.self)
    case 0x13: try f.uint16("result", words: [0: "accepted", 1: "rejected"])
    case 0x14:
      try f.hex16("SPSM")
      try f.hex16("source CID")
      try f.uint16("MTU")
      try f.uint16("MPS")
      try f.uint16("credits")
    case 0x15:
      try f.hex16("destination CID")
      try f.uint16("MTU")
      try f.uint16("MPS")
      try f.uint16("credits")
      try f.uint16("result", words: [0: "successful", 2: "SPSM not supported", 4: "no resources"])
    case 0x16:
      try f.hex16("CID")
      try f.uint16("credits")
    case 0x17:
      try f.hex16("SPSM")
      try f.uint16("MTU")
      try f.uint16("MPS")
      try f.uint16("credits")
      while !f.isAtEnd { try f.hex16("source CID") }
    case 0x18:
      try f.uint16("MTU")
      try f.uint16("MPS")
      try f.uint16("credits")
      try f.uint16("result")
      while !f.isAtEnd { try f.hex16("destination CID") }
    default: break
    }
  }
}
