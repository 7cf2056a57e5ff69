import BluetoothCore
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

  /// Closes a descriptor on a thread of its own.
  ///
  /// - Parameter completion: called on the loop when it is closed, or when that takes longer than two seconds
  public static func close(_ descriptor: Int32, completion: (() -> Void)? = nil) {
    guard let completion else {
      if !start({ _ = Glibc.close(descriptor) }) { Glibc.close(descriptor) }
      return
    }
    run(deadline: .seconds(2)) {
      Glibc.close(descriptor)
    } completion: { _ in
      completion()
    }
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
