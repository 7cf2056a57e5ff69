import HaloBluetoothCore

/// A percentage without a fraction: 0 to 100, in one byte (GATT Specification Supplement, Battery Level).
public struct Percent: Hashable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible, FixedValue {
  /// 0 to 100.
  public let value: UInt8

  /// Values above 100 become 100, and values below 0 become 0.
  public init(_ value: Int) {
    self.value = UInt8(min(max(value, 0), 100))
  }

  public init(integerLiteral value: Int) { self.init(value) }

  /// `81 %`
  public var description: String { "\(value) %" }

  init(reading reader: inout ByteReader) throws(DecodeError) {
    let value = try reader.readUInt8()
    guard value <= 100 else { throw reader.invalid("\(value) percent; the most is 100") }
    self.init(Int(value))
  }

  public var encoded: [UInt8] { [value] }
}

/// A temperature in hundredths of a degree Celsius, in two bytes with a sign (GATT Specification Supplement,
/// Temperature).
public struct Celsius: Hashable, Sendable, ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral,
  CustomStringConvertible, FixedValue
{
  /// The lowest temperature, absolute zero: -273.15 degrees.
  package static let lowest = -27_315
  /// The highest temperature: 327.67 degrees.
  package static let highest = 32_767

  /// In hundredths of a degree; nil if the temperature is not known.
  public let hundredths: Int?

  /// A temperature that is not known.
  public static let unknown = Celsius(hundredths: nil)

  /// - Parameter hundredths: of a degree; -27315 to 32767; another value becomes the nearest of these. Nil if
  ///   the temperature is not known.
  public init(hundredths: Int?) {
    self.hundredths = hundredths.map { min(max($0, Self.lowest), Self.highest) }
  }

  /// - Parameter degrees: rounded to hundredths; a value that is no number is not known
  public init(_ degrees: Double) {
    // Limited before it is converted, as the number may be of any size.
    let limited = min(max(degrees, -1000), 1000)
    self.init(hundredths: degrees.isNaN ? nil : Int((limited * 100).rounded()))
  }

  public init(floatLiteral value: Double) { self.init(value) }

  public init(integerLiteral value: Int) { self.init(Double(value)) }

  /// In degrees; nil if the temperature is not known.
  public var degrees: Double? { hundredths.map { Double($0) / 100 } }

  /// `20.50 °C`
  public var description: String {
    hundredths.map { DecimalText.string(Int64($0), places: 2) + " °C" } ?? "unknown"
  }

  /// The number for a temperature that is not known.
  private static let unknownNumber = Int16.min

  init(reading reader: inout ByteReader) throws(DecodeError) {
    let number = Int16(bitPattern: try reader.readUInt16())
    guard number >= Self.lowest || number == Self.unknownNumber else {
      throw reader.invalid("a temperature below absolute zero")
    }
    self.init(hundredths: number == Self.unknownNumber ? nil : Int(number))
  }

  public var encoded: [UInt8] {
    var writer = ByteWriter(capacity: 2)
    writer.write(UInt16(bitPattern: hundredths.map { Int16(clamping: $0) } ?? Self.unknownNumber))
    return writer.bytes
  }
}

/// A heart rate, and the values measured with it (GATT Specification Supplement, Heart Rate Measurement).
public struct HeartRateMeasurement: Hashable, Sendable, FixedValue {
  /// In beats per minute. Up to 255 it is written in one byte, above in two.
  public var beatsPerMinute: UInt16
  /// Whether the sensor touches the skin; nil for a sensor that does not detect contact.
  public var hasContact: Bool?
  /// The energy that was spent since it was reset, in kilojoules; nil if it is not in this measurement.
  public var energyExpended: UInt16?
  /// The times between beats since the last measurement, oldest first, in 1/1024 s.
  public var intervals: [UInt16]

  /// - Parameters:
  ///   - beatsPerMinute: the heart rate
  ///   - hasContact: whether the sensor has contact to the skin; nil for a sensor that does not detect contact
  ///   - energyExpended: in kilojoules
  ///   - intervals: in 1/1024 s, oldest first
  public init(
    beatsPerMinute: UInt16, hasContact: Bool? = nil, energyExpended: UInt16? = nil, intervals: [UInt16] = []
  ) {
    self.beatsPerMinute = beatsPerMinute
    self.hasContact = hasContact
    self.energyExpended = energyExpended
    self.intervals = intervals
  }

  /// The times between beats as durations, rounded to nanoseconds.
  public var durations: [Duration] {
    intervals.map { .nanoseconds((Int64($0) * 1_000_000_000 + 512) / 1024) }
  }

  private struct Flags: OptionSet {
    let rawValue: UInt8
    static let isWide = Flags(rawValue: 0x01)
    static let hasContact = Flags(rawValue: 0x02)
    static let tellsContact = Flags(rawValue: 0x04)
    static let hasEnergy = Flags(rawValue: 0x08)
    static let hasIntervals = Flags(rawValue: 0x10)
  }

  /// Reserved flags are ignored, as devices of a later version may set them.
  init(reading reader: inout ByteReader) throws(DecodeError) {
    let flags = Flags(rawValue: try reader.readUInt8())
    beatsPerMinute = flags.contains(.isWide) ? try reader.readUInt16() : UInt16(try reader.readUInt8())
    hasContact = flags.contains(.tellsContact) ? flags.contains(.hasContact) : nil
    energyExpended = flags.contains(.hasEnergy) ? try reader.readUInt16() : nil
    intervals = []
    guard flags.contains(.hasIntervals) else { return }
    repeat { intervals.append(try reader.readUInt16()) } while !reader.isAtEnd
  }

  public var encoded: [UInt8] {
    var flags: Flags = []
    if beatsPerMinute > 0xFF { flags.insert(.isWide) }
    if let hasContact { flags.formUnion(hasContact ? [.tellsContact, .hasContact] : .tellsContact) }
    if energyExpended != nil { flags.insert(.hasEnergy) }
    if !intervals.isEmpty { flags.insert(.hasIntervals) }
    var writer = ByteWriter(capacity: 20)
    writer.write(flags.rawValue)
    if flags.contains(.isWide) {
      writer.write(beatsPerMinute)
    } else {
      writer.write(UInt8(truncatingIfNeeded: beatsPerMinute))
    }
    if let energyExpended { writer.write(energyExpended) }
    for interval in intervals { writer.write(interval) }
    return writer.bytes
  }
}
