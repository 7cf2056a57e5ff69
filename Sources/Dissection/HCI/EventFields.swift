import BluetoothCore
import HCI

/// The parameters of the events that one meets on LE links. Those of all others are shown as bytes.
extension HCIEventCode {
  func readParameters(_ f: inout FieldReader) throws(DecodeError) {
    switch self {
    case .leMeta: try (try f.code("subevent", LESubevent.self)).readParameters(&f)
    case .commandComplete:
      try f.uint8("commands allowed")
      let opcode = try f.code("command", HCIOpcode.self)
      guard !f.isAtEnd, opcode.group != 0x3F else { return }
      try f.status()
      // A command that failed may answer nothing else.
      if !f.isAtEnd { try opcode.readReturnParameters(&f) }
    case .commandStatus:
      try f.status()
      try f.uint8("commands allowed")
      try f.code("command", HCIOpcode.self)
    case .numberOfCompletedPackets:
      for _ in 0..<(try f.uint8("links")) {
        try f.connection()
        try f.uint16("packets completed")
      }
    case .hardwareError: try f.hex8("code")
    default: try readLinkParameters(&f)
    }
  }

  private func readLinkParameters(_ f: inout FieldReader) throws(DecodeError) {
    if hasStatus { try f.status() }
    if hasConnection { try f.connection() }
    switch rawValue {
    case 0x03:
      try f.address("peer address")
      try f.uint8("link type", words: [0: "SCO", 1: "ACL"])
      try f.uint8("encryption", words: [0: "off", 1: "on"])
    case 0x04:
      try f.address("peer address")
      try f.bytes("class of device", 3)
      try f.uint8("link type", words: [0: "SCO", 1: "ACL", 2: "eSCO"])
    case 0x05: try f.code("reason", HCIErrorCode.self)
    case 0x07:
      try f.address("peer address")
      try f.text("name", f.remaining)
    case 0x08, 0x59:
      try f.uint8("encryption", words: [0: "off", 1: "on", 2: "on, AES-CCM"])
      if rawValue == 0x59 { try f.uint8("key size", unit: "bytes") }
    case 0x0B: try f.code("features", LMPFeatures.self)
    case 0x0C:
      try f.code("version", CoreVersion.self)
      try f.code("manufacturer", CompanyIdentifier.self)
      try f.hex16("subversion")
    case 0x12:
      try f.address("peer address")
      try f.uint8("new role", words: [0: "central", 1: "peripheral"])
    case 0x16, 0x17, 0x31, 0x34, 0x35: try f.address("peer address")
    case 0x1B:
      try f.connection()
      try f.uint8("slots, most")
    case 0x36: try f.address("peer address")
    default: break
    }
  }
}

extension LESubevent {
  func readParameters(_ f: inout FieldReader) throws(DecodeError) {
    if hasStatus { try f.status() }
    if hasConnection { try f.connection() }
    switch rawValue {
    case 0x01, 0x0A, 0x29:
      try f.code("role", LERole.self)
      try f.typedAddress("peer address")
      if rawValue != 0x01 {
        try f.address("own resolvable address")
        try f.address("peer's resolvable address")
      }
      try f.linkParameters()
      try f.code("clock accuracy of the central", ClockAccuracy.self)
      if rawValue == 0x29 {
        try f.uint8("advertising handle")
        try f.hex16("sync handle")
      }
    case 0x02, 0x0B, 0x0D: try readReports(&f)
    case 0x03: try f.linkParameters()
    case 0x04: try f.code("features", LEFeatures.self)
    case 0x05:
      try f.hex64("random number")
      try f.hex16("encrypted diversifier")
    case 0x06:
      try f.code("connection interval, least", ConnectionInterval.self)
      try f.code("connection interval, most", ConnectionInterval.self)
      try f.uint16("latency", unit: "events")
      try f.code("supervision timeout", SupervisionTimeout.self)
    case 0x07:
      try f.dataLength("sent")
      try f.dataLength("received")
    case 0x08:
      try f.bytes("public key, X", 32)
      try f.bytes("public key, Y", 32)
    case 0x09: try f.bytes("Diffie-Hellman key", 32)
    case 0x0C:
      try f.code("PHY to send", LEPHY.self)
      try f.code("PHY to receive", LEPHY.self)
    case 0x12:
      try f.uint8("advertising handle")
      try f.connection()
      try f.uint8("advertising events")
    case 0x13:
      try f.uint8("advertising handle")
      try f.typedAddress("scanner's address")
    case 0x14: try f.uint8("channel selection algorithm", words: [0: "#1", 1: "#2"])
    default: break
    }
  }

  private func readReports(_ f: inout FieldReader) throws(DecodeError) {
    for number in 0..<(try f.uint8("reports")) {
      try f.group("report \(number + 1)") { f throws(DecodeError) in
        switch self {
        case .advertisingReport:
          try f.uint8("event type", words: Words.report)
          try f.typedAddress("address")
          try f.advertisingData(Int(try f.uint8("data length", unit: "bytes")))
          try f.power("RSSI")
        case .directedAdvertisingReport:
          try f.uint8("event type", words: Words.report)
          try f.typedAddress("address")
          try f.typedAddress("direct address")
          try f.power("RSSI")
        default:
          try f.value("event type", { r throws(DecodeError) in try r.readUInt16() }, words: Self.eventType)
          try f.typedAddress("address")
          try f.code("primary PHY", LEPHY.self)
          try f.code("secondary PHY", LEPHY.self)
          try f.uint8("advertising SID", words: [0xFF: "none"])
          try f.power("transmit power")
          try f.power("RSSI")
          try f.code("periodic advertising interval", PeriodicAdvertisingInterval.self)
          try f.typedAddress("direct address")
          try f.advertisingData(Int(try f.uint8("data length", unit: "bytes")))
        }
      }
    }
  }

  private static func eventType(_ bits: UInt16) -> String {
    let names = ["connectable", "scannable", "directed", "scan response", "legacy"]
    var words = names.indices.filter { bits & 1 << UInt16($0) != 0 }.map { names[$0] }
    switch bits >> 5 & 3 {
    case 0: words.append("data complete")
    case 1: words.append("more data follows")
    default: words.append("data cut")
    }
    return words.joined(separator: ", ")
  }
}
