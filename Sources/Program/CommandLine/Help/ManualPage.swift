extension HelpPage {
  /// The name of the manual page: `halo-raw-stream`.
  package var manualName: String { name.replacing(" ", with: "-") }

  /// The source of a manual page, in the language of man(7), with the sections of man-pages(7).
  ///
  /// - Parameter others: the pages to see, too
  package func manual(seeAlso others: [HelpPage]) -> String {
    var page = """
      .TH \(manualName.uppercased()) \(section.rawValue) "\(Self.date)" "halo-raw \(Self.version)" "\(section.title)"
      .SH NAME
      \(Self.escaped(manualName)) \\- \(Self.escaped(summary))
      .SH SYNOPSIS

      """
    let words = synopsis.hasPrefix(name) ? name : synopsis
    page += ".B \(Self.escaped(words))\n"
    if words.count < synopsis.count { page += Self.line(String(synopsis.dropFirst(words.count))) }
    page += ".SH DESCRIPTION\n"
    page += description.isEmpty ? Self.line("This command: \(summary).") : Self.body(description)
    for list in lists { page += Self.list(list) }
    page += Self.examples(examples)
    page += Self.list(List("Files", files)) + Self.list(List("Environment", environment))
    page += exitStatus
    let names = others.map { ".BR \(Self.escaped($0.manualName)) (\($0.section.rawValue))" }
    return page + ".SH SEE ALSO\n" + names.joined(separator: ",\n") + "\n"
  }

  /// The exit codes, or where they are: those of all commands are the same.
  private var exitStatus: String {
    guard section == .command, exitCodes.isEmpty else { return Self.list(List("Exit status", exitCodes)) }
    return ".SH EXIT STATUS\n"
      + Self.line("0 if the command has done its work, else a number that halo-raw(1) explains.")
  }

  private static func body(_ texts: [String]) -> String { texts.map(line).joined(separator: ".PP\n") }

  private static func list(_ list: List) -> String {
    guard !list.rows.isEmpty else { return "" }
    let rows = list.rows.map { ".TP\n.B \(escaped($0.term))\n" + line($0.meaning) }.joined()
    return ".SH \(escaped(list.title.uppercased()))\n" + rows
      + (list.note.isEmpty ? "" : ".PP\n" + line(list.note))
  }

  private static func examples(_ examples: [(line: String, does: String)]) -> String {
    examples.reduce(into: examples.isEmpty ? "" : ".SH EXAMPLES\n") { page, example in
      let lines = example.line.split(separator: "\n", omittingEmptySubsequences: false).map {
        escaped(String($0))
      }
      page += ".PP\n.EX\n\(lines.joined(separator: "\n"))\n.EE\n"
      if !example.does.isEmpty { page += ".RS\n" + line(example.does) + ".RE\n" }
    }
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

extension HelpPage.Section {
  /// The middle of the head of a page.
  fileprivate var title: String {
    switch self {
    case .command: "User commands"
    case .file: "File formats"
    case .overview: "Overviews"
    }
  }
}
