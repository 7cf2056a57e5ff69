import ATT
import BluetoothCore

/// The server's PDUs that are to be sent, each list in its order, lists by time.
struct FollowerQueue {
  private struct List {
    var followers: [RecordedDialogue.Follower]
    var next = 0
    var base: Instant

    var due: Instant { base + .microseconds(max(0, followers[next].delay)) }
  }

  private var lists: [List] = []

  var isEmpty: Bool { lists.isEmpty }

  mutating func add(_ followers: [RecordedDialogue.Follower], at base: Instant) {
    if !followers.isEmpty { lists.append(List(followers: followers, base: base)) }
  }

  /// Drops what a characteristic sends.
  mutating func remove(_ handle: AttributeHandle) {
    for index in lists.indices {
      let rest = lists[index].followers[lists[index].next...].filter { $0.handle != handle }
      lists[index].followers = rest
      lists[index].next = 0
    }
    lists.removeAll { $0.followers.isEmpty }
  }

  private func first(canIndicate: Bool) -> Int? {
    lists.indices.lazy.filter { canIndicate || !lists[$0].followers[lists[$0].next].isIndication }
      .min { lists[$0].due < lists[$1].due }
  }

  func nextDue(canIndicate: Bool) -> Instant? {
    first(canIndicate: canIndicate).map { lists[$0].due }
  }

  mutating func take(canIndicate: Bool) -> RecordedDialogue.Follower? {
    guard let index = first(canIndicate: canIndicate) else { return nil }
    let follower = lists[index].followers[lists[index].next]
    lists[index].next += 1
    if lists[index].next == lists[index].followers.count { lists.remove(at: index) }
    return follower
  }
}

extension RecordedDialogue.Follower {
  /// Whether the client has to confirm it.
  var isIndication: Bool {
    bytes.first == ATTOpcode.handleValueIndication.rawValue
  }
}
