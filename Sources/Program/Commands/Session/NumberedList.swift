import Glibc
import HaloBluetoothCore
import HaloCommandLine
import RingLink

/// A numbered list on standard error, of which the user chooses an entry by its number.
enum NumberedList {
  /// How long the user may take.
  private static let deadline = Duration.seconds(60)

  /// Whether there is a terminal to choose on, in whose foreground this process is.
  static var isPossible: Bool {
    StandardInput.isForegroundTerminal && isatty(STDERR_FILENO) == 1
  }

  /// Shows lines, and waits for a number.
  ///
  /// - Returns: the index of the chosen line; nil if none was chosen in time, or at the end of the input
  /// - Throws: `.cancelled` if the task is cancelled
  @BluetoothActor
  static func choice(_ title: String, _ lines: [String], in timers: Timers) async throws(RingError) -> Int? {
    let prompt = "number (1 to \(lines.count)): "
    Console.error("\(title):")
    for (index, line) in lines.enumerated() { Console.error("  \(index + 1)  \(line)") }
    Console.writeToStandardError(prompt)
    return try await awaitCallback { (done: @escaping (Result<Int?, RingError>) -> Void) in
      let input = StandardInput()
      var timer: Timers.Token?
      let end = OneShot { (result: Result<Int?, RingError>) in
        input.stop()
        timers.cancel(timer)
        done(result)
      }
      let giveUp = {
        // The prompt has no end.
        Console.error("")
        end(.success(nil))
      }
      let isOpen = input.listen { line in
        guard let line else { return giveUp() }
        if let number = Int(line), lines.indices.contains(number - 1) {
          end(.success(number - 1))
        } else {
          Console.writeToStandardError(prompt)
        }
      }
      guard isOpen else {
        giveUp()
        return {}
      }
      timer = timers.schedule(after: deadline) { giveUp() }
      return { end(.failure(.cancelled)) }
    }
  }
}
