import HaloCommandLine
import RingLink

// The days, the weeks and sport.
extension DaysPage {
  var daysSection: String {
    let sleep = ColumnPlot(
      title: "Sleep, in hours",
      columns: report.days.map { day in
        guard let night = day.night else { return .init(name: day.day.shortName) }
        var (bars, bottom, words) = ([(from: Double, to: Double, color: String)](), 0.0, [String]())
        for (kind, name) in [(SleepStage.Kind.deep, "deep"), (.light, "light"), (.rem, "rem")] {
          let minutes = Double(night.minutes[kind] ?? 0)
          guard minutes > 0 else { continue }
          bars.append((bottom, bottom + minutes, name))
          bottom += minutes
          words.append("\(kind) \(minutesText(minutes))")
        }
        return .init(
          name: day.day.shortName, bars: bars,
          text: (["asleep \(minutesText(Double(night.asleep)))"] + words).joined(separator: ", "))
      }, beginsAtZero: true, unit: 60)
    let resting = ColumnPlot(
      title: "Resting heart rate, in bpm",
      columns: report.days.map { day in
        .init(
          name: day.day.shortName, bars: day.resting.map { [($0, $0, "rate")] } ?? [],
          text: day.resting.map { "\(decimal($0, 1)) bpm" })
      }, leastRange: 15)
    let steps = ColumnPlot(
      title: "Steps",
      columns: report.days.map { day in
        .init(
          name: day.day.shortName, bars: day.steps.map { [(0, Double($0), "steps")] } ?? [],
          text: day.steps.map {
            "\(groupedText(Double($0))) steps, \(decimal(Double(day.meters) / 1000, 1)) km"
          })
      }, beginsAtZero: true)
    let stages =
      "<span class=\"deep\">deep</span> <span class=\"light\">light</span> <span class=\"rem\">REM</span>"
    return Self.section(
      "\(Console.counted(report.days.count, "day")) <span class=\"usual\">mean of the week</span>",
      plots([
        ("Sleep, hours \(stages)", withWeeks(sleep) { $0.night.map { Double($0.asleep) } }),
        ("Resting heart rate, bpm", withWeeks(resting, \.resting)),
        ("Steps", withWeeks(steps) { $0.steps.map { Double($0) } }),
        ("SpO2, %", ranges("SpO2, in percent", \.oxygen, "%", "oxygen", leastRange: 6)),
        (
          "Skin temperature, °C",
          ranges("Skin temperature, in °C", \.temperature, "°C", "skin", leastRange: 2)
        ),
        (
          "HRV, ms",
          ranges("HRV, in ms, estimate", \.variability, "ms", "hrv", leastRange: 20, isEstimate: true)
        ),
        (
          "Stress, 1 to 99", ranges("Stress, estimate", \.stress, "", "hrv", leastRange: 20, isEstimate: true)
        ),
      ]), id: "days")
  }

  /// The least to the greatest value of each day, with the mean.
  private func ranges(
    _ title: String, _ path: KeyPath<DaysReport.Day, ValueRange>, _ unit: String, _ color: String,
    leastRange: Double, isEstimate: Bool = false
  ) -> ColumnPlot {
    let plot = ColumnPlot(
      title: title,
      columns: report.days.map { day in
        let range = day[keyPath: path]
        guard let mean = range.mean else { return .init(name: day.day.shortName) }
        return .init(
          name: day.day.shortName, bars: [(range.low, range.high, color)], mark: mean,
          text: "\(decimal(range.low, 1)) to \(decimal(range.high, 1)) \(unit), mean \(decimal(mean, 1))")
      }, leastRange: leastRange, isEstimate: isEstimate)
    return withWeeks(plot) { $0[keyPath: path].mean }
  }

  /// The plot with the mean of the week of each day.
  private func withWeeks(_ plot: ColumnPlot, _ value: (DaysReport.Day) -> Double?) -> ColumnPlot {
    var plot = plot
    let means = report.weeks.flatMap { week in week.days.map { _ in mean(week, value) } }
    for (index, mean) in zip(plot.columns.indices, means) { plot.columns[index].usual = mean }
    return plot
  }

  private func mean(_ week: DaysReport.Week, _ value: (DaysReport.Day) -> Double?) -> Double? {
    ValueRange(week.days.compactMap(value)).mean
  }

