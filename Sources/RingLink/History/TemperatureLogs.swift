/// Requests a number of days up to today.
public struct DayCount: BulkRequest, BulkRecord {
  public var days: UInt8 = 1

  public init() {}

  public init(days: UInt8) { self.days = days }

  public static let fields: [BulkField<Self>] = [BulkField("days", \.days, .days)]
}

/// Requests one of the packets of a day.
public struct DayPacket: BulkRequest, BulkRecord {
  /// 0 is today.
  public var daysAgo: UInt8 = 0
  /// Counted from 0.
  public var packet: UInt8 = 0

  public init() {}

  public init(daysAgo: UInt8, packet: UInt8) {
    self.daysAgo = daysAgo
    self.packet = packet
  }

  public static let fields: [BulkField<Self>] = [
    BulkField("days-ago", \.daysAgo, .days), BulkField("packet", \.packet, nil, "from 0"),
  ]
}

/// Skin temperatures of several days (ring reference, 6.4).
public struct TemperatureLog: BulkContents, BulkRecord {
  public typealias Request = DayCount

  /// The values of a day.
  public struct Day: BulkRecord {
    /// 0 is today.
    public var daysAgo: UInt8 = 0
    /// The length of a slot, in minutes.
    public var minutesPerSlot: UInt8 = 30
    /// Tenths of a degree above 20 °C, from midnight on; 0 for none.
    public var values: [UInt8] = []

    public init() {}

    public init(daysAgo: UInt8, minutesPerSlot: UInt8, values: [UInt8]) {
      self.daysAgo = daysAgo
      self.minutesPerSlot = minutesPerSlot
      self.values = values
    }

    public static let fields: [BulkField<Self>] = [
      BulkField("days-ago", \.daysAgo, .days),
      BulkField("interval", \.minutesPerSlot, .minutes, in: 1...255),
      BulkField(
        "values", \.values, ofADayEvery: \.minutesPerSlot, "tenths of a degree above 20 °C, 0 for none"),
    ]
  }

  public var days: [Day] = []
  /// What follows the last day that can be read.
  public var unread: [UInt8] = []

  public init() {}

  public init(days: [Day]) { self.days = days }

  public static let fields: [BulkField<Self>] = [BulkField(toEnd: "days", \.days, unread: \.unread)]

  /// The slots with a value, in any order.
  public func readings(today: RingDay) -> [TemperatureReading] {
    days.flatMap { day in
      SlotLog(minutesPerSlot: Int(day.minutesPerSlot), values: day.values)
        .readings(of: today.adding(days: -Int(day.daysAgo))).map {
          TemperatureReading(time: $0.time, centidegrees: 2000 + Int($0.value) * 10)
        }
    }
  }
}

/// A packet of the skin temperatures of a day, as newer rings keep them (ring reference, 6.4).
public struct IntervalTemperatures: BulkContents, BulkRecord {
  public typealias Request = DayPacket

  /// 0 is today.
  public var daysAgo: UInt8 = 0
  /// The length of a slot, in minutes.
  public var minutesPerSlot: UInt8 = 0
  /// The number of packets of the day.
  public var packets: UInt8 = 0
  /// The index of this packet, from 0.
  public var packet: UInt8 = 0
  /// Hundredths of a degree Celsius; 0 for none.
  public var values: [UInt16] = []

  public init() {}

  public init(daysAgo: UInt8, minutesPerSlot: UInt8, packets: UInt8, packet: UInt8, values: [UInt16]) {
    self.daysAgo = daysAgo
    self.minutesPerSlot = minutesPerSlot
    self.packets = packets
    self.packet = packet
    self.values = values
  }

  public static let fields: [BulkField<Self>] = [
    BulkField("days-ago", \.daysAgo, .days), BulkField("interval", \.minutesPerSlot, .minutes),
    BulkField("packets", \.packets), BulkField("packet", \.packet, nil, "from 0"),
    BulkField("values", \.values, "hundredths of a degree Celsius, 0 for none"),
  ]

  public init(payload: [UInt8]) throws(BulkContentsError) {
    try self.init(contents: payload)
    guard minutesPerSlot > 0 || values.isEmpty else { throw .value("interval can't be 0", offset: 1) }
  }

  public var payload: [UInt8] { values.isEmpty ? [0] : bytes() }
}

public final class TemperatureCommands: CommandGroup {
  static let shared = TemperatureCommands()

  public let temperatureLog = BulkQuery<TemperatureLog>(
    0x25, "temperature log", "The skin temperatures of several days.", families: .newer, source: "6.4 [A][2]")
  public let intervalTemperatures = BulkQuery<IntervalTemperatures>(
    0x77, "interval temperatures", "The skin temperatures of a day, as newer rings keep them.",
    families: .newer, source: "6.4 [A][2]")

  var bulkRows: [any BulkRow] { [temperatureLog, intervalTemperatures] }
  var entries: [CommandEntry] { bulkRows.map(\.entry) }
}

/// In all of these, `now` is the ring's wall clock as known to the host.
extension Ring {
  /// The skin temperatures of a number of days up to today, in the order of time.
  public func temperatures(
    days: UInt8, now: RingTime, progress: ((Int, Int) -> Void)? = nil
  ) async throws(RingError) -> [TemperatureReading] {
    let log = try await bulk(CommandTable.temperatureLog, DayCount(days: days), progress: progress)
    if !log.unread.isEmpty { leaveOut(.temperature, "it is no day of temperatures", log.unread) }
    return log.readings(today: now.day).filter { $0.time <= now }.inOrder(of: \.time)
  }

  /// The skin temperatures of a day, from rings that report that they store them at intervals.
  public func intervalTemperatures(
    on day: RingDay, now: RingTime
  ) async throws(RingError) -> [TemperatureReading] {
    guard let daysAgo = now.daysSince(day) else { return [] }
    var values: [UInt16] = []
    var minutes = 0
    for packet in UInt8(0)...254 {
      let contents = try await bulk(
        CommandTable.intervalTemperatures, DayPacket(daysAgo: daysAgo, packet: packet))
      guard !contents.values.isEmpty else { break }
      guard contents.daysAgo == daysAgo, contents.packet == packet else {
        leaveOut(
          .temperature, "it is not packet \(packet) of that day, which was asked for", contents.payload)
        break
      }
      minutes = Int(contents.minutesPerSlot)
      values += contents.values
      guard packet + 1 < contents.packets, values.count < 1440 / minutes else { break }
    }
    return values.enumerated().compactMap { index, value in
      let time = day.midnight.adding(minutes: index * minutes)
      guard value > 0, time.day == day, time <= now else { return nil }
      return TemperatureReading(time: time, centidegrees: Int(value))
    }
  }
}
