/// The activity since the ring's midnight (ring reference, 4.14).
public struct TodayTotals: FrameRecord {
  /// The steps of the day.
  public var steps: UInt32 = 0
  /// The steps counted as running.
  public var runningSteps: UInt32 = 0
  /// Small calories: 1000 make a kilocalorie.
  public var calories: UInt32 = 0
  /// The distance, in meters.
  public var meters: UInt32 = 0
  /// The time of activity, in minutes.
  public var activeMinutes: UInt16 = 0

  public init() {}

  package static let fields: Fields = Fields(Self()) {
    RecordField("steps", \.steps, at: 1, .uint24BigEndian, .steps)
    RecordField("running-steps", \.runningSteps, at: 4, .uint24BigEndian, .steps)
    RecordField("calories", \.calories, at: 7, .uint24BigEndian, .calories)
    RecordField("distance", \.meters, at: 10, .uint24BigEndian, .meters)
    RecordField("active", \.activeMinutes, at: 13, .uint16BigEndian, .minutes)
  }
}

/// The day of the totals of a day's activity (ring reference, 4.14), for rings that do not support `CommandTable.today`; nil
/// if the ring has no data of the requested day. Two frames, distinguished by byte 1, and each with the day; that of the
/// first counts.
package struct DayTotalsAssembler: LogAssembler {
  private var date: [Int] = []
  private var seen: Set<Int> = []

  /// Year, month and day.
  private static let dateFields = ["year", "month", "day"].enumerated().map {
    FrameField($0.element, at: 3 + $0.offset, .bcd)
  }

  private static func part(_ name: String, _ index: UInt8, _ fields: [FrameField]) -> FrameForm {
    FrameForm(
      name, startingWith: [index], [FrameField("days-ago", at: 2, .bcd, .days)] + dateFields + fields)
  }

  private static let parts = [
    part(
      "first", 0,
      [
        FrameField("steps", at: 6, .uint24BigEndian, .steps),
        FrameField("running-steps", at: 9, .uint24BigEndian, .steps),
        FrameField("calories", at: 12, .uint24BigEndian, .calories),
      ]),
    part(
      "second", 1,
      [
        FrameField("distance", at: 6, .uint24BigEndian, .meters),
        FrameField("active", at: 9, .uint16BigEndian, .minutes),
        FrameField("sleep", at: 11, .uint16BigEndian, .minutes),
      ]),
  ]
  package static let forms = [.noData] + parts

  package init(_ request: DaysAgo) {}

  package mutating func receive(_ frame: RingFrame) throws(RingFrameError) -> LogProgress<RingDay?> {
    if FrameForm.noData.matches(frame) { return .complete(nil) }
    guard let part = Self.parts.firstIndex(where: { $0.matches(frame) }) else {
      throw .value("an answer of two frames can't have frame \(frame.byte(at: 1))")
    }
    if part == 0 { date = Self.dateFields.map { $0.form.read(frame, at: $0.offset) } }
    seen.insert(part)
    guard seen.contains(1) else { return .incomplete(received: 1, of: 2) }
    guard seen.contains(0) else { return .gaps([0]) }
    if date == [0, 0, 0] { return .complete(nil) }
    guard let day = RingDay(year: 2000 + date[0], month: date[1], day: date[2]) else {
      throw .value("there is no such day")
    }
    return .complete(day)
  }
}
