import HaloCommandLine
import RingLink

// The night and the hours.
extension DaysPage {
  var nightSection: String {
    guard let day = report.lastNight, let night = day.night else {
      return Self.section(
        "This night", "<p class=\"missing\">No night of these days is stored.</p>\n", id: "night")
    }
    let isOfToday = day.day == report.today.day
    var body = ""
    if !isOfToday {
      body =
        "<p class=\"missing\">No night that ended on \(report.today.day.dateName) is stored. This is the last one.</p>\n"
    }
    body += tiles(nightTiles(day, night)) + NightPlot(night: night).svg
    if night.session.stages.isEmpty {
      body += "<p class=\"missing\">The ring has sent no stages of this night.</p>\n"
    } else if !night.session.isConsistent {
      let minutes = night.session.stages.reduce(0) { $0 + $1.minutes }
      body +=
        "<p class=\"missing\">The stages last \(minutesText(Double(minutes))), the night does not: so the ring reports it.</p>\n"
    }
    body += nightRatePlot(night)
    let times = "\(night.session.start.clockName) to \(night.session.end.clockName)"
    return Self.section(
      isOfToday ? "This night, \(times)" : "The night to \(day.day.dateName), \(times)", body, id: "night")
  }

  private func nightRatePlot(_ night: DaysReport.Night) -> String {
    guard !report.nightRates.isEmpty else {
      return "<p class=\"missing\">No heart rate of this night is stored.</p>\n"
    }
    var curve = Envelope()
    // A curve across an hour without a value would show what is not known.
    let pauses = zip(report.nightRates, report.nightRates.dropFirst()).filter {
      $1.time.seconds - $0.time.seconds > 3600
    }.map { Double($1.time.seconds - night.session.start.seconds) }
    for rate in report.nightRates {
      curve.add(Double(rate.beatsPerMinute), at: Double(rate.time.seconds - night.session.start.seconds))
    }
    let plot = ReportPlot(
      title: "Heart rate of the night, in bpm", curves: [curve], gaps: [], pauses: pauses,
      end: max(NightPlot(night: night).seconds, 60), start: Double(night.session.start.seconds),
      leastRange: 20)
    return "<h3>Heart rate, bpm</h3>\n\(plot.svg)"
  }

  private func nightTiles(_ day: DaysReport.Day, _ night: DaysReport.Night) -> [Tile] {
    let others = report.days.filter { $0.day != day.day }
    func usual(_ name: String, _ value: (DaysReport.Night) -> Int?) -> String {
      let values = ValueRange(others.compactMap { $0.night.flatMap(value).map { Double($0) } })
      return values.mean.map { "\(name) \(minutesText($0))" } ?? ""
    }
    func stage(_ name: String, _ kind: SleepStage.Kind) -> Tile {
      // Older rings know no REM: no night has any.
      let isKnown = report.days.contains { $0.night?.minutes[kind] != nil }
      return Tile(
        name: name, value: isKnown ? minutesText(Double(night.minutes[kind] ?? 0)) : nil,
        note: isKnown ? usual("mean", { $0.minutes[kind] ?? 0 }) : "no stage of this kind is stored")
    }
    let resting = ValueRange(others.compactMap(\.resting))
    return [
      Tile(name: "Asleep", value: minutesText(Double(night.asleep)), note: usual("mean", \.asleep)),
      stage("Deep", .deep), stage("REM", .rem), stage("Light", .light), stage("Awake", .awake),
      Tile(
        name: "Resting heart rate", value: day.resting.map { "\(decimal($0, 1)) bpm" },
        note: resting.mean.map { "mean \(decimal($0, 1)) bpm" } ?? ""),
      Tile(
        name: "SpO2, lowest", value: night.oxygen.mean.map { _ in "\(groupedText(night.oxygen.low)) %" },
        note: night.oxygen.mean.map { "mean \(decimal($0, 1)) %" } ?? ""),
      Tile(
        name: "Skin temperature", value: night.temperature.mean.map { "\(decimal($0, 1)) °C" },
        note: night.temperature.mean.map { _ in
          "\(decimal(night.temperature.low, 1)) to \(decimal(night.temperature.high, 1)) °C"
        } ?? ""),
      Tile(
        name: "HRV", value: night.variability.mean.map { "\(groupedText($0)) ms" }, isEstimate: true),
    ]
  }

  var hoursSection: String {
    let yesterday = report.days.dropLast().last
    var all: [Tile] = []
    if report.now.secondOfDay != 0 {
      all.append(Tile(name: "Steps today, until \(report.now.clockName)", value: steps(report.today)))
    }
    for day in [report.now.secondOfDay == 0 ? report.today : yesterday].compactMap(\.self) {
      all += [
        Tile(name: "Steps on \(day.day.dateName)", value: steps(day)),
        Tile(name: "Distance", value: day.steps.map { _ in "\(decimal(Double(day.meters) / 1000, 1)) km" }),
        Tile(
          name: "Energy", value: day.steps.map { _ in "\(groupedText(Double(day.calories) / 1000)) kcal" }),
      ]
    }
    let rates = ColumnPlot(
      title: "Heart rate by hour, in bpm",
      columns: report.hours.map { hour in
        guard let mean = hour.rates.mean else {
          return .init(name: hour.start.clockName, usual: hour.usual.mean)
        }
        return .init(
          name: hour.start.clockName, bars: [(hour.rates.low, hour.rates.high, "rate")], mark: mean,
          usual: hour.usual.mean,
          text:
            "\(groupedText(hour.rates.low)) to \(groupedText(hour.rates.high)) bpm, mean \(decimal(mean, 1))")
      }, leastRange: 30)
    let steps = ColumnPlot(
      title: "Steps by hour",
      columns: report.hours.map { hour in
        .init(
          name: hour.start.clockName, bars: hour.steps.map { [(0, Double($0), "steps")] } ?? [],
          text: hour.steps.map { "\(groupedText(Double($0))) steps" })
      }, beginsAtZero: true, unit: 1)
    let legend =
      "<span class=\"rate\">least to greatest</span> <span class=\"mark\">mean</span> "
      + "<span class=\"usual\">mean of this hour, all days</span>"
    return Self.section(
      report.now.secondOfDay == 0 ? report.today.day.dateName : "The last 24 hours",
      tiles(all) + plots([("Heart rate by hour, bpm \(legend)", rates), ("Steps by hour", steps)]),
      id: "hours")
  }

  private func steps(_ day: DaysReport.Day) -> String? { day.steps.map { groupedText(Double($0)) } }
}
