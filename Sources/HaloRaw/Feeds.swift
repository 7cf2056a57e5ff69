import HaloBluetoothCore

/// The iterations that share a source: each gets every element, in the order in which they have begun.
@BluetoothActor
struct Feeds<Element: Sendable> {
  private var feeds: [UInt64: ValueFeed<Element>] = [:]
  private var next: UInt64 = 0

  nonisolated init() {}

  var isEmpty: Bool { feeds.isEmpty }

  /// - Returns: its identifier
  mutating func add(_ feed: ValueFeed<Element>) -> UInt64 {
    defer { next += 1 }
    feeds[next] = feed
    return next
  }

  /// - Returns: whether it was there
  @discardableResult
  mutating func remove(_ id: UInt64) -> Bool { feeds.removeValue(forKey: id) != nil }

  func send(_ element: Element) {
    for id in feeds.keys.sorted() { feeds[id]?.send(element) }
  }

  /// Ends all, and removes them.
  ///
  /// - Parameter error: why; nil if there are no more elements
  mutating func finish(_ error: BluetoothError? = nil) {
    let ended = feeds
    feeds = [:]
    for id in ended.keys.sorted() { ended[id]?.finish(error) }
  }
}
