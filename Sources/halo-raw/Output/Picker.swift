import BluetoothCore
import EventLoop
import Glibc
import RingLink

/// A numbered list on standard error, of which the user chooses an entry by its number.
@BluetoothActor
struct Picker {
  private let title: String
  private let lines: [String]

  /// How long the user may take.
  private static let deadline = Duration.seconds(60)
  /// More bytes than a number has: the rest of a longer line is dropped.
  private static let longestLine = 64

  init(_ title: String, _ lines: [String]) {
    self.title = title
    self.lines = lines
  }

  /// Whether there is a terminal to choose on, in whose foreground this process is.
  static var isPossible: Bool {
    isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp()
  }

  /// Shows the list, and waits for a number.
  ///
  /// - Returns: the index of the chosen line; nil if none was chosen in time, or at the end of the input
  /// - Throws: `.cancelled` if the task is cancelled
  func choose(in timers: Timers) async throws(RingError) -> Int? {
    Console.error("\(title):")
    for (index, line) in lines.enumerated() { Console.error("  \(index + 1)  \(line)") }
    Console.writeToStandardError(prompt)
    let reader = LineReader()
    let limit = timers.current + Self.deadline
    while let line = try await reader.line(until: limit, in: timers) {
      if let number = Int(line), (1...lines.count).contains(number) { return number - 1 }
      Console.writeToStandardError(prompt)
    }
    // The prompt has no end.
    Console.error("")
    return nil
  }

  private var prompt: String { "number (1 to \(lines.count)): " }

  /// Reads lines from the terminal, which gives whole lines.
  @BluetoothActor
  private final class LineReader {
    private var bytes: [UInt8] = []

    /// - Returns: nil at the end of the input, or after `limit`
    func line(until limit: Instant, in timers: Timers) async throws(RingError) -> String? {
      try await awaitCallback { (done: @escaping (Result<String?, RingError>) -> Void) in
        var watch: EpollLoop.Watch?
        var timer: Timers.Token?
        let end = OneShot { (result: Result<String?, RingError>) in
          watch?.cancel()
          timers.cancel(timer)
          done(result)
        }
        watch = try? EpollLoop.shared.watch(STDIN_FILENO, for: .readable) { [self] _ in
          if let result = read() { end(.success(result)) }
        }
        guard watch != nil else {
          end(.success(nil))
          return {}
        }
        timer = timers.schedule(at: limit) { end(.success(nil)) }
        return { end(.failure(.cancelled)) }
      }
    }

    /// - Returns: a line; `.some(nil)` at the end of the input; nil if the line is not complete
    private func read() -> String?? {
      var buffer = [UInt8](repeating: 0, count: Picker.longestLine)
      let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
      guard count > 0 else { return count < 0 && (errno == EINTR || errno == EAGAIN) ? nil : .some(nil) }
      bytes = Array((bytes + buffer.prefix(count)).suffix(2 * Picker.longestLine))
      guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
      let line = String(decoding: bytes[..<end].filter { $0 > 0x20 }, as: UTF8.self)
      bytes.removeFirst(end + 1)
      return line
    }
  }
}
