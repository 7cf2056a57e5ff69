import HaloBluetoothCore

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
package struct DaySlotLogAssembler: LogAssembler {
  private let request: DaysAgo
  private var row = RowLog<RowStartDaysAgo>()

  package static let forms = RowLog<RowStartDaysAgo>.forms

  package init(_ request: DaysAgo) { self.request = request }

  package mutating func receive(_ frame: RingFrame) throws(RingFrameError) -> LogProgress<SlotLog> {
    try row.receive(frame, daysAgo: request.daysAgo).map {
      $0.map { SlotLog(minutesPerSlot: row.minutesPerSlot, values: $0).cutToDay } ?? .empty
    }
  }

  package static func frames(
    of log: SlotLog, command: RingCommand, to request: DaysAgo
  ) -> [RingFrame] {
    RowLog.frames(
      command, minutesPerSlot: log.minutesPerSlot, RowStartDaysAgo(daysAgo: request.daysAgo), log.values)
  }
}

/// The heart rates of a day (ring reference, 4.10).
package struct HeartRateLogAssembler: LogAssembler {
  private let request: DayByTime
  private var row: RowLog<RowStartTime>

  package static let forms = RowLog<RowStartTime>.forms

  /// Answers about today end with frame 23, whatever the header says.
  package init(_ request: DayByTime) {
    self.request = request
    row = RowLog(limit: request.isToday ? 24 : 255)
  }

  package mutating func receive(_ frame: RingFrame) throws(RingFrameError) -> LogProgress<SlotLog> {
    let progress = try row.receive(frame)
    return try progress.map { contents throws(RingFrameError) in
      guard let contents else { return .empty }
      let day = RingTime(seconds: Int(contents.start.seconds)).day
      guard day == request.day else { throw .value("it is about \(day), not \(request.day)") }
      return Self.log(row.minutesPerSlot, contents.values)
    }
  }

  /// Old firmware keeps slots of five minutes for any reported interval: values beyond the day's end show it.
  private static func log(_ minutes: Int, _ values: [UInt8]) -> SlotLog {
    var log = SlotLog(minutesPerSlot: minutes, values: values)
    if minutes > 5, values.prefix(288).dropFirst(log.slotsOfDay).contains(where: { $0 != 0 }) {
      log.minutesPerSlot = 5
    }
    return log.cutToDay
  }

  package static func frames(
    of log: SlotLog, command: RingCommand, to request: DayByTime
  ) -> [RingFrame] {
    RowLog.frames(
      command, minutesPerSlot: log.minutesPerSlot, RowStartTime(seconds: request.seconds), log.values)
  }
}

/// A number for each hour of a day: the prayers that the wearer has counted (ring reference, 4.16).
package struct HourlyCounter: Hashable, Sendable {
  /// From midnight on; empty if the ring has no data of that day.
  package var values: [UInt16]

  package init(values: [UInt16]) { self.values = values }
}

/// 24 numbers of 16 bits, little-endian.
package struct HourlyCounterAssembler: LogAssembler {
  private let request: ReadDaysAgo
  private var row = RowLog<RowStartDaysAgo>()

  /// 2 would set the counter back.
  package static let requestPrefix: [UInt8] = [1]

  package static let forms = RowLog<RowStartDaysAgo>.forms

  package init(_ request: ReadDaysAgo) { self.request = request }

  package mutating func receive(_ frame: RingFrame) throws(RingFrameError) -> LogProgress<HourlyCounter> {
    try row.receive(frame, daysAgo: request.daysAgo).map { bytes in
      (bytes ?? []).withReader { reader in
        var values: [UInt16] = []
        while values.count < 24, let value = try? reader.readUInt16() { values.append(value) }
        return HourlyCounter(values: values)
      }
    }
  }

  package static func frames(
    of counter: HourlyCounter, command: RingCommand, to request: ReadDaysAgo
  ) -> [RingFrame] {
    var writer = ByteWriter()
    for value in counter.values { writer.write(value) }
    return RowLog.frames(
      command, minutesPerSlot: 60, RowStartDaysAgo(daysAgo: request.daysAgo), writer.bytes)
  }
}

/// In all of these, `now` is the ring's wall clock as known to the host.
extension RingClient {
  /// The automatic measurements of a day.
  package func heartRates(
    on day: RingDay, now: RingTime, progress: ((Int, Int?) -> Void)? = nil
  ) async throws(RingError) -> [HeartRateReading] {
    let log = try await readableLog(
      .heartRate, CommandTable.heartRateLog, DayByTime(day, now: now), progress: progress)
    return log?.readings(of: day, until: now).map {
      HeartRateReading(time: $0.time, beatsPerMinute: Int($0.value), isManual: false)
    } ?? []
  }

  /// The stress of a day; see ``HistoryKind/isEstimate``.
  package func stress(
    on day: RingDay, now: RingTime, progress: ((Int, Int?) -> Void)? = nil
  ) async throws(RingError) -> [EstimateReading] {
    try await estimates(.stress, CommandTable.stressLog, on: day, now: now, progress: progress)
  }

  /// The heart rate variability of a day, in milliseconds; see ``HistoryKind/isEstimate``.
  package func variability(
    on day: RingDay, now: RingTime, progress: ((Int, Int?) -> Void)? = nil
  ) async throws(RingError) -> [EstimateReading] {
    try await estimates(.variability, CommandTable.variabilityLog, on: day, now: now, progress: progress)
  }

  private func estimates(
    _ kind: HistoryKind, _ log: RingLog<DaySlotLogAssembler>, on day: RingDay, now: RingTime,
    progress: ((Int, Int?) -> Void)?
  ) async throws(RingError) -> [EstimateReading] {
    guard let daysAgo = now.daysSince(day) else { return [] }
    return try await readableLog(kind, log, DaysAgo(daysAgo), progress: progress)?
      .readings(of: day, until: now).map { EstimateReading(time: $0.time, value: Int($0.value)) } ?? []
  }
}
