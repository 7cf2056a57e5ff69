import BluetoothCore

/// What the thread of a call may do that is made off the loop.
public enum ThreadPrivileges: Sendable {
  /// Nothing: the thread gives up what the program has its helper threads give up.
  case none
  /// What the loop's thread may do, until the call returns.
  case ofTheLoop
}

/// Makes a call that may block - `open` of a file on a network, a look-up, a data base, an ioctl that a driver keeps -
/// on a separate thread. A call can't be interrupted: at the deadline, or if the task is cancelled, it goes on, and its
/// result is dropped. The loop outlives a call in which the kernel kills the thread.
///
/// In virtual time a call without a deadline is made on the loop: no time may pass until it returns.
///
/// - Parameter deadline: how long to wait for it; nil to wait for as long as it takes
/// - Returns: nil at the deadline, if the task was cancelled, or if no thread is left
@BluetoothActor
public func offTheLoop<Value>(
  deadline: Duration? = nil, privileges: ThreadPrivileges = .none,
  _ work: @escaping @Sendable () -> sending Value
) async -> sending Value? {
  if deadline == nil, EventLoop.shared.hasVirtualTime { return work() }
  let box = ResultBox<Value>()
  var timer: Timers.Token?
  await awaitCallback { (done: @escaping (Result<Void, Never>) -> Void) in
    nonisolated(unsafe) let done = done
    let giveUp = {
      guard !box.isOver else { return }
      box.isOver = true
      done(.success(()))
    }
    if let deadline { timer = EventLoop.shared.timers.schedule(after: deadline, giveUp) }
    let result = HelperThread.start(stackSize: 1 << 20, callsHook: privileges == .none) {
      box.value = work()
      // A process that gives its privileges up looks whether any of its threads still has them.
      if privileges == .ofTheLoop { HelperThread.callStartHook() }
      EventLoop.run {
        guard !box.isOver else { return }
        box.isOver = true
        box.hasValue = true
        done(.success(()))
      }
    }
    if result != 0 { giveUp() }
    return giveUp
  }
  EventLoop.shared.timers.cancel(timer)
  return box.hasValue ? box.value : nil
}

/// Handed from one thread to the other, never used by both.
private final class ResultBox<Value>: @unchecked Sendable {
  nonisolated(unsafe) var value: Value?
  /// Whether the value was there in time.
  @BluetoothActor var hasValue = false
  @BluetoothActor var isOver = false
}
