import EventLoop
import Glibc

/// Ends the process on a signal. The main thread waits for signals, outside of the event loop: so they are heard
/// whatever the loop does.
///
/// The first signal asks those who have registered to end in order; without any, the process ends at once. The second
/// one ends the process within a second, and says what is left undone. SIGHUP, of a terminal that was closed or an
/// ssh connection that broke, and SIGQUIT are taken as SIGTERM.
enum Termination {
  /// What has been registered; it ends with this object.
  final class Registration: Sendable {
    private let id: UInt64

    fileprivate init(_ id: UInt64) {
      self.id = id
    }

    deinit {
      let id = self.id
      Termination.state.withLock {
        $0.handlers[id] = nil
        $0.unfinished[id] = nil
      }
    }
  }

  private struct State {
    var hasBegun = false
    var handlers: [UInt64: @Sendable () -> Void] = [:]
    var unfinished: [UInt64: String] = [:]
    var nextID: UInt64 = 0
  }

  private static let state = Guarded(State())
  /// SIGHUP only if `nohup` has not had it ignored. A script's background jobs are started with SIGINT ignored: who
  /// sends it to one all the same means it.
  private static let signals = [SIGINT, SIGTERM, SIGQUIT] + Signals.withoutIgnored([SIGHUP])

  /// Keeps the signals from their default action. The first thing in `main`: a thread that exists already would get
  /// them.
  static func blockSignals() {
    Signals.block(signals)
    signal(SIGPIPE, SIG_IGN)
  }

  /// Whether a signal has come.
  static var hasBegun: Bool { state.withLock { $0.hasBegun } }

  /// Calls `handler` on the main thread when the first signal comes. It must not wait for anything.
  static func register(_ handler: @escaping @Sendable () -> Void) -> Registration {
    add { $0.handlers[$1] = handler }
  }

  /// Notes something that has to be undone before the process ends, for as long as the result lives.
  ///
  /// - Parameter consequence: what follows if it is not: `hci0 stays down until halo-raw is started again`
  static func note(_ consequence: String) -> Registration {
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
  static func watch() -> Never {
    // Joining a thread that never ends costs nothing.
    _ = HelperThread.start {
      EventLoop.waitForEndOfThread()
      end(.internalError, "the kernel has ended the event loop's thread after a fault of its own; see dmesg")
    }
    while true {
      let signal = Signals.next(of: signals)
      let (isFirst, handlers) = state.withLock { state in
        defer { state.hasBegun = true }
        return (!state.hasBegun, Array(state.handlers.values))
      }
      guard isFirst else { end(signal: signal, "ended by a second signal") }
      if handlers.isEmpty { end(signal: signal, nil) }
      for handler in handlers { handler() }
    }
  }

  private static func end(signal: Int32, _ reason: String?) -> Never {
    // A standard error that takes nothing must not keep the process: SIGALRM ends it.
    alarm(1)
    say(reason)
    _exit(128 + signal)
  }

  private static func end(_ code: ExitCode, _ reason: String) -> Never {
    alarm(1)
    say(reason)
    _exit(code.rawValue)
  }

  /// Writes the reason, and what is left undone.
  private static func say(_ reason: String?) {
    guard let reason else { return }
    let unfinished = state.withLock { $0.unfinished.sorted { $0.key < $1.key }.map(\.value) }
    Console.errorDirectly(
      ([reason] + unfinished.map { "left undone: \($0)" }).joined(separator: "\nhalo-raw: "))
  }
}
