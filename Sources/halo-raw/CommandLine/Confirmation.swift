import EventLoop
import Glibc

/// Asks before something that can't be taken back.
enum Confirmation {
  static let option = OptionSpec("--yes", help: "does it without asking")

  /// Returns if it was allowed: with `--yes`, or by a person at a terminal.
  ///
  /// - Parameter consequence: what will happen: `this erases all that the ring has stored`
  static func obtain(_ invocation: Invocation, _ consequence: String) throws(Failure) {
    guard !invocation.has("--yes") else { return }
    guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
      throw .usage("\(consequence); without a terminal to ask on, it needs --yes")
    }
    Console.error("\(consequence). Type yes to go on:")
    // Ctrl-C is a way to say no: nothing has begun that it would have to end in order.
    guard readLine() == "yes" else { throw Failure(.interrupted, "nothing was done") }
  }
}
