/// Asks for a day by how long ago it was.
public struct DaysAgo: FrameRecord {
  /// 0 is today.
  public var daysAgo: UInt8 = 0

  public init() {}

  public init(_ daysAgo: UInt8) {
    self.daysAgo = daysAgo
  }

  public static let fields: [RecordField<Self>] = [RecordField("days-ago", \.daysAgo, at: 1, .uint8, .days)]
}

/// Asks for a day by how long ago it was, behind a byte that says that it is to be read (ring reference, 4.16).
public struct ReadDaysAgo: FrameRecord {
  /// 0 is today.
  public var daysAgo: UInt8 = 0

  public init() {}

  public init(_ daysAgo: UInt8) {
    self.daysAgo = daysAgo
  }

  public static let fields: [RecordField<Self>] = [RecordField("days-ago", \.daysAgo, at: 2, .uint8, .days)]
}

/// Asks for a day by a time in it (ring reference, 4.10).
public struct DayByTime: FrameRecord {
  /// Of the ring's wall clock, since 1970 as if that were UTC.
  public var seconds: UInt32 = 0
  /// Whether it is the day that is not over. Not sent: answers about today end otherwise than they say.
  public var isToday = false

  public init() {}

  /// - Parameter now: the ring's wall clock
  public init(_ day: RingDay, now: RingTime) {
    isToday = day == now.day
    seconds = UInt32(clamping: day.midnight.seconds)
  }

  public static let fields: [RecordField<Self>] = [
    RecordField("time", \.seconds, at: 1, .uint32LittleEndian, .seconds)
  ]

  public var day: RingDay { RingTime(seconds: Int(seconds)).day }
}
