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
