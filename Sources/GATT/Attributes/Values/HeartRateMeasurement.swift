import HaloBluetoothCore

/// A heart rate, and the values measured with it (GATT Specification Supplement, Heart Rate Measurement).
public struct HeartRateMeasurement: Hashable, Sendable {
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
}

extension HeartRateMeasurement: FixedValue {
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
