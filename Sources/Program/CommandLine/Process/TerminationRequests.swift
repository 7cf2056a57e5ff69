import Glibc
import HaloBluetoothCore
import HaloSystem

/// Distinguishes a second request to end from a repetition of the first one.
///
/// One request often arrives as several signals: `timeout` of GNU coreutils signals its child and then its process group, sudo
/// relays a signal that the terminal has sent to the whole group, and a shell passes on the SIGHUP that the kernel sends, too.
struct TerminationRequests {
  enum Meaning {
    case first
    case repeated
    case second
  }

  /// How long after the first signal others belong to the same request.
  static let repetition = Duration.milliseconds(500)

  private var first: Instant?

  /// How soon after the first signal a key counts as one that bounces.
  static let bounce = Duration.milliseconds(100)

  /// Takes a signal. A key of a terminal (SIGINT, SIGQUIT) is a request of its own unless it bounces; another signal is one after
  /// ``repetition``.
  mutating func take(_ signal: Signals.Arrival, at time: Instant) -> Meaning {
    guard let first else {
      self.first = time
      return .first
    }
    let isKey = signal.isFromKernel && (signal.number == SIGINT || signal.number == SIGQUIT)
    return time - first >= (isKey ? Self.bounce : Self.repetition) ? .second : .repeated
  }
}
