import HaloBluetoothCore
import HaloCommandLine

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

  /// Forgets older samples.
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
      for (from, to) in zip(curve, curve.dropFirst()) {
        if breaks.contains(where: { from.time <= $0 && $0 <= to.time }) { continue }
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
}

/// A picture of dots, made of the characters of a terminal: eight dots in a Braille character, or two in one of ASCII.
package struct DotCanvas {
  package enum Characters: Sendable {
    case braille
    case ascii
  }

  /// In dots.
  let width: Int
  let height: Int
  private let characters: Characters
  private let columns: Int
  /// The dots of each character, row by row.
  private var cells: [UInt8]

  /// - Parameters:
  ///   - columns: the number of characters in a row
  ///   - rows: the number of rows
  init(_ characters: Characters, columns: Int, rows: Int) {
    self.characters = characters
    self.columns = max(columns, 1)
    let rows = max(rows, 1)
    width = self.columns * (characters == .braille ? 2 : 1)
    height = rows * (characters == .braille ? 4 : 2)
    cells = [UInt8](repeating: 0, count: self.columns * rows)
  }

  /// Sets a dot; one outside the picture is left out.
  ///
  /// - Parameters:
  ///   - x: from the left
  ///   - y: from the top
  mutating func set(_ x: Int, _ y: Int) {
    guard (0..<width).contains(x), (0..<height).contains(y) else { return }
    switch characters {
    case .braille: cells[y / 4 * columns + x / 2] |= Self.brailleDots[y % 4][x % 2]
    case .ascii: cells[y / 2 * columns + x] |= y % 2 == 0 ? 1 : 2
    }
  }

  /// The bits of U+2800: the dots are numbered down the columns, and the lowest row was added later.
  private static let brailleDots: [[UInt8]] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]]

  /// Sets the dots of a line between two places.
  mutating func line(from start: (x: Int, y: Int), to end: (x: Int, y: Int)) {
    let steps = max(abs(end.x - start.x), abs(end.y - start.y), 1)
    guard steps <= width + height else { return }
    for step in 0...steps {
      set(start.x + (end.x - start.x) * step / steps, start.y + (end.y - start.y) * step / steps)
    }
  }

  /// The rows as text.
  var lines: [String] {
    stride(from: 0, to: cells.count, by: columns).map { start in
      var line = String.UnicodeScalarView()
      for cell in cells[start..<start + columns] { line.append(character(cell)) }
      return String(line)
    }
  }

  private func character(_ cell: UInt8) -> Unicode.Scalar {
    switch characters {
    case .braille: Unicode.Scalar(0x2800 + UInt32(cell)) ?? " "
    case .ascii: [" ", "'", ".", ":"][Int(cell & 3)]
    }
  }
}
