import HaloBluetoothCore

/// The privileges of a thread that makes a blocking call off the loop.
package enum ThreadPrivileges: Sendable {
  /// None: the thread drops the privileges that the program's start hook drops.
  case none
  /// The capabilities of the loop's thread, until the call returns.
  case ofTheLoop
}

/// Makes a call that may block - `open` of a file on a network, a name look-up, a database, an ioctl that waits for a
/// driver - on a separate thread. The call can't be interrupted: at the deadline, or if the task is cancelled, it
/// continues, and its result is dropped. The loop survives if the kernel kills the thread during the call.
///
/// Virtual time stands still during a call, unless the deadline is one of virtual time.
///
/// - Parameters:
///   - deadline: how long to wait; nil for work that ends in any case, such as a database's
///   - timers: the time of the deadline
///   - privileges: the capabilities of the thread
///   - work: the call
/// - Returns: nil at the deadline, if the task was cancelled, or if no thread can be started
@BluetoothActor
package func offTheLoop<Value>(
  deadline: Duration? = nil, in timers: Timers = EpollLoop.shared.timers,
  privileges: ThreadPrivileges = .none,
  _ work: @escaping @Sendable () -> sending Value
) async -> sending Value? {
  let loop = EpollLoop.shared
  guard deadline == nil || timers === loop.timers else {
    return await callOffTheLoop(deadline, timers, privileges, work)
  }
  return await loop.stoppingVirtualTime { await callOffTheLoop(deadline, timers, privileges, work) }
}

@BluetoothActor
private func callOffTheLoop<Value>(
  _ deadline: Duration?, _ timers: Timers, _ privileges: ThreadPrivileges,
  _ work: @escaping @Sendable () -> sending Value
) async -> sending Value? {
  let box = ResultBox(work)
  let isInTime = await awaitCallback { (done: @escaping (Result<Bool, Never>) -> Void) in
    let end = OneShot(done)
    if let deadline { end.expire(after: deadline, in: timers, with: .success(false)) }
    let result = HelperThread.start(stackSize: 1 << 20, callsHook: privileges == .none) {
      box.call()
      // When a process drops its privileges, it checks that none of its threads still has them.
      if privileges == .ofTheLoop { HelperThread.callStartHook() }
      BluetoothActor.run { end(.success(true)) }
    }
    if result != 0 { end(.success(false)) }
    return { end(.success(false)) }
  }
  return isInTime ? box.value : nil
}

/// Handed from one thread to the other, never used by both at the same time.
private final class ResultBox<Value>: @unchecked Sendable {
  nonisolated(unsafe) var value: Value?
  private nonisolated(unsafe) var work: (@Sendable () -> sending Value)?

  init(_ work: @escaping @Sendable () -> sending Value) {
    self.work = work
  }

  /// Releases the work at once: its captures, such as a file, end with its caller and not with the thread.
  nonisolated func call() {
    value = work?()
    work = nil
  }
}
