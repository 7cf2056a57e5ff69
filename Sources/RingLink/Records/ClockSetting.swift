/// The wall clock that a ring is given (ring reference, 4.1).
public struct ClockSetting: FrameRecord {
  /// 0 to 99: the years 2000 to 2099.
  public var yearOfCentury: UInt8 = 0
  /// 1 to 12.
  public var month: UInt8 = 1
  /// 1 to 31.
  public var day: UInt8 = 1
  public var hour: UInt8 = 0
  public var minute: UInt8 = 0
  public var second: UInt8 = 0
  /// The language of a display; 1 is English. Rings without one do not care.
  public var language: UInt8 = 1

  public init() {}

  /// - Returns: nil for years that a ring can't be told
  public init?(_ time: RingTime) {
    let (year, month, day) = time.day.civil
    guard (2000...2099).contains(year) else { return nil }
    yearOfCentury = UInt8(year - 2000)
    self.month = UInt8(month)
    self.day = UInt8(day)
    hour = UInt8(time.hour)
    minute = UInt8(time.minute)
    second = UInt8(time.second)
  }

  /// The time that it says; nil if there is no such time.
  public var time: RingTime? {
    RingDay(year: 2000 + Int(yearOfCentury), month: Int(month), day: Int(day)).flatMap {
      RingTime($0, hour: Int(hour), minute: Int(minute), second: Int(second))
    }
  }

  public static let fields: [RecordField<Self>] = [
    RecordField("year", \.yearOfCentury, at: 1, .bcd),
    RecordField("month", \.month, at: 2, .bcd),
    RecordField("day", \.day, at: 3, .bcd),
    RecordField("hour", \.hour, at: 4, .bcd),
    RecordField("minute", \.minute, at: 5, .bcd),
    RecordField("second", \.second, at: 6, .bcd),
    RecordField("language", \.language, at: 7),
  ]
}
