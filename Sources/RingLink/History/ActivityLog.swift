/// Requests the activity of a day (ring reference, 4.14).
package struct ActivityRequest: FrameRecord {
  /// 0 is today; rings support up to 29.
  package var daysAgo: UInt8 = 0
  /// Always 15; its meaning is unknown.
  package var constant: UInt8 = 0x0F
  /// A quarter of an hour: 0 to 95.
  package var firstSlot: UInt8 = 0
  package var lastSlot: UInt8 = 95
  /// Whether to report energy in tens of small calories: single ones overflow for wearers who walk a lot.
  package var wantsTens = true

  package static let fields: Fields = Fields(Self()) {
    RecordField("days-ago", \.daysAgo, at: 1, .uint8, .days)
    RecordField("constant", \.constant, at: 2)
    RecordField("first-slot", \.firstSlot, at: 3)
    RecordField("last-slot", \.lastSlot, at: 4)
    RecordField("tens-of-calories", \.wantsTens, at: 5)
  }
}

/// The header that precedes the records of a day.
package struct ActivityHeader: FrameRecord {
  package var count: UInt8 = 0
  /// Whether the records contain energy in tens of small calories.
  package var isInTens = true

  package static let fields: Fields = Fields(Self()) {
    RecordField("records", \.count, at: 2)
    RecordField("tens-of-calories", \.isInTens, at: 3)
  }
}

/// The activity from a quarter of an hour on, in the layout of a frame.
package struct ActivityRecord: FrameRecord {
  /// 0 on some rings in any year.
  package var yearOfCentury: UInt8 = 0
  /// 1 to 12.
  package var month: UInt8 = 1
  /// 1 to 31.
  package var day: UInt8 = 1
  /// Quarters of an hour since midnight. Rings keep hours, so that it is a multiple of 4.
  package var slot: UInt8 = 0
  package var index: UInt8 = 0
  /// The records of that day.
  package var total: UInt8 = 0
  /// In small calories, or tens of them.
  package var energy: UInt16 = 0
  /// The steps in this slot.
  package var steps: UInt16 = 0
  /// The distance in this slot, in meters.
  package var meters: UInt16 = 0

  package static let fields: Fields = Fields(Self()) {
    RecordField("year", \.yearOfCentury, at: 1, .bcd)
    RecordField("month", \.month, at: 2, .bcd)
    RecordField("day", \.day, at: 3, .bcd)
    RecordField("slot", \.slot, at: 4)
    RecordField("record", \.index, at: 5)
    RecordField("records", \.total, at: 6)
    RecordField("energy", \.energy, at: 7, .uint16LittleEndian)
    RecordField("steps", \.steps, at: 9, .uint16LittleEndian, .steps)
    RecordField("distance", \.meters, at: 11, .uint16LittleEndian, .meters)
  }

  /// Why it cannot be a record; nil if it may be one.
  var oddity: String? {
    if index >= total { return "record \(index) can't be one of \(total), which are counted from 0" }
    if slot > 95 { return "a day has no quarter of an hour \(slot)" }
    if !(1...12).contains(month) || !(1...31).contains(day) { return noDay }
    return nil
  }

  /// The text for a day that does not exist.
  var noDay: String { "there is no day \(day) of month \(month)" }

  /// The day of the record.
  ///
  /// - Parameter expected: selects the year, for rings that do not report one
  /// - Returns: nil if the day does not exist
  package func day(near expected: RingDay) -> RingDay? {
    if yearOfCentury > 0 {
      return RingDay(year: 2000 + Int(yearOfCentury), month: Int(month), day: Int(day))
    }
    let year = expected.civil.year
    return (year - 1...year + 1).compactMap { RingDay(year: $0, month: Int(month), day: Int(day)) }
      .min { abs($0.number - expected.number) < abs($1.number - expected.number) }
  }
}

/// The activity of a day.
package struct ActivityLog: Hashable, Sendable {
  /// A frame that cannot be a record of a day, and the reason.
  package struct Odd: Hashable, Sendable {
    package var frame: RingFrame
    package var reason: String
  }

  /// Whether the records contain energy in tens of small calories (ring reference, 4.14).
  package var isInTens: Bool
  /// In the order of their index, which need not be that of time.
  package var records: [ActivityRecord]
  /// In the order of their index.
  package var odd: [Odd] = []

  package init(isInTens: Bool = true, records: [ActivityRecord] = []) {
    self.isInTens = isInTens
    self.records = records
  }
}

