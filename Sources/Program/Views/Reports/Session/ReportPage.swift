import HaloStorage
import HaloCommandLine
import HaloReportAssets

/// A session as one page that loads nothing and has no script.
package struct ReportPage {
  private let report: SessionReport
  private let name: String

  /// - Parameter name: that of the file
  package init(_ report: SessionReport, name: String) {
    self.report = report
    self.name = name
  }

  package var text: String {
    Self.document(
      name, style: PageAssets.sessionStyle,
      body: """
        <h1>\(name.htmlEscaped)</h1>
        \(facts)\(numbers)\(report.series.map(plots).joined())\(marks)
        """)
  }

  /// A page that loads nothing and runs nothing.
  static func document(_ title: String, style: String, body: String) -> String {
    """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <link rel="icon" href="data:,">
    <title>\(title.htmlEscaped) - halo-raw report</title>
    <style>
    \(style)</style>
    </head>
    <body>
    \(body)</body>
    </html>

    """
  }

  // MARK: Description

  private var facts: String {
    var rows: [(String, String)] = [("Start", report.startText)]
    rows.append(("Duration", duration(report.end)))
    rows.append(("Records", String(report.records)))
    if let description = report.description {
      if let command = description.found("GeneratedBy")?.found("Command", as: String.self) {
        rows.append(("Command", "halo-raw \(command)"))
      }
      for ring in rings(description) {
        let parts = ["Name", "Address", "Firmware"].compactMap { ring.found($0, as: String.self) }
        if !parts.isEmpty { rows.append(("Ring", parts.joined(separator: ", "))) }
      }
      if case .number(let interval)? = description.found("ConnectionInterval_ms")?.found("AtEnd") {
        rows.append(("Interval of the link", "\(decimal(interval, 2)) ms at the end"))
      }
    }
    if let (lost, all) = report.packets {
      let percent = decimal(Double(lost) / Double(max(1, all)) * 100, 2)
      rows.append(("Packets", "\(lost) of \(all) lost (\(percent) %)"))
    }
    if let pauses = report.markCounts["pause"] {
      rows.append(("Pauses", "\(pauses), for what was asked for in between"))
    }
    if report.dropped > 0 {
      rows.append(("Dropped", "\(report.dropped) records, as the output was not read in time"))
    }
    if report.malformed > 0 { rows.append(("Damaged", "\(report.malformed) lines, which are left out")) }
    let list = rows.map { "<dt>\($0)</dt><dd>\($1.htmlEscaped)</dd>\n" }.joined()
    return "<dl>\n\(list)</dl>\n"
  }

  private func rings(_ description: JSONValue) -> [JSONValue] {
    if case .array(let rings)? = description.found("Rings") {
      return rings.compactMap { $0.found("Ring") ?? $0 }
    }
    return description.found("Ring").map { [$0] } ?? []
  }

  // MARK: Numbers

  private var numbers: String {
    let heads = ["Samples", "A second", "Jitter, ms", "Longest interval, ms", "Gaps", "Delays"]
    var rows = ""
    for series in report.series where series.kind.isSampled {
      let statistics = series.statistics
      let rate = statistics.rate.map { decimal($0, 2) }
      let jitter = statistics.jitter.map { decimal($0 * 1000, 2) }
      let longest = decimal(Double(statistics.longestInterval) / 1e6, 1)
      let gaps = report.marks.count { $0.kind == "gap" && $0.ring == series.ring } + statistics.gaps
      let cells: [String] = [
        "\(statistics.count)", rate ?? "", jitter ?? "", longest, "\(gaps)", "\(statistics.delays)",
      ]
      rows += "<tr><th scope=\"row\">\(title(series).htmlEscaped)</th>"
      // A narrow page has each number in a line of its own, with its name.
      rows += zip(heads, cells).map { "<td data-head=\"\($0)\">\($1)</td>" }.joined() + "</tr>\n"
    }
    guard !rows.isEmpty else { return "" }
    return "<div class=\"wide\"><table id=\"numbers\">\n<tr class=\"heads\"><td></td>"
      + heads.map { "<th scope=\"col\">\($0)</th>" }.joined() + "</tr>\n\(rows)</table></div>\n"
  }

  private func title(_ series: SessionReport.Series) -> String {
    let title = series.kind.title
    let isOfSeveral = Set(report.series.map(\.ring)).count > 1
    return isOfSeveral ? "\(title), \(series.ring)" : title
  }

  // MARK: Plots

  /// Where packets are missing. A late or doubled one is a mark of the same kind.
  private func losses(of series: SessionReport.Series) -> [Double] {
    report.marks.filter { $0.kind == "lost" && $0.note.hasPrefix("lost") && $0.ring == series.ring }.map(
      \.time)
  }

  /// What a person or the wearer has marked.
  private func moments(of series: SessionReport.Series) -> [ReportPlot.Moment] {
    report.marks.filter { ["mark", "event"].contains($0.kind) && $0.ring == series.ring }.map {
      ReportPlot.Moment(time: $0.time, text: $0.note)
    }
  }

  private func plots(of series: SessionReport.Series) -> String {
    let title = title(series)
    let unit = series.kind.unit
    let names = series.curves.map { $0.name.prefix { $0 != "_" } }
    // Where the curve is interrupted.
    let gaps = report.marks.filter {
      $0.kind == "run" || $0.kind == "gap" && $0.ring == series.ring
    }.map(\.time)
    let losses = losses(of: series)
    let moments = moments(of: series)
    let pauses = report.pauses.filter { $0.ring == series.ring }.map(\.time)
    let signal = ReportPlot(
      title: "\(title) over time, in \(unit)", curves: series.curves.map(\.envelope), gaps: gaps,
      pauses: pauses,
      losses: losses, moments: moments, end: report.end, start: report.start,
      hasDots: !series.kind.isSampled && series.statistics.count < Self.fewValues,
      leastRange: series.kind.leastRange)
    let (scale, intervalUnit) = Self.unit(ofMilliseconds: series.intervals.high)
    let intervals = ReportPlot(
      title: "\(title): time since the sample before, in \(intervalUnit)",
      curves: [series.intervals], gaps: gaps, moments: moments, end: report.end, start: report.start,
      beginsAtZero: true, hasDots: true, scale: scale)
    let below =
      series.kind.isSampled ? "<h3>Time since the sample before, \(intervalUnit)</h3>\n\(intervals.svg)" : ""
    let legend =
      names.count > 1
      ? names.enumerated().map { "<span class=\"c\($0)\">\($1)</span>" }.joined(separator: " ") : ""
    return """
      <section>
      <h2>\(title.htmlEscaped), \(unit) \(legend)</h2>
      \(signal.svg)\(below)</section>

      """
  }

  /// So many values of a measurement are dots; more are a curve.
  private static let fewValues = 400

  /// The unit in which a time has few digits, and its length in milliseconds.
  private static func unit(ofMilliseconds time: Double) -> (length: Double, name: String) {
    let units = [
      (1.0, "ms", 10_000.0), (1000, "s", 600_000), (60_000, "min", 36_000_000), (3_600_000, "h", .infinity),
    ]
    let unit = units.first { time < $0.2 } ?? units[0]
    return (unit.0, unit.1)
  }

  // MARK: Marks

  private var marks: String {
    guard !report.marks.isEmpty else { return "" }
    let counts = report.markCounts.filter { $0.key != "pause" }.sorted { $0.key < $1.key }.map {
      "\($0.value) \($0.key)"
    }
    var rows = ""
    for mark in report.marks {
      let cells = [duration(mark.time), mark.ring, mark.kind, mark.note]
      rows += "<tr>" + cells.map { "<td>\($0.htmlEscaped)</td>" }.joined() + "</tr>\n"
    }
    let total = report.markCounts.reduce(0) { $0 + ($1.key == "pause" ? 0 : $1.value) }
    let rest =
      total > report.marks.count ? "<p>The first \(report.marks.count) of \(total) are listed.</p>\n" : ""
    return """
      <section>
      <h2>Interruptions and marks: \(counts.joined(separator: ", ").htmlEscaped)</h2>
      \(rest)<div class="wide"><table id="marks">
      <tr><th scope="col">After</th><th scope="col">Ring</th><th scope="col">What</th><th scope="col">Note</th></tr>
      \(rows)</table></div>
      </section>

      """
  }
}

/// A time as text: `0.50 s`, `2 h 1 s`.
///
/// - Parameter seconds: at most 285 years
func duration(_ seconds: Double) -> String {
  guard seconds >= 60 else { return "\(decimal(seconds, 2)) s" }
  let whole = Int(seconds)
  let parts = [(whole / 86400, "d"), (whole / 3600 % 24, "h"), (whole / 60 % 60, "min"), (whole % 60, "s")]
  return parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: " ")
}
