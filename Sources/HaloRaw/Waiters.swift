import HaloBluetoothCore

/// Tasks that wait for one event. One that is cancelled is forgotten at once, however long the event takes.
@BluetoothActor
struct Waiters {
  typealias End = OneShot<Result<Void, BluetoothError>>

  private var ends: [UInt64: End] = [:]
  private var next: UInt64 = 0

  nonisolated init() {}

  /// Adds one that waits, in ``awaitCallback(_:)``.
  mutating func add(_ done: @escaping (Result<Void, BluetoothError>) -> Void) -> (id: UInt64, end: End) {
    defer { next += 1 }
    let end = End(done)
    ends[next] = end
    return (next, end)
  }

  /// Ends a wait whose task was cancelled.
  mutating func cancel(_ id: UInt64) { ends.removeValue(forKey: id)?(.failure(.cancelled)) }

  /// The event has come.
  mutating func end(with result: Result<Void, BluetoothError>) {
    let ended = ends
    ends = [:]
    for id in ended.keys.sorted() { ended[id]?(result) }
  }
}
