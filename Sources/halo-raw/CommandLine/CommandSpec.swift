import BluetoothCore
import EventLoop

/// A command, as the parser and the help see it.
struct CommandSpec: Sendable {
  var name: String
  /// Its positional arguments: `[RING]`.
  var arguments: String = ""
  var summary: String
  /// How many positional arguments it takes.
  var positionals: ClosedRange<Int>
  /// How it uses the file that the first positional argument names; nil if that is not a file.
  var file: FileUse?
  var options: [any CommandOption] = []
  /// Which of the options go together.
  var rules: [OptionRule] = []
  /// Complete command lines that work, with what they do.
  var examples: [(line: String, does: String)]
  /// More for `--help`: paragraphs with an empty line between them. Other line breaks do not count.
  var details: String = ""
  /// Whether it uses an adapter to reach a device, and so takes the options for adapters.
  var usesAdapter = true
  /// Whether everything after the first positional argument belongs to another command.
  var wrapsCommand = false
  var run: @BluetoothActor (Invocation) async throws(Failure) -> Void

  /// The options of this command and those that it shares with others.
  var allOptions: [any CommandOption] { options + commonOptions }

  var commonOptions: [any CommandOption] {
    (usesAdapter ? CommonOptions.all : []) + [CommonOptions.help]
  }
}
