import Glibc
import HaloBluetoothCore
import HaloCommandLine
import HaloEventLoop
import HaloJSON
import HaloSystemCalls

/// Answers `halo-raw status` while a command runs: a line of JSON to each connection of the same user, or of root. The socket
/// has no file, and ends with the process.
@BluetoothActor
final class StatusServer {
  private let listener: Int32
  private let answer: () -> JSONValue
  private var watch: EpollLoop.Watch?

  /// After each connection. Everybody on the machine can connect, and must not keep the loop busy.
  private static let pause = Duration.milliseconds(20)

  /// - Returns: nil if there is no descriptor left
  init?(_ answer: @escaping () -> JSONValue) {
    guard let listener = LocalSocket.listen(at: RunningCommand(user: geteuid(), process: getpid()).socket)
    else { return nil }
    self.listener = listener
    self.answer = answer
    do throws(SystemError) {
      watch = try EpollLoop.shared.watch(listener, for: .readable) { [weak self] _ in self?.acceptOne() }
    } catch {
      close(listener)
      return nil
    }
  }

  /// Answers no more.
  func stop() {
    watch.take()?.cancel()
    close(listener)
  }

  private func acceptOne() {
    watch?.interest = []
    _ = EpollLoop.shared.timers.schedule(after: Self.pause) { [weak self] in self?.watch?.interest = .readable
    }
    guard let (descriptor, user) = LocalSocket.accept(on: listener) else { return }
    defer { close(descriptor) }
    guard user == geteuid() || user == 0 else { return }
    var line = answer().line + "\n"
    // What does not fit into the socket at once is left out; it has room for all the rings that a command takes.
    _ = line.withUTF8 { SystemCall.send(descriptor, $0.baseAddress, $0.count, waits: false) }
  }
}

/// A process of halo-raw that answers `halo-raw status`.
struct RunningCommand: Hashable, Sendable {
  var user: uid_t
  var process: pid_t

  private static let start = "halo-raw/"

  /// The abstract name of its socket.
  var socket: String { "\(Self.start)\(user)/\(process)" }

  /// All on this machine, in the order of their numbers.
  static var all: [RunningCommand] { found(in: SmallFile.text("/proc/net/unix", limit: 1 << 24) ?? "") }

  /// The commands in the text of `/proc/net/unix`: the flags are in the fourth column, and the name, with `@` for its zero
  /// byte, is in the last one.
  static func found(in table: String) -> [RunningCommand] {
    let listens = "00010000"
    let commands = table.split(separator: "\n").compactMap { line -> RunningCommand? in
      let columns = line.split(separator: " ")
      guard columns.count == 8, columns[3] == listens, columns[7].hasPrefix("@" + start) else { return nil }
      let numbers = columns[7].dropFirst(start.utf8.count + 1).split(separator: "/")
      guard numbers.count == 2, let user = uid_t(numbers[0]), let process = pid_t(numbers[1]) else {
        return nil
      }
      return RunningCommand(user: user, process: process)
    }
    return Set(commands).sorted { $0.process < $1.process }
  }
}
