import BluetoothCore
import HCI

/// The parameters of the commands that one meets on LE links. Those of all others are shown as bytes.
extension HCIOpcode {
  func readParameters(_ f: inout FieldReader) throws(DecodeError) {
    switch rawValue {
    case 0x0406:
      try f.connection()
      try f.code("reason", HCIErrorCode.self)
    case 0x041B, 0x041D, 0x1405, 0x1408, 0x2015, 0x2016, 0x201B, 0x2030: try f.connection()
    case 0x0405:
      try f.address("peer address")
      try f.hex16("packet types")
      try f.uint8("page scan repetition mode")
      try f.uint8("reserved")
      try f.hex16("clock offset")
      try f.flag("allows a role switch")
    case 0x0419:
      try f.address("peer address")
      try f.uint8("page scan repetition mode")
      try f.uint8("reserved")
      try f.hex16("clock offset")
    case 0x0C01: try f.code("events", EventMask.self)
    case 0x0C13: try f.text("name", 248)
    case 0x0C1A: try f.uint8("scans", words: [0: "none", 1: "inquiry", 2: "page", 3: "inquiry and page"])
    case 0x0C24:
      try f.value("class of device", { r throws(DecodeError) in try r.readUInt24() }) {
        Hex.string($0)
      }
    case 0x0C33:
      try f.uint16("ACL data length", unit: "bytes")
      try f.uint8("synchronous data length", unit: "bytes")
      try f.uint16("ACL packets")
      try f.uint16("synchronous packets")
    case 0x0C56, 0x0C7A: try f.flag("enabled")
    case 0x0C63: try f.hex64("events of page 2")
    case 0x0C6D:
      try f.flag("LE supported by the host")
      try f.uint8("unused")
    case 0x2001: try f.code("LE events", LEEventMask.self)
    default: try readLEParameters(&f)
    }
  }

  private func readLEParameters(_ f: inout FieldReader) throws(DecodeError) {
    switch rawValue {
    case 0x2005: try f.address("random address")
    case 0x2006:
      try f.code("interval, least", AdvertisingInterval.self)
      try f.code("interval, most", AdvertisingInterval.self)
      try f.uint8("type", words: Words.advertising)
      try f.code("own address type", OwnAddressType.self)
      try f.typedAddress("peer address")
      try f.hex8("channels")
      try f.uint8("filter policy")
    case 0x2008, 0x2009: try f.advertisingData(Int(try f.uint8("data length", unit: "bytes")))
    case 0x200A: try f.flag("enabled")
    case 0x200B:
      try f.uint8("type", words: Words.scan)
      try f.code("interval", ScanInterval.self)
      try f.code("window", ScanInterval.self)
      try f.code("own address type", OwnAddressType.self)
      try f.uint8("filter policy", words: Words.scanFilter)
    case 0x200C:
      try f.flag("enabled")
      try f.flag("filters duplicates")
    case 0x200D:
      try f.code("scan interval", ScanInterval.self)
      try f.code("scan window", ScanInterval.self)
      try f.uint8("initiator filter policy", words: Words.initiator)
      try f.typedAddress("peer address")
      try f.code("own address type", OwnAddressType.self)
      try f.connectionParameters()
    case 0x2011, 0x2012: try f.typedAddress("address")
    case 0x2013, 0x2020:
      try f.connection()
      try f.connectionParameters()
    case 0x2014: try f.bytes("channel map", 5)
    case 0x2017:
      try f.bytes("key", 16)
      try f.bytes("plaintext", 16)
    case 0x2019:
      try f.connection()
      try f.hex64("random number")
      try f.hex16("encrypted diversifier")
      try f.bytes("long term key", 16)
    case 0x201A:
      try f.connection()
      try f.bytes("long term key", 16)
    case 0x2021:
      try f.connection()
      try f.code("reason", HCIErrorCode.self)
    case 0x2022:
      try f.connection()
      try f.dataLength("sent")
    case 0x2024: try f.dataLength("sent")
    case 0x2027:
      try f.typedAddress("identity address")
      try f.bytes("peer's IRK", 16)
      try f.bytes("own IRK", 16)
    case 0x2028, 0x202B, 0x202C: try f.typedAddress("identity address")
    case 0x202D: try f.flag("enabled")
    case 0x202E: try f.uint16("timeout", unit: "s")
    case 0x2031, 0x2032:
      if rawValue == 0x2032 { try f.connection() }
      try f.hex8("no preference")
      try f.hex8("PHYs to send")
      try f.hex8("PHYs to receive")
      if rawValue == 0x2032 { try f.hex16("options of LE Coded") }
    default: try readExtendedParameters(&f)
    }
  }

