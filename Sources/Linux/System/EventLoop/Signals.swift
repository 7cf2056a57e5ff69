import Glibc

/// Waits for signals on a dedicated thread. A signal handler could do almost nothing safely, and a blocked loop could
/// not handle them.
package enum Signals {
  /// Blocks `signals` in this thread and all threads that it starts later. Call this before anything else in `main`.
  package static func block(_ signals: [Int32]) {
    var set = signalSet(signals)
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// A signal that has arrived.
  package struct Arrival: Equatable, Sendable {
    package var number: Int32
    /// Whether the kernel has sent it, as a terminal's driver does for a key; false if a process has sent it.
    package var isFromKernel: Bool

    package init(_ number: Int32, isFromKernel: Bool) {
      self.number = number
      self.isFromKernel = isFromKernel
    }
  }

  /// Waits for one of `signals`, which must be blocked in all threads.
  package static func next(of signals: [Int32]) -> Arrival {
    var set = signalSet(signals)
    while true {
      var info = siginfo_t()
      let signal = sigwaitinfo(&set, &info)
      // SI_KERNEL of <bits/siginfo-consts.h>, which Swift does not import.
      if signal > 0 { return Arrival(signal, isFromKernel: info.si_code == 0x80) }
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
