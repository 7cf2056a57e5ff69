import ATT
import HCI
import HaloBluetoothCore

/// The values of the SIG's characteristics and descriptors, as defined in the GATT Specification Supplement.
package enum CharacteristicValue {
  /// The fields of a value.
  ///
  /// - Parameters:
  ///   - source: contains the value
  ///   - range: the value
  ///   - type: of the characteristic or descriptor
  /// - Returns: nil if the type is not known; the fields that could be read and the rest, if the value is damaged
  static func fields(of source: RawSpan, _ range: Range<Int>, type: UInt16) -> [PacketField]? {
    guard isKnown(type), !range.isEmpty else { return nil }
    var lister = FieldLister(source, range, reference: reference(type))
    lister.readAll { lister throws(DecodeError) in
      if let quantity = quantities[type] { return try lister.quantity(quantity) }
      if let names = codes[type] {
        try lister.byte(quantityName, names)
        return
      }
      if texts.contains(type) {
        let start = lister.offset
        let text = try lister.take { r throws(DecodeError) in r.readRemainingBytes() }
        return lister.note(quantityName.description, "\"\(String(printable: text))\"", from: start)
      }
      try structures[type]?(&lister)
    }
    return lister.fields
  }

  /// The value in words: `87 percent`; nil if the type is not known.
  ///
  /// - Parameters:
  ///   - value: the bytes
  ///   - type: the assigned number of the characteristic or descriptor
  package static func text(_ value: [UInt8], type: UInt16) -> String? {
    guard let fields = fields(of: value.span.bytes, 0..<value.count, type: type) else { return nil }
    let top = fields.filter { $0.depth == 0 }
    if top.count == 1, top[0].name == quantityName.description { return top[0].value }
    return top.map { "\($0.name) \($0.value)" }.joined(separator: ", ")
  }

  /// Whether values of a type are described.
  static func isKnown(_ type: UInt16) -> Bool {
    quantities[type] != nil || codes[type] != nil || structures[type] != nil || texts.contains(type)
  }

  /// Whether values of a type are UTF-8.
  ///
  /// - Parameter type: the assigned number of the characteristic or descriptor
  package static func isText(_ type: UInt16) -> Bool { texts.contains(type) }

  /// Declarations and descriptors are a part of GATT; the Supplement has a section for each characteristic.
  static func reference(_ type: UInt16) -> String {
    switch type {
    case 0x2900: "Vol 3, Part G, 3.3.3.1"
    case 0x2901: "Vol 3, Part G, 3.3.3.2"
    case 0x2902: "Vol 3, Part G, 3.3.3.3"
    case 0x2903: "Vol 3, Part G, 3.3.3.4"
    case 0x2904: "Vol 3, Part G, 3.3.3.5"
    case 0x2905: "Vol 3, Part G, 3.3.3.6"
    case 0x2A00: "Vol 3, Part C, 12.1"
    case 0x2A01: "Vol 3, Part C, 12.2"
    case 0x2A04: "Vol 3, Part C, 12.3"
    case 0x2AA6: "Vol 3, Part C, 12.4"
    case 0x2AC9: "Vol 3, Part C, 12.5"
    case 0x2A05: "Vol 3, Part G, 7.1"
    case 0x2B29: "Vol 3, Part G, 7.2"
    case 0x2B2A: "Vol 3, Part G, 7.3"
    case 0x2B3A: "Vol 3, Part G, 7.4"
    default: "GATT Specification Supplement, \(AssignedNumbers.uuid(type) ?? Hex.string(type))"
    }
  }

  /// The name of the only field of a value.
  private static let quantityName: StaticString = "content"

  private static let texts: Set<UInt16> = [
    0x2901, 0x2A00, 0x2A24, 0x2A25, 0x2A26, 0x2A27, 0x2A28, 0x2A29, 0x2A3D, 0x2A87, 0x2A8A, 0x2A90, 0x2AB5,
    0x2ABE, 0x2B93, 0x2B97, 0x2BB3, 0x2BB6,
  ]

  /// Values that are one number.
  private static let quantities: [UInt16: Quantity] = [
    0x2A07: .init(-1, "dBm"), 0x2A19: .init(1, "percent"), 0x2A21: .init(2, "s"),
    0x2A2C: .init(-2, places: 2, "deg"),
    0x2A6C: .init(-3, places: 2, "m"), 0x2A6D: .init(4, places: 1, "Pa"),
    0x2A6E: .init(-2, places: 2, "°C", unknown: 0x8000),
    0x2A6F: .init(2, places: 2, "percent", unknown: 0xFFFF),
    0x2A70: .init(2, places: 2, "m/s"), 0x2A71: .init(2, places: 2, "deg"),
    0x2A72: .init(2, places: 2, "m/s"),
    0x2A73: .init(2, places: 2, "deg"), 0x2A75: .init(3, "grains/m3"), 0x2A76: .init(1, ""),
    0x2A77: .init(2, places: 1, "W/m2"), 0x2A78: .init(2, "mm"), 0x2A79: .init(-1, "°C"),
    0x2A7A: .init(-1, "°C"),
    0x2A7B: .init(-1, "°C"), 0x2A80: .init(1, "years"), 0x2A8D: .init(1, "bpm"),
    0x2A8E: .init(2, places: 2, "m"),
    0x2A92: .init(1, "bpm"), 0x2A98: .init(2, factor: 5, places: 3, "kg"), 0x2A8F: .init(2, places: 2, "m"),
    0x2A97: .init(2, places: 2, "m"), 0x2AE3: .init(2, "m"),
    0x2AFB: .init(3, places: 2, "lx", unknown: 0xFF_FFFF),
    0x2B04: .init(1, factor: 5, places: 1, "percent", unknown: 0xFF),
    0x2B18: .init(2, factor: 15625, places: 6, "V"),
    0x2AEE: .init(2, places: 2, "A"), 0x2B8C: .init(2, "ppm", unknown: 0xFFFF), 0x2A95: .init(1, "bpm"),
    0x2AC9: .init(1, ""), 0x2A9A: .init(1, ""), 0x2A99: .init(4, ""),
  ]

  /// Values that are one byte with names.
  private static let codes: [UInt16: [UInt64: String]] = [
    0x2A06: [0: "no alert", 1: "mild alert", 2: "high alert"],
    0x2A1D: temperatureTypes,
    0x2A38: [0: "other", 1: "chest", 2: "wrist", 3: "finger", 4: "hand", 5: "ear lobe", 6: "foot"],
    0x2A39: [1: "reset energy expended"], 0x2A4C: [0: "suspend", 1: "exit suspend"],
    0x2A4E: [0: "boot protocol", 1: "report protocol"],
    0x2A5D: [
      0: "other", 1: "top of shoe", 2: "in shoe", 3: "hip", 4: "front wheel", 5: "left crank",
      6: "right crank", 7: "left pedal", 8: "right pedal", 9: "front hub", 10: "rear dropout",
      11: "chainstay",
      12: "rear wheel", 13: "rear hub", 14: "chest", 15: "spider", 16: "chain ring",
    ],
    0x2A8C: [0: "male", 1: "female", 2: "unspecified"], 0x2AA6: [0: "not supported", 1: "supported"],
    0x2A0D: [
      0: "standard time", 2: "half an hour", 4: "daylight time", 8: "double daylight time", 255: "not known",
    ],
    0x2A09: weekdays,
  ]

  static let temperatureTypes: [UInt64: String] = [
    1: "armpit", 2: "body", 3: "ear", 4: "finger", 5: "gastro-intestinal tract", 6: "mouth", 7: "rectum",
    8: "toe",
    9: "tympanum",
  ]

  static let weekdays: [UInt64: String] = [
    0: "not known", 1: "Monday", 2: "Tuesday", 3: "Wednesday", 4: "Thursday", 5: "Friday", 6: "Saturday",
    7: "Sunday",
  ]

  /// Values with several fields.
  private static let structures: [UInt16: @Sendable (inout FieldLister) throws(DecodeError) -> Void] = [
    0x2900: { lister throws(DecodeError) in
      try lister.bitNames("content", ["reliable write", "writable auxiliaries"], bytes: 2)
    },
    0x2902: { lister throws(DecodeError) in try lister.configuration() },
    0x2903: { lister throws(DecodeError) in try lister.bitNames("content", ["broadcast"], bytes: 2) },
    0x2904: { lister throws(DecodeError) in try lister.presentationFormat() },
    0x2908: { lister throws(DecodeError) in
      try lister.quantity("report ID", .init(1, ""))
      try lister.byte("report type", [1: "input", 2: "output", 3: "feature"])
    },
    0x2A01: { lister throws(DecodeError) in
      var appearance = Appearance()
      try lister.value("content", &appearance)
    },
    0x2A04: { lister throws(DecodeError) in try lister.preferredParameters() },
    0x2A05: { lister throws(DecodeError) in
      var (start, end) = (AttributeHandle(0), AttributeHandle(0))
      try lister.value("first handle", &start)
      try lister.value("last handle", &end)
    },
    0x2A08: { lister throws(DecodeError) in try lister.dateTime("content") },
    0x2A0A: { lister throws(DecodeError) in
      try lister.dateTime("date")
      try lister.byte("weekday", weekdays)
    },
    0x2A0E: { lister throws(DecodeError) in try lister.timeZone("content") },
    0x2A0F: { lister throws(DecodeError) in
      try lister.timeZone("time zone")
      try lister.byte("daylight saving", codes[0x2A0D] ?? [:])
    },
    0x2A14: { lister throws(DecodeError) in
      try lister.byte(
        "source",
        [
          0: "not known", 1: "network time", 2: "GPS", 3: "radio", 4: "manual", 5: "atomic clock",
          6: "cellular",
        ])
      try lister.quantity("accuracy", .init(1, factor: 125, places: 3, "s"))
      try lister.quantity("days since update", .init(1, ""))
      try lister.quantity("hours since update", .init(1, ""))
    },
    0x2A18: { lister throws(DecodeError) in try lister.glucose() },
    0x2A1C: { lister throws(DecodeError) in try lister.temperature() },
    0x2A1E: { lister throws(DecodeError) in try lister.temperature() },
    0x2A23: { lister throws(DecodeError) in
      try lister.show(
        "manufacturer",
        { r throws(DecodeError) in
          UInt64(try r.readUInt24()) | UInt64(try r.readUInt16()) << 24
        }
      ) { Hex.string($0, bytes: 5) }
      try lister.show("organization", { r throws(DecodeError) in try r.readUInt24() }) {
        Hex.string(UInt64($0), bytes: 3)
      }
    },
    0x2A2B: { lister throws(DecodeError) in
      try lister.dateTime("time")
      try lister.byte("weekday", weekdays)
      try lister.quantity("fraction", .init(1, "/256 s"))
      try lister.bitNames(
        "reason", ["manual update", "external reference", "time zone change", "daylight saving change"],
        bytes: 1)
    },
    0x2A35: { lister throws(DecodeError) in try lister.bloodPressure() },
    0x2A36: { lister throws(DecodeError) in try lister.bloodPressure() },
    0x2A37: { lister throws(DecodeError) in try lister.heartRate() },
    0x2A4A: { lister throws(DecodeError) in
      try lister.show("version", { r throws(DecodeError) in try r.readUInt16() }) {
        "\($0 >> 8).\(Hex.string([UInt8(truncatingIfNeeded: $0)]))"
      }
      try lister.quantity("country code", .init(1, ""))
      try lister.bitNames("flags", ["remote wake", "normally connectable"], bytes: 1)
    },
    0x2A50: { lister throws(DecodeError) in try lister.pnpID() },
    0x2A53: { lister throws(DecodeError) in try lister.running() },
    0x2A5B: { lister throws(DecodeError) in try lister.cycling() },
    0x2A5E: { lister throws(DecodeError) in try lister.oximeter(isSpotCheck: true) },
    0x2A5F: { lister throws(DecodeError) in try lister.oximeter(isSpotCheck: false) },
    0x2A63: { lister throws(DecodeError) in try lister.cyclingPower() },
    0x2A9D: { lister throws(DecodeError) in try lister.weight() },
    0x2B29: { lister throws(DecodeError) in
      try lister.bitNames("content", ["robust caching", "EATT", "multiple handle notifications"], bytes: 1)
    },
    0x2B3A: { lister throws(DecodeError) in try lister.bitNames("content", ["EATT"], bytes: 1) },
  ]
}

