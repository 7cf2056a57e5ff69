import ErrandList

/// Calls of a delegate, in their order, for a task that waits for them.
final class Calls<Value: Sendable> {
  private var waiting: [Result<Value, any Error>] = []
  private var taker: CheckedContinuation<Value, any Error>?

  func send(_ value: Value) { put(.success(value)) }

  /// Ends what waits for a call, or will.
  func fail(_ error: DoorError) { put(.failure(error)) }

  /// Forgets what nobody has waited for.
  func clear() { waiting = [] }

  private func put(_ call: Result<Value, any Error>) {
    if let taker = self.taker.take() { taker.resume(with: call) } else { waiting.append(call) }
  }

  /// The next call.
  ///
  /// - Throws: an error that was sent; `.cancelled` when the task is cancelled
  func next() async throws -> Value {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { taker in
        // Asked here: a call that comes between a question before and the wait would be taken by nobody.
        if !waiting.isEmpty {
          taker.resume(with: waiting.removeFirst())
        } else if Task.isCancelled {
          taker.resume(throwing: DoorError.cancelled)
        } else {
          self.taker = taker
        }
      }
    } onCancel: {
      Task { @MainActor in
        if self.taker != nil { self.fail(.cancelled) }
      }
    }
  }
}
