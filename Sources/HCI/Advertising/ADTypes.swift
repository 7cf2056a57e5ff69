import HaloBluetoothCore

/// The type of an AD structure (Assigned Numbers, 2.3).
package struct ADType: HCICode {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let flags = ADType(rawValue: 0x01)
  package static let incompleteServiceUUIDs16 = ADType(rawValue: 0x02)
  package static let completeServiceUUIDs16 = ADType(rawValue: 0x03)
  package static let incompleteServiceUUIDs32 = ADType(rawValue: 0x04)
  package static let completeServiceUUIDs32 = ADType(rawValue: 0x05)
  package static let incompleteServiceUUIDs128 = ADType(rawValue: 0x06)
  package static let completeServiceUUIDs128 = ADType(rawValue: 0x07)
  package static let shortenedLocalName = ADType(rawValue: 0x08)
  package static let completeLocalName = ADType(rawValue: 0x09)
  package static let txPower = ADType(rawValue: 0x0A)
  /// In advertising data a device ID, in out-of-band data a temporary key.
  package static let temporaryKey = ADType(rawValue: 0x10)
  package static let connectionIntervalRange = ADType(rawValue: 0x12)
  package static let solicitedServiceUUIDs16 = ADType(rawValue: 0x14)
  package static let solicitedServiceUUIDs128 = ADType(rawValue: 0x15)
  package static let serviceData16 = ADType(rawValue: 0x16)
  package static let appearance = ADType(rawValue: 0x19)
  package static let deviceAddress = ADType(rawValue: 0x1B)
  package static let role = ADType(rawValue: 0x1C)
  package static let solicitedServiceUUIDs32 = ADType(rawValue: 0x1F)
  package static let serviceData32 = ADType(rawValue: 0x20)
  package static let serviceData128 = ADType(rawValue: 0x21)
  package static let secureConnectionsConfirm = ADType(rawValue: 0x22)
  package static let secureConnectionsRandom = ADType(rawValue: 0x23)
  package static let uri = ADType(rawValue: 0x24)
  package static let manufacturerData = ADType(rawValue: 0xFF)

  private static let texts: [ADType: String] = [
    .flags: "flags", .incompleteServiceUUIDs16: "incomplete list of 16-bit service UUIDs",
    .completeServiceUUIDs16: "complete list of 16-bit service UUIDs",
    .incompleteServiceUUIDs32: "incomplete list of 32-bit service UUIDs",
    .completeServiceUUIDs32: "complete list of 32-bit service UUIDs",
    .incompleteServiceUUIDs128: "incomplete list of 128-bit service UUIDs",
    .completeServiceUUIDs128: "complete list of 128-bit service UUIDs",
    .shortenedLocalName: "shortened local name", .completeLocalName: "complete local name",
    .txPower: "TX power", .connectionIntervalRange: "connection interval range",
    .solicitedServiceUUIDs16: "16-bit solicited service UUIDs",
    .solicitedServiceUUIDs128: "128-bit solicited service UUIDs",
    .serviceData16: "service data, 16-bit UUID", .appearance: "appearance",
    .deviceAddress: "device address", .role: "role",
    .solicitedServiceUUIDs32: "32-bit solicited service UUIDs", .serviceData32: "service data, 32-bit UUID",
    .serviceData128: "service data, 128-bit UUID", .uri: "URI", .manufacturerData: "manufacturer data",
    ADType(rawValue: 0x0D): "class of device", ADType(rawValue: 0x0E): "simple pairing hash",
    ADType(rawValue: 0x0F): "simple pairing randomizer", .temporaryKey: "device ID or TK value",
    ADType(rawValue: 0x11): "security manager OOB flags", ADType(rawValue: 0x17): "public target address",
    ADType(rawValue: 0x18): "random target address", ADType(rawValue: 0x1A): "advertising interval",
    .secureConnectionsConfirm: "LE secure connections confirm",
    .secureConnectionsRandom: "LE secure connections random", ADType(rawValue: 0x25): "indoor positioning",
    ADType(rawValue: 0x26): "transport discovery data", ADType(rawValue: 0x27): "LE supported features",
    ADType(rawValue: 0x28): "channel map update", ADType(rawValue: 0x29): "PB-ADV",
    ADType(rawValue: 0x2A): "mesh message", ADType(rawValue: 0x2B): "mesh beacon",
    ADType(rawValue: 0x2C): "BIGInfo", ADType(rawValue: 0x2D): "broadcast code",
    ADType(rawValue: 0x2E): "resolvable set identifier", ADType(rawValue: 0x2F): "advertising interval, long",
    ADType(rawValue: 0x30): "broadcast name", ADType(rawValue: 0x31): "encrypted advertising data",
    ADType(rawValue: 0x32): "periodic advertising response timing",
  ]

  package var description: String { Self.texts[self] ?? "type \(Hex.string(rawValue))" }

  /// Names are shown as text, and secrets for pairing as keys.
  fileprivate var style: FieldStyle {
    switch self {
    case .shortenedLocalName, .completeLocalName, ADType(rawValue: 0x30): .text
    // Hash, randomizer and TK for out-of-band pairing; the code of an encrypted broadcast.
    case ADType(rawValue: 0x0F), .temporaryKey, .secureConnectionsRandom, ADType(rawValue: 0x2D): .key
    default: .plain
    }
  }

  /// Where the payload is specified: in the Core Specification Supplement (CSS), Part A.
  package var reference: String {
    let section =
      switch rawValue {
      case 0x01: "1.3"
      case 0x02...0x07: "1.1"
      case 0x08, 0x09: "1.2"
      case 0x0A: "1.5"
      case 0x0D...0x0F, 0x1D, 0x1E: "1.6"
      case 0x10: "1.8"
      case 0x11: "1.7"
      case 0x12: "1.9"
      case 0x14, 0x15, 0x1F: "1.10"
      case 0x16, 0x20, 0x21: "1.11"
      case 0x17: "1.13"
      case 0x18: "1.14"
      case 0x19: "1.12"
      case 0x1A, 0x2F: "1.15"
      case 0x1B: "1.16"
      case 0x1C: "1.17"
      case 0x24: "1.18"
      case 0x27: "1.19"
      case 0x28: "1.20"
      case 0x2C: "1.21"
      case 0x2D: "1.22"
      case 0x31: "1.23"
      case 0x32: "1.24"
      case 0xFF: "1.4"
      default: "1"
      }
    return "CSS, Part A, \(section)"
  }
}

