import Glibc
import HaloBluetoothCore
import HaloSystem

/// Standard output for results, standard error for everything else. Neither ever blocks the program: see ``OutputQueue``.
package enum Console {
  package static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

  /// Whether a path names a file on a disk, so that reading never blocks; "-" is standard input.
  package static func isRegularFile(_ path: String) -> Bool {
    var status = stat()
    let result = path == "-" ? fstat(STDIN_FILENO, &status) : stat(path, &status)
    return result == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Standard output for a command.
  ///
  /// - Parameter overflow: the treatment of lines that are not read in time. By default they are kept, because most output is
  ///   finite. A command that may print forever drops them and prints their number.
  package static func output(_ overflow: OutputQueue.Overflow = .keep) -> LineWriter {
    OutputQueue.standardOutput.overflow = overflow
    return LineWriter(.standardOutput)
  }

  /// Prints text that is the whole result, such as help.
  package static func print(_ text: String) {
    var output = output()
    output.write(text)
    output.flush()
  }

  /// A number with its noun: `1 gap`, `2 gaps`.
  package static func counted(_ number: Int, _ singular: String) -> String {
    "\(number) \(singular)\(number == 1 ? "" : "s")"
  }

  /// Writes to the terminal at once, before later output.
  static func writeDirectly(_ text: String) {
    let bytes = Array(text.utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
  }

  // MARK: Standard error

  /// The number of lines that standard error did not take in time.
  private static let droppedLines = LockedValue(0)

  /// Prints a line on standard error, or drops it if standard error is not read.
  package static func error(_ line: String) {
    droppedLines.withLock { dropped in
      if dropped > 0, writeToStandardError("(\(counted(dropped, "line")) dropped)\n") { dropped = 0 }
      if !writeToStandardError(line + "\n") { dropped += 1 }
    }
  }

  /// Says on a terminal that the command waits for something to happen.
  package static func hint(_ line: String) {
    if isatty(STDERR_FILENO) == 1 { error(line) }
  }

  /// Prints a line on standard error past its queue, for a process that ends at once. Waits 200 ms at most.
  package static func errorDirectly(_ line: String) {
    var wait = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
    guard poll(&wait, 1, 200) > 0 else { return }
    let bytes = Array("halo-raw: \(line)\n".utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
  }

  @discardableResult
  package static func writeToStandardError(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { OutputQueue.standardError.write(UnsafeRawBufferPointer($0)) }
  }

  // MARK: The end

  /// In seconds: how long output may still be read after the user ends the program.
  private static let lastChance = 1.0

  /// Waits until all output is read; after a signal, for a second at most.
  ///
  /// - Throws: if output was lost, unless the reader closed it
  @BluetoothActor
  package static func finish(_ output: OutputQueue = .standardOutput) async throws(Failure) {
    let isInterrupted = Interruption()
    await EpollLoop.shared.stoppingVirtualTime {
      await isInterrupted.cancels { () async in await output.drain() }
    }
    if !output.waitUntilDrained(for: lastChance) {
      let count = output.abandon()
      error("halo-raw: \(counted(count, "piece")) of output lost: not read in time")
    }
    if case .system(let code) = output.failure {
      throw Failure(.outputFailed, "cannot write the output: \(code.reason)")
    }
  }

  /// The same for standard error, for 0.2 s at most.
  package static func finishStandardError() {
    _ = OutputQueue.standardError.waitUntilDrained(for: 0.2)
  }
}

extension OutputQueue {
  /// Waits until all output is read, or the task is cancelled.
  @BluetoothActor package func drain() async {
    await awaitCallback { (done: @escaping (Result<Void, Never>) -> Void) in
      let end = OneShot(done)
      whenDrained { BluetoothActor.run { end(.success(())) } }
      return { end(.success(())) }
    }
  }
}

/// When output is colored.
package enum ColorChoice: Sendable {
  /// As the environment says, else on a terminal that knows control sequences.
  case auto
  case always
  case never

  /// Whether output to a descriptor is colored.
  package func isUsed(on descriptor: Int32) -> Bool {
    switch self {
    case .always: true
    case .never: false
    case .auto:
      Self.choice(of: { name in getenv(name).map { String(cString: $0) } })
        ?? Terminal.canDraw(on: descriptor)
    }
  }

  /// The choice of the environment (https://no-color.org, https://bixense.com/clicolors).
  ///
  /// - Parameter variable: the value of a variable; nil if it is not set
  /// - Returns: nil if the terminal decides
  static func choice(of variable: (String) -> String?) -> Bool? {
    if variable("NO_COLOR")?.isEmpty == false { return false }
    if let force = variable("CLICOLOR_FORCE"), !["", "0"].contains(force) { return true }
    return variable("CLICOLOR") == "0" ? false : nil
  }
}
