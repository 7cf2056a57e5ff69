import HaloBluetoothCore
import RingLink

/// A session of sport as a FIT activity file (the FIT protocol and its profile, by Garmin): a header, messages, and a CRC. A
/// message has a definition before it, unless the last one had the same fields.
package struct FITActivity {
  /// The type of a field, by its number in definitions.
  private enum Base: UInt8 {
    case enumeration = 0x00
    case uint8 = 0x02
    case string = 0x07
    case uint16 = 0x84
    case uint32 = 0x86
    case uint32z = 0x8C

    var size: Int {
      switch self {
      case .enumeration, .uint8, .string: 1
      case .uint16: 2
      case .uint32, .uint32z: 4
      }
    }
  }

  /// A field of a message; one that is nil, or too large, is written as invalid.
  private struct Field {
    var number: UInt8
    var base: Base
    var value: Int?
    var text: [UInt8] = []

    init(_ number: UInt8, _ base: Base, _ value: Int?) {
      (self.number, self.base, self.value) = (number, base, value)
    }

    init(_ number: UInt8, text: String) {
      (self.number, base) = (number, .string)
      self.text = Array(text.utf8.prefix(60)) + [0]
    }

    var size: Int { base == .string ? text.count : base.size }

    var bytes: [UInt8] {
      guard base != .string else { return text }
      // All bits set are no value; of serial numbers, none is.
      let none = base == .uint32z ? 0 : 1 << (base.size * 8) - 1
      let number = value.flatMap { (0..<1 << (base.size * 8) - 1).contains($0) ? $0 : nil } ?? none
      return (0..<base.size).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
  }

  private var messages: [UInt8] = []
  private var definition: [UInt8] = []

  /// 1989-12-31T00:00:00Z, in seconds since 1970: the zero of FIT's times.
  private static let epoch = 631_065_600
  /// Smaller times are relative ones.
  private static let firstTime = 0x1000_0000

  /// - Parameters:
  ///   - sport: the session
  ///   - start: its beginning
  ///   - serial: identifies the ring
  /// - Returns: nil if FIT has no such time
  package init?(_ sport: StoredSport, at start: ZonedTime, serial: UInt32) {
    let course = sport.heartRates.count * (sport.sampleSeconds ?? 0)
    let seconds = sport.seconds ?? course
    let first = start.unix - Self.epoch
    let last = first + seconds
    guard first >= Self.firstTime, max(last, first + course) < Int(UInt32.max) else { return nil }
    let (kind, subKind) = sport.sport.fit
    let length = Field(7, .uint32, seconds * 1000)
    add(
      0, Field(0, .enumeration, 4), Field(1, .uint16, 255), Field(2, .uint16, 0),
      Field(3, .uint32z, Int(serial)), Field(4, .uint32, first), Field(8, text: "halo-raw"))
    add(
      12, Field(0, .enumeration, kind), Field(1, .enumeration, subKind),
      Field(3, text: sport.sport.description))
    add(21, Field(253, .uint32, first), Field(0, .enumeration, 0), Field(1, .enumeration, 0))
    for (index, rate) in sport.heartRates.enumerated() where sport.sampleSeconds ?? 0 > 0 {
      add(
        20, Field(253, .uint32, first + index * (sport.sampleSeconds ?? 0)),
        Field(3, .uint8, rate == 0 ? nil : rate))
    }
    add(21, Field(253, .uint32, last), Field(0, .enumeration, 0), Field(1, .enumeration, 4))
    let totals = [
      Field(253, .uint32, last), Field(254, .uint16, 0), Field(2, .uint32, first), length,
      Field(8, .uint32, seconds * 1000), Field(9, .uint32, sport.meters.map { $0 * 100 }),
      Field(11, .uint16, sport.calories.map { ($0 + 500) / 1000 }),
      // A cycle of walking and running is two steps.
      Field(10, .uint32, sport.steps.map { $0 / 2 }),
    ]
    add(
      19,
      totals + [
        Field(0, .enumeration, 9), Field(1, .enumeration, 1), Field(15, .uint8, sport.averageRate),
        Field(16, .uint8, sport.maximumRate), Field(63, .uint8, sport.minimumRate),
        Field(25, .enumeration, kind),
      ])
    add(
      18,
      totals + [
        Field(0, .enumeration, 8), Field(1, .enumeration, 1), Field(5, .enumeration, kind),
        Field(6, .enumeration, subKind), Field(16, .uint8, sport.averageRate),
        Field(17, .uint8, sport.maximumRate), Field(64, .uint8, sport.minimumRate), Field(25, .uint16, 0),
        Field(26, .uint16, 1), Field(28, .enumeration, 0),
      ])
    add(
      34, Field(253, .uint32, last), Field(0, .uint32, seconds * 1000), Field(1, .uint16, 1),
      Field(2, .enumeration, 0), Field(3, .enumeration, 26), Field(4, .enumeration, 1),
      Field(5, .uint32, last + start.utcOffset))
  }

  private mutating func add(_ number: UInt16, _ fields: Field...) { add(number, fields) }

  /// A message of the profile, by its number.
  private mutating func add(_ number: UInt16, _ fields: [Field]) {
    var needed: [UInt8] = [0x40, 0, 0, UInt8(number & 0xFF), UInt8(number >> 8), UInt8(fields.count)]
    for field in fields { needed += [field.number, UInt8(field.size), field.base.rawValue] }
    if needed != definition { messages += needed }
    definition = needed
    messages.append(0)
    for field in fields { messages += field.bytes }
  }

  /// The file.
  package var bytes: [UInt8] {
    func little(_ value: Int, _ size: Int) -> [UInt8] {
      (0..<size).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    // Version 1.0 of the protocol, and 21.32 of the profile.
    var file: [UInt8] = [14, 0x10] + little(2132, 2) + little(messages.count, 4) + Array(".FIT".utf8)
    file += little(Int(CRC16.arc(file.span.bytes)), 2)
    file += messages
    return file + little(Int(CRC16.arc(file.span.bytes)), 2)
  }
}
