import Glibc
import HaloBluetoothCore
import HaloSystem

/// The request to end a command: a signal, a closed output, the end of a recording. Only the first one counts.
@BluetoothActor
package final class Interruption {
  package private(set) var isRequested = false
  private var handlers: [UInt64: () -> Void] = [:]
  private var nextID: UInt64 = 0
  private var registration: Termination.Registration?

  package init() {
    registration = Termination.register { [weak self] in
      OutputQueue.standardOutput.stopWaiting()
      BluetoothActor.run { self?.request() }
    }
    isRequested = Termination.hasBegun
  }

  /// The request to end a part of a command; `other` ends that part too.
  package init(following other: Interruption) {
    _ = other.onRequest { [weak self] in self?.request() }
  }

  package func request() {
    guard !isRequested else { return }
    isRequested = true
    let waiting = handlers.sorted { $0.key < $1.key }
    handlers = [:]
    for (_, handler) in waiting { handler() }
  }

  /// Calls `handler` on the request, or at once if it is made already.
  ///
  /// - Returns: a closure that removes the handler
  package func onRequest(_ handler: @escaping () -> Void) -> () -> Void {
    if isRequested {
      handler()
      return {}
    }
    let id = nextID
    nextID += 1
    handlers[id] = handler
    return { self.handlers[id] = nil }
  }

  /// Waits for the request.
  package func wait() async {
    await withCheckedContinuation { continuation in
      _ = onRequest { continuation.resume() }
    }
  }

  /// Waits for `duration` or for the request, whichever is first.
  package func sleep(for duration: Duration, in timers: Timers) async {
    await cancels { () async in await timers.sleep(for: duration) }
  }

  /// Runs `work` and cancels it on the request.
  package func cancels<Value: Sendable, WorkError: Error>(
    _ work: @escaping @BluetoothActor () async throws(WorkError) -> Value
  ) async throws(WorkError) -> Value {
    var remove: (() -> Void)?
    let result = await withCheckedContinuation {
      (continuation: CheckedContinuation<Result<Value, WorkError>, Never>) in
      let task = BluetoothActor.run {
        do throws(WorkError) {
          continuation.resume(returning: .success(try await work()))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
      remove = onRequest { task.cancel() }
    }
    remove?()
    return try result.get()
  }
}
