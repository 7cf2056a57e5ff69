/// A night or a nap as it stands in a bulk frame.
public struct SleepDay: Hashable, Sendable {
  /// The day on which it ended; 0 is today.
  public var daysAgo: UInt8
  /// Minutes after midnight of that day, or of the day before: see ``session(isNap:today:)``.
  public var start: UInt16
  /// Minutes after midnight.
  public var end: UInt16
  public var stages: [SleepStage]

  public init(daysAgo: UInt8, start: UInt16, end: UInt16, stages: [SleepStage]) {
    self.daysAgo = daysAgo
    self.start = start
    self.end = end
    self.stages = stages
  }

  /// When it was. Who fell asleep later in the day than awoke did so the evening before; from 18:00 on that may be
  /// meant even if not, and the stages tell.
  public func session(isNap: Bool, today: RingDay) -> SleepSession {
    let day = today.adding(days: -Int(daysAgo))
    let slept = stages.reduce(0) { $0 + $1.minutes }
    let sameDay = Int(end) - Int(start)
    let isEveningBefore =
      sameDay < 0 || (start >= 1080 && slept != sameDay && slept == sameDay + 1440)
    return SleepSession(
      start: (isEveningBefore ? day.adding(days: -1) : day).midnight.adding(minutes: Int(start)),
      end: day.midnight.adding(minutes: Int(end)), isNap: isNap, stages: stages)
  }
}

/// The nights, or the naps, that a ring has stored (ring reference, 6.1).
public struct SleepLog: BulkContents {
  public typealias Request = SleepRequest

  public var days: [SleepDay]

  public init(days: [SleepDay]) {
    self.days = days
  }

  public static let replyForm =
    "The number of days; for each: days ago, the number of bytes that follow, start and end (u16 LE, minutes after "
    + "midnight; a start after the end is of the evening before), then pairs of kind (2 light, 3 deep, 4 REM, 5 awake) "
    + "and minutes."

  public init(payload: [UInt8]) throws(BulkContentsError) {
    var reader = BulkReader(payload)
    days = []
    guard try !reader.isNothing() else { return }
    for _ in 0..<(try reader.uint8()) { days.append(try reader.sleepDay()) }
    try reader.expectEnd()
  }

  public var payload: [UInt8] {
    [UInt8(clamping: days.count)]
      + days.flatMap { day in
        let stages = day.stages.prefix(125)
        return [day.daysAgo, UInt8(clamping: 4 + stages.count * 2)] + BulkReader.bytes(day.start)
          + BulkReader.bytes(day.end)
          + stages.flatMap { [$0.kind.rawValue, UInt8(clamping: $0.minutes)] }
      }
  }
}

extension BulkReader {
  fileprivate mutating func sleepDay() throws(BulkContentsError) -> SleepDay {
    let daysAgo = try uint8()
    let length = Int(try uint8())
    guard length >= 4, length.isMultiple(of: 2) else { throw invalid("a night can't have \(length) bytes") }
    let start = try uint16()
    let end = try uint16()
    guard start < 1440, end <= 1440 else {
      throw invalid("a night can't be from minute \(start) to minute \(end) of a day")
    }
    var stages: [SleepStage] = []
    for _ in 0..<(length - 4) / 2 {
      let kind = SleepStage.Kind(rawValue: try uint8())
      stages.append(SleepStage(kind, minutes: Int(try uint8())))
    }
    return SleepDay(daysAgo: daysAgo, start: start, end: end, stages: stages)
  }
}
