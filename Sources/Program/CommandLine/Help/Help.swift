extension HelpPage {
  private static let width = 80
  /// The column in which the meaning of a term begins.
  private static let indent = 26

  /// The text for a terminal, at most 80 columns wide.
  package var text: String {
    var text = Self.paragraph("\(name): \(summary)") + "\nUsage: \(name) \(arguments)\n"
    for part in parts {
      text += "\n"
      switch part {
      case .paragraph(let words): text += Self.paragraph(words)
      case .list(let title, let rows):
        text += title + "\n"
        for row in rows { text += Self.row(row.term, row.meaning) }
      case .examples(let title, let examples):
        text += title + "\n"
        for example in examples {
          text += Self.commandLine(example.line)
          guard !example.does.isEmpty else { continue }
          text += Self.wrapped(example.does, first: "      ", rest: "      ")
        }
      }
    }
    return text
  }

  /// A term and its meaning, in two columns.
  private static func row(_ term: String, _ meaning: String) -> String {
    let margin = String(repeating: " ", count: indent)
    let first = "  " + term
    guard first.count < indent - 1 else {
      return first + "\n" + wrapped(meaning, first: margin, rest: margin)
    }
    return wrapped(meaning, first: first + margin.dropFirst(first.count), rest: margin)
  }

  private static func paragraph(_ text: String) -> String { wrapped(text, first: "", rest: "") }

  /// An example that a shell takes as it is: a long one is continued after a backslash.
  private static func commandLine(_ line: String) -> String {
    wrapped(line, first: "  ", rest: "    ", width: width - 2)
      .dropLast().replacing("\n", with: " \\\n") + "\n"
  }

  /// Wraps text between words. Line breaks in `text` count as spaces.
  ///
  /// - Parameters:
  ///   - first: what the first line begins with
  ///   - rest: what the other lines begin with
  private static func wrapped(
    _ text: String, first: String, rest: String, width: Int = HelpPage.width
  ) -> String {
    var lines: [String] = []
    var line = first
    var isStart = true
    for word in text.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
      if !isStart, line.count + 1 + word.count > width {
        lines.append(line)
        line = rest
        isStart = true
      }
      line += (isStart ? "" : " ") + word
      isStart = false
    }
    lines.append(line)
    return lines.joined(separator: "\n") + "\n"
  }
}
