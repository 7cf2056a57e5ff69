import Glibc

/// The options that several commands share.
package enum CommonOptions {
  package static let help = Flag("-h", "--help", help: "show this text")

  package static let color = Option(
    "--color", as: .choice("WHEN", [("auto", ColorChoice.auto), ("always", .always), ("never", .never)]),
    bare: .always,
    help: """
      color what decode and --explain print: auto (on a terminal, unless NO_COLOR is set), always or never \
      (default: auto)
      """)

  /// The options of every command.
  static let ofAll: [any CommandOption] = [color, help]

  /// The form of results.
  package static let formatType = ArgumentType<OutputFormat>.choice(
    "FORMAT", [("text", .text), ("csv", .csv), ("jsonl", .jsonl)])
  package static let format = Option(
    "--format", as: formatType,
    help: "text, csv or jsonl (default: text on a terminal, csv in a pipe)")
  /// The form of a page for a person, such as a tree: a pipe does not change it.
  package static let pageFormat = Option(
    "--format", as: formatType, default: "text", help: "text, csv or jsonl")
}

/// Asks before an action that can't be undone.
package enum Confirmation {
  package static let option = Flag("--yes", help: "do not ask for confirmation")

  /// Returns if the action is confirmed: with `--yes`, or on a terminal.
  ///
  /// - Parameter consequence: the effect of the command: `this erases all data on the ring`
  package static func obtain(_ invocation: Invocation, _ consequence: String) throws(Failure) {
    guard !invocation[option] else { return }
    guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
      throw .usage("\(consequence); without a terminal to confirm it on, give --yes")
    }
    Console.error("\(consequence). Type yes to continue:")
    // Ctrl-C means no. Nothing has begun yet that would need an orderly end.
    guard readLine() == "yes" else { throw Failure(.interrupted, "not confirmed; nothing was done") }
  }
}

extension OutputFormat {
  /// The form of results if `--format` is not given: text on a terminal, csv in a pipe.
  package static var standard: OutputFormat { Console.isTerminal ? .text : .csv }

  /// The value of `--format`.
  package init(_ invocation: Invocation) {
    self = invocation[CommonOptions.format] ?? .standard
  }

  /// The value of `--format` of a command that prints a page.
  package init(page invocation: Invocation) {
    self = invocation[CommonOptions.pageFormat]
  }
}
