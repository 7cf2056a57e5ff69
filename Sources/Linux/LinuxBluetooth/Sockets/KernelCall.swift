import Glibc
import HaloBluetoothCore
import HaloSystem

/// `close` of sockets that may take seconds, off the loop: of a link that has ended, or of a controller that its driver
/// switches off.
///
/// The loop continues, and survives if the kernel kills the thread in the call, as Debian's 6.1.0-56 does
/// (docs/08-the-kernel.md, "A fault of the kernel"). The end of the process waits for such calls: a thread that the kernel
/// kills while it ends never goes away, and the process with it.
@BluetoothActor
package enum KernelCall {
  /// Closes a descriptor on a waiting thread, which is faster than starting one.
  ///
  /// - Parameters:
  ///   - descriptor: closed by this call
  ///   - timers: the clock of the two seconds
  ///   - completion: called on the loop when the descriptor is closed, or after two seconds
  package static func close(
    _ descriptor: Int32, timers: Timers = EpollLoop.shared.timers, completion: (() -> Void)? = nil
  ) {
    var closed: @Sendable () -> Void = {}
    if let completion {
      let end = OneShot<Void> { _ in completion() }
      end.expire(after: .seconds(2), in: timers, with: ())
      closed = { BluetoothActor.run { end() } }
    }
    if !Closer.shared.close(descriptor, closed) {
      Glibc.close(descriptor)
      closed()
    }
  }

  /// Starts a thread that waits for ``close(_:timers:completion:)``.
  package static func prepareToClose() {
    _ = Closer.shared.prepare()
  }

  /// The threads that close descriptors. If none is waiting, one is started; a thread that the kernel blocks, or has
  /// killed, does not delay others.
  private nonisolated final class Closer: Sendable {
    static let shared = Closer()
    /// A thread that has not closed its descriptor by then is blocked, or was killed.
    private static let patienceAtExit = Duration.milliseconds(500)

    private struct State {
      var jobs: [(descriptor: Int32, closed: @Sendable () -> Void)] = []
      var idle = 0
      var unfinished = 0
    }

    private let state = LockedValue(State())
    /// Counts the jobs.
    private let signal: Int32 = Linux.semaphore()
    /// Readable when a descriptor has been closed.
    private let progress: Int32 = Linux.event()

    private init() {
      atexit { Closer.shared.waitAtExit() }
    }

    private func waitAtExit() {
      let deadline = ContinuousClock.now + Self.patienceAtExit
      while state.withLock({ $0.unfinished > 0 }) {
        let left = deadline - .now
        guard left > .zero else { return }
        var waiting = pollfd(fd: progress, events: Int16(POLLIN), revents: 0)
        poll(&waiting, 1, 1 + Int32(left / .milliseconds(1)))
        var count: UInt64 = 0
        read(progress, &count, MemoryLayout<UInt64>.size)
      }
    }

    /// - Returns: whether a thread is waiting
    func prepare() -> Bool {
      guard signal >= 0 else { return false }
      let mustStart = state.withLock { state in
        guard state.idle <= state.jobs.count else { return false }
        state.idle += 1
        return true
      }
      guard mustStart, HelperThread.start({ self.run() }) != 0 else { return true }
      state.withLock { $0.idle -= 1 }
      return false
    }

    func close(_ descriptor: Int32, _ closed: @escaping @Sendable () -> Void) -> Bool {
      guard prepare() else { return false }
      state.withLock { state in
        state.jobs.append((descriptor, closed))
        state.unfinished += 1
      }
      var one: UInt64 = 1
      write(signal, &one, MemoryLayout<UInt64>.size)
      return true
    }

    private func run() {
      while true {
        var count: UInt64 = 0
        guard read(signal, &count, MemoryLayout<UInt64>.size) > 0 else { continue }
        let job = state.withLock { state in
          state.idle -= 1
          return state.jobs.isEmpty ? nil : state.jobs.removeFirst()
        }
        if let job {
          Glibc.close(job.descriptor)
          job.closed()
        }
        state.withLock { state in
          if job != nil { state.unfinished -= 1 }
          state.idle += 1
        }
        var one: UInt64 = 1
        write(progress, &one, MemoryLayout<UInt64>.size)
      }
    }
  }
}
