/// Waits for an operation that reports its result to a callback; bridges the layers' callbacks to `async`. It has no deadline
/// of its own: the operation has one, or a comment of its caller gives the reason for none.
///
/// The task may be suspended before `start` is called. The event may come meanwhile: ask for it by
/// ``awaitCallback(unless:_:)``, not before the call.
///
/// - Parameter start: starts the operation with the closure to call with its result, and returns a closure that cancels
///   it. A cancelled operation still calls back, with an error or a result. Only the first call has an effect.
@BluetoothActor
package func awaitCallback<Value: Sendable, Failure: Error>(
  _ start: (@escaping (Result<Value, Failure>) -> Void) -> () -> Void
) async throws(Failure) -> Value {
  let cancellation = Cancellation()
  let result = await withTaskCancellationHandler {
    await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, Failure>, Never>) in
      let done = OneShot<Result<Value, Failure>> { result in
        cancellation.action = nil
        continuation.resume(returning: result)
      }
      let cancel = OneShot(start { done($0) })
      if done.isPending { cancellation.action = cancel }
    }
  } onCancel: {
    BluetoothActor.run { cancellation.request() }
  }
  return try result.get()
}

/// Waits until a condition is true, unless it is already. The condition is checked where the wait begins: a change between a
/// check before the call and the wait would be missed.
///
/// - Parameters:
///   - isSo: whether there is nothing to wait for
///   - start: as for ``awaitCallback(_:)``
@BluetoothActor
package func awaitCallback<Failure: Error>(
  unless isSo: @autoclosure () -> Bool,
  _ start: (@escaping (Result<Void, Failure>) -> Void) -> () -> Void
) async throws(Failure) {
  try await awaitCallback { (done: @escaping (Result<Void, Failure>) -> Void) in
    guard isSo() else { return start(done) }
    done(.success(()))
    return {}
  }
}

/// Waits for an operation that can't be cancelled. If the task is cancelled, this returns immediately with `error`, and
/// a later result is dropped.
///
/// - Parameter start: starts the operation with the closure to call with its result
@BluetoothActor
package func awaitCallback<Value: Sendable, Failure: Error>(
  cancelled error: Failure, _ start: (@escaping (Result<Value, Failure>) -> Void) -> Void
) async throws(Failure) -> Value {
  try await awaitCallback { (done: @escaping (Result<Value, Failure>) -> Void) in
    start(done)
    return { done(.failure(error)) }
  }
}

@BluetoothActor
private final class Cancellation {
  /// Cancels the operation while it runs.
  var action: OneShot<Void>? {
    didSet { if isRequested { action?() } }
  }
  private var isRequested = false

  func request() {
    isRequested = true
    action?()
  }
}

extension Timers {
  /// Runs `work` for at most `limit`; then its task is cancelled and its result ignored.
  ///
  /// - Returns: whether it returned in time
  @BluetoothActor package func within(
    _ limit: Duration, _ work: @escaping @Sendable @BluetoothActor () async -> Void
  ) async -> Bool {
    await awaitCallback { (done: @escaping (Result<Bool, Never>) -> Void) in
      var task: Task<Void, Never>?
      let end = OneShot<Bool> { isInTime in
        task?.cancel()
        done(.success(isInTime))
      }
      end.expire(after: limit, in: self, with: false)
      task = BluetoothActor.run {
        await work()
        end(true)
      }
      return { end(false) }
    }
  }

  /// Waits for `duration`; returns early if the task is cancelled.
  @BluetoothActor package func sleep(for duration: Duration) async {
    await awaitCallback { (done: @escaping (Result<Void, Never>) -> Void) in
      let end = OneShot(done)
      end.expire(after: duration, in: self, with: .success(()))
      return { end(.success(())) }
    }
  }
}

/// A closure that is called at most once: the end of a wait that several events can end, of which the first counts. The
/// call releases the closure and cancels the deadline, if there is one.
@BluetoothActor
package final class OneShot<Value> {
  private var action: ((Value) -> Void)?
  private var timers: Timers?
  private var deadline: Timers.Token?

  package init(_ action: @escaping (Value) -> Void) {
    self.action = action
  }

  /// Whether it has not been called.
  package var isPending: Bool { action != nil }

  /// Calls it with `value` when `time` has passed.
  package func expire(after time: Duration, in timers: Timers, with value: Value) {
    timers.cancel(deadline)
    guard isPending else { return }
    self.timers = timers
    deadline = timers.schedule(after: time) { self(value) }
  }

  /// - Returns: whether this was the first call; others do nothing
  @discardableResult
  package func callAsFunction(_ value: Value) -> Bool {
    guard let action = action.take() else { return false }
    timers?.cancel(deadline)
    action(value)
    return true
  }
}

extension OneShot where Value == Void {
  @discardableResult
  package func callAsFunction() -> Bool { self(()) }
}

/// Tasks that wait for one event. One that is cancelled is forgotten at once, however long the event takes.
@BluetoothActor
package struct Waiters<Failure: Error> {
  package typealias End = OneShot<Result<Void, Failure>>

  private var ends: [UInt64: End] = [:]
  private var next: UInt64 = 0

  package nonisolated init() {}

  package var isEmpty: Bool { ends.isEmpty }

  /// Adds one that waits, in `awaitCallback`.
  package mutating func add(_ done: @escaping (Result<Void, Failure>) -> Void) -> (id: UInt64, end: End) {
    defer { next += 1 }
    let end = End(done)
    ends[next] = end
    return (next, end)
  }

  /// Ends one wait: its task was cancelled, or its time is over.
  package mutating func end(_ id: UInt64, with failure: Failure) {
    ends.removeValue(forKey: id)?(.failure(failure))
  }

  /// The event has come.
  package mutating func end(with result: Result<Void, Failure>) {
    let ended = ends
    ends = [:]
    for id in ended.keys.sorted() { ended[id]?(result) }
  }
}