/// A number of a fixed size, with its unit.
struct Quantity: Sendable {
  /// In bytes; negative with a sign.
  var width: Int
  /// The factor of the number; the product is divided by 10^places.
  var factor: Int64 = 1
  var places = 0
  var unit: String
  /// The number that means that the value is not known.
  var unknown: UInt64?

  init(_ width: Int, factor: Int64 = 1, places: Int = 0, _ unit: String, unknown: UInt64? = nil) {
    self.width = width
    self.factor = factor
    self.places = places
    self.unit = unit
    self.unknown = unknown
  }
}

extension FieldLister {
  @_lifetime(self: copy self)
  mutating func quantity(_ quantity: Quantity) throws(DecodeError) { try self.quantity("content", quantity) }

  /// Reads a number.
  @_lifetime(self: copy self)
  mutating func quantity(_ name: String, _ quantity: Quantity) throws(DecodeError) {
    let start = offset
    let count = abs(quantity.width)
    let raw = try takeNumber(count)
    guard raw != quantity.unknown else { return note(name, "not known", from: start) }
    let shift = UInt64(64 - 8 * count)
    let value = quantity.width < 0 ? Int64(bitPattern: raw << shift) >> Int64(shift) : Int64(bitPattern: raw)
    let number = FieldNumber(value &* quantity.factor, places: quantity.places)
    note(name, "\(number)" + (quantity.unit.isEmpty ? "" : " \(quantity.unit)"), number: number, from: start)
  }

  @_lifetime(self: copy self)
  private mutating func takeNumber(_ bytes: Int) throws(DecodeError) -> UInt64 {
    try take { r throws(DecodeError) in
      var number: UInt64 = 0
      for index in 0..<bytes { number |= UInt64(try r.readUInt8()) << UInt64(8 * index) }
      return number
    }
  }

  /// Reads a set of bits.
  ///
  /// - Parameter names: from the lowest bit up
  @_lifetime(self: copy self)
  @discardableResult
  mutating func bitNames(_ name: String, _ names: [String], bytes: Int) throws(DecodeError) -> UInt64 {
    let start = offset
    // Some devices leave out bytes that are zero.
    let count = Swift.min(bytes, remaining)
    guard count > 0 else { throw missing(bytes) }
    let bits = try takeNumber(count)
    let set = names.indices.filter { bits >> UInt64($0) & 1 == 1 }.map { names[$0] }
    note(
      name, set.isEmpty ? (bits == 0 ? "none" : Hex.string(bits, bytes: count)) : set.joined(separator: ", "),
      number: FieldNumber(Int64(bitPattern: bits)), from: start)
    return bits
  }
}
