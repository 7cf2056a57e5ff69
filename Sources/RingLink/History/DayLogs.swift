/// The values that a ring has stored of a day at intervals.
package struct DaySlots<Number: FixedWidthInteger & Sendable>: Hashable, Sendable {
  /// The length of a slot, in minutes.
  package var minutesPerSlot: Int
  /// From midnight on, 0 for no value; empty if the ring has no data of that day.
  package var values: [Number]

  package init(minutesPerSlot: Int, values: [Number]) {
    self.minutesPerSlot = minutesPerSlot
    self.values = values
  }

  /// No slots: the ring has no data of the day.
  package static var empty: Self { Self(minutesPerSlot: 5, values: []) }

  /// The number of slots per day.
  var slotsOfDay: Int { 1440 / max(minutesPerSlot, 1) }

  /// Without the data that follows the last slot of the day.
  var cutToDay: Self { Self(minutesPerSlot: minutesPerSlot, values: Array(values.prefix(slotsOfDay))) }

  /// The slots with a value: when they begin, and the value. 255 in a byte is taken for no value, too.
  package func readings(of day: RingDay) -> [(time: RingTime, value: Number)] {
    values.enumerated().compactMap { index, value in
      value == 0 || Number.self == UInt8.self && value == .max
        ? nil : (day.midnight.adding(minutes: index * minutesPerSlot), value)
    }
  }

  /// The same without slots in the future, which hold values of earlier days.
  func readings(of day: RingDay, until now: RingTime) -> [(time: RingTime, value: Number)] {
    readings(of: day).filter { $0.time <= now }
  }
}

package typealias SlotLog = DaySlots<UInt8>

/// Stress or heart rate variability of a day (ring reference, 4.12).
package typealias DaySlotLogAssembler = RowLogAssembler<DaysAgo, UInt8>

/// The heart rates of a day (ring reference, 4.10).
package typealias HeartRateLogAssembler = RowLogAssembler<DayByTime, UInt8>

/// A number for each hour of a day: the prayers that the wearer has counted (ring reference, 4.16).
package typealias HourlyCounterAssembler = RowLogAssembler<ReadDaysAgo, UInt16>

/// In all of these, `now` is the ring's wall clock as known to the host.
extension RingClient {
  /// The automatic measurements of a day.
  package func heartRates(
    on day: RingDay, now: RingTime, progress: ((Int, Int?) -> Void)? = nil
  ) async throws(RingError) -> [HeartRateReading] {
    try await slots(.heartRate, CommandTable.heartRateLog, on: day, now: now, progress) {
      HeartRateReading(time: $0, beatsPerMinute: $1, isManual: false)
    }
  }

  /// The stress of a day; see ``HistoryKind/isEstimate``.
  package func stress(
    on day: RingDay, now: RingTime, progress: ((Int, Int?) -> Void)? = nil
  ) async throws(RingError) -> [EstimateReading] {
    try await slots(
      .stress, CommandTable.stressLog, on: day, now: now, progress, EstimateReading.init(time:value:))
  }

  /// The heart rate variability of a day, in milliseconds; see ``HistoryKind/isEstimate``.
  package func variability(
    on day: RingDay, now: RingTime, progress: ((Int, Int?) -> Void)? = nil
  ) async throws(RingError) -> [EstimateReading] {
    try await slots(
      .variability, CommandTable.variabilityLog, on: day, now: now, progress,
      EstimateReading.init(time:value:))
  }

  private func slots<Request, Number, Reading>(
    _ kind: HistoryKind, _ log: RingLog<RowLogAssembler<Request, Number>>, on day: RingDay, now: RingTime,
    _ progress: ((Int, Int?) -> Void)?, _ reading: (RingTime, Int) -> Reading
  ) async throws(RingError) -> [Reading] {
    guard let request = Request(day, now: now) else { return [] }
    return try await readableLog(kind, log, request, progress: progress)?
      .readings(of: day, until: now).map { reading($0.time, Int($0.value)) } ?? []
  }
}
