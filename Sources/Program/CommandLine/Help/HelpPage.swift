/// What `--help` and the manual say of the program or of a command.
package struct HelpPage {
  package enum Part {
    case paragraph(String)
    /// Terms and their meanings.
    case list(title: String, [(term: String, meaning: String)])
    /// Complete command lines, with what they do.
    case examples(title: String, [(line: String, does: String)])
  }

  /// The version of the program, of its manual pages and packages; `CHANGELOG.md` has what changed.
  package static let version = "0.2.0"

  /// `halo-raw stream`
  package var name: String
  package var summary: String
  /// What follows the name on the command line.
  package var arguments: String
  package var parts: [Part]

  package init(name: String, summary: String, arguments: String, parts: [Part]) {
    self.name = name
    self.summary = summary
    self.arguments = arguments
    self.parts = parts
  }
}

extension HelpPage {
  /// A command.
  package init(_ command: CommandSpec) {
    name = "halo-raw \(command.name)"
    summary = command.summary
    arguments = command.arguments + (command.arguments.isEmpty ? "" : " ") + "[options]"
    parts = command.details().split(separator: "\n\n").map { .paragraph(String($0)) }
    if !command.options.isEmpty { parts.append(.list(title: "Options", Self.list(command.options))) }
    parts.append(.list(title: "Common options", Self.list(command.commonOptions)))
    parts.append(.examples(title: "Examples", command.examples))
  }

  private static func list(_ options: [any CommandOption]) -> [(term: String, meaning: String)] {
    options.map(\.spec).map { option in
      let value = option.placeholder.map { option.isValueOptional ? "[=\($0)]" : " \($0)" } ?? ""
      return (option.names.joined(separator: ", ") + value, option.help)
    }
  }
}