  var weeksSection: String {
    let weeks = report.weeks.filter { $0.days.contains { $0.hasValues } }
    guard !weeks.isEmpty else { return "" }
    let columns: [(head: String, isEstimate: Bool, text: (DaysReport.Week) -> String?)] = [
      ("Nights", false, { "\($0.days.count { $0.night != nil })" }),
      ("Asleep", false, { mean($0) { $0.night.map { Double($0.asleep) } }.map(minutesText) }),
      ("Deep", false, { mean($0) { $0.night.map { Double($0.minutes[.deep] ?? 0) } }.map(minutesText) }),
      ("REM", false, { mean($0) { $0.night.map { Double($0.minutes[.rem] ?? 0) } }.map(minutesText) }),
      ("Resting, bpm", false, { mean($0, \.resting).map { decimal($0, 1) } }),
      ("Steps a day", false, { mean($0) { $0.steps.map { Double($0) } }.map(groupedText) }),
      ("SpO2, %", false, { mean($0, \.oxygen.mean).map { decimal($0, 1) } }),
      ("Skin, °C", false, { mean($0, \.temperature.mean).map { decimal($0, 1) } }),
      ("HRV, ms", true, { mean($0, \.variability.mean).map { decimal($0, 0) } }),
    ]
    let heads = columns.map {
      "<th scope=\"col\">\($0.head)\($0.isEstimate ? "<br><em>estimate</em>" : "")</th>"
    }
    let rows = weeks.reversed().map { week in
      let last = week.first.adding(days: week.days.count - 1)
      let name = week.days.count == 1 ? last.shortName : "\(week.first.shortName) to \(last.shortName)"
      let cells = columns.map { column in
        "<td data-head=\"\(column.head)\(column.isEstimate ? ", estimate" : "")\">\(column.text(week) ?? "–")</td>"
      }
      return "<tr><th scope=\"row\">\(name)</th>\(cells.joined())</tr>\n"
    }
    return Self.section(
      "Weeks: means of their days",
      "<div class=\"wide\"><table class=\"numbers\">\n<tr class=\"heads\"><td></td>\(heads.joined())</tr>\n"
        + rows.joined() + "</table></div>\n", id: "weeks")
  }

  /// More sessions have no row, and more courses no plot: a store may have any number.
  private static let (mostSessions, mostCourses) = (50, 4)

  var sportSection: String {
    guard !report.sports.isEmpty else {
      return Self.section(
        "Sport", "<p class=\"missing\">No session of these days is stored.</p>\n", id: "sport")
    }
    let heads = ["Duration", "Distance", "Energy", "Heart rate", "Steps"]
    let rows = report.sports.prefix(Self.mostSessions).map { sport in
      let range = sport.minimumRate.flatMap { low in sport.maximumRate.map { " (\(low) to \($0))" } } ?? ""
      let values: [String?] = [
        sport.seconds.map { minutesText(Double($0) / 60) },
        sport.meters.map { "\(decimal(Double($0) / 1000, 2)) km" },
        sport.calories.map { "\(groupedText(Double($0) / 1000)) kcal" },
        sport.averageRate.map { "\($0) bpm\(range)" }, sport.steps.map { groupedText(Double($0)) },
      ]
      let cells = zip(heads, values).map { "<td data-head=\"\($0)\">\($1 ?? "–")</td>" }
      return "<tr><th scope=\"row\">\(name(of: sport))</th>\(cells.joined())</tr>\n"
    }
    let courses = report.sports.filter { $0.courseSeconds > 0 }.prefix(Self.mostCourses).map { sport in
      "<figure><h3>\(name(of: sport)): heart rate, bpm</h3>\n\(sport.coursePlot.svg)</figure>\n"
    }
    let left = report.sports.count - Self.mostSessions
    return Self.section(
      "Sport",
      "<div class=\"wide\"><table class=\"numbers\">\n<tr class=\"heads\"><td></td>"
        + heads.map { "<th scope=\"col\">\($0)</th>" }.joined() + "</tr>\n\(rows.joined())</table></div>\n"
        + (left > 0
          ? "<p>The newest \(Self.mostSessions) of \(report.sports.count) sessions are listed.</p>\n" : "")
        + "<div class=\"plots\">\n\(courses.joined())</div>\n", id: "sport")
  }

  private func name(of sport: StoredSport) -> String {
    "\(sport.sport.description.htmlEscaped), \(sport.time.day.shortName), \(sport.time.clockName)"
  }
}

extension DaysReport.Day {
  fileprivate var hasValues: Bool {
    night != nil || resting != nil || steps != nil || oxygen.count + temperature.count + variability.count > 0
  }
}

extension StoredSport {
  /// How long the course is; 0 without one.
  fileprivate var courseSeconds: Int {
    heartRates.contains(where: DaysReport.possibleRates.contains)
      ? heartRates.count * (sampleSeconds ?? 0) : 0
  }

  fileprivate var coursePlot: ReportPlot {
    var curve = Envelope()
    for (index, rate) in heartRates.enumerated() where DaysReport.possibleRates.contains(rate) {
      curve.add(Double(rate), at: Double(index * (sampleSeconds ?? 0)))
    }
    return ReportPlot(
      title: "Heart rate of the session, in bpm", curves: [curve], gaps: [], end: Double(courseSeconds),
      start: Double(time.seconds), leastRange: 20)
  }
}
