import EventLoop
import Glibc

/// Asks before an action that can't be undone.
enum Confirmation {
  static let option = Flag("--yes", help: "do not ask for confirmation")

  /// Returns if the action is confirmed: with `--yes`, or on a terminal.
  ///
  /// - Parameter consequence: what will happen: `this erases all data on the ring`
  static func obtain(_ invocation: Invocation, _ consequence: String) throws(Failure) {
    guard !invocation[option] else { return }
    guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
      throw .usage("\(consequence); without a terminal to confirm it on, give --yes")
    }
    Console.error("\(consequence). Type yes to continue:")
    // Ctrl-C means no. Nothing has begun yet that would need an orderly end.
    guard readLine() == "yes" else { throw Failure(.interrupted, "not confirmed; nothing was done") }
  }
}
