import RingLink
import Testing

@testable import HaloViews

@Suite struct DaysReportTests {
  private let day: RingDay

  init() throws { day = try #require(RingDay(year: 2026, month: 11, day: 30)) }

  private func time(_ hour: Int, _ minute: Int = 0, daysLater: Int = 0) throws -> RingTime {
    try #require(RingTime(day.adding(days: daysLater), hour: hour, minute: minute))
  }

  private func report(
    _ records: HistoryRecords..., days: Int = 3, at now: RingTime? = nil
  ) throws -> DaysReport {
    var readings = StoredReadings()
    for all in records { readings.add(all) { $1 } }
    return DaysReport(readings, days: day.adding(days: 1 - days)...day, now: try now ?? time(8))
  }

  private func rates(_ times: [(Int, Int)], _ rate: Int = 60, isManual: Bool = false) throws -> HistoryRecords
  {
    .heartRate(
      try times.map { HeartRateReading(time: try time($0.0, $0.1), beatsPerMinute: rate, isManual: isManual) }
    )
  }

  private func night(
    _ start: RingTime, _ end: RingTime, _ stages: (SleepStage.Kind, Int)..., nap: Bool = false
  )
    -> SleepSession
  {
    SleepSession(start: start, end: end, isNap: nap, stages: stages.map { SleepStage($0.0, minutes: $0.1) })
  }

  @Test func aNightBelongsToTheDayOnWhichItEnds() throws {
    let report = try report(
      .sleep([
        night(
          try time(23, daysLater: -1), try time(7), (.light, 240), (.deep, 90), (.rem, 120), (.awake, 30)),
        night(try time(22, 50, daysLater: -1), try time(6), (.light, 200)),
        night(try time(13, daysLater: -1), try time(14, daysLater: -1), (.light, 60), nap: true),
        // It ends after now.
        night(try time(7), try time(9), (.light, 120)),
      ]))
    let last = try #require(report.lastNight)
    #expect(last.day == day && last.night?.asleep == 450 && last.night?.minutes[.awake] == 30)
    #expect(report.days.map(\.naps) == [nil, 60, nil])
    #expect(report.days.map { $0.night != nil } == [false, false, true])
  }

  /// The lowest average of 30 minutes; with a value each ten minutes, these are three of them.
  @Test func theRestingRateNeedsAValueEachTenMinutes() throws {
    func resting(_ minutes: [Int], _ rates: [Int]) throws -> Double? {
      DaysReport.restingRate(
        try zip(minutes, rates).map {
          HeartRateReading(time: try time(3, $0), beatsPerMinute: $1, isManual: false)
        })
    }
    #expect(try resting([0, 10, 20], [60, 54, 51]) == 55)
    #expect(try resting([0, 10, 19], [60, 54, 51]) == nil)
    #expect(try resting([0, 15, 30, 45], [60, 54, 51, 50]) == nil)
    #expect(try resting([0, 5, 10, 15, 20, 25, 30], [90, 50, 50, 50, 50, 50, 50]) == 50)
    #expect(try resting([], []) == nil)
  }

  @Test func onlyAutomaticPossibleRatesAreResting() throws {
    let minutes = [(3, 0), (3, 10), (3, 20)]
    #expect(try report(rates(minutes, 61)).today.resting == 61)
    #expect(try report(rates(minutes, 61, isManual: true)).today.resting == nil)
    for rate in [0, 24, 251, 255, 65535] {
      let report = try report(rates(minutes, rate))
      #expect(report.today.resting == nil && report.hours.allSatisfy { $0.rates.count == 0 })
    }
  }

  @Test func theHoursAreTheLast24() throws {
    let readings: HistoryRecords = .steps([
      ActivityReading(time: try time(7, daysLater: -1), steps: 1, meters: 1, calories: 1),
      ActivityReading(time: try time(8, daysLater: -1), steps: 20, meters: 1, calories: 1),
      ActivityReading(time: try time(7), steps: 300, meters: 1, calories: 1),
      ActivityReading(time: try time(8), steps: 4000, meters: 1, calories: 1),
    ])
    let morning = try report(readings, at: time(8))
    #expect(morning.hours.first?.start == (try time(8, daysLater: -1)))
    #expect(morning.hours.compactMap(\.steps) == [20, 300])
    // An hour that has begun counts, and one that has not does not.
    let later = try report(readings, at: time(8, 1))
    #expect(later.hours.first?.start == (try time(9, daysLater: -1)))
    #expect(later.hours.compactMap(\.steps) == [300, 4000])
    #expect(morning.today.steps == 300 && later.today.steps == 4300)
    let over = try report(readings, at: day.adding(days: 1).midnight)
    #expect(over.hours.map(\.start.hour) == Array(0..<24))
  }

  @Test func weeksBeginOnMonday() throws {
    // 2026-11-30 is a Monday.
    let report = try report(days: 9)
    #expect(report.weeks.map(\.first.description) == ["2026-11-22", "2026-11-23", "2026-11-30"])
    #expect(report.weeks.map(\.days.count) == [1, 7, 1])
    #expect(try #require(RingDay(year: 1969, month: 12, day: 28)).weekday == 6)
  }

  @Test func readingsOutsideOfTheDaysAreLeftOut() throws {
    let report = try report(
      .steps(
        try [-400, -2, -1, 0, 1, 400].map {
          ActivityReading(time: try time(6, daysLater: $0), steps: 1 << ($0 & 7), meters: 0, calories: 0)
        }), days: 2)
    #expect(report.days.map(\.steps) == [1 << 7, 1])
  }

  @Test func anEstimateIsMarkedAndAMissingNumberIsNoZero() throws {
    let report = try report(
      .variability([EstimateReading(time: try time(3), value: 41)]),
      .sleep([night(try time(0), try time(7), (.light, 300), (.deep, 60), (.awake, 60))]))
    let text = DaysPage(report, ring: ["R02 <b>"], copied: nil).text
    #expect(text.contains("<dt>HRV</dt><dd>41 ms <em>estimate</em></dd>"))
    #expect(text.contains("<dt>REM</dt><dd class=\"missing\">not stored</dd>"))
    #expect(text.contains("<dt>Asleep</dt><dd>6 h 0 min</dd>"))
    #expect(text.contains("aria-label=\"HRV, in ms, estimate; 2 of 3 have no value\""))
    #expect(text.contains("class=\"hrv estimate\"") && !text.contains("class=\"oxygen"))
    #expect(text.contains("R02 &lt;b&gt;") && !text.contains("<script"))
  }

  @Test(arguments: [0.0, 1, 95.4, 1e300, .infinity])
  func aPlotOfOneValueHasAScale(value: Double) {
    for beginsAtZero in [false, true] {
      let plot = ColumnPlot(
        title: "x", columns: [.init(name: "1", bars: [(value, value, "c")], mark: value, text: "y")],
        beginsAtZero: beginsAtZero)
      if value.isFinite {
        #expect(
          plot.svg.map { $0.contains("class=\"mark\"") && !$0.contains("nan") && !$0.contains("inf") } == true
        )
      } else {
        #expect(plot.svg == nil)
      }
    }
  }

