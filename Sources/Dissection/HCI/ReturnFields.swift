import BluetoothCore
import HCI

extension HCIOpcode {
  /// What a command answers, behind the status.
  func readReturnParameters(_ f: inout FieldReader) throws(DecodeError) {
    switch rawValue {
    case 0x0C14: try f.text("name", f.remaining)
    case 0x0C23: try f.bytes("class of device", 3)
    case 0x1001:
      try f.code("HCI version", CoreVersion.self)
      try f.hex16("HCI subversion")
      try f.code("LMP version", CoreVersion.self)
      try f.code("manufacturer", CompanyIdentifier.self)
      try f.hex16("LMP subversion")
    case 0x1002: try f.bytes("supported commands", 64)
    case 0x1003: try f.code("features", LMPFeatures.self)
    case 0x1004:
      try f.uint8("page")
      try f.uint8("last page")
      try f.hex64("features")
    case 0x1005:
      try f.uint16("ACL data length", unit: "bytes")
      try f.uint8("synchronous data length", unit: "bytes")
      try f.uint16("ACL packets")
      try f.uint16("synchronous packets")
    case 0x1009: try f.address("address")
    case 0x1405:
      try f.connection()
      try f.power("RSSI")
    case 0x1408:
      try f.connection()
      try f.uint8("key size", unit: "bytes")
    case 0x2002, 0x2060:
      try f.uint16("LE ACL data length", unit: "bytes")
      try f.uint8("LE ACL packets")
      if rawValue == 0x2060 {
        try f.uint16("isochronous data length", unit: "bytes")
        try f.uint8("isochronous packets")
      }
    case 0x2003: try f.code("LE features", LEFeatures.self)
    case 0x2007: try f.power("transmit power")
    case 0x200F, 0x202A: try f.uint8("entries, most")
    case 0x2015:
      try f.connection()
      try f.bytes("channel map", 5)
    case 0x2017: try f.bytes("encrypted", 16)
    case 0x2018: try f.hex64("random number")
    case 0x201A, 0x201B, 0x2020, 0x2021, 0x2022: try f.connection()
    case 0x201C: try f.hex64("states")
    case 0x2023: try f.dataLength("sent")
    case 0x202B, 0x202C: try f.address("resolvable address")
    case 0x202F:
      try f.dataLength("sent")
      try f.dataLength("received")
    case 0x2030:
      try f.connection()
      try f.code("PHY to send", LEPHY.self)
      try f.code("PHY to receive", LEPHY.self)
    case 0x2036: try f.power("selected transmit power")
    case 0x203A: try f.uint16("advertising data, most", unit: "bytes")
    case 0x203B: try f.uint8("advertising sets")
    case 0x204B:
      try f.power("least transmit power")
      try f.power("most transmit power")
    default: break
    }
  }
}
