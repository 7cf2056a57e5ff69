import CBlueZHCI
import Glibc

/// Signals as events on the loop, where an ordinary handler could do nothing safely.
@BluetoothActor
public final class SignalSource {
  private let descriptor: Int32
  private var watch: EventLoop.Watch?

  /// Keeps `signals` from their default action, in this thread and all that it starts later: call it before
  /// anything else in `main`.
  public nonisolated static func block(_ signals: [Int32]) {
    var set = signalSet(signals)
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Gives `signals` their default action back in this thread.
  public nonisolated static func unblock(_ signals: [Int32]) {
    var set = signalSet(signals)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
  }

  /// Calls `handler` on the loop for each of `signals` that arrives. They must have been blocked.
  public init(_ signals: [Int32], handler: @escaping (Int32) -> Void) throws(SystemError) {
    var set = signalSet(signals)
    let descriptor = signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
    guard descriptor >= 0 else { throw .last("signalfd") }
    self.descriptor = descriptor
    watch = try EventLoop.shared.watch(descriptor, for: .readable) { _ in
      var information = signalfd_siginfo()
      while read(descriptor, &information, MemoryLayout<signalfd_siginfo>.size) > 0 {
        handler(Int32(information.ssi_signo))
      }
    }
  }

  /// Listens no longer; the signals stay blocked.
  public func cancel() {
    guard let watch else { return }
    watch.cancel()
    self.watch = nil
    close(descriptor)
  }
}

private func signalSet(_ signals: [Int32]) -> sigset_t {
  var set = sigset_t()
  sigemptyset(&set)
  for signal in signals { sigaddset(&set, signal) }
  return set
}