/// The discoverable mode and the supported transports of a device (Core Specification Supplement, Part A, 1.3).
package struct ADFlags: OptionSet, HCICode, CustomStringConvertible {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let limitedDiscoverable = ADFlags(rawValue: 1 << 0)
  package static let generalDiscoverable = ADFlags(rawValue: 1 << 1)
  package static let brEDRNotSupported = ADFlags(rawValue: 1 << 2)
  package static let simultaneousLEAndBREDR = ADFlags(rawValue: 1 << 3)

  package var description: String {
    let names: [(ADFlags, String)] = [
      (.limitedDiscoverable, "limited discoverable"), (.generalDiscoverable, "general discoverable"),
      (.brEDRNotSupported, "BR/EDR not supported"), (.simultaneousLEAndBREDR, "LE and BR/EDR at once"),
    ]
    var words = names.filter { contains($0.0) }.map(\.1)
    if rawValue > 0x0F { words.append(Hex.string(rawValue & 0xF0)) }
    return words.isEmpty ? "none" : words.joined(separator: ", ")
  }
}

/// The external appearance of a device (Assigned Numbers, 2.6): ten bits of category, six of subcategory.
package struct Appearance: HCICode, CustomStringConvertible {
  package var rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  package var category: UInt16 { rawValue >> 6 }

  package var description: String { Hex.string(rawValue) }

  /// Name and number: `Watch (0x00c0)`.
  package var fieldText: String {
    AssignedNumbers.appearance(rawValue).map { "\($0) (\(self))" } ?? description
  }
}

/// The number of bytes that encode a UUID in advertising data. It is kept because a UUID is equal in all its forms, and
/// data is written as it was read.
package enum UUIDWidth: Int, Hashable, Sendable {
  case two = 2
  case four = 4
  case sixteen = 16

  /// The smallest width that can encode all `uuids`.
  package init(for uuids: [BluetoothUUID]) {
    if uuids.allSatisfy({ $0.short != nil }) {
      self = .two
    } else {
      self = uuids.allSatisfy { $0.shorter != nil } ? .four : .sixteen
    }
  }

  /// Writes a UUID in this width; a UUID that does not fit is truncated.
  func write(_ uuid: BluetoothUUID, into writer: inout ByteWriter) {
    switch self {
    case .two: writer.write(UInt16(truncatingIfNeeded: uuid.value >> 96))
    case .four: writer.write(UInt32(truncatingIfNeeded: uuid.value >> 96))
    case .sixteen: uuid.writeLong(into: &writer)
    }
  }
}

/// The fields of advertising data for display: a list of AD structures (Core Specification Vol 3, Part C, 11).
/// ``AdvertisingData`` decodes the structures.
package struct ADFields: PacketFields {
  private var structures: [Structure] = []

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.items("AD structure", &structures)
  }

  private struct Structure: PacketFields {
    var length: UInt8 = 0
    var type = ADType()
    var value: [UInt8] = []
    var padding: [UInt8] = []

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("AD length", &length, .unit("bytes"))
      guard length > 0 else { return try fields.rest("padding", &padding) }
      try fields.value("type", &type)
      try fields.bytes("value", &value, count: Int(length) - 1, type.style)
    }
  }
}

extension FieldVisitor where Self: ~Escapable {
  /// Advertising data preceded by its length.
  ///
  /// - Parameter limit: the number of bytes that fit into the packet beside the other fields
  @_lifetime(self: copy self)
  mutating func advertisingData(_ data: inout [UInt8], limit: Int) throws(Failure) {
    var length = UInt8(clamping: min(data.count, limit))
    try value("data length", &length, .unit("bytes"))
    try bytes("data", &data, count: Int(length), as: ADFields.self)
  }
}
