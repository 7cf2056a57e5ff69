import Glibc
import HaloBluetoothCore
import HaloSystem

/// Reports this process to a service manager such as systemd (sd_notify(3)): that it is ready, its activity, and, for its
/// watchdog, that the loop runs. Nothing is sent where `$NOTIFY_SOCKET` is not set.
@BluetoothActor
package final class ServiceManager {
  package static let shared = ServiceManager()

  private let socket: ServiceSocket?
  /// From one message for the watchdog to the next.
  private static let shortestPause = Duration.milliseconds(50)
  private static let longestPause = Duration.seconds(3600)
  private var isReady = false

  private init() {
    socket = Self.environment("NOTIFY_SOCKET").flatMap { ServiceSocket($0) }
    // Commands that this one starts are not the service.
    unsetenv("NOTIFY_SOCKET")
  }

  private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  /// The command can do its work: from now on, the watchdog is fed.
  package func ready() {
    guard let socket, !isReady else { return }
    isReady = true
    socket.send("READY=1")
    guard let microseconds = Self.environment("WATCHDOG_USEC").flatMap(Int64.init), microseconds > 0 else {
      return
    }
    let isForUs = Self.environment("WATCHDOG_PID").map { Int32($0) == getpid() } ?? true
    // A number of a few microseconds must not keep the loop busy.
    let pause = min(max(.microseconds(microseconds / 2), Self.shortestPause), Self.longestPause)
    if isForUs { feedWatchdog(every: pause) }
  }

  private func feedWatchdog(every pause: Duration) {
    socket?.send("WATCHDOG=1")
    _ = EpollLoop.shared.timers.schedule(after: pause) { self.feedWatchdog(every: pause) }
  }

  /// The activity of the command, in a few words, for `systemctl status`.
  package func report(_ status: @autoclosure () -> String) {
    socket?.send("STATUS=" + status().printable)
  }

  /// The command ends.
  package func stopping() {
    socket?.send("STOPPING=1")
  }
}
