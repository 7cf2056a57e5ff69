import Glibc
import LineOutput

/// Standard output for what was asked for, standard error for everything else.
enum Console {
  static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

  /// Whether the user wants no colours (https://no-color.org).
  static var refusesColor: Bool { getenv("NO_COLOR").map { $0.pointee != 0 } ?? false }

  /// Prints text that is a result of its own, such as help.
  static func print(_ text: String) throws(Failure) {
    var output = LineWriter()
    output.write(text)
    output.flush()
    try output.check()
  }

  /// A number with what it counts: `1 gap`, `2 gaps`.
  static func counted(_ number: Int, _ singular: String) -> String {
    "\(number) \(singular)\(number == 1 ? "" : "s")"
  }

  /// Prints a line on standard error.
  static func error(_ line: String) {
    var bytes = Array(line.utf8)[...]
    bytes.append(UInt8(ascii: "\n"))
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
      if count < 0 {
        if errno == EINTR || errno == EAGAIN { continue }
        return
      }
      bytes = bytes.dropFirst(count)
    }
  }
}
