import HaloBluetoothCore

/// A signalling message of AVDTP (AVDTP 1.3, 8).
enum AVDTPFrame: ClassicProtocol {
  static let telling: Set = ["label", "ACP SEID", "error", "codec", "delay"]
  private static let signals: [UInt8: String] = [
    0x01: "Discover", 0x02: "Get Capabilities", 0x03: "Set Configuration", 0x04: "Get Configuration",
    0x05: "Reconfigure", 0x06: "Open", 0x07: "Start", 0x08: "Close", 0x09: "Suspend", 0x0A: "Abort",
    0x0B: "Security Control", 0x0C: "Get All Capabilities", 0x0D: "Delay Report",
  ]
  private static let kinds: [UInt8: String] = [0: "Command", 1: "General Reject", 2: "Accept", 3: "Reject"]
  /// The places of a packet in a message, as of AVCTP.
  static let parts: [UInt8: String] = [0: "single", 1: "start", 2: "continue", 3: "end"]
  private static let categories: [UInt64: String] = [
    1: "Media Transport", 2: "Reporting", 3: "Recovery", 4: "Content Protection", 5: "Header Compression",
    6: "Multiplexing", 7: "Media Codec", 8: "Delay Reporting",
  ]
  private static let codecs: [UInt64: String] = [
    0: "SBC", 1: "MPEG-1,2 Audio", 2: "MPEG-2,4 AAC", 3: "MPEG-D USAC", 4: "ATRAC", 0xFF: "vendor",
  ]
  private static let errors: [UInt64: String] = [
    0x01: "bad header format", 0x11: "bad length", 0x12: "bad ACP SEID", 0x13: "SEP in use",
    0x14: "SEP not in use", 0x17: "bad service category", 0x18: "bad payload format",
    0x19: "not supported command", 0x1A: "invalid capabilities", 0x22: "bad recovery type",
    0x23: "bad media transport format", 0x25: "bad recovery format", 0x26: "bad ROHC format",
    0x27: "bad CP format", 0x28: "bad multiplexing format", 0x29: "unsupported configuration",
    0x31: "bad state",
  ]

  static func reference(_ frame: RawSpan) -> String { "AVDTP 1.3, 8.4" }

  static func name(_ frame: RawSpan) -> String {
    guard let header = frame.byte(at: 0) else { return "AVDTP" }
    let kind = kinds[header & 3] ?? ""
    // A start packet has the number of packets before the signal; those that follow it have no signal.
    let place: Int? =
      switch header >> 2 & 3 {
      case 0: 1
      case 1: 2
      default: nil
      }
    guard let place, let signal = frame.byte(at: place).map({ $0 & 0x3F }) else {
      return "AVDTP \(kind), \(parts[header >> 2 & 3] ?? "") packet"
    }
    return "AVDTP \(signals[signal] ?? "signal \(Hex.string(signal))") \(kind)"
  }

  static func list(_ lister: inout FieldLister) throws(DecodeError) {
    let header = try lister.byte("header") {
      "label \($0 >> 4), \(parts[$0 >> 2 & 3] ?? ""), \(kinds[$0 & 3] ?? "")"
    }
    lister.bits("label", header >> 4)
    guard header >> 2 & 3 < 2 else { return lister.showRest("data") }
    if header >> 2 & 3 == 1 { try lister.byte("packets") }
    let signal =
      try lister.byte("signal") {
        signals[$0 & 0x3F] ?? Hex.string($0 & 0x3F)
      } & 0x3F
    // A part has no structure of its own.
    guard header >> 2 & 3 == 0 else { return lister.showRest("data") }
    switch header & 3 {
    case 0: try command(signal, &lister)
    case 2: try response(signal, &lister)
    case 3: try reject(signal, &lister)
    default: break
    }
  }

  private static func seid(_ name: String, _ lister: inout FieldLister) throws(DecodeError) {
    try lister.byte(name) { "\($0 >> 2)" }
  }

  private static func command(_ signal: UInt8, _ lister: inout FieldLister) throws(DecodeError) {
    switch signal {
    case 0x02, 0x04, 0x06, 0x08, 0x0A, 0x0B, 0x0C: try seid("ACP SEID", &lister)
    case 0x03:
      try seid("ACP SEID", &lister)
      try seid("INT SEID", &lister)
      try capabilities(&lister)
    case 0x05:
      try seid("ACP SEID", &lister)
      try capabilities(&lister)
    case 0x07, 0x09: while !lister.isAtEnd { try seid("ACP SEID", &lister) }
    case 0x0D:
      try seid("ACP SEID", &lister)
      var delay = BigEndian<UInt16>()
      try lister.value("delay", &delay, .unit("x 0.1 ms"))
    default: break
    }
    lister.showRest("data")
  }

  private static func response(_ signal: UInt8, _ lister: inout FieldLister) throws(DecodeError) {
    switch signal {
    case 0x01:
      while !lister.isAtEnd {
        try lister.group("stream end point") { lister throws(DecodeError) in
          try lister.byte("SEID") {
            "\($0 >> 2)" + ($0 & 2 == 0 ? "" : ", in use")
          }
          try lister.byte("type") {
            let media = [0: "audio", 1: "video", 2: "multimedia"][$0 >> 4] ?? "media \($0 >> 4)"
            return "\(media) \($0 & 8 == 0 ? "source" : "sink")"
          }
        }
      }
    case 0x02, 0x04, 0x0C: try capabilities(&lister)
    default: break
    }
    lister.showRest("data")
  }

  private static func reject(_ signal: UInt8, _ lister: inout FieldLister) throws(DecodeError) {
    switch signal {
    case 0x03, 0x05: try lister.byte("service category", categories)
    case 0x07, 0x09: try seid("ACP SEID", &lister)
    default: break
    }
    try lister.byte("error", errors)
    lister.showRest("data")
  }

  /// Service capabilities: category, length, value (8.21).
  private static func capabilities(_ lister: inout FieldLister) throws(DecodeError) {
    while !lister.isAtEnd {
      try lister.group("capability") { lister throws(DecodeError) in
        let category = try lister.byte("service category", categories)
        var length = Int(try lister.byte("length"))
        if category == 7, length >= 2 {
          try lister.byte("media type") {
            [0: "audio", 1: "video", 2: "multimedia"][$0 >> 4] ?? "\($0 >> 4)"
          }
          try lister.byte("codec", codecs)
          length -= 2
        }
        var value: [UInt8] = []
        if length > 0 { try lister.bytes("value", &value, count: length, .plain) }
      }
    }
  }
}