  /// A trend is in the plots, too: each day has the mean of its week, from Monday on.
  @Test func daysHaveTheMeanOfTheirWeek() throws {
    let steps = HistoryRecords.steps(
      try [(-2, 300), (-1, 100), (0, 4000)].map {
        ActivityReading(time: try time(6, daysLater: $0.0), steps: $0.1, meters: 0, calories: 0)
      })
    let text = DaysPage(try report(steps, days: 3), ring: [], copied: nil).text
    let plot = try #require(text.components("aria-label=\"Steps\"").last?.components("</svg>").first)
    let lines = plot.components("class=\"usual\"").dropFirst().map {
      $0.components("y1=\"")[1].prefix { $0 != "\"" }
    }
    // 28 and 29 November are of one week, 30 November begins the next.
    #expect(lines.count == 3 && lines[0] == lines[1] && lines[1] != lines[2])
  }

  /// A night without heart rates for two hours has two curves.
  @Test func aCurveDoesNotCrossHoursWithoutValues() throws {
    func curves(_ hours: [Int]) throws -> Int {
      let rates = HistoryRecords.heartRate(
        try hours.flatMap { hour in
          try [0, 10, 20, 30, 40, 50].map {
            HeartRateReading(time: try time(hour, $0), beatsPerMinute: 50 + $0 / 10, isManual: false)
          }
        })
      let report = try report(rates, .sleep([night(try time(0), try time(7), (.light, 420))]))
      let text = DaysPage(report, ring: [], copied: nil).text
      let path = text.components("class=\"curve c0\" d=\"")[1].prefix { $0 != "\"" }
      return path.count { $0 == "M" }
    }
    #expect(try curves([1, 2, 3, 4]) == 1 && (try curves([1, 2, 5, 6])) > 1)
  }
}

extension StringProtocol {
  fileprivate func components(_ separator: String) -> [SubSequence] {
    split(separator: separator, omittingEmptySubsequences: false)
  }
}
