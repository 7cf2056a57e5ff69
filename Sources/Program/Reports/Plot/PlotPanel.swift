import HaloBluetoothCore
import HaloLineOutput

/// A signal of the last seconds, drawn with its scale.
package struct PlotPanel {
  /// `green light, counts`.
  let title: String
  /// Decimals of the scale.
  private let places: Int
  /// One for each curve.
  private var curves: [[(time: Instant, value: Double)]]
  /// Where the signal is interrupted.
  private var breaks: [Instant] = []

  /// The width of the numbers of the scale.
  private static let scaleWidth = 8
  /// More samples than dots would show nothing more.
  private static let maximumSamples = 1 << 14

  package init(_ title: String, places: Int = 0, curves: Int = 1) {
    self.title = title
    self.places = places
    self.curves = Array(repeating: [], count: curves)
  }

  var isEmpty: Bool { curves.allSatisfy(\.isEmpty) }

  /// - Parameter values: one for each curve
  package mutating func add(_ values: [Double], at time: Instant) {
    for (index, value) in zip(curves.indices, values) {
      curves[index].append((time, value))
      if curves[index].count > Self.maximumSamples { curves[index].removeFirst(Self.maximumSamples / 4) }
    }
  }

  package mutating func interrupt(at time: Instant) { breaks.append(time) }

  /// Forgets what is older.
  private mutating func remove(before time: Instant) {
    for index in curves.indices {
      let count = curves[index].prefix { $0.time < time }.count
      if count > 0 { curves[index].removeFirst(count) }
    }
    breaks.removeAll { $0 < time }
  }

  /// The lines of the panel: the title, and the curves with the scale on their left.
  ///
  /// - Parameters:
  ///   - width: in characters
  ///   - height: in lines, with the title
  ///   - end: the time at the right
  ///   - duration: the time from the left to the right
  package mutating func lines(
    _ characters: DotCanvas.Characters, width: Int, height: Int, end: Instant, duration: Duration
  ) -> [String] {
    let start = Instant(nanoseconds: end.nanoseconds - duration.wholeNanoseconds)
    remove(before: start)
    var canvas = DotCanvas(characters, columns: width - Self.scaleWidth - 1, rows: height - 1)
    let values = curves.joined().map(\.value)
    let low = values.min() ?? 0
    let high = max(values.max() ?? 0, low + (places == 0 ? 1 : 0.01))
    func place(_ time: Instant, _ value: Double) -> (x: Int, y: Int) {
      let x = Double(time.nanoseconds - start.nanoseconds) / Double(duration.wholeNanoseconds)
      let y = (high - value) / (high - low)
      return (Int(x * Double(canvas.width - 1)), Int((y * Double(canvas.height - 1)).rounded()))
    }
    for curve in curves {
      for (from, to) in zip(curve, curve.dropFirst()) where !isBroken(from.time, to.time) {
        canvas.line(from: place(from.time, from.value), to: place(to.time, to.value))
      }
      if let last = curve.last {
        let (x, y) = place(last.time, last.value)
        canvas.set(x, y)
      }
    }
    for time in breaks {
      let x = place(time, low).x
      for y in stride(from: 0, to: canvas.height, by: 2) { canvas.set(x, y) }
    }
    let rows = canvas.lines
    return [title]
      + rows.enumerated().map { index, row in
        let number: Double? = isEmpty ? nil : index == 0 ? high : index == rows.count - 1 ? low : nil
        let text = number.map { places == 0 ? "\(Int($0))" : decimal($0, places) } ?? ""
        return String(repeating: " ", count: max(0, Self.scaleWidth - text.count)) + text + " " + row
      }
  }

  /// The line below the panels: how long ago it was.
  ///
  /// - Parameters:
  ///   - width: in columns, with the scale
  ///   - seconds: the time from the left to the right
  package static func timeScale(_ width: Int, _ seconds: Int) -> String {
    let columns = max(0, width - scaleWidth - 1)
    var line = [Character](repeating: " ", count: columns)
    func put(_ text: String, at column: Int) {
      guard column >= 0, column + text.count <= columns else { return }
      line.replaceSubrange(column..<column + text.count, with: text)
    }
    put("-\(seconds) s", at: 0)
    put("-\(seconds / 2) s", at: columns / 2 - 2)
    put("now", at: columns - 3)
    return String(repeating: " ", count: scaleWidth + 1) + String(line)
  }

  private func isBroken(_ from: Instant, _ to: Instant) -> Bool {
    breaks.contains { from <= $0 && $0 <= to }
  }
}
