import Glibc

/// Signals as values, for a thread that does nothing but wait for them. An ordinary handler could do nothing safely,
/// and a loop that is blocked could not take them.
public enum Signals {
  /// Keeps `signals` from their default action, in this thread and all that it starts later: call it before
  /// anything else in `main`.
  public static func block(_ signals: [Int32]) {
    var set = signalSet(signals)
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Waits for one of `signals`, which must be blocked in all threads.
  public static func next(of signals: [Int32]) -> Int32 {
    var set = signalSet(signals)
    while true {
      var signal: Int32 = 0
      if sigwait(&set, &signal) == 0 { return signal }
    }
  }

  /// Those of `signals` that this process was not started to ignore, as `nohup` and a shell's background jobs are.
  public static func withoutIgnored(_ signals: [Int32]) -> [Int32] {
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
