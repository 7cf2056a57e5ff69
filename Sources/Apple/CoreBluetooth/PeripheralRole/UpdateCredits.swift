internal import HaloBluetoothCore
internal import HaloRaw

/// How many updates a program may hand over before the links have taken the earlier ones: for each central.
struct UpdateCredits: Sendable {
  /// Updates that wait for a link at most.
  static let limit = 16

  private var waiting: [PeerIdentity: Int] = [:]
  /// The centrals for which an update was refused, and which have had no room since.
  private var starved: Set<PeerIdentity> = []

  /// - Returns: whether all of them have room; if not, none of them is charged
  mutating func take(for clients: [PeerIdentity]) -> Bool {
    let full = clients.filter { waiting[$0, default: 0] >= Self.limit }
    starved.formUnion(full)
    guard full.isEmpty else { return false }
    for client in clients { waiting[client, default: 0] += 1 }
    return true
  }

  /// The link has taken one.
  ///
  /// - Returns: whether the program, which waits, is told that there is room
  mutating func give(_ client: PeerIdentity) -> Bool {
    guard let count = waiting[client] else { return false }
    waiting[client] = count > 1 ? count - 1 : nil
    return count - 1 <= Self.limit / 2 && hasRoom(client)
  }

  /// The central has gone.
  ///
  /// - Returns: as ``give(_:)``
  mutating func left(_ client: PeerIdentity) -> Bool {
    waiting[client] = nil
    return hasRoom(client)
  }

  private mutating func hasRoom(_ client: PeerIdentity) -> Bool {
    starved.remove(client) != nil && starved.isEmpty
  }
}
