import HaloBluetoothCore

/// How long peers wait after a pairing that has failed: otherwise, a passkey could be found by trying (Core Specification
/// Vol 3, Part H, 2.3.6).
struct RepeatedAttempts {
  private struct Entry {
    var peer: BluetoothAddress
    var wait: Duration
    var end: Instant
  }

  private static let shortestWait = Duration.seconds(1)
  private static let longestWait = Duration.seconds(64)
  /// The most peers that are remembered: those that failed last.
  private static let limit = 64

  private var entries: [Entry] = []

  /// How long the peer has to wait; nil if it may try.
  func wait(of peer: BluetoothAddress, at time: Instant) -> Duration? {
    guard let entry = entries.first(where: { $0.peer.isSameDevice(as: peer) }), time < entry.end else {
      return nil
    }
    return entry.end - time
  }

  /// A pairing has failed: the next wait is twice as long, unless the longest one has passed since.
  mutating func failed(_ peer: BluetoothAddress, at time: Instant) {
    var wait = Self.shortestWait
    if let index = entries.firstIndex(where: { $0.peer.isSameDevice(as: peer) }) {
      let last = entries.remove(at: index)
      if time < last.end + Self.longestWait { wait = min(last.wait * 2, Self.longestWait) }
    }
    entries.append(Entry(peer: peer, wait: wait, end: time + wait))
    if entries.count > Self.limit { entries.removeFirst() }
  }

  mutating func succeeded(_ peer: BluetoothAddress) { entries.removeAll { $0.peer.isSameDevice(as: peer) } }
}