  private func readExtendedParameters(_ f: inout FieldReader) throws(DecodeError) {
    switch rawValue {
    case 0x2035:
      try f.uint8("advertising handle")
      try f.address("random address")
    case 0x2036:
      try f.uint8("advertising handle")
      try f.hex16("event properties")
      try f.uint24Interval("primary interval, least")
      try f.uint24Interval("primary interval, most")
      try f.hex8("primary channels")
      try f.code("own address type", OwnAddressType.self)
      try f.typedAddress("peer address")
      try f.uint8("filter policy")
      try f.power("transmit power")
      try f.code("primary PHY", LEPHY.self)
      try f.uint8("secondary max skip")
      try f.code("secondary PHY", LEPHY.self)
      try f.uint8("advertising SID")
      try f.flag("reports scan requests")
    case 0x2037, 0x2038:
      try f.uint8("advertising handle")
      try f.uint8("operation", words: Words.dataOperation)
      try f.uint8("fragment preference", words: [0: "may fragment", 1: "should not fragment"])
      try f.advertisingData(Int(try f.uint8("data length", unit: "bytes")))
    case 0x2039:
      try f.flag("enabled")
      for _ in 0..<(try f.uint8("sets")) {
        try f.uint8("advertising handle")
        try f.uint16("duration", unit: "x 10 ms")
        try f.uint8("events, most")
      }
    case 0x203C: try f.uint8("advertising handle")
    case 0x2041:
      try f.code("own address type", OwnAddressType.self)
      try f.uint8("filter policy", words: Words.scanFilter)
      try f.perPHY { f throws(DecodeError) in
        try f.uint8("type", words: Words.scan)
        try f.code("interval", ScanInterval.self)
        try f.code("window", ScanInterval.self)
      }
    case 0x2042:
      try f.flag("enabled")
      try f.uint8("filters duplicates", words: [0: "no", 1: "yes", 2: "anew in each period"])
      try f.code("duration", ScanDuration.self)
      try f.code("period", ScanPeriod.self)
    case 0x2043:
      try f.uint8("initiator filter policy", words: Words.initiator)
      try f.code("own address type", OwnAddressType.self)
      try f.typedAddress("peer address")
      try f.perPHY { f throws(DecodeError) in
        try f.code("scan interval", ScanInterval.self)
        try f.code("scan window", ScanInterval.self)
        try f.connectionParameters()
      }
    case 0x204E:
      try f.typedAddress("identity address")
      try f.uint8("privacy mode", words: [0: "network", 1: "device"])
    default: break
    }
  }
}

/// What numbers mean that several commands and events share.
enum Words {
  static let advertising: [UInt8: String] = [
    0: "connectable, undirected", 1: "connectable, directed, high duty cycle", 2: "scannable, undirected",
    3: "not connectable, undirected", 4: "connectable, directed, low duty cycle",
  ]
  static let report: [UInt8: String] = [
    0: "connectable, undirected", 1: "connectable, directed", 2: "scannable, undirected",
    3: "not connectable, undirected", 4: "scan response",
  ]
  static let scan: [UInt8: String] = [0: "passive", 1: "active"]
  static let scanFilter: [UInt8: String] = [
    0: "all but directed to others", 1: "filter accept list", 2: "all, also directed to resolvable addresses",
    3: "filter accept list, also directed to resolvable addresses",
  ]
  static let initiator: [UInt8: String] = [0: "the peer address", 1: "the filter accept list"]
  static let dataOperation: [UInt8: String] = [
    0: "fragment between others", 1: "first fragment", 2: "last fragment", 3: "complete data",
    4: "unchanged, new DID",
  ]
}
