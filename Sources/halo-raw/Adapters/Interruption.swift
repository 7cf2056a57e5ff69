import BluetoothCore
import EventLoop
import Glibc

/// The wish to end, wherever it comes from: Ctrl-C, a reader that has gone, a recording that ended. The first one
/// counts; a second Ctrl-C ends the program at once.
@BluetoothActor
final class Interruption {
  private(set) var hasCome = false
  private var handlers: [UInt64: () -> Void] = [:]
  private var nextID: UInt64 = 0
  private var signals: SignalSource?

  init() {
    signals = try? SignalSource([SIGINT, SIGTERM]) { [weak self] signal in
      guard let self else { return }
      if hasCome { exit(128 + signal) }
      come()
    }
  }

  func come() {
    guard !hasCome else { return }
    hasCome = true
    let waiting = handlers.sorted { $0.key < $1.key }
    handlers = [:]
    for (_, handler) in waiting { handler() }
  }

  /// Calls `handler` when the wish comes; at once if it has.
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

  /// Runs `work`, which is cancelled when the wish comes.
  func cancels<Value: Sendable, Trouble: Error>(
    _ work: @escaping @BluetoothActor () async throws(Trouble) -> Value
  ) async throws(Trouble) -> Value {
    let task = Task { @BluetoothActor () -> Result<Value, Trouble> in
      do throws(Trouble) {
        return .success(try await work())
      } catch {
        return .failure(error)
      }
    }
    let forget = whenItComes { task.cancel() }
    defer { forget() }
    return try await task.value.get()
  }
}
