extension HelpPage {
  /// The name of the manual page: `halo-raw-stream`.
  package var manualName: String { name.replacing(" ", with: "-") }

  /// The source of a manual page, in the language of man(7).
  ///
  /// - Parameter seeAlso: the names of other pages
  package func manual(seeAlso: [String]) -> String {
    var page = """
      .TH \(manualName.uppercased()) 1 "" "halo-raw \(Self.version)" "User commands"
      .SH NAME
      \(Self.escaped(manualName)) \\- \(Self.escaped(summary))
      .SH SYNOPSIS
      .B \(Self.escaped(name))
      \(Self.escaped(arguments))

      """
    var isDescribed = false
    for part in parts {
      switch part {
      case .paragraph(let words):
        page += isDescribed ? ".PP\n" : ".SH DESCRIPTION\n"
        isDescribed = true
        page += Self.line(words)
      case .list(let title, let rows):
        page += ".SH \(Self.escaped(title.uppercased()))\n"
        for row in rows { page += ".TP\n.B \(Self.escaped(row.term))\n" + Self.line(row.meaning) }
      case .examples(let title, let examples):
        page += ".SH \(Self.escaped(title.uppercased()))\n"
        for example in examples {
          page += ".PP\n.EX\n\(Self.escaped(example.line))\n.EE\n"
          if !example.does.isEmpty { page += ".RS\n" + Self.line(example.does) + ".RE\n" }
        }
        // What follows does not belong to the examples.
        isDescribed = true
      }
    }
    page += ".SH SEE ALSO\n"
    page += seeAlso.map { ".BR \(Self.escaped($0)) (1)" }.joined(separator: ",\n") + "\n"
    return page
  }

  /// Text of a paragraph, without line breaks of its own.
  private static func line(_ text: String) -> String {
    escaped(text.split(whereSeparator: { $0 == " " || $0 == "\n" }).joined(separator: " ")) + "\n"
  }

  /// A line may not begin as a request does; hyphens are those that a shell takes.
  private static func escaped(_ text: String) -> String {
    let escaped = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
    return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
  }
}
