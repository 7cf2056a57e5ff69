import Glibc

/// Waits for signals on a dedicated thread. A signal handler could do almost nothing safely, and a blocked loop could
/// not handle them.
package enum Signals {
  /// Blocks `signals` in this thread and all threads that it starts later. Call this before anything else in `main`.
  package static func block(_ signals: [Int32]) {
    var set = signalSet(signals)
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Waits for one of `signals`, which must be blocked in all threads.
  package static func next(of signals: [Int32]) -> Int32 {
    var set = signalSet(signals)
    while true {
      var signal: Int32 = 0
      if sigwait(&set, &signal) == 0 { return signal }
    }
  }

  /// The subset of `signals` that this process has not inherited as ignored, as under `nohup` or in a shell's
  /// background job.
  package static func withoutIgnored(_ signals: [Int32]) -> [Int32] {
    signals.filter { signal in
      var action = sigaction()
      guard sigaction(signal, nil, &action) == 0 else { return true }
      return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        != unsafeBitCast(SIG_IGN, to: Int.self)
    }
  }

  private static func signalSet(_ signals: [Int32]) -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in signals { sigaddset(&set, signal) }
    return set
  }
}
