import Glibc

/// One run of a program, of which the output is wanted: of a command of the shell, or without one. It has the rights of the
/// thread that starts it, its input is empty, and its errors go where those of this process go.
package final class ChildProgram: Sendable {
  /// Why there is no output.
  package enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// It could not be started.
    case notStarted(SystemError)
    /// It has ended with another status than 0; from 128 on, by the signal above that.
    case status(Int)
    /// It has not ended in time, or ``end()`` was called: it was killed.
    case killed
    /// It has more output than was asked for: it was killed.
    case tooMuchOutput(limit: Int)

    package var description: String {
      switch self {
      case .notStarted(let error): "it can't be started (\(error))"
      case .status(let code): "it has ended with status \(code)"
      case .killed: "it did not end in time, and was killed"
      case .tooMuchOutput(let limit): "it has more than \(limit) bytes of output, and was killed"
      }
    }
  }

  private struct State {
    var process: pid_t?
    var isEnded = false
  }

  /// The groups of the programs of this process.
  private static let running = LockedValue(Set<pid_t>())

  private let arguments: [String]
  private let state = LockedValue(State())
  /// How often the end of the program is looked for, once it has closed its output.
  private static let pause: useconds_t = 10_000

  /// - Parameter command: for the shell
  package convenience init(_ command: String) { self.init(arguments: ["/bin/sh", "-c", command]) }

  /// - Parameter arguments: the path of the program, or its name in `PATH`, and its arguments; no shell reads them
  package init(arguments: [String]) { self.arguments = arguments }

  /// Runs it, and waits for its end. It blocks: call it on a thread of its own, once.
  ///
  /// - Parameters:
  ///   - limit: the most bytes of output
  ///   - seconds: how long it may take; then it is killed, with its children
  /// - Returns: its output
  package func run(limit: Int, seconds: Double) throws(Failure) -> [UInt8] {
    let end = Monitor.time(after: seconds)
    let output = try start()
    defer { close(output) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      var wait = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      let ready = poll(&wait, 1, Self.milliseconds(until: end))
      if ready < 0, errno == EINTR { continue }
      guard ready > 0 else { throw kill(because: .killed) }
      let count = read(output, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      bytes += buffer[..<count]
      guard bytes.count <= limit else { throw kill(because: .tooMuchOutput(limit: limit)) }
    }
    // It may have closed its output long before.
    while Self.milliseconds(until: end) > 0 {
      if let status = reap() {
        guard status == 0 else { throw state.withLock { $0.isEnded } ? .killed : .status(status) }
        return bytes
      }
      usleep(Self.pause)
    }
    throw kill(because: .killed)
  }

  /// Kills it, from any thread; one that has not been started will not be.
  package func end() {
    state.withLock { state in
      state.isEnded = true
      if let process = state.process { _ = Glibc.kill(-process, SIGKILL) }
    }
  }

  /// Kills those of this process, which is about to end.
  package static func endAll() {
    running.withLock { $0.forEach { _ = Glibc.kill(-$0, SIGKILL) } }
  }

  private func start() throws(Failure) -> Int32 {
    try state.withLock { state -> Result<Int32, Failure> in
      guard !state.isEnded else { return .failure(.killed) }
      var process: pid_t = 0
      var pointers = arguments.map { strdup($0) }
      defer { pointers.forEach { free($0) } }
      guard !pointers.isEmpty, pointers.allSatisfy({ $0 != nil }) else {
        return .failure(.notStarted(SystemError("posix_spawn", errno: pointers.isEmpty ? ENOENT : ENOMEM)))
      }
      pointers.append(nil)
      let output = Linux.startProgram(pointers, &process)
      guard output >= 0 else {
        return .failure(.notStarted(SystemError("posix_spawn", errno: -output)))
      }
      state.process = process
      _ = Self.running.withLock { $0.insert(process) }
      return .success(output)
    }.get()
  }

  /// The program is killed with its group, also one whose first process has ended, and is waited for.
  private func kill(because failure: Failure) -> Failure {
    end()
    // The kernel may take its time, as for one that waits for a disk; it is left to init then.
    for _ in 0..<100 where reap() == nil { usleep(Self.pause) }
    return failure
  }

  /// - Returns: how it has ended; nil if it runs
  private func reap() -> Int? {
    state.withLock { state in
      guard let process = state.process else { return 0 }
      // Children that it has left are ended with it, as long as no other group can have its number.
      var ended = siginfo_t()
      guard
        waitid(P_PID, id_t(process), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_signo == SIGCHLD
      else { return nil }
      _ = Glibc.kill(-process, SIGKILL)
      _ = Self.running.withLock { $0.remove(process) }
      var status: Int32 = 0
      let reaped = waitpid(process, &status, WNOHANG)
      guard reaped == process || (reaped < 0 && errno != EINTR) else { return nil }
      state.process = nil
      let signal = Int(status & 0x7F)
      return signal == 0 ? Int(status >> 8 & 0xFF) : 128 + signal
    }
  }

  private static func milliseconds(until end: timespec) -> Int32 {
    let now = Monitor.time(after: 0)
    let left = (end.tv_sec - now.tv_sec) * 1000 + (end.tv_nsec - now.tv_nsec) / 1_000_000
    return Int32(clamping: max(0, left))
  }
}
