import BluetoothCore
import CBlueZHCI
import EventLoop
import Glibc

/// System calls that may take seconds, each on a thread of its own: to bring an adapter up or down, to take it, or to
/// close a socket whose link has ended.
///
/// The loop goes on in the meantime, and outlives the call if the kernel kills the thread in it, as Debian's
/// 6.1.0-56 does (docs/08-the-kernel.md, "A fault of the kernel").
@BluetoothActor
public enum KernelCall {
  /// Runs `work` on a new thread.
  ///
  /// - Parameters:
  ///   - deadline: how long to wait for it. The kernel can't be interrupted: the call goes on after that.
  ///   - completion: called on the loop exactly once; with nil at the deadline, and when it is cancelled
  /// - Returns: a closure that waits no longer
  @discardableResult
  public static func run<Value: Sendable>(
    deadline: Duration, _ work: @escaping @Sendable () -> Value,
    completion: @escaping (Value?) -> Void
  ) -> () -> Void {
    let call = Call(completion)
    call.timer = EventLoop.shared.timers.schedule(after: deadline) { call.finish(nil) }
    let isStarted = start {
      let value = work()
      // A process that gives its privileges up looks whether any of its threads still has them.
      _ = halo_drop_capabilities()
      EventLoop.run { call.finish(value) }
    }
    if !isStarted { call.finish(nil) }
    return { call.finish(nil) }
  }

  /// The same for `async`.
  ///
  /// - Returns: nil if the deadline passed, or the task was cancelled
  public static func run<Value: Sendable>(
    deadline: Duration, _ work: @escaping @Sendable () -> Value
  ) async -> Value? {
    await awaitCallback { (done: @escaping (Result<Value?, Never>) -> Void) in
      run(deadline: deadline, work) { done(.success($0)) }
    }
  }

  /// Closes a descriptor on a thread that waits for this and has no capabilities; it is sooner there than a new one.
  ///
  /// - Parameter completion: called on the loop when it is closed, or when that takes longer than two seconds
  public static func close(_ descriptor: Int32, completion: (() -> Void)? = nil) {
    var closed: @Sendable () -> Void = {}
    if let completion {
      let call = Call<Void> { _ in completion() }
      call.timer = EventLoop.shared.timers.schedule(after: .seconds(2)) { call.finish(nil) }
      closed = { EventLoop.run { call.finish(()) } }
    }
    if !Closer.shared.close(descriptor, closed) {
      Glibc.close(descriptor)
      closed()
    }
  }

  /// Has a thread wait for ``close(_:completion:)``.
  public static func prepareToClose() {
    _ = Closer.shared.prepare()
  }

  @BluetoothActor
  private final class Call<Value: Sendable> {
    var timer: Timers.Token?
    private var completion: ((Value?) -> Void)?

    init(_ completion: @escaping (Value?) -> Void) {
      self.completion = completion
    }

    func finish(_ value: Value?) {
      EventLoop.shared.timers.cancel(timer)
      let completion = self.completion
      self.completion = nil
      completion?(value)
    }
  }

  private nonisolated final class Work: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) {
      self.run = run
    }
  }

  /// The threads that close descriptors. There is one that waits, or one is started: one that the kernel keeps, or has
  /// killed, is not waited for.
  private nonisolated final class Closer: Sendable {
    static let shared = Closer()

    private struct State {
      var jobs: [(descriptor: Int32, closed: @Sendable () -> Void)] = []
      var idle = 0
    }

    private let state = Guarded(State())
    /// Counts the jobs.
    private let signal: Int32 = eventfd(0, Int32(EFD_CLOEXEC | EFD_SEMAPHORE))

    /// - Returns: whether there is a thread that waits
    func prepare() -> Bool {
      guard signal >= 0 else { return false }
      let mustStart = state.withLock { state in
        guard state.idle <= state.jobs.count else { return false }
        state.idle += 1
        return true
      }
      guard mustStart, !KernelCall.start({ self.run() }) else { return true }
      state.withLock { $0.idle -= 1 }
      return false
    }

    func close(_ descriptor: Int32, _ closed: @escaping @Sendable () -> Void) -> Bool {
      guard prepare() else { return false }
      state.withLock { $0.jobs.append((descriptor, closed)) }
      var one: UInt64 = 1
      write(signal, &one, MemoryLayout<UInt64>.size)
      return true
    }

    private func run() {
      _ = halo_drop_capabilities()
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
        state.withLock { $0.idle += 1 }
      }
    }
  }

  /// - Returns: whether there is such a thread
  private nonisolated static func start(_ work: @escaping @Sendable () -> Void) -> Bool {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    var thread = pthread_t()
    let work = Unmanaged.passRetained(Work(work))
    let result = pthread_create(
      &thread, &attributes,
      { argument in
        guard let argument else { return nil }
        Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().run()
        return nil
      }, work.toOpaque())
    if result != 0 { work.release() }
    return result == 0
  }
}
