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
}

extension HelpPage {
  /// A command.
  package init(_ command: CommandSpec) {
    let options = command.options + CommonOptions.ofAll
    self.init(
      name: "halo-raw \(command.name)", summary: command.summary,
      synopsis: "halo-raw "
        + [command.name, command.arguments, "[options]"].filter { !$0.isEmpty }.joined(separator: " "),
      lists: [List("Options", Self.rows(options), note: command.sharedHelp)], examples: command.examples,
      description: Self.paragraphs(command.details()))
    environment = command.allOptions.map(\.spec).compactMap { option in
      option.variable.map { ($0, "stands for \(option.name), if that is not given") }
    }
  }

  /// Paragraphs of a text, which has an empty line between them.
  package static func paragraphs(_ text: String) -> [String] {
    text.split(separator: "\n\n").map(String.init)
  }

  /// Options, with their values.
  package static func rows(_ options: [any CommandOption]) -> [Row] {
    options.map(\.spec).map { option in
      let value = option.placeholder.map { option.isValueOptional ? "[=\($0)]" : " \($0)" } ?? ""
      return (option.names.joined(separator: ", ") + value, option.help)
    }
  }
}
