import BluetoothCore
import HCI

/// Groups of fields that several packets have.
extension FieldReader {
  /// The wish for a link, as in LE Create Connection (Vol 4, Part E, 7.8.12).
  mutating func connectionParameters() throws(DecodeError) {
    try code("connection interval, least", ConnectionInterval.self)
    try code("connection interval, most", ConnectionInterval.self)
    try uint16("latency", unit: "events")
    try code("supervision timeout", SupervisionTimeout.self)
    try code("connection event, least", ConnectionEventLength.self)
    try code("connection event, most", ConnectionEventLength.self)
  }

  /// What is in force on a link.
  mutating func linkParameters() throws(DecodeError) {
    try code("connection interval", ConnectionInterval.self)
    try uint16("latency", unit: "events")
    try code("supervision timeout", SupervisionTimeout.self)
  }

  mutating func dataLength(_ direction: String) throws(DecodeError) {
    try uint16("bytes \(direction), most", unit: "bytes")
    try uint16("time \(direction), most", unit: "us")
  }

  /// An interval of advertising in three bytes, in steps of 0.625 ms.
  mutating func uint24Interval(_ name: String) throws(DecodeError) {
    try value(name, { reader throws(DecodeError) in try reader.readUInt24() }) {
      "\(Int($0) * 625 / 1000).\(String(1000 + Int($0) * 625 % 1000).dropFirst()) ms"
    }
  }

  /// A set of PHYs, and the same fields for each of them.
  mutating func perPHY(
    _ body: (inout FieldReader) throws(DecodeError) -> Void
  ) throws(DecodeError) {
    let phys = try hex8("PHYs")
    for phy in [LEPHY.le1M, .le2M, .leCoded] where phys & 1 << (phy.rawValue - 1) != 0 {
      try group("\(phy)", "", body)
    }
  }

  /// AD structures of `count` bytes in all.
  mutating func advertisingData(_ count: Int) throws(DecodeError) {
    var left = min(count, remaining)
    while left > 0 {
      let length = try uint8("AD length", unit: "bytes")
      left -= 1
      guard length > 0, left > 0 else {
        if left > 0 { try bytes("padding", left) }
        return
      }
      let size = min(Int(length), left)
      try group("AD structure") { f throws(DecodeError) in
        let type = try f.code("type", ADType.self)
        try f.value(
          "value", { reader throws(DecodeError) in try reader.readBytes(size - 1) }
        ) { payload in
          size < Int(length) ? "cut off" : AdvertisingWords.describe(type, payload)
        }
      }
      left -= size
    }
  }
}

/// Advertising data in words.
enum AdvertisingWords {
  /// The payload of one AD structure.
  static func describe(_ type: ADType, _ payload: [UInt8]) -> String {
    let data = AdvertisingData([UInt8(truncatingIfNeeded: payload.count + 1), type.rawValue] + payload)
    guard let structure = data.structures.first else { return Hex.string(payload, separator: " ") }
    return words(of: structure)
  }

  static func words(of structure: ADStructure) -> String {
    switch structure {
    case .flags(let flags): "\(flags)"
    case .localName(let bytes, _), .uri(let bytes): "\"\(String(printable: bytes))\""
    case .serviceUUIDs(let uuids, _, _), .solicitedServiceUUIDs(let uuids, _):
      uuids.map(UUIDName.described).joined(separator: ", ")
    case .serviceData(let uuid, _, let bytes):
      "\(UUIDName.described(uuid)): \(Hex.string(bytes, separator: " "))"
    case .manufacturerData(let company, let bytes): "company \(company): \(Hex.string(bytes, separator: " "))"
    case .txPower(let power): "\(power) dBm"
    case .appearance(let appearance): "\(appearance)"
    case .connectionIntervalRange(let min, let max): "\(min) to \(max)"
    case .deviceAddress(let address): "\(address)"
    case .role(let role): "\(role)"
    case .unknown(_, let bytes): Hex.string(bytes, separator: " ")
    case .malformed(_, let bytes): "malformed: \(Hex.string(bytes, separator: " "))"
    }
  }
}
