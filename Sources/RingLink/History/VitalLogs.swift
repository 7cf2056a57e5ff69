/// Requests one day or all.
public enum DayOrAll: BulkRequest {
  case all
  /// 0 is today.
  case daysAgo(UInt8)

  public static let form = "`FF`: all days; else how many days ago, 0 is today."

  public var payload: [UInt8] {
    switch self {
    case .all: [0xFF]
    case .daysAgo(let days): [days]
    }
  }

  public var values: [BulkValue] {
    let text = if case .daysAgo(let days) = self { "\(days) d ago" } else { "all" }
    return [BulkValue(name: "days", text: text, range: 0..<1, depth: 0)]
  }

  /// An empty payload means all days.
  public init?(payload: [UInt8]) {
    guard payload.count <= 1 else { return nil }
    self = payload.first.map { $0 == 0xFF ? .all : .daysAgo($0) } ?? .all
  }
}

/// The oxygen saturation by hours, of all days that a ring has stored (ring reference, 6.2).
public struct OxygenLog: BulkContents, BulkRecord {
  public typealias Request = DayOrAll

  /// The values of an hour.
  public struct Hour: BulkRecord {
    /// In percent; 0 for none.
    public var minimum: UInt8 = 0
    /// In percent; 0 for none.
    public var maximum: UInt8 = 0

    public init() {}

    public init(minimum: UInt8, maximum: UInt8) {
      self.minimum = minimum
      self.maximum = maximum
    }

    public static let fields: [BulkField<Self>] = [
      BulkField("minimum", \.minimum, .percent, "0 for none"),
      BulkField("maximum", \.maximum, .percent, "0 for none"),
    ]
  }

  /// The values of a day.
  public struct Day: BulkRecord {
    /// 0 is today.
    public var daysAgo: UInt8 = 0
    /// 24, from midnight on.
    public var hours: [Hour] = []

    public init() {}

    public init(daysAgo: UInt8, hours: [Hour]) {
      self.daysAgo = daysAgo
      self.hours = hours
    }

    public static let fields: [BulkField<Self>] = [
      BulkField("days-ago", \.daysAgo, .days), BulkField("hours", \.hours, count: 24),
    ]
  }

  /// The oldest first.
  public var days: [Day] = []
  /// What follows the last day that can be read.
  public var unread: [UInt8] = []

  public init() {}

  public init(days: [Day]) { self.days = days }

  public static let fields: [BulkField<Self>] = [BulkField(toEnd: "days", \.days, unread: \.unread)]

  /// The hours with a value, in any order. Some rings report the larger of the two first.
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

/// The heart rates measured on request, of a day (ring reference, 6.3).
public struct ManualHeartRates: BulkContents, BulkRecord {
  public typealias Request = DayOrAll

  /// One measurement.
  public struct Reading: BulkRecord {
    /// The minutes since midnight.
    public var minuteOfDay: UInt16 = 0
    /// In beats per minute.
    public var beatsPerMinute: UInt8 = 0

    public init() {}

    public init(minuteOfDay: UInt16, beatsPerMinute: UInt8) {
      self.minuteOfDay = minuteOfDay
      self.beatsPerMinute = beatsPerMinute
    }

    public static let fields: [BulkField<Self>] = [
      BulkField("minute", \.minuteOfDay, nil, "of the day"),
      BulkField("heart-rate", \.beatsPerMinute, .beatsPerMinute),
    ]
  }

  /// 0 is today.
  public var daysAgo: UInt8 = 0
  public var readings: [Reading] = []
  /// What follows the last reading.
  public var unread: [UInt8] = []

  public init() {}

  public init(daysAgo: UInt8, readings: [Reading]) {
    self.daysAgo = daysAgo
    self.readings = readings
  }

  /// A payload of one byte is a day without readings.
  public static let isNothingAByte = false

  public static let fields: [BulkField<Self>] = [
    BulkField("days-ago", \.daysAgo, .days), BulkField(toEnd: "readings", \.readings, unread: \.unread),
  ]

  public init(payload: [UInt8]) throws(BulkContentsError) {
    try self.init(contents: payload.isEmpty ? [0] : payload)
  }
}

public final class VitalCommands: CommandGroup {
  static let shared = VitalCommands()

  public let manualHeartRates = BulkQuery<ManualHeartRates>(
    0x28, "manual heart rates", "The heart rates measured on request.", source: "6.3 [C]")
  public let oxygenLog = BulkQuery<OxygenLog>(
    0x2A, "SpO2 log", "The oxygen saturation by hours.", source: "6.2 [C]")

  var bulkRows: [any BulkRow] { [manualHeartRates, oxygenLog] }
  var entries: [CommandEntry] { bulkRows.map(\.entry) }
}

/// In all of these, `now` is the ring's wall clock as known to the host.
extension Ring {
  /// The heart rates measured on request.
  public func manualHeartRates(
    _ days: DayOrAll, now: RingTime, progress: ((Int, Int) -> Void)? = nil
  ) async throws(RingError) -> [HeartRateReading] {
    let contents = try await bulk(CommandTable.manualHeartRates, days, progress: progress)
    let midnight = now.day.adding(days: -Int(contents.daysAgo)).midnight
    for reading in contents.readings where reading.minuteOfDay >= 1440 {
      leaveOut(.heartRate, "a day has no minute \(reading.minuteOfDay)", reading.bytes())
    }
    if !contents.unread.isEmpty { leaveOut(.heartRate, "it is no minute and rate", contents.unread) }
    return contents.readings.filter {
      $0.minuteOfDay < 1440 && $0.beatsPerMinute != 0 && $0.beatsPerMinute != 255
    }.map {
      HeartRateReading(
        time: midnight.adding(minutes: Int($0.minuteOfDay)), beatsPerMinute: Int($0.beatsPerMinute),
        isManual: true)
    }.inOrder(of: \.time)
  }

  /// The oxygen saturation of all days, in the order of time.
  public func oxygen(
    now: RingTime, progress: ((Int, Int) -> Void)? = nil
  ) async throws(RingError) -> [OxygenReading] {
    let log = try await bulk(CommandTable.oxygenLog, .all, progress: progress)
    if !log.unread.isEmpty { leaveOut(.oxygen, "it is no day of 24 hours", log.unread) }
    return log.readings(today: now.day).inOrder(of: \.time)
  }
}
