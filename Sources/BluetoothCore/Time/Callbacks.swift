/// Waits for an operation that reports its result to a callback; bridges the layers' callbacks to `async`.
///
/// - Parameter start: starts the operation with the closure to call with its result, and returns a closure that cancels
///   it. A cancelled operation still calls back, with an error or a result. Only the first call has an effect.
@BluetoothActor
public func awaitCallback<Value: Sendable, Failure: Error>(
  _ start: (@escaping (Result<Value, Failure>) -> Void) -> () -> Void
) async throws(Failure) -> Value {
  let cancellation = Cancellation()
  let result = await withTaskCancellationHandler {
    await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, Failure>, Never>) in
      cancellation.action = start { result in
        guard !cancellation.isOver else { return }
        cancellation.action = nil
        cancellation.isOver = true
        continuation.resume(returning: result)
      }
      if cancellation.isOver { cancellation.action = nil }
      if cancellation.isRequested { cancellation.run() }
    }
  } onCancel: {
    BluetoothActor.run { cancellation.run() }
  }
  return try result.get()
}

/// Waits for an operation that can't be cancelled. If the task is cancelled, this returns immediately with `error`, and
/// a later result is dropped.
///
/// - Parameter start: starts the operation with the closure to call with its result
@BluetoothActor
public func awaitCallback<Value: Sendable, Failure: Error>(
  cancelled error: Failure, _ start: (@escaping (Result<Value, Failure>) -> Void) -> Void
) async throws(Failure) -> Value {
  try await awaitCallback { (done: @escaping (Result<Value, Failure>) -> Void) in
    start(done)
    return { done(.failure(error)) }
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

@BluetoothActor
private final class LimitedAttempt {
  var task: Task<Void, Never>?
  var onEnd: ((Bool) -> Void)?

  func end(_ isInTime: Bool) {
    let onEnd = self.onEnd
    self.onEnd = nil
    onEnd?(isInTime)
  }
}

extension Timers {
  /// Runs `work` for at most `limit`; then its task is cancelled and its result ignored.
  ///
  /// - Returns: whether it returned in time
  @BluetoothActor public func within(
    _ limit: Duration, _ work: @escaping @Sendable @BluetoothActor () async -> Void
  ) async -> Bool {
    await awaitCallback { (done: @escaping (Result<Bool, Never>) -> Void) in
      let attempt = LimitedAttempt()
      let timer = schedule(after: limit) { attempt.end(false) }
      attempt.onEnd = { isInTime in
        self.cancel(timer)
        attempt.task?.cancel()
        done(.success(isInTime))
      }
      attempt.task = BluetoothActor.run {
        await work()
        attempt.end(true)
      }
      return { attempt.end(false) }
    }
  }

  /// Waits for `duration`; returns early if the task is cancelled.
  @BluetoothActor public func sleep(for duration: Duration) async {
    try? await awaitCallback { (done: @escaping (Result<Void, CancellationError>) -> Void) in
      let token = schedule(after: duration) { done(.success(())) }
      return {
        self.cancel(token)
        done(.failure(CancellationError()))
      }
    }
  }
}
