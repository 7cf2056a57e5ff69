import HaloBluetoothCore

/// Requests a number of days up to today.
package struct DayCount: BulkRequest, PacketFields {
  package var days: UInt8 = 1

  package init() {}

  package init(days: UInt8) { self.days = days }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("days", &days, .unit("d"))
  }
}

/// Skin temperatures of a day (ring reference, 6.4).
package struct TemperatureDay: StoredItem {
  /// 0 is today.
  package var daysAgo: UInt8 = 0
  /// The length of a slot, in minutes.
  package var minutesPerSlot: UInt8 = 30
  /// Tenths of a degree above 20 °C, from midnight on; 0 for none.
  package var values: [UInt8] = []

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("days-ago", &daysAgo, .unit("d"))
    try fields.value("interval", &minutesPerSlot, .unit("min"))
    try fields.check(minutesPerSlot > 0, "interval can't be 0")
    try fields.values(
      "values", &values, like: 0, count: 1440 / max(Int(minutesPerSlot), 1),
      .described("as many `values` as the day has (tenths of a degree above 20 °C, 0 for none)"))
  }

  package static func areAll(_ days: [Self], of request: DayCount) -> Bool {
    Set(days.map(\.daysAgo)).isSuperset(of: 0..<request.days)
  }

  /// The slots with a value.
  package func readings(today: RingDay) -> [TemperatureReading] {
    SlotLog(minutesPerSlot: Int(minutesPerSlot), values: values)
      .readings(of: today.adding(days: -Int(daysAgo))).map {
        TemperatureReading(time: $0.time, centidegrees: 2000 + Int($0.value) * 10)
      }
  }
}

package typealias TemperatureLog = StoredLog<TemperatureDay>

/// Skin temperatures, at intervals.
package enum SkinTemperatures: IntervalQuantity {
  package typealias Number = UInt16
  package static let note = "hundredths of a degree Celsius, 0 for none"
}

/// A packet of the skin temperatures of a day, as newer rings keep them (ring reference, 6.4).
package typealias IntervalTemperatures = IntervalLog<SkinTemperatures>

/// In all of these, `now` is the ring's wall clock as known to the host.
extension RingClient {
  /// The skin temperatures of a number of days up to today, in the order of time.
  package func temperatures(
    days: UInt8, now: RingTime, progress: ((Int, Int) -> Void)? = nil
  ) async throws(RingError) -> [TemperatureReading] {
    try await stored(
      .temperature, CommandTable.temperatureLog, DayCount(days: days),
      unread: "its bytes are not the temperatures of a day", progress: progress
    ).flatMap { $0.readings(today: now.day) }.filter { $0.time <= now }.inOrder(of: \.time)
  }

  /// The skin temperatures of a day, from rings that report that they store them at intervals.
  package func intervalTemperatures(
    on day: RingDay, now: RingTime
  ) async throws(RingError) -> [TemperatureReading] {
    let log = try await intervalLog(.temperature, CommandTable.intervalTemperatures, on: day, now: now)
    return readings(log, on: day, now: now)
  }

  /// The same from rings that store them under the id 0x74. Those with three sensors have three temperatures for each
  /// time, and it is not known which is that of the skin: such a day is left out.
  package func temperatures74(on day: RingDay, now: RingTime) async throws(RingError) -> [TemperatureReading]
  {
    let log = try await intervalLog(
      .temperature, CommandTable.temperatures74, on: day, now: now, valuesPerSlot: 3)
    guard log.values.count <= log.slotsOfDay else {
      leaveOut(
        .temperature, "it has several temperatures for each time",
        log.values.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] })
      return []
    }
    return readings(log, on: day, now: now)
  }

  private func readings(_ log: DaySlots<UInt16>, on day: RingDay, now: RingTime) -> [TemperatureReading] {
    log.cutToDay.readings(of: day, until: now).map {
      TemperatureReading(time: $0.time, centidegrees: Int($0.value))
    }
  }
}
