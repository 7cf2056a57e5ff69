import HaloCommandLine
import HaloReportAssets
import RingLink

/// The days of a ring as one page that loads nothing and has no script: the last night, the last 24 hours, the days, the
/// weeks and the sessions of sport.
package struct DaysPage {
  let report: DaysReport
  private let ring: [String]
  private let copied: RingTime?

  /// - Parameters:
  ///   - report: the numbers
  ///   - ring: the name, the address and the firmware of the ring, as far as they are known
  ///   - copied: when the data was last copied from the ring
  package init(_ report: DaysReport, ring: [String], copied: RingTime?) {
    (self.report, self.ring, self.copied) = (report, ring, copied)
  }

  package var text: String {
    ReportPage.document(
      "\(report.today.day)", style: PageAssets.daysStyle,
      body: """
        <h1>\(report.today.day.longName)</h1>
        \(facts)\(nightSection)\(hoursSection)\(daysSection)\(weeksSection)\(sportSection)\(Self.notes)
        """)
  }

  /// A title, with its parts in HTML.
  static func section(_ title: String, _ body: String, id: String) -> String {
    "<section id=\"\(id)\">\n<h2>\(title)</h2>\n\(body)</section>\n"
  }

  private var facts: String {
    var facts = [ring.joined(separator: ", ").htmlEscaped]
    if let copied { facts.append("copied from the ring on \(copied.day.dateName), \(copied.clockName)") }
    let line = "<p id=\"ring\">\(facts.filter { !$0.isEmpty }.joined(separator: "; "))</p>\n"
    guard let newest = report.newest else {
      return line
        + "<p class=\"missing\">The store has no data of these days: copy it with halo-raw sync.</p>\n"
    }
    guard report.now.seconds - newest.seconds > 86400 else { return line }
    return line + "<p class=\"missing\">The newest value is of \(newest.day.dateName), \(newest.clockName): "
      + "halo-raw sync copies what the ring has measured since.</p>\n"
  }

  /// A number with its name; the value is nil if it is missing.
  struct Tile {
    var name: String
    var value: String?
    var note = ""
    var isEstimate = false
  }

  func tiles(_ tiles: [Tile]) -> String {
    let list = tiles.map { tile in
      let estimate = tile.isEstimate && tile.value != nil ? " <em>estimate</em>" : ""
      let value = tile.value.map { "<dd>\($0)\(estimate)</dd>" } ?? "<dd class=\"missing\">not stored</dd>"
      return "<div><dt>\(tile.name)</dt>\(value)<dd class=\"note\">\(tile.note)</dd></div>\n"
    }
    return "<dl class=\"tiles\">\n\(list.joined())</dl>\n"
  }

  func plots(_ plots: [(title: String, plot: ColumnPlot)]) -> String {
    let list = plots.map { title, plot in
      let name = plot.isEstimate ? "\(title) <em>estimate</em>" : title
      let body = plot.svg ?? "<p class=\"missing\">not stored</p>\n"
      return "<figure><h3>\(name)</h3>\n\(body)</figure>\n"
    }
    return "<div class=\"plots\">\n\(list.joined())</div>\n"
  }

  private static let notes = """
    <section id="notes">
    <h2>The numbers</h2>
    <p>A night belongs to the day on which it ends. Asleep is deep, light and REM sleep, as the ring reports them, without
    the time awake. The resting heart rate is the lowest mean of 30 minutes of a day, of automatic measurements; it needs one
    each ten minutes. SpO2 and skin temperature have the least, the greatest and the mean value.</p>
    <p><em>estimate</em>: the firmware makes up values of HRV and stress where its sensor gives none. A smart ring is not a
    medical device.</p>
    </section>

    """
}
