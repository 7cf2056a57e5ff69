import Glibc
import HaloBluetoothCore
import HaloSystem

/// Ends the process on a signal. The main thread waits for signals, outside of the event loop, so that they work even if
/// the loop is blocked.
///
/// The first signal calls the registered handlers, which end the command in order; without handlers, the process ends at once.
/// A second request (see ``TerminationRequests``) ends the process within a second and prints the steps that are left undone.
/// SIGHUP, from a closed terminal or a lost ssh connection, and SIGQUIT count as SIGTERM. A program without a terminal, as a
/// service is, opens its files anew on SIGHUP.
package enum Termination {
  /// A registration, which ends with this object.
  package final class Registration: Sendable {
    private let id: UInt64

    fileprivate init(_ id: UInt64) {
      self.id = id
    }

    deinit {
      let id = self.id
      Termination.state.withLock {
        $0.handlers[id] = nil
        $0.openers[id] = nil
        $0.unfinished[id] = nil
      }
    }
  }

  private struct State {
    var hasBegun = false
    var handlers: [UInt64: @Sendable () -> Void] = [:]
    /// The closures that open files anew.
    var openers: [UInt64: @Sendable () -> Void] = [:]
    var unfinished: [UInt64: String] = [:]
    var nextID: UInt64 = 0
  }

  private static let state = LockedValue(State())
  /// SIGHUP only if it is not ignored, as `nohup` does. A script's background jobs start with SIGINT ignored; here it counts
  /// nevertheless.
  private static let signals = [SIGINT, SIGTERM, SIGQUIT] + Signals.withoutIgnored([SIGHUP])

  /// Blocks the signals. Call it first in `main`: a thread that exists already would receive them.
  package static func blockSignals() {
    Signals.block(signals)
    signal(SIGPIPE, SIG_IGN)
    // Beyond the limit of `ulimit -f`, writes fail, and partial results are cleaned up.
    signal(SIGXFSZ, SIG_IGN)
  }

  /// Whether a signal was received.
  package static var hasBegun: Bool { state.withLock { $0.hasBegun } }

  /// Calls `handler` on the main thread on the first signal. It must not block.
  static func register(_ handler: @escaping @Sendable () -> Void) -> Registration {
    add { $0.handlers[$1] = handler }
  }

  /// Calls `handler` on the main thread on each SIGHUP, which does not end the process then; with a terminal, it ends the
  /// process, and `handler` is not called. It must not block.
  package static func onHangUp(_ handler: @escaping @Sendable () -> Void) -> Registration {
    add { if !hasTerminal { $0.openers[$1] = handler } }
  }

  /// Whether the process has a terminal, which may be closed.
  private static let hasTerminal: Bool = {
    let terminal = SystemCall.open("/dev/tty", O_RDONLY | O_NOCTTY)
    if terminal >= 0 { close(terminal) }
    return terminal >= 0
  }()

  /// Notes something to undo before the process ends, while the result exists.
  ///
  /// - Parameter consequence: the consequence if it is not undone: `hci0 stays down until halo-raw is started again`
  package static func note(_ consequence: String) -> Registration {
    add { $0.unfinished[$1] = consequence }
  }

  private static func add(_ change: (inout State, UInt64) -> Void) -> Registration {
    state.withLock { state in
      let id = state.nextID
      state.nextID += 1
      change(&state, id)
      return Registration(id)
    }
  }

  /// Waits for signals. For the main thread, which has nothing else to do.
  package static func watch() -> Never {
    // A thread that only waits for the end of another.
    _ = HelperThread.start {
      EpollLoop.waitForEndOfThread()
      end(
        ExitCode.internalError.rawValue,
        "the kernel ended the event loop's thread after a kernel fault; see dmesg")
    }
    var requests = TerminationRequests()
    while true {
      let arrival = Signals.next(of: signals)
      let signal = arrival.number
      let openers = signal == SIGHUP ? state.withLock { Array($0.openers.values) } : []
      guard openers.isEmpty else {
        for open in openers { open() }
        continue
      }
      switch requests.take(arrival, at: SystemClock.monotonic) {
      case .repeated: continue
      case .second: end(128 + signal, "ended by a second signal")
      case .first:
        let handlers = state.withLock { state in
          state.hasBegun = true
          return Array(state.handlers.values)
        }
        if handlers.isEmpty { end(128 + signal, nil) }
        for handler in handlers { handler() }
      }
    }
  }

  /// Ends the process, with the reason and the steps that are left undone on standard error.
  private static func end(_ code: Int32, _ reason: String?) -> Never {
    // A standard error that blocks must not delay the end: SIGALRM ends the process.
    alarm(1)
    ChildProgram.endAll()
    KeyInput.restoreTerminal()
    if let reason {
      let unfinished = state.withLock { $0.unfinished.sorted { $0.key < $1.key }.map(\.value) }
      Console.errorDirectly(
        ([reason] + unfinished.map { "left undone: \($0)" }).joined(separator: "\nhalo-raw: "))
    }
    _exit(code)
  }
}

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
