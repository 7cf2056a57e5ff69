import BluetoothCore
import HCI

/// Advertising data as text.
enum AdvertisingText {
  /// The payload of one AD structure.
  static func describe(_ type: ADType, _ payload: [UInt8]) -> String {
    let data = AdvertisingData([UInt8(truncatingIfNeeded: payload.count + 1), type.rawValue] + payload)
    guard let structure = data.structures.first else { return Hex.string(payload, separator: " ") }
    return text(of: structure)
  }

  private static func text(of structure: ADStructure) -> String {
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
