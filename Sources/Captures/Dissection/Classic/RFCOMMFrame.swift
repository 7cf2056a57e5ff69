import HaloBluetoothCore

/// A frame of RFCOMM: address, control, length, data, frame check sequence (RFCOMM 1.2, 5; TS 07.10, 5.2).
enum RFCOMMFrame: ClassicProtocol {
  static let telling: Set = ["channel", "credits", "command", "multiplexer DLCI", "maximum frame size"]
  private static let controls: [UInt8: String] = [
    0x2F: "SABM", 0x63: "UA", 0x0F: "DM", 0x43: "DISC", 0xEF: "UIH", 0x03: "UI",
  ]

  /// The commands of the multiplexer (TS 07.10, 5.4.6.3), without the bits for length and direction.
  private static let commands: [UInt8: String] = [
    0x20: "Parameter Negotiation", 0x08: "Test", 0x28: "Flow Control On", 0x18: "Flow Control Off",
    0x38: "Modem Status", 0x24: "Remote Port Negotiation", 0x14: "Remote Line Status", 0x04: "Non Supported",
    0x30: "Close Down", 0x10: "Power Saving",
  ]

  static func reference(_ frame: RawSpan) -> String { "RFCOMM 1.2, 5.1" }

  static func name(_ frame: RawSpan) -> String {
    guard let address = frame.byte(at: 0), let control = frame.byte(at: 1) else { return "RFCOMM" }
    let name = controls[control & 0xEF] ?? "frame \(Hex.string(control))"
    return "RFCOMM \(name)" + (address >> 2 == 0 ? " of the multiplexer" : "")
  }

  /// The range of the data of a channel, as far as the frame is there; nil if it has none.
  static func data(_ frame: RawSpan) -> Range<Int>? {
    guard let address = frame.byte(at: 0), address >> 2 > 0, let control = frame.byte(at: 1),
      let first = frame.byte(at: 2)
    else { return nil }
    var (start, length) = (3, Int(first >> 1))
    if first & 1 == 0 {
      guard let high = frame.byte(at: 3) else { return nil }
      (start, length) = (4, length | Int(high) << 7)
    }
    // Credits precede the data if the poll bit is set (6.5.2).
    if control & 0xEF == 0xEF, control & 0x10 != 0 { start += 1 }
    let end = min(start + length, frame.byteCount)
    return end > start ? start..<end : nil
  }

  static func list(_ lister: inout FieldLister) throws(DecodeError) {
    let address = try lister.byte("address") {
      "DLCI \($0 >> 2), C/R \($0 >> 1 & 1)"
    }
    let dlci = address >> 2
    if dlci > 0 { lister.bits("channel", dlci >> 1) }
    let control = try lister.byte("control") {
      let name: String = controls[$0 & 0xEF] ?? "unknown"
      return $0 & 0x10 == 0 ? name : "\(name), P/F"
    }
    let length = try lister.show(
      "length",
      { r throws(DecodeError) in
        let first = try r.readUInt8()
        let low = Int(first >> 1)
        if first & 1 == 1 { return low }
        let high = Int(try r.readUInt8())
        return high << 7 | low
      }
    ) { "\($0) bytes" }
    let isData = control & 0xEF == 0xEF
    // Credits precede the data if the poll bit is set (6.5.2).
    if isData, dlci > 0, control & 0x10 != 0 { try lister.byte("credits") }
    guard length < lister.remaining else { throw lister.missing(length + 1) }
    if isData, dlci == 0 {
      try lister.group("multiplexer command") { lister throws(DecodeError) in
        try command(&lister, end: lister.offset + length)
      }
    } else if length > 0 {
      var data: [UInt8] = []
      try lister.bytes("data", &data, count: length, .plain)
    }
    var check: UInt8 = 0
    try lister.value("frame check sequence", &check, .hex)
  }

  private static func command(_ lister: inout FieldLister, end: Int) throws(DecodeError) {
    guard end > lister.offset else { return }
    let type = try lister.byte("command") {
      (commands[$0 >> 2] ?? "command \(Hex.string($0))")
        + ($0 & 2 == 0 ? " response" : "")
    }
    let length = try lister.byte("command length") {
      "\($0 >> 1) bytes"
    }
    guard Int(length >> 1) <= end - lister.offset else { throw lister.missing(Int(length >> 1)) }
    switch (type >> 2, length >> 1) {
    case (0x20, 8):
      try lister.byte("multiplexer DLCI")
      try lister.byte("frame type and convergence layer")
      try lister.byte("priority")
      try lister.byte("acknowledgement timer")
      var size: UInt16 = 0
      try lister.value("maximum frame size", &size, .unit("bytes"))
      try lister.byte("maximum retransmissions")
      try lister.byte("initial credits")
    case (0x38, 2...3):
      let address = try lister.byte("address") {
        "DLCI \($0 >> 2)"
      }
      lister.bits("multiplexer DLCI", address >> 2)
      try lister.byte("V.24 signals") { signals in
        let names = [(1, "FC"), (2, "RTC"), (3, "RTR"), (6, "IC"), (7, "DV")]
        let set = names.filter { signals >> UInt8($0.0) & 1 == 1 }.map(\.1)
        return set.isEmpty ? "none" : set.joined(separator: ", ")
      }
      if length >> 1 == 3 { try lister.byte("break signal") }
    default:
      var parameters: [UInt8] = []
      try lister.bytes("parameters", &parameters, count: Int(length >> 1), .plain)
    }
    var rest: [UInt8] = []
    if end > lister.offset { try lister.bytes("more", &rest, count: end - lister.offset, .plain) }
  }
}
