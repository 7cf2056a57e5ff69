import Glibc
import HaloBluetoothCore
import HaloSystem

/// Runs the work of a program on the event loop. If it throws, the process ends with code 1 and one line on standard
/// error, `PROGRAM: ERROR`. A `main` that throws ends with a crash report instead.
///
/// The kernel closes open descriptors then: an adapter, its links. A recording may lack the last tenth of a second.
///
/// - Parameter work: the program
public func exitOnError(_ work: @BluetoothActor @Sendable () async throws -> Void) async {
  do {
    // On the loop's thread alone: while a task came back from another one, the time of a replay would go on without it.
    try await withTaskExecutorPreference(EpollLoop.shared) { try await work() }
  } catch {
    let name = CommandLine.arguments.first?.split(separator: "/").last.map { "\($0): " } ?? ""
    // An error may contain text that a user has given.
    let line = (name + "\(error)").split(whereSeparator: \.isNewline).joined(separator: " ") + "\n"
    let bytes = Array(line.utf8)
    // The line is lost if nothing reads standard error; the exit code is not.
    _ = write(STDERR_FILENO, bytes, bytes.count)
    exit(1)
  }
}
