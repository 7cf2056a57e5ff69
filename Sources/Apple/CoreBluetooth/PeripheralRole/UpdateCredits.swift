internal import HaloBluetoothCore

/// How many updates a program may hand over before the links have taken the earlier ones: for each central. One that takes none
/// for a while is not waited for: others get the updates that it has no room for.
struct UpdateCredits: Sendable {
  /// Updates that wait for a link at most.
  static let limit = 16

  private var waiting: [PeerIdentity: Int] = [:]
  /// The centrals for which an update was refused, and which have had no room since.
  private var starved: Set<PeerIdentity> = []
  /// The centrals that are not waited for.
  private var stalled: Set<PeerIdentity> = []

  /// - Returns: the clients that get an update: all that are waited for; nil if one of these has no room, or none has
  mutating func take(for clients: [PeerIdentity]) -> [PeerIdentity]? {
    let full = Set(clients.filter { waiting[$0, default: 0] >= Self.limit })
    let lively = full.subtracting(stalled)
    let awaited = lively.isEmpty && full.count == clients.count ? full : lively
    starved.formUnion(awaited)
    guard awaited.isEmpty else { return nil }
    let takers = clients.filter { !full.contains($0) }
    for client in takers { waiting[client, default: 0] += 1 }
    return takers
  }

  /// The central has taken nothing for a while.
  ///
  /// - Returns: as ``give(_:)``
  mutating func stall(_ client: PeerIdentity) -> Bool {
    guard waiting[client] != nil else { return false }
    stalled.insert(client)
    return hasRoom(client)
  }

  /// The link has taken one.
  ///
  /// - Returns: whether to report to the waiting program that there is room
  mutating func give(_ client: PeerIdentity) -> Bool {
    guard let count = waiting[client] else { return false }
    waiting[client] = count > 1 ? count - 1 : nil
    stalled.remove(client)
    return count - 1 <= Self.limit / 2 && hasRoom(client)
  }

  /// The central has gone.
  ///
  /// - Returns: as ``give(_:)``
  mutating func left(_ client: PeerIdentity) -> Bool {
    waiting[client] = nil
    stalled.remove(client)
    return hasRoom(client)
  }

  private mutating func hasRoom(_ client: PeerIdentity) -> Bool {
    starved.remove(client) != nil && starved.isEmpty
  }
}
