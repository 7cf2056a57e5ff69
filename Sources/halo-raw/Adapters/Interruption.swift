import BluetoothCore
import EventLoop
import Glibc

/// The request to end: a signal, a reader that has gone, a recording that ended. The first one counts.
@BluetoothActor
final class Interruption {
  private(set) var hasCome = false
  private var handlers: [UInt64: () -> Void] = [:]
  private var nextID: UInt64 = 0
  private var registration: Termination.Registration?

  init() {
    registration = Termination.register { [weak self] in
      OutputQueue.standardOutput.stopWaiting()
      EventLoop.run { self?.come() }
    }
    hasCome = Termination.hasBegun
  }

  /// A request to end one thing, which also comes with the one to end all.
  init(following other: Interruption) {
    other.whenItComes { [weak self] in self?.come() }
  }

  func come() {
    guard !hasCome else { return }
    hasCome = true
    let waiting = handlers.sorted { $0.key < $1.key }
    handlers = [:]
    for (_, handler) in waiting { handler() }
  }

  /// Calls `handler` when the request comes; at once if it has.
  ///
  /// - Returns: a closure after which it is not called any more
  @discardableResult
  func whenItComes(_ handler: @escaping () -> Void) -> () -> Void {
    if hasCome {
      handler()
      return {}
    }
    let id = nextID
    nextID += 1
    handlers[id] = handler
    return { self.handlers[id] = nil }
  }

  /// Waits for the request.
  func comes() async {
    await withCheckedContinuation { continuation in
      whenItComes { continuation.resume() }
    }
  }

  /// Waits for `duration`, or for the request, whatever comes first.
  func sleep(for duration: Duration) async {
    await cancels { () async in await EventLoop.shared.sleep(for: duration) }
  }

  /// Runs `work`, which is cancelled when the request comes.
  func cancels<Value: Sendable, Trouble: Error>(
    _ work: @escaping @BluetoothActor () async throws(Trouble) -> Value
  ) async throws(Trouble) -> Value {
    var forget: (() -> Void)?
    let result = await withCheckedContinuation {
      (continuation: CheckedContinuation<Result<Value, Trouble>, Never>) in
      let task = EventLoop.run {
        do throws(Trouble) {
          continuation.resume(returning: .success(try await work()))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
      forget = whenItComes { task.cancel() }
    }
    forget?()
    return try result.get()
  }
}
