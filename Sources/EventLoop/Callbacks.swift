import BluetoothCore

/// Waits for something that reports by calling back: the bridge from the layers' callbacks to `async`.
///
/// - Parameter start: starts the operation, with the closure that it must call exactly once, and gives a
///   closure that cancels it. A cancelled operation still calls back, with an error or a result that raced.
@BluetoothActor
public func awaitCallback<Value: Sendable, Failure: Error>(
  _ start: (@escaping (Result<Value, Failure>) -> Void) -> () -> Void
) async throws(Failure) -> Value {
  let cancellation = Cancellation()
  let result = await withTaskCancellationHandler {
    await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, Failure>, Never>) in
      cancellation.action = start { result in
        cancellation.action = nil
        cancellation.isOver = true
        continuation.resume(returning: result)
      }
      if cancellation.isOver { cancellation.action = nil }
      if cancellation.isRequested { cancellation.run() }
    }
  } onCancel: {
    EventLoop.run { cancellation.run() }
  }
  return try result.get()
}

/// Waits for something that can't be taken back once it has begun. A task that is cancelled returns at once, with
/// `error`; what is reported later is dropped.
///
/// - Parameter start: starts the operation, with the closure that gets its result
@BluetoothActor
public func awaitCallback<Value: Sendable, Failure: Error>(
  cancelled error: Failure, _ start: (@escaping (Result<Value, Failure>) -> Void) -> Void
) async throws(Failure) -> Value {
  try await awaitCallback { (done: @escaping (Result<Value, Failure>) -> Void) in
    var done: ((Result<Value, Failure>) -> Void)? = done
    let finish = { (result: Result<Value, Failure>) in
      let report = done
      done = nil
      report?(result)
    }
    start(finish)
    return { finish(.failure(error)) }
  }
}

@BluetoothActor
private final class Cancellation {
  var action: (() -> Void)?
  var isRequested = false
  var isOver = false

  func run() {
    isRequested = true
    let action = self.action
    self.action = nil
    action?()
  }
}

extension EventLoop {
  /// Waits for `duration` of the loop's time; returns early when the task is cancelled.
  @BluetoothActor public func sleep(for duration: Duration) async {
    try? await awaitCallback { (done: @escaping (Result<Void, CancellationError>) -> Void) in
      let token = timers.schedule(after: duration) { done(.success(())) }
      return { [timers] in
        timers.cancel(token)
        done(.failure(CancellationError()))
      }
    }
  }
}
