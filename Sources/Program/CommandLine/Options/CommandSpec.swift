import HaloBluetoothCore

/// A command, as the parser and the help see it.
package struct CommandSpec: Sendable {
  package var name: String
  /// Its positional arguments: `[RING]`.
  package var arguments: String
  package var summary: String
  /// How many positional arguments it takes.
  package var positionals: ClosedRange<Int>
  /// How it uses the files that positional arguments name: those that are read are all, one that is written is the first.
  /// Nil if they name none.
  package var file: FileUse?
  package var options: [any CommandOption]
  /// Which of the options go together.
  package var rules: [OptionRule]
  /// Complete command lines that work, with their effects.
  package var examples: [(line: String, does: String)]
  /// More for `--help`: paragraphs with an empty line between them. Other line breaks do not count. Only the help makes
  /// this text: some of it comes from large tables.
  package var details: @Sendable () -> String
  /// The options that it shares with others, besides those of all commands.
  package var sharedOptions: [any CommandOption]
  /// Where the help of the shared options is. The help of the command does not list them.
  package var sharedHelp: String
  /// Whether everything after the first positional argument belongs to another command.
  package var wrapsCommand: Bool
  /// Runs it. An error of any type ends it, as the ``Failure`` that it corresponds to.
  package var run: @BluetoothActor (Invocation) async throws -> Void

  package init(
    name: String, arguments: String = "", summary: String, positionals: ClosedRange<Int>? = nil,
    file: FileUse? = nil,
    options: [any CommandOption] = [], rules: [OptionRule] = [], examples: [(line: String, does: String)],
    details: @escaping @autoclosure @Sendable () -> String = "", sharedOptions: [any CommandOption],
    sharedHelp: String = "", wrapsCommand: Bool = false,
    run: @escaping @BluetoothActor (Invocation) async throws -> Void
  ) {
    self.name = name
    self.arguments = arguments
    self.summary = summary
    self.positionals = positionals ?? Self.count(arguments)
    self.file = file
    self.options = options
    self.rules = rules
    self.examples = examples
    self.details = details
    self.sharedOptions = sharedOptions
    self.sharedHelp = sharedHelp
    self.wrapsCommand = wrapsCommand
    self.run = run
  }

  /// How many arguments `KIND [RING]` are: one in brackets may be left out.
  private static func count(_ arguments: String) -> ClosedRange<Int> {
    let words = arguments.split(separator: " ")
    return words.count { !$0.hasPrefix("[") }...words.count
  }

  /// The options of this command and those that it shares with others.
  package var allOptions: [any CommandOption] { options + sharedOptions + CommonOptions.ofAll }
}
