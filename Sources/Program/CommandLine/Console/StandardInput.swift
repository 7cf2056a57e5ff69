import Glibc
import HaloBluetoothCore
import HaloSystem

/// Lines of standard input: a terminal or a pipe. The loop is not blocked.
@BluetoothActor
package final class StandardInput {
  private var watch: EpollLoop.Watch?
  private var buffer = [UInt8](repeating: 0, count: 4096)

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
    var bytes: [UInt8] = []
    return listen { [self] (piece: ArraySlice<UInt8>?) in
      guard let piece else { return sink(nil) }
      bytes += piece
      while watch != nil, let line = Self.takeLine(of: &bytes) { sink(line) }
      bytes = bytes.suffix(Self.longestLine)
    }
  }

  /// Reads until ``stop()``.
  ///
  /// - Parameter sink: called with the bytes as they come, and with nil at the end of the input
  /// - Returns: whether it can be read without blocking: a file can't
  package func listen(_ sink: @escaping (ArraySlice<UInt8>?) -> Void) -> Bool {
    watch = Self.watch { [self] in
      let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
      if count > 0 { return sink(buffer[..<count]) }
      if count < 0, errno == EINTR || errno == EAGAIN { return }
      stop()
      sink(nil)
    }
    return watch != nil
  }

  /// Calls `handler` whenever there is something to read, but not in the background of a terminal, where reading would stop the
  /// process. Keys typed there would wake the loop again and again: they are polled once a second.
  static func watch(_ handler: @escaping () -> Void) -> EpollLoop.Watch? {
    var watch: EpollLoop.Watch?
    watch = try? EpollLoop.shared.watch(STDIN_FILENO, for: .readable) { _ in
      guard isatty(STDIN_FILENO) == 1, !isForegroundTerminal else { return handler() }
      watch?.interest = []
      EpollLoop.shared.timers.schedule(after: .seconds(1)) { watch?.interest = .readable }
    }
    return watch
  }

  package func stop() {
    watch.take()?.cancel()
  }

  /// Whether reading is paused: input waits in the pipe.
  var isPaused = false {
    didSet { watch?.interest = isPaused ? [] : .readable }
  }

  private static func takeLine(of bytes: inout [UInt8]) -> String? {
    guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    defer { bytes.removeFirst(end + 1) }
    return String(decoding: bytes[..<end].filter { $0 > 0x20 }, as: UTF8.self)
  }
}
