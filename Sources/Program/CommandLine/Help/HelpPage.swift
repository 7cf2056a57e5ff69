/// The text of `--help` and of the manual about the program, a command or a topic.
package struct HelpPage {
  /// A term, such as an option, and its meaning.
  package typealias Row = (term: String, meaning: String)

  /// Terms under a title.
  package struct List {
    package var title: String
    package var rows: [Row]
    /// The text below the rows; empty for none.
    package var note: String

    package init(_ title: String, _ rows: [Row], note: String = "") {
      self.title = title
      self.rows = rows
      self.note = note
    }
  }

  /// The part of the manual (man-pages(7)).
  package enum Section: Int {
    case command = 1
    case file = 5
    case overview = 7
  }

  /// The version of the program, of its manual pages and packages; `CHANGELOG.md` has the changes.
  package static let version = "0.2.0"
  /// The day of the version, which manual pages have; `CHANGELOG.md` has the same.
  package static let date = "2026-11-30"

  /// `halo-raw stream`
  package var name: String
  package var section: Section
  package var summary: String
  /// The command line, or the path of a file.
  package var synopsis: String
  /// The options first, as they are looked up most.
  package var lists: [List]
  /// Complete command lines that work, with their effects; or a file, which has several lines.
  package var examples: [(line: String, does: String)]
  package var description: [String]
  package var files: [Row] = []
  package var environment: [Row] = []
  package var exitCodes: [Row] = []

  package init(
    name: String, section: Section = .command, summary: String, synopsis: String, lists: [List],
    examples: [(line: String, does: String)] = [], description: [String]
  ) {
    self.name = name
    self.section = section
    self.summary = summary
    self.synopsis = synopsis
    self.lists = lists
    self.examples = examples
    self.description = description
  }

  /// A command.
  package init(_ command: CommandSpec) {
    let options = command.options + CommonOptions.ofAll
    self.init(
      name: "halo-raw \(command.name)", summary: command.summary,
      synopsis: "halo-raw "
        + [command.name, command.arguments, "[options]"].filter { !$0.isEmpty }.joined(separator: " "),
      lists: [List("Options", Self.rows(options), note: command.sharedHelp)], examples: command.examples,
      description: command.details().split(separator: "\n\n").map(String.init))
    environment = command.allOptions.map(\.spec).compactMap { option in
      option.variable.map { ($0, "stands for \(option.name), if that is not given") }
    }
  }

  /// Options, with their values.
  package static func rows(_ options: [any CommandOption]) -> [Row] {
    options.map(\.spec).map { option in
      let value = option.placeholder.map { option.isValueOptional ? "[=\($0)]" : " \($0)" } ?? ""
      return (option.names.joined(separator: ", ") + value, option.help)
    }
  }

  private static let width = 80
  /// The column in which the meaning of a term begins.
  private static let indent = 26

  /// The text for a terminal, at most 80 columns wide: the usage and the options, then examples, then more.
  package var text: String {
    let start = Self.paragraph("\(name): \(summary)")
    let usage = section == .command ? Self.wrapped("Usage: \(synopsis)", first: "", rest: "  ") : ""
    let ends = [List("Environment", environment), List("Files", files), List("Exit codes", exitCodes)]
    let parts =
      lists.map(Self.list) + [examples.isEmpty ? "" : exampleText] + description.map(Self.paragraph)
      + ends.map(Self.list)
    return ([start + usage] + parts.filter { !$0.isEmpty }).joined(separator: "\n")
  }

  private static func list(_ list: List) -> String {
    guard !list.rows.isEmpty else { return "" }
    let rows = list.rows.map { row($0.term, $0.meaning) }.joined()
    return list.title + "\n" + rows + (list.note.isEmpty ? "" : "\n" + paragraph(list.note))
  }

  private var exampleText: String {
    examples.reduce(into: examples.count == 1 ? "Example\n" : "Examples\n") { text, example in
      // The contents of a file, or a command line.
      text += example.line.contains("\n") ? Self.verbatim(example.line) : Self.commandLine(example.line)
      if !example.does.isEmpty { text += Self.wrapped(example.does, first: "      ", rest: "      ") }
    }
  }

  private static func verbatim(_ lines: String) -> String {
    lines.split(separator: "\n", omittingEmptySubsequences: false).map { $0.isEmpty ? "\n" : "  \($0)\n" }
      .joined()
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
  ///   - first: the beginning of the first line
  ///   - rest: the beginning of the other lines
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
