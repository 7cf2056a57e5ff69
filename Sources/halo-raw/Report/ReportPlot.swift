import RingLink

/// A curve over time, or several, as SVG.
struct ReportPlot {
  /// What it shows, for people who can't see it.
  private let title: String
  private let curves: [Envelope]
  private let gaps: [Double]
  private let losses: [Double]
  private let end: Double
  private let start: Double?
  private let low: Double
  private let high: Double

  // In the units of the picture.
  private static let width = 960.0
  private static let height = 200.0
  private static let left = 64.0
  private static let right = 8.0
  private static let top = 8.0
  private static let bottom = 24.0
  private static let labelWidth = 64.0

  /// - Parameters:
  ///   - title: what it shows, for people who can't see it
  ///   - curves: the values
  ///   - gaps: where the signal is interrupted, in seconds
  ///   - losses: where packets are lost, in seconds
  ///   - end: in seconds
  ///   - start: the time of day at 0; nil if it is unknown
  ///   - beginsAtZero: whether the scale begins at zero
  init(
    title: String, curves: [Envelope], gaps: [Double], losses: [Double] = [], end: Double, start: Double?,
    beginsAtZero: Bool = false
  ) {
    self.title = title
    self.curves = curves
    self.gaps = gaps
    self.losses = losses
    self.end = end
    self.start = start
    low = beginsAtZero ? 0 : curves.map(\.low).min() ?? 0
    let highest = curves.map(\.high).max() ?? 1
    high = highest > low ? highest : low + 1
  }

  private func x(_ time: Double) -> Double {
    Self.left + time / max(end, 1e-9) * (Self.width - Self.left - Self.right)
  }

  private func y(_ value: Double) -> Double {
    Self.top + (high - value) / (high - low) * (Self.height - Self.top - Self.bottom)
  }

  /// The element.
  var svg: String {
    var svg = "<svg viewBox=\"0 0 \(Int(Self.width)) \(Int(Self.height))\" role=\"img\""
    svg += " aria-label=\"\(title.htmlEscaped)\">\n"
    for tick in Self.ticks(from: low, to: high, atMost: 5, steps: Self.decimalSteps) {
      let y = decimal(y(tick), 1)
      svg +=
        "<line class=\"grid\" x1=\"\(decimal(Self.left, 1))\" x2=\"\(decimal(Self.width - Self.right, 1))\""
      svg += " y1=\"\(y)\" y2=\"\(y)\"/>"
      svg +=
        "<text class=\"end\" x=\"\(decimal(Self.left - 6, 1))\" y=\"\(y)\" dy=\"4\">\(label(tick))</text>\n"
    }
    let offset = (start ?? 0).truncatingRemainder(dividingBy: 86400)
    for tick in Self.ticks(from: offset, to: offset + end, atMost: 8, steps: Self.timeSteps)
    where x(tick - offset) < Self.width - Self.labelWidth / 2 {
      let x = decimal(x(tick - offset), 1)
      svg += "<text class=\"middle\" x=\"\(x)\" y=\"\(decimal(Self.height - 6, 1))\">"
      svg += "\(timeLabel(tick - offset))</text>\n"
    }
    for gap in gaps {
      let x = decimal(x(gap), 1)
      svg += "<line class=\"gap\" x1=\"\(x)\" x2=\"\(x)\" y1=\"\(decimal(Self.top, 1))\""
      svg += " y2=\"\(decimal(Self.height - Self.bottom, 1))\"/>\n"
    }
    for loss in losses {
      let x = decimal(x(loss), 1)
      svg +=
        "<line class=\"lost\" x1=\"\(x)\" x2=\"\(x)\" y1=\"\(decimal(Self.height - Self.bottom - 8, 1))\""
      svg += " y2=\"\(decimal(Self.height - Self.bottom, 1))\"/>\n"
    }
    for (index, curve) in curves.enumerated() {
      svg += "<path class=\"curve c\(index)\" d=\"\(path(curve))\"/>\n"
    }
    return svg + "</svg>\n"
  }

  /// Through the steps between gaps.
  private func path(_ envelope: Envelope) -> String {
    var path = ""
    var run: [(x: Double, step: Envelope.Step)] = []
    var rest = gaps[...]
    for (index, step) in envelope.steps.enumerated() where !step.isEmpty {
      let time = Double(index) * envelope.stepLength
      if let gap = rest.first, gap <= time {
        rest = rest.drop { $0 <= time }
        path += line(run)
        run = []
      }
      run.append((x(min(time, end)), step))
    }
    return path + line(run)
  }

  /// Goes up and down in each step, so that the whole of what it holds is drawn.
  private func line(_ run: [(x: Double, step: Envelope.Step)]) -> String {
    var path = ""
    for (x, step) in run {
      path += "\(path.isEmpty ? "M" : "L")\(decimal(x, 1)) \(decimal(y(step.high), 1))"
      if step.low < step.high { path += "V\(decimal(y(step.low), 1))" }
    }
    // One point is a dot of the line's width.
    return run.count == 1 ? path + "h0.1" : path
  }

  // MARK: Scales

  private static let decimalSteps: [Double] = (-6...9).flatMap { exponent -> [Double] in
    let power = (0..<abs(exponent)).reduce(1.0) { value, _ in exponent < 0 ? value / 10 : value * 10 }
    return [power, 2 * power, 5 * power]
  }
  private static let timeSteps: [Double] =
    [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200]
    + (0...20).map { 86400 * Double(1 << $0) }

  /// Multiples of the shortest step of which there are few enough.
  private static func ticks(from low: Double, to high: Double, atMost count: Int, steps: [Double]) -> [Double]
  {
    guard let step = steps.first(where: { (high - low) / $0 < Double(count) }) else { return [] }
    let first = (low / step).rounded(.up)
    return (0...count).map { (first + Double($0)) * step }.filter { $0 <= high }
  }

  private func label(_ value: Double) -> String {
    if high - low >= 5 { return String(Int(value.rounded())) }
    return decimal(value, high - low < 0.5 ? 2 : 1)
  }

  private func timeLabel(_ time: Double) -> String {
    guard let start else { return "\(decimal(time, 1)) s" }
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
