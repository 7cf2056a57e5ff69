import HaloCommandLine
import RingLink

/// A curve over time, or several, as SVG.
struct ReportPlot {
  /// What was marked at a time.
  struct Moment {
    /// In seconds.
    var time: Double
    var text: String
  }

  /// The subject, for people who can't see it.
  private let title: String
  private let curves: [Envelope]
  private let gaps: [Double]
  private let losses: [Double]
  private let moments: [Moment]
  /// Where curves are interrupted, with the gaps.
  private let breaks: [Double]
  private let end: Double
  private let start: Double?
  private let low: Double
  private let high: Double
  private let hasDots: Bool
  private let scale: Double

  /// The area of the curves. It is as wide as the page lets it be: positions in time are parts of the width, so that text and
  /// lines keep their size on a phone. The style sheet has the margins.
  private static let height = 168.0
  /// The units of a curve, which is stretched to the width.
  private static let width = 1000.0
  /// No label of time is farther to the right, as a part of the width.
  private static let lastLabel = 0.93

  /// - Parameters:
  ///   - title: the subject, for people who can't see it
  ///   - curves: the values
  ///   - gaps: where the signal is interrupted, in seconds
  ///   - pauses: where it is interrupted as planned, which is not drawn
  ///   - losses: where packets are lost, in seconds
  ///   - moments: what was marked, in the order of time
  ///   - end: in seconds
  ///   - start: the time of day at 0; nil if it is unknown
  ///   - beginsAtZero: whether the scale begins at zero
  ///   - hasDots: whether the values are dots without a line through them, as those of which neighbours alternate
  ///   - scale: the length of the unit of the labels
  ///   - leastRange: how much the scale shows at least
  init(
    title: String, curves: [Envelope], gaps: [Double], pauses: [Double] = [], losses: [Double] = [],
    moments: [Moment] = [], end: Double, start: Double?,
    beginsAtZero: Bool = false, hasDots: Bool = false, scale: Double = 1,
    leastRange: Double = 0
  ) {
    self.hasDots = hasDots
    self.scale = scale
    self.title = title
    self.curves = curves
    self.gaps = gaps
    self.losses = losses
    self.moments = moments
    breaks = (gaps + pauses).sorted()
    self.end = end
    self.start = start
    let values = curves.filter { $0.low <= $0.high }
    let lowest = beginsAtZero ? 0 : values.map(\.low).min() ?? 0
    let highest = values.map(\.high).max() ?? 1
    let margin = max(0, leastRange - (highest - lowest)) / 2
    low = lowest - margin
    high = max(highest + margin, low + (highest > lowest ? 0 : 1))
  }

  /// The place of a time, as a part of the width.
  private func place(_ time: Double) -> Double { time / max(end, 1e-9) }

  private func percent(_ time: Double) -> String { "\(decimal(place(time) * 100, 2))%" }

  private func y(_ value: Double) -> Double { (high - value) / (high - low) * Self.height }

  /// The element.
  var svg: String {
    var svg = "<svg class=\"plot\" role=\"img\" aria-label=\"\(title.htmlEscaped)\">\n"
    for tick in Self.ticks(from: low / scale, to: high / scale, atMost: 5, steps: Self.decimalSteps) {
      let y = decimal(y(tick * scale), 1)
      svg += "<line class=\"grid\" x2=\"100%\" y1=\"\(y)\" y2=\"\(y)\"/>"
      svg += "<text class=\"end\" x=\"-6\" y=\"\(y)\" dy=\"4\">\(label(tick))</text>\n"
    }
    svg += timeLabels
    svg += gaps.map { line("class=\"gap\"", at: $0, from: 0) }.joined()
    svg += losses.map { line("class=\"lost\"", at: $0, from: Self.height - 8) }.joined()
    svg += moments.enumerated().map { moment($1, row: $0 % Self.momentRows) }.joined()
    svg += "<svg viewBox=\"0 0 \(decimal(Self.width, 1)) \(decimal(Self.height, 1))\""
    svg += " preserveAspectRatio=\"none\">\n"
    for (index, curve) in curves.enumerated() {
      let kind = hasDots ? "class=\"dots c\(index)\"" : "class=\"curve c\(index)\""
      svg += "<path \(kind) d=\"\(path(curve))\"/>\n"
    }
    return svg + "</svg></svg>\n"
  }

