import HaloCommandLine
import RingLink

/// A plot with a column for each day or hour, as SVG. Positions are parts of the width, as in ``ReportPlot``: text keeps its
/// size.
struct ColumnPlot {
  /// A day or an hour.
  struct Column {
    /// The day or the hour, below the plot and in its text.
    var name: String
    /// The bars: each from a value to another one, in a color.
    var bars: [(from: Double, to: Double, color: String)] = []
    /// A value that has a mark.
    var mark: Double?
    /// A value to compare with, such as the mean of the week.
    var usual: Double?
    /// The values in words; nil if there is none.
    var text: String?
  }

  /// The subject, for people who can't see it, and its unit.
  let title: String
  var columns: [Column]
  /// Whether the scale begins at zero.
  var beginsAtZero = false
  /// How much the scale shows at least.
  var leastRange = 0.0
  /// The length of the unit of the labels.
  var unit = 1.0
  /// Whether the values are no measurements.
  var isEstimate = false

  /// In pixels, as in the style sheet.
  static let height = 122.0

  /// The least and the greatest value of the scale; nil without a value.
  private var scale: (low: Double, high: Double)? {
    let values = columns.flatMap { column in
      column.bars.flatMap { [$0.from, $0.to] } + [column.mark, column.usual].compactMap(\.self)
    }.filter(\.isFinite)
    guard let least = values.min(), let greatest = values.max() else { return nil }
    guard !beginsAtZero else { return (0, max(greatest, unit) * 1.05) }
    let margin = max(leastRange - (greatest - least), (greatest - least) * 0.1) / 2
    return (least - margin, greatest + max(margin, 1e-3))
  }

  /// The element; nil if no column has a value.
  var svg: String? {
    guard let (low, high) = scale, !columns.isEmpty else { return nil }
    func y(_ value: Double) -> Double { (high - value) / (high - low) * Self.height }
    let missing = columns.count { $0.text == nil }
    let rest = missing == 0 ? "" : "; \(missing) of \(columns.count) have no value"
    var svg = "<svg class=\"plot\" role=\"img\" aria-label=\"\((title + rest).htmlEscaped)\">\n"
    svg += Self.lines(from: low / unit, to: high / unit) { y($0 * unit) }
    svg += labels
    for (index, column) in columns.enumerated() {
      let (left, width, middle) = place(index)
      guard let text = column.text else {
        svg += "<line class=\"none\" x1=\"\(left)\" x2=\"\(middle)\" y1=\"121\" y2=\"121\"/>\n"
        continue
      }
      svg += "<g><title>\("\(column.name): \(text)".htmlEscaped)</title>"
      for bar in column.bars where bar.from.isFinite && bar.to.isFinite {
        // A range of one value is a dash.
        let (top, bottom) = (y(max(bar.from, bar.to)), y(min(bar.from, bar.to)))
        let height = max(bottom - top, 3)
        svg += "<rect class=\"\(bar.color)\(isEstimate ? " estimate" : "")\" x=\"\(left)\" width=\"\(width)\""
        svg += " y=\"\(decimal(min(top, Self.height - height), 1))\" height=\"\(decimal(height, 1))\"/>"
      }
      if let mark = column.mark, mark.isFinite {
        svg += "<line class=\"mark\" x1=\"\(left)\" x2=\"\(right(index))\""
        svg += " y1=\"\(decimal(y(mark), 1))\" y2=\"\(decimal(y(mark), 1))\"/>"
      }
      svg += "</g>\n"
    }
    // They are above the bars, and connected where neighbours have the same.
    for (index, column) in columns.enumerated() {
      guard let usual = column.usual, usual.isFinite else { continue }
      let (left, right) = (Double(index) / Double(columns.count), Double(index + 1) / Double(columns.count))
      svg += "<line class=\"usual\" x1=\"\(percent(left))\" x2=\"\(percent(right))\""
      svg += " y1=\"\(decimal(y(usual), 1))\" y2=\"\(decimal(y(usual), 1))\"/>\n"
    }
    return svg + "</svg>\n"
  }

  private func percent(_ part: Double) -> String { "\(decimal(part * 100, 2))%" }

  private func place(_ index: Int) -> (left: String, width: String, middle: String) {
    let step = 1 / Double(columns.count)
    return (
      percent((Double(index) + 0.14) * step), percent(0.72 * step), percent((Double(index) + 0.5) * step)
    )
  }

  private func right(_ index: Int) -> String { percent((Double(index) + 0.86) / Double(columns.count)) }

