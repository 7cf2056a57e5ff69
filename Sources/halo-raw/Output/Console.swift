import EventLoop
import Glibc
import LineOutput

/// Standard output for what was asked for, standard error for everything else. Neither ever stops the program: see
/// ``OutputQueue``.
enum Console {
  static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

  /// Whether a path is that of a file on a disk, and reading it never waits; "-" is standard input.
  static func isRegularFile(_ path: String) -> Bool {
    var status = stat()
    let result = path == "-" ? fstat(STDIN_FILENO, &status) : stat(path, &status)
    return result == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Whether the user wants no colours (https://no-color.org).
  static var refusesColor: Bool { getenv("NO_COLOR").map { $0.pointee != 0 } ?? false }

  /// Standard output for a command.
  ///
  /// - Parameter overflow: what happens to lines that are not read in time. By default they are kept: what a command
  ///   has to say has an end. One that may print for ever drops them and says how many.
  static func output(_ overflow: OutputQueue.Overflow = .keep) -> LineWriter {
    OutputQueue.standardOutput.overflow = overflow
    return LineWriter(.standardOutput)
  }

  /// Prints text that is a result of its own, such as help.
  static func print(_ text: String) {
    var output = output()
    output.write(text)
    output.flush()
  }

  /// A number with what it counts: `1 gap`, `2 gaps`.
  static func counted(_ number: Int, _ singular: String) -> String {
    "\(number) \(singular)\(number == 1 ? "" : "s")"
  }

  // MARK: Standard error

  /// Lines that standard error did not take in time.
  private static let droppedLines = Guarded(0)

  /// Prints a line on standard error, or drops it if that is not read.
  static func error(_ line: String) {
    droppedLines.withLock { dropped in
      if dropped > 0, writeToStandardError("(\(counted(dropped, "line")) dropped)\n") { dropped = 0 }
      if !writeToStandardError(line + "\n") { dropped += 1 }
    }
  }

  /// Prints a line on standard error past its queue, for a process that ends at once. Waits a moment at most.
  static func errorDirectly(_ line: String) {
    var wait = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
    guard poll(&wait, 1, 200) > 0 else { return }
    let bytes = Array("halo-raw: \(line)\n".utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
  }

  @discardableResult
  static func writeToStandardError(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { OutputQueue.standardError.write(UnsafeRawBufferPointer($0)) }
  }

  // MARK: The end

  /// For how many seconds output that waits may still be fetched once the user wants to end.
  private static let lastChance = 1.0

  /// Waits until all output was fetched; once a signal has come, for a second at most.
  ///
  /// - Throws: if output was lost, other than by a reader that has gone
  @BluetoothActor
  static func finish() async throws(Failure) {
    let output = OutputQueue.standardOutput
    let isInterrupted = Interruption()
    await isInterrupted.cancels { () async in await output.drain() }
    if !output.waitUntilDrained(for: lastChance) {
      let count = output.abandon()
      error("halo-raw: \(counted(count, "piece")) of output were not read in time, and are lost")
    }
    if case .system(let code) = output.failure {
      throw Failure(.outputFailed, "cannot write the output: \(code.reason)")
    }
  }

  /// The same for standard error, which gets a moment.
  static func finishStandardError() {
    _ = OutputQueue.standardError.waitUntilDrained(for: 0.2)
  }
}

extension OutputQueue {
  /// Waits until all that was written is fetched, or the task is cancelled.
  @BluetoothActor func drain() async {
    try? await awaitCallback { (done: @escaping (Result<Void, CancellationError>) -> Void) in
      nonisolated(unsafe) let done = done
      whenDrained { EventLoop.run { done(.success(())) } }
      return { done(.failure(CancellationError())) }
    }
  }
}