  /// The style sheet leaves out every other one of many where the page is narrow.
  private var timeLabels: String {
    let offset = (start ?? 0).truncatingRemainder(dividingBy: 86400)
    let times = Self.ticks(from: offset, to: offset + end, atMost: 8, steps: Self.timeSteps).map {
      $0 - offset
    }
    .filter { place($0) < Self.lastLabel }
    return times.enumerated().map { index, time in
      let name = times.count > 4 && index % 2 == 1 ? "class=\"other time\"" : "class=\"time\""
      return "<text \(name) x=\"\(percent(time))\" y=\"\(decimal(Self.height + 18, 1))\">"
        + "\(timeLabel(time))</text>\n"
    }.joined()
  }

  /// A line from `top` to the bottom.
  private func line(_ kind: String, at time: Double, from top: Double) -> String {
    let x = percent(time)
    return "<line \(kind) x1=\"\(x)\" x2=\"\(x)\" y1=\"\(decimal(top, 1))\""
      + " y2=\"\(decimal(Self.height, 1))\"/>\n"
  }

  /// A line with its text at the top. Texts of neighbours are below each other.
  private func moment(_ moment: Moment, row: Int) -> String {
    let isAtEnd = place(moment.time) > Self.lastStart
    let shown =
      moment.text.count > Self.longestText ? moment.text.prefix(Self.longestText) + "…" : moment.text[...]
    return line("class=\"moment\"", at: moment.time, from: 0)
      + "<text class=\"moment\(isAtEnd ? " end" : "")\" x=\"\(percent(moment.time))\" dx=\"\(isAtEnd ? -4 : 4)\""
      + " y=\"\(10 + 12 * row)\"><title>\(moment.text.htmlEscaped)</title>\(String(shown).htmlEscaped)</text>\n"
  }

  /// In how many rows the texts of marks are.
  private static let momentRows = 4
  /// In characters: the rest of a longer text is in its title, and in the table.
  private static let longestText = 24
  /// No text of a mark begins farther to the right, as a part of the width.
  private static let lastStart = 0.6

  /// Through the steps between gaps.
  private func path(_ envelope: Envelope) -> String {
    var path = ""
    var run: [(x: Double, step: Envelope.Step)] = []
    var rest = breaks[...]
    for (index, step) in envelope.steps.enumerated() where !step.isEmpty {
      let time = Double(index) * envelope.stepLength
      let stepEnd = time + envelope.stepLength
      // A step with a gap in it is connected to none of its neighbours.
      let hasGap = rest.first.map { $0 < stepEnd } ?? false
      if hasGap {
        rest = rest.drop { $0 < stepEnd }
        path += line(run)
        run = []
      }
      run.append((place(min(time, end)) * Self.width, step))
      if hasGap {
        path += line(run)
        run = []
      }
    }
    return path + line(run)
  }

  /// Goes up and down in each step, so that the whole range of values is drawn.
  private func line(_ run: [(x: Double, step: Envelope.Step)]) -> String {
    var path = ""
    if hasDots {
      for (x, step) in run {
        path += "M\(decimal(x, 1)) \(decimal(y(step.high), 1))h0.1"
        if step.low < step.high { path += "M\(decimal(x, 1)) \(decimal(y(step.low), 1))h0.1" }
      }
      return path
    }
    for (x, step) in run {
      path += "\(path.isEmpty ? "M" : "L")\(decimal(x, 1)) \(decimal(y(step.high), 1))"
      if step.low < step.high { path += "V\(decimal(y(step.low), 1))" }
    }
    // One point is a dot of the line's width.
    return run.count == 1 ? path + "h0.1" : path
  }