  /// The lines of a scale, with their values.
  static func lines(from low: Double, to high: Double, _ y: (Double) -> Double) -> String {
    let places = high - low >= 4 ? 0 : 1
    return ReportPlot.ticks(from: low, to: high, atMost: 5, steps: ReportPlot.decimalSteps).map { tick in
      let place = decimal(y(tick), 1)
      let label = places == 0 ? groupedText(tick) : decimal(tick, 1)
      return "<line class=\"grid\" x2=\"100%\" y1=\"\(place)\" y2=\"\(place)\"/>"
        + "<text class=\"end\" x=\"-6\" y=\"\(place)\" dy=\"4\">\(label)</text>\n"
    }.joined()
  }

  /// As many names as have room, from the last column on; half of them where the page is narrow, a quarter in a small plot.
  private var labels: String {
    let step = (columns.count + 7) / 8
    var text = ""
    for (number, index) in stride(from: columns.count - 1, through: 0, by: -step).enumerated() {
      let part = (Double(index) + 0.5) / Double(columns.count)
      let name = columns[index].name.htmlEscaped
      if part > 0.95 {
        text += "<text class=\"end\" x=\"100%\" y=\"140\">\(name)</text>\n"
      } else if part > 0.04 || columns.count < 5 {
        let kind =
          step == 1 ? "time" : number % 2 == 1 ? "other time" : number % 4 == 2 ? "half time" : "time"
        text += "<text class=\"\(kind)\" x=\"\(percent(part))\" y=\"140\">\(name)</text>\n"
      }
    }
    return text
  }
}

/// The stages of a night over time, as SVG.
struct NightPlot {
  let night: DaysReport.Night

  /// The rows from the top, with the name of the color.
  private static let rows: [(kind: SleepStage.Kind, name: String, color: String)] = [
    (.awake, "Awake", "awake"), (.rem, "REM", "rem"), (.light, "Light", "light"), (.deep, "Deep", "deep"),
  ]
  private static let rowHeight = 30.0
  /// A night has a few dozen; a store may have any number.
  private static let mostStages = 400

  /// How long the plot is, in seconds: longer than the night if its stages are.
  var seconds: Double {
    let stages = night.session.stages.reduce(0) { $0 + $1.minutes } * 60
    return Double(max(stages, night.session.end.seconds - night.session.start.seconds))
  }

  var svg: String {
    let start = night.session.start
    let total = max(seconds, 60)
    var svg = "<svg class=\"plot\" role=\"img\" aria-label=\"Stages of sleep from \(start.clockName) to "
    svg += "\(night.session.end.clockName)\">\n"
    for (row, line) in Self.rows.enumerated() {
      let y = decimal((Double(row) + 0.5) * Self.rowHeight, 1)
      svg += "<line class=\"grid\" x2=\"100%\" y1=\"\(y)\" y2=\"\(y)\"/>"
      svg += "<text class=\"end\" x=\"-6\" y=\"\(y)\" dy=\"4\">\(line.name)</text>\n"
    }
    var time = 0
    for stage in night.session.stages.prefix(Self.mostStages) {
      defer { time += stage.minutes * 60 }
      guard let row = Self.rows.firstIndex(where: { $0.kind == stage.kind }) else { continue }
      let (begin, end) = (
        RingTime(seconds: start.seconds + time), RingTime(seconds: start.seconds + time + stage.minutes * 60)
      )
      let place = Double(time) / total * 100
      let width = Double(stage.minutes * 60) / total * 100
      svg +=
        "<rect class=\"\(Self.rows[row].color)\" x=\"\(decimal(place, 2))%\" width=\"\(decimal(width, 2))%\""
      svg +=
        " y=\"\(decimal(Double(row) * Self.rowHeight + 5, 1))\" height=\"20\"><title>\(Self.rows[row].name), "
      svg += "\(begin.clockName) to \(end.clockName), \(stage.minutes) min</title></rect>\n"
    }
    let offset = Double(start.secondOfDay)
    let ticks = ReportPlot.ticks(from: offset, to: offset + total, atMost: 9, steps: ReportPlot.timeSteps)
    for (index, tick) in ticks.enumerated() where (tick - offset) / total < 0.97 {
      let name = RingTime(seconds: start.seconds + Int(tick - offset)).clockName
      let kind = ticks.count > 5 && index % 2 == 1 ? "other time" : "time"
      svg +=
        "<text class=\"\(kind)\" x=\"\(decimal((tick - offset) / total * 100, 2))%\" y=\"140\">\(name)</text>\n"
    }
    return svg + "</svg>\n"
  }
}
