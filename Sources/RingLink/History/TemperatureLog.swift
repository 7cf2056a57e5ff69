/// Skin temperatures of several days (ring reference, 6.4).
public struct TemperatureLog: BulkContents {
  public typealias Request = DayCount

  public struct Day: Hashable, Sendable {
    /// 0 is today.
    public var daysAgo: UInt8
    public var minutesPerSlot: UInt8
    /// Tenths of a degree above 20 °C, from midnight on; 0 for none.
    public var values: [UInt8]

    public init(daysAgo: UInt8, minutesPerSlot: UInt8, values: [UInt8]) {
      self.daysAgo = daysAgo
      self.minutesPerSlot = minutesPerSlot
      self.values = values
    }
  }

  public var days: [Day]

  public init(days: [Day]) {
    self.days = days
  }

  public static let replyForm =
    "For each day: days ago, minutes a value, and as many values as the day has: tenths of a degree above 20 °C, 0 for "
    + "none."

  public init(payload: [UInt8]) throws(BulkContentsError) {
    var reader = BulkReader(payload)
    days = []
    guard try !reader.isNothing() else { return }
    while !reader.isAtEnd {
      let daysAgo = try reader.uint8()
      let minutes = try reader.uint8()
      guard minutes > 0 else { throw reader.invalid("a value can't stand for 0 minutes") }
      days.append(
        Day(
          daysAgo: daysAgo, minutesPerSlot: minutes, values: try reader.take(1440 / Int(minutes))))
    }
  }

  /// One byte 0 if there is nothing.
  public var payload: [UInt8] {
    days.isEmpty ? [0] : days.flatMap { [$0.daysAgo, $0.minutesPerSlot] + $0.values }
  }

  /// The slots with a value, in any order.
  public func readings(today: RingDay) -> [TemperatureReading] {
    days.flatMap { day in
      SlotDay(
        day: today.adding(days: -Int(day.daysAgo)), minutesPerSlot: Int(day.minutesPerSlot),
        values: day.values
      ).readings.map { TemperatureReading(time: $0.time, centidegrees: 2000 + Int($0.value) * 10) }
    }
  }
}
