import HaloBluetoothCore

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