/// A header, then one frame per record. The count in the records is more reliable than that in the header.
package struct ActivityLogAssembler: LogWriter {
  private var header: ActivityHeader?
  private var records: [Int: ActivityRecord] = [:]
  private var odd: [UInt8: ActivityLog.Odd] = [:]
  private var total: Int?

  package static let forms = [
    .noData, headerForm, FrameForm("record", ActivityRecord.self),
  ]

  private static let headerForm = FrameForm("header", startingWith: [0xF0], ActivityHeader.self)

  package init(_ request: ActivityRequest) {}

  package mutating func receive(_ frame: RingFrame) throws(RingFrameError) -> LogProgress<ActivityLog> {
    if FrameForm.noData.matches(frame) { return .complete(ActivityLog()) }
    if Self.headerForm.matches(frame) {
      header = try ActivityHeader(parsing: frame)
    } else {
      let record = try ActivityRecord(parsing: frame)
      if let oddity = record.oddity {
        odd[record.index] = ActivityLog.Odd(frame: frame, reason: oddity)
      } else {
        records[Int(record.index)] = record
        total = Int(record.total)
      }
    }
    // Without its header the unit of energy is unknown.
    guard let header else { return .incomplete(received: records.count, of: total.map { $0 + 1 }) }
    let indices = 0..<(total ?? Int(header.count))
    let missing = indices.filter { records[$0] == nil && odd[UInt8($0)] == nil }
    // A record with an impossible index has the place of one that is missing.
    let misplaced = odd.filter { $0.key >= indices.count && $0.value.frame.byte(at: 6) == indices.count }
    if missing.count <= misplaced.count {
      var log = ActivityLog(isInTens: header.isInTens, records: indices.compactMap { records[$0] })
      log.odd = odd.sorted { $0.key < $1.key }.map(\.value)
      return .complete(log)
    }
    return .waiting(for: missing, of: indices)
  }

  package static func frames(
    of log: ActivityLog, command: RingCommand, to request: ActivityRequest
  ) -> [RingFrame] {
    guard !log.records.isEmpty else { return [RingFrame(command, NoFields(), form: .noData)] }
    var header = ActivityHeader()
    header.count = UInt8(clamping: log.records.count)
    header.isInTens = log.isInTens
    return [RingFrame(command, header, form: headerForm)]
      + log.records.prefix(255).enumerated().map { index, record in
        var record = record
        record.index = UInt8(clamping: index)
        record.total = header.count
        return RingFrame(command, record)
      }
  }
}

/// In all of these, `now` is the ring's wall clock as known to the host.
extension RingClient {
  /// The activity since the ring's midnight (ring reference, 4.14).
  package func today() async throws(RingError) -> TodayTotals {
    try await request(CommandTable.today)
  }

  /// The activity of a day, by hours. The days are those that the ring reports: they differ from `day` if its clock is
  /// wrong, and are omitted then.
  package func activity(
    on day: RingDay, now: RingTime, progress: ((Int, Int?) -> Void)? = nil
  ) async throws(RingError) -> [ActivityReading] {
    guard let daysAgo = now.daysSince(day) else { return [] }
    let answer = try await readableLog(
      .steps, CommandTable.activity, ActivityRequest(daysAgo: daysAgo), progress: progress)
    guard let log = answer else { return [] }
    for odd in log.odd { leaveOut(.steps, odd.reason, odd.frame.bytes) }
    var readings: [ActivityReading] = []
    for record in log.records {
      guard let recorded = record.day(near: day) else {
        let frame = RingFrame(CommandTable.activity.command, record)
        leaveOut(.steps, record.noDay, frame.bytes)
        continue
      }
      guard recorded == day else { continue }
      readings.append(
        ActivityReading(
          time: day.midnight.adding(minutes: Int(record.slot) * 15), steps: Int(record.steps),
          meters: Int(record.meters), calories: Int(record.energy) * (log.isInTens ? 10 : 1)))
    }
    return readings
  }
}
