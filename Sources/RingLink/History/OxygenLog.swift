/// The oxygen saturation by hours, of all days that a ring has stored (ring reference, 6.2).
public struct OxygenLog: BulkContents {
  public typealias Request = DayOrAll

  public struct Hour: Hashable, Sendable {
    /// In percent; 0 for none.
    public var minimum: UInt8
    /// In percent; 0 for none.
    public var maximum: UInt8

    public init(minimum: UInt8, maximum: UInt8) {
      self.minimum = minimum
      self.maximum = maximum
    }
  }

  public struct Day: Hashable, Sendable {
    /// 0 is today.
    public var daysAgo: UInt8
    /// 24, from midnight on.
    public var hours: [Hour]

    public init(daysAgo: UInt8, hours: [Hour]) {
      self.daysAgo = daysAgo
      self.hours = hours
    }
  }

  /// The oldest first.
  public var days: [Day]

  public init(days: [Day]) {
    self.days = days
  }

  public static let replyForm =
    "Blocks of 49 bytes: days ago, then for each hour of the day minimum and maximum in %, 0 for none."

  public init(payload: [UInt8]) throws(BulkContentsError) {
    var reader = BulkReader(payload)
    days = []
    guard try !reader.isNothing() else { return }
    while !reader.isAtEnd {
      let daysAgo = try reader.uint8()
      let pairs = try reader.take(48)
      days.append(
        Day(
          daysAgo: daysAgo,
          hours: (0..<24).map { Hour(minimum: pairs[$0 * 2], maximum: pairs[$0 * 2 + 1]) }))
    }
  }

  /// One byte 0 if there is nothing.
  public var payload: [UInt8] {
    days.isEmpty ? [0] : days.flatMap { [$0.daysAgo] + $0.hours.flatMap { [$0.minimum, $0.maximum] } }
  }

  /// The hours with a value, in any order. Some rings tell the larger of the two first.
  public func readings(today: RingDay) -> [OxygenReading] {
    days.flatMap { day in
      day.hours.enumerated().compactMap { hour, value in
        let known = [value.minimum, value.maximum].filter { $0 > 0 && $0 <= 100 }
        guard let minimum = known.min(), let maximum = known.max() else { return nil }
        return OxygenReading(
          time: today.adding(days: -Int(day.daysAgo)).midnight.adding(minutes: hour * 60),
          minimum: Int(minimum), maximum: Int(maximum))
      }
    }
  }
}
