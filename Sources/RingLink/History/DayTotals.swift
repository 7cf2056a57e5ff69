/// What was walked since the ring's midnight (ring reference, 4.14).
public struct TodayTotals: FrameRecord {
  public var steps: UInt32 = 0
  public var runningSteps: UInt32 = 0
  /// Small calories: 1000 make a kilocalorie.
  public var calories: UInt32 = 0
  public var meters: UInt32 = 0
  public var activeMinutes: UInt16 = 0

  public init() {}

  public static let fields: [RecordField<Self>] = [
    RecordField("steps", \.steps, at: 1, .uint24BigEndian, .steps),
    RecordField("running-steps", \.runningSteps, at: 4, .uint24BigEndian, .steps),
    RecordField("calories", \.calories, at: 7, .uint24BigEndian, .calories),
    RecordField("distance", \.meters, at: 10, .uint24BigEndian, .meters),
    RecordField("active", \.activeMinutes, at: 13, .uint16BigEndian, .minutes),
  ]
}

/// The days for which a ring has something stored (ring reference, 4.14).
public struct StoredDays: FrameRecord {
  /// Bit n stands for n days ago.
  public var mask: UInt32 = 0

  public init() {}

  public static let fields: [RecordField<Self>] = [
    RecordField("mask", \.mask, at: 1, .uint32BigEndian)
  ]

  /// 0 is today.
  public var daysAgo: [Int] { (0..<32).filter { mask >> $0 & 1 == 1 } }
}

/// What was walked on a day, in sum (ring reference, 4.14): of rings that do not know ``CommandTable/today``.
public struct DayTotals: Hashable, Sendable {
  /// The day that the ring means; nil if it has nothing of the day that was asked for.
  public var day: RingDay?
  public var daysAgo = 0
  public var steps = 0
  public var runningSteps = 0
  /// Small calories: 1000 make a kilocalorie.
  public var calories = 0
  public var meters = 0
  public var activeMinutes = 0
  public var sleepMinutes = 0

  public init() {}
}

/// The first frame of a day's sum.
public struct DayTotalsFirst: FrameRecord {
  public var daysAgo: UInt8 = 0
  public var yearOfCentury: UInt8 = 0
  public var month: UInt8 = 0
  public var day: UInt8 = 0
  public var steps: UInt32 = 0
  public var runningSteps: UInt32 = 0
  public var calories: UInt32 = 0

  public init() {}

  public static let fields: [RecordField<Self>] = [
    RecordField("days-ago", \.daysAgo, at: 2, .bcd, .days),
    RecordField("year", \.yearOfCentury, at: 3, .bcd),
    RecordField("month", \.month, at: 4, .bcd),
    RecordField("day", \.day, at: 5, .bcd),
    RecordField("steps", \.steps, at: 6, .uint24BigEndian, .steps),
    RecordField("running-steps", \.runningSteps, at: 9, .uint24BigEndian, .steps),
    RecordField("calories", \.calories, at: 12, .uint24BigEndian, .calories),
  ]
}

/// The second frame of a day's sum.
public struct DayTotalsSecond: FrameRecord {
  public var daysAgo: UInt8 = 0
  public var yearOfCentury: UInt8 = 0
  public var month: UInt8 = 0
  public var day: UInt8 = 0
  public var meters: UInt32 = 0
  public var activeMinutes: UInt16 = 0
  public var sleepMinutes: UInt16 = 0

  public init() {}

  public static let fields: [RecordField<Self>] = [
    RecordField("days-ago", \.daysAgo, at: 2, .bcd, .days),
    RecordField("year", \.yearOfCentury, at: 3, .bcd),
    RecordField("month", \.month, at: 4, .bcd),
    RecordField("day", \.day, at: 5, .bcd),
    RecordField("distance", \.meters, at: 6, .uint24BigEndian, .meters),
    RecordField("active", \.activeMinutes, at: 9, .uint16BigEndian, .minutes),
    RecordField("sleep", \.sleepMinutes, at: 11, .uint16BigEndian, .minutes),
  ]
}

/// Two frames, told apart by byte 1.
public struct DayTotalsAssembler: LogAssembler {
  private var first: DayTotalsFirst?
  private var second: DayTotalsSecond?

  public static let forms = [
    .noData, firstForm, secondForm,
  ]

  private static let firstForm = FrameForm("first", startingWith: [0], DayTotalsFirst.self)
  private static let secondForm = FrameForm("second", startingWith: [1], DayTotalsSecond.self)

  public init(_ request: DaysAgo) {}

  public mutating func receive(_ frame: RingFrame) throws(RingFrameError) -> LogProgress<DayTotals> {
    if FrameForm.noData.matches(frame) { return .complete(DayTotals()) }
    if Self.firstForm.matches(frame) {
      first = try DayTotalsFirst(parsing: frame)
    } else if Self.secondForm.matches(frame) {
      second = try DayTotalsSecond(parsing: frame)
    } else {
      throw .value("an answer of two frames can't have frame \(frame.byte(at: 1))")
    }
    guard let second else { return .incomplete(received: 1, of: 2) }
    guard let first else { return .gaps([0]) }
    var totals = DayTotals()
    guard first.month > 0 || first.day > 0 || first.yearOfCentury > 0 else { return .complete(totals) }
    totals.day = RingDay(
      year: 2000 + Int(first.yearOfCentury), month: Int(first.month), day: Int(first.day))
    guard totals.day != nil else { throw .value("there is no such day") }
    totals.daysAgo = Int(first.daysAgo)
    totals.steps = Int(first.steps)
    totals.runningSteps = Int(first.runningSteps)
    totals.calories = Int(first.calories)
    totals.meters = Int(second.meters)
    totals.activeMinutes = Int(second.activeMinutes)
    totals.sleepMinutes = Int(second.sleepMinutes)
    return .complete(totals)
  }

  public static func frames(
    of totals: DayTotals, command: RingCommand, to request: DaysAgo
  ) -> [RingFrame] {
    var first = DayTotalsFirst()
    var second = DayTotalsSecond()
    if let day = totals.day {
      let (year, month, dayOfMonth) = day.civil
      first.daysAgo = request.daysAgo
      first.yearOfCentury = UInt8(clamping: year - 2000)
      first.month = UInt8(clamping: month)
      first.day = UInt8(clamping: dayOfMonth)
      first.steps = UInt32(clamping: totals.steps)
      first.runningSteps = UInt32(clamping: totals.runningSteps)
      first.calories = UInt32(clamping: totals.calories)
      second.daysAgo = first.daysAgo
      second.yearOfCentury = first.yearOfCentury
      second.month = first.month
      second.day = first.day
      second.meters = UInt32(clamping: totals.meters)
      second.activeMinutes = UInt16(clamping: totals.activeMinutes)
      second.sleepMinutes = UInt16(clamping: totals.sleepMinutes)
    }
    return [RingFrame(command, first, form: firstForm), RingFrame(command, second, form: secondForm)]
  }
}
