import Glibc
import HaloBluetoothCore
import HaloEventLoop

/// Lines of standard input: a terminal or a pipe. The loop is not blocked.
@BluetoothActor
package final class StandardInput {
  private var bytes: [UInt8] = []
  private var watch: EpollLoop.Watch?

  /// The length of a line, in bytes; only the end of a longer one is kept.
  private static let longestLine = 128

  package init() {}

  /// Whether it is a terminal, in whose foreground this process is.
  package nonisolated static var isForegroundTerminal: Bool {
    isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp()
  }

  /// Reads until ``stop()``.
  ///
  /// - Parameter sink: called with each line without its spaces, and with nil at the end of the input
  /// - Returns: whether it can be read without blocking: a file can't
  package func listen(_ sink: @escaping (String?) -> Void) -> Bool {
    watch = try? EpollLoop.shared.watch(STDIN_FILENO, for: .readable) { [self] _ in
      guard read() else {
        stop()
        return sink(nil)
      }
      while watch != nil, let line = takeLine() { sink(line) }
    }
    return watch != nil
  }

  package func stop() {
    watch.take()?.cancel()
  }

  /// - Returns: whether there may be more
  private func read() -> Bool {
    // Reading a terminal in the background would stop the process.
    if isatty(STDIN_FILENO) == 1, !Self.isForegroundTerminal { return true }
    var buffer = [UInt8](repeating: 0, count: Self.longestLine)
    let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
    guard count > 0 else { return count < 0 && (errno == EINTR || errno == EAGAIN) }
    bytes = Array((bytes + buffer.prefix(count)).suffix(2 * Self.longestLine))
    return true
  }

  private func takeLine() -> String? {
    guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    defer { bytes.removeFirst(end + 1) }
    return String(decoding: bytes[..<end].filter { $0 > 0x20 }, as: UTF8.self)
  }
}