  // MARK: Scales

  static let decimalSteps: [Double] = (-6...9).flatMap { exponent -> [Double] in
    let power = (0..<abs(exponent)).reduce(1.0) { value, _ in exponent < 0 ? value / 10 : value * 10 }
    return [power, 2 * power, 5 * power]
  }
  static let timeSteps: [Double] =
    [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200]
    + (0...20).map { 86400 * Double(1 << $0) }

  /// Multiples of the shortest step of which there are few enough.
  static func ticks(from low: Double, to high: Double, atMost count: Int, steps: [Double]) -> [Double] {
    guard let step = steps.first(where: { (high - low) / $0 < Double(count) }) else { return [] }
    let first = (low / step).rounded(.up)
    return (0...count).map { (first + Double($0)) * step }.filter { $0 <= high }
  }

  private func label(_ value: Double) -> String {
    let range = (high - low) / scale
    if range >= 5 { return String(Int(value.rounded())) }
    return decimal(value, range < 0.5 ? 2 : 1)
  }

  private func timeLabel(_ time: Double) -> String {
    guard let start else {
      if end < 600 { return "\(decimal(time, end < 8 ? 1 : 0)) s" }
      return end < 36_000
        ? "\(decimal(time / 60, 0)) min" : "\(decimal(time / 3600, end < 360_000 ? 1 : 0)) h"
    }
    let text = RingTime(seconds: Int((start + time).rounded())).description
    let clock = text.suffix(8)
    if end < 8 { return "\(clock.suffix(5)).\(Int(((start + time) * 10).rounded()) % 10)" }
    if end < 600 { return String(clock) }
    return end < 86400 ? String(clock.prefix(5)) : "\(text.dropFirst(5).prefix(5)) \(clock.prefix(5))"
  }
}

extension String {
  /// The text as a part of a page: no character of it is markup, and none is invisible.
  var htmlEscaped: String {
    var text = ""
    for scalar in printable.unicodeScalars {
      switch scalar {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      case "\"": text += "&quot;"
      case "'": text += "&#39;"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}

/// The least and the greatest value in each step of time, in constant memory: steps become twice as long when there are too
/// many.
struct Envelope: Sendable {
  struct Step: Sendable {
    var low = Double.infinity
    var high = -Double.infinity

    var isEmpty: Bool { low > high }

    mutating func add(_ other: Step) {
      low = min(low, other.low)
      high = max(high, other.high)
    }
  }

  private(set) var steps: [Step] = []
  /// In seconds; the first step begins at 0.
  private(set) var stepLength = 0.01

  /// An even number; more steps than a plot has pixels show nothing more.
  private static let capacity = 1024

  /// - Parameters:
  ///   - value: the value; one that is not finite is left out
  ///   - time: in seconds, 0 or later
  mutating func add(_ value: Double, at time: Double) {
    guard value.isFinite, time >= 0, time < 1e12 else { return }
    while time >= stepLength * Double(Self.capacity) { double() }
    let index = min(Int(time / stepLength), Self.capacity - 1)
    if index >= steps.count {
      steps.append(contentsOf: repeatElement(Step(), count: index + 1 - steps.count))
    }
    steps[index].add(Step(low: value, high: value))
  }

  private mutating func double() {
    stepLength *= 2
    for index in 0..<(steps.count + 1) / 2 {
      var step = steps[2 * index]
      if 2 * index + 1 < steps.count { step.add(steps[2 * index + 1]) }
      steps[index] = step
    }
    steps.removeLast(steps.count / 2)
  }

  var low: Double { steps.map(\.low).min() ?? .infinity }
  var high: Double { steps.map(\.high).max() ?? -.infinity }
}
