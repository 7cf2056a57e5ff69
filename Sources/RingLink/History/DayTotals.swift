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

/// The days for which a ring has something stored (ring reference, 4.14).
package struct StoredDays: FrameRecord {
  /// Bit n means n days ago.
  package var mask: UInt32 = 0

  package static let fields: Fields = Fields(Self()) {
    RecordField("mask", \.mask, at: 1, .uint32BigEndian)
  }

  /// 0 is today.
  package var daysAgo: [Int] { (0..<32).filter { mask >> $0 & 1 == 1 } }
}

/// The totals of a day's activity (ring reference, 4.14), for rings that do not support `CommandTable.today`. Sent in
/// two frames, each with the day.
package struct DayTotals: Hashable, Sendable {
  /// 0 is today.
  package var daysAgo: UInt8 = 0
  package var totals = TodayTotals()
  /// The time of sleep, in minutes.
  package var sleepMinutes: UInt16 = 0
  private var yearOfCentury: UInt8 = 0
  private var month: UInt8 = 0
  private var dayOfMonth: UInt8 = 0

  package init() {}

  /// The day of the totals; nil if the ring has no data of the requested day.
  package var day: RingDay? {
    get { RingDay(year: 2000 + Int(yearOfCentury), month: Int(month), day: Int(dayOfMonth)) }
    set {
      let (year, month, day) = newValue?.civil ?? (2000, 0, 0)
      yearOfCentury = UInt8(clamping: year - 2000)
      self.month = UInt8(clamping: month)
      dayOfMonth = UInt8(clamping: day)
    }
  }

  /// Whether the ring has no data of the day.
  var isEmpty: Bool { yearOfCentury == 0 && month == 0 && dayOfMonth == 0 }

  /// In both frames; that of the first counts.
  fileprivate static let dayFields: [RecordField<Self>] = [
    RecordField("days-ago", \.daysAgo, at: 2, .bcd, .days),
    RecordField("year", \.yearOfCentury, at: 3, .bcd),
    RecordField("month", \.month, at: 4, .bcd),
    RecordField("day", \.dayOfMonth, at: 5, .bcd),
  ]

  /// The fields of the first frame and of the second.
  static let fields: [[RecordField<Self>]] = [
    dayFields + [
      RecordField("steps", \.totals.steps, at: 6, .uint24BigEndian, .steps),
      RecordField("running-steps", \.totals.runningSteps, at: 9, .uint24BigEndian, .steps),
      RecordField("calories", \.totals.calories, at: 12, .uint24BigEndian, .calories),
    ],
    dayFields + [
      RecordField("distance", \.totals.meters, at: 6, .uint24BigEndian, .meters),
      RecordField("active", \.totals.activeMinutes, at: 9, .uint16BigEndian, .minutes),
      RecordField("sleep", \.sleepMinutes, at: 11, .uint16BigEndian, .minutes),
    ],
  ]
}

/// Two frames, distinguished by byte 1.
package struct DayTotalsAssembler: LogAssembler {
  private var totals = DayTotals()
  private var seen: Set<Int> = []

  private static let parts = [
    FrameForm("first", startingWith: [0], DayTotals.fields[0].map(\.field)),
    FrameForm("second", startingWith: [1], DayTotals.fields[1].map(\.field)),
  ]
  package static let forms = [.noData] + parts

  package init(_ request: DaysAgo) {}

  package mutating func receive(_ frame: RingFrame) throws(RingFrameError) -> LogProgress<DayTotals> {
    if FrameForm.noData.matches(frame) { return .complete(DayTotals()) }
    guard let part = Self.parts.firstIndex(where: { $0.matches(frame) }) else {
      throw .value("an answer of two frames can't have frame \(frame.byte(at: 1))")
    }
    let fields = DayTotals.fields[part].dropFirst(part == 0 ? 0 : DayTotals.dayFields.count)
    try Array(fields).read(frame, into: &totals)
    seen.insert(part)
    guard seen.contains(1) else { return .incomplete(received: 1, of: 2) }
    guard seen.contains(0) else { return .gaps([0]) }
    guard !totals.isEmpty else { return .complete(DayTotals()) }
    guard totals.day != nil else { throw .value("there is no such day") }
    return .complete(totals)
  }

  package static func frames(
    of totals: DayTotals, command: RingCommand, to request: DaysAgo
  ) -> [RingFrame] {
    var totals = totals
    if totals.isEmpty { totals = DayTotals() } else { totals.daysAgo = request.daysAgo }
    return zip(parts, DayTotals.fields).map { form, fields in
      RingFrame(command, form) { fields.store(totals, in: &$0) }
    }
  }
}
