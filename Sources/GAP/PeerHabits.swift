import HCI
import HaloBluetoothCore

/// The procedure during which a link was lost.
package struct LinkCost: Hashable, Sendable {
  package let procedure: LinkProcedure
  /// Whether the peer has ended the link in place of an answer, or gave none: it does so again.
  package let isAnswer: Bool

  package init(_ procedure: LinkProcedure, isAnswer: Bool) {
    self.procedure = procedure
    self.isAnswer = isAnswer
  }
}

/// The procedures that have cost the links to peers. The next links to these peers do without them.
struct PeerHabits {
  private struct Habits {
    var costs: [LinkProcedure: Int] = [:]
    var leftOut: Set<LinkProcedure> = []
    /// When something was last noted, as a number.
    var last: UInt64
  }

  private var peers: [PeerIdentity: Habits] = [:]
  private var notes: UInt64 = 0

  /// The number of peers that are remembered: those of which something was noted last.
  static let capacity = 256
  /// A procedure that costs as many links is left out.
  private static let tolerance = 2

  /// The procedures to omit on the next link to a peer.
  func leftOut(of peer: PeerIdentity) -> Set<LinkProcedure> { peers[peer]?.leftOut ?? [] }

  /// A link was lost, or not established.
  mutating func note(_ cost: LinkCost, of peer: PeerIdentity) {
    if peers[peer] == nil, peers.count >= Self.capacity,
      let oldest = peers.min(by: { $0.value.last < $1.value.last })?.key
    {
      peers[oldest] = nil
    }
    notes += 1
    var habits = peers[peer] ?? Habits(last: notes)
    habits.last = notes
    habits.costs[cost.procedure, default: 0] += 1
    if cost.isAnswer || habits.costs[cost.procedure, default: 0] >= Self.tolerance {
      habits.leftOut.insert(cost.procedure)
    }
    peers[peer] = habits
  }

  /// A link on which values came has ended: its first procedures have not cost it. Links are lost by chance, too, and over
  /// weeks each procedure would be blamed once.
  mutating func notePassed(_ peer: PeerIdentity) {
    guard let costs = peers[peer]?.costs else { return }
    peers[peer]?.costs = costs.filter { $0.key == .keepParameters }
  }
}
