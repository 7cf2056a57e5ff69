import HCI
import HaloBluetoothCore

/// Which link a packet of the air belongs to (Core Specification Vol 6, Part B, 2.1.2).
struct AccessAddress: HCICode {
  var rawValue: UInt32

  /// The access address of all packets on the primary advertising channels.
  static let advertising = AccessAddress(rawValue: 0x8E89_BED6)

  var description: String { Hex.string(UInt64(rawValue), bytes: 4) }
}

/// Six bits of the first byte that are the extended header's length, with two bits above (2.3.4).
struct ExtendedHeaderLength: HCICode {
  var rawValue: UInt8

  /// In bytes.
  var length: Int { Int(rawValue & 0x3F) }
  /// AdvMode: 1 is connectable, 2 scannable.
  var mode: UInt8 { rawValue >> 6 }

  var description: String {
    let names = [
      "neither connectable nor scannable", "connectable", "scannable", "reserved mode",
    ]
    return "\(length) bytes, AdvMode \(mode): \(names[Int(mode)])"
  }
}

/// Hop increment (5 bits) and the accuracy of the central's clock (3 bits) (2.3.3.1).
struct HopAndAccuracy: HCICode {
  var rawValue: UInt8

  var hop: UInt8 { rawValue & 0x1F }

  var description: String { "hop \(hop), SCA \(SleepClockAccuracy(rawValue: rawValue >> 5))" }
}

/// How much a sleep clock may deviate (2.3.3.1).
struct SleepClockAccuracy: HCICode {
  var rawValue: UInt8

  static let names: [UInt8: String] = [
    0: "251 to 500 ppm", 1: "151 to 250 ppm", 2: "101 to 150 ppm", 3: "76 to 100 ppm", 4: "51 to 75 ppm",
    5: "31 to 50 ppm", 6: "21 to 30 ppm", 7: "0 to 20 ppm",
  ]
}

/// Identifies the data of an advertising set: DID (12 bits) and SID (4 bits) (2.3.4.4).
struct AdvertisingDataInfo: HCICode {
  var rawValue: UInt16

  var description: String { "DID \(Hex.string(rawValue & 0x0FFF)), SID \(rawValue >> 12)" }
}

/// A PHY in a field of three bits: 0 is LE 1M (2.3.4.5).
private func phyName(_ number: UInt16) -> String {
  number < 3 ? LEPHY(rawValue: UInt8(number) + 1).description : "PHY \(number)"
}

/// Where the auxiliary packet is sent: channel index, clock accuracy, and units (1 byte), then offset and PHY (2 bytes)
/// (2.3.4.5).
struct AuxiliaryPointer: FieldValue, Hashable {
  var first: UInt8 = 0
  var second: UInt16 = 0

  init() {}

  init(parsing reader: inout ByteReader) throws(DecodeError) {
    first = try reader.readUInt8()
    second = try reader.readUInt16()
  }

  func write(into writer: inout ByteWriter) {
    writer.write(first)
    writer.write(second)
  }

  /// The channel index.
  var channel: UInt8 { first & 0x3F }
  /// In microseconds, from the start of this packet; 0 if there is none.
  var offset: Int { Int(second & 0x1FFF) * (first & 0x80 == 0 ? 30 : 300) }

  var fieldNumber: UInt64? { nil }

  var description: String {
    guard offset > 0 else { return "no auxiliary packet" }
    return "channel \(channel), after \(offset) us, \(phyName(second >> 13)), clock "
      + (first & 0x40 == 0 ? "51 to 500 ppm" : "0 to 50 ppm")
  }
}

/// Where periodic advertising begins, from this packet on: offset (13 bits), units, adjustment (2.3.4.6).
struct SyncOffset: HCICode {
  var rawValue: UInt16

  /// In microseconds.
  var offset: Int {
    Int(rawValue & 0x1FFF) * (rawValue & 0x2000 == 0 ? 30 : 300) + (rawValue & 0x4000 == 0 ? 0 : 2_457_600)
  }

  var description: String { offset == 0 ? "not said" : "after \(offset) us" }
}

/// Channel map (37 bits) and the advertiser's clock (3 bits) (2.3.4.6).
struct ChannelMapAndAccuracy: FieldValue, Hashable {
  var map = ChannelMap()

  init() {}

  init(parsing reader: inout ByteReader) throws(DecodeError) { map = try ChannelMap(parsing: &reader) }

  func write(into writer: inout ByteWriter) { map.write(into: &writer) }

  var fieldNumber: UInt64? { nil }

  var description: String { "\(map), SCA \(SleepClockAccuracy(rawValue: UInt8(map.bits >> 37 & 7)))" }
}

/// A Constant Tone Extension after the CRC: its length and its kind (2.5.2).
struct ToneExtension: HCICode {
  var rawValue: UInt8

  var description: String {
    let kinds = ["AoA", "AoD with 1 us slots", "AoD with 2 us slots", "reserved"]
    return "\(Int(rawValue & 0x1F) * 8) us, \(kinds[Int(rawValue >> 6)])"
  }
}

/// PHYs of which one is to be used: a bit each (2.4.2.22).
struct PHYSet: HCICode {
  var rawValue: UInt8

  var description: String {
    var words = LEPHYs(rawValue: rawValue).names
    if rawValue & 0xF8 != 0 { words.append(Hex.string(rawValue)) }
    return words.isEmpty ? "no change" : words.joined(separator: ", ")
  }
}
