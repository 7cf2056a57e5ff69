/// The heart rates that somebody asked for, of a day (ring reference, 6.3).
public struct ManualHeartRates: BulkContents {
  public typealias Request = DayOrAll

  public struct Reading: Hashable, Sendable {
    public var minuteOfDay: UInt16
    public var beatsPerMinute: UInt8

    public init(minuteOfDay: UInt16, beatsPerMinute: UInt8) {
      self.minuteOfDay = minuteOfDay
      self.beatsPerMinute = beatsPerMinute
    }
  }

  /// 0 is today.
  public var daysAgo: UInt8
  public var readings: [Reading]

  public init(daysAgo: UInt8, readings: [Reading]) {
    self.daysAgo = daysAgo
    self.readings = readings
  }

  public static let replyForm = "Days ago; for each reading the minute of the day (u16 LE) and bpm."

  /// A lonely byte is a day without readings.
  public init(payload: [UInt8]) throws(BulkContentsError) {
    var reader = BulkReader(payload)
    daysAgo = reader.isAtEnd ? 0 : try reader.uint8()
    readings = []
    while !reader.isAtEnd {
      let minute = try reader.uint16()
      guard minute < 1440 else { throw reader.invalid("a day has no minute \(minute)") }
      readings.append(Reading(minuteOfDay: minute, beatsPerMinute: try reader.uint8()))
    }
  }

  public var payload: [UInt8] {
    [daysAgo] + readings.flatMap { BulkReader.bytes($0.minuteOfDay) + [$0.beatsPerMinute] }
  }
}
