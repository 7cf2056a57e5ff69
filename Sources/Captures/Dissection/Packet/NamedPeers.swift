import HaloBluetoothCore

/// The devices of a capture that a ``PacketFilter`` means by their names, so that it also selects the packets before a name
/// was known. Bounded.
package struct NamedPeers: Sendable {
  private static let capacity = 4096

  /// A link whose peer is unknown.
  private struct Link: Hashable {
    var adapter: UInt16?
    var number: UInt32
  }

  private var addresses: Set<UInt64> = []
  private var links: Set<Link> = []

  package init() {}

  /// Whether there is none.
  package var isEmpty: Bool { addresses.isEmpty && links.isEmpty }

  /// Adds the device at the other end of a packet's link.
  mutating func insert(_ link: LinkIdentity, of packet: DissectedPacket) {
    guard addresses.count + links.count < Self.capacity else { return }
    if let peer = link.peer {
      addresses.insert(peer.value)
    } else {
      links.insert(Link(adapter: packet.info.adapter, number: link.number))
    }
  }

  /// Whether the device at the other end of a packet's link is one of them.
  func contains(_ link: LinkIdentity, of packet: DissectedPacket) -> Bool {
    if let peer = link.peer { return addresses.contains(peer.value) }
    return links.contains(Link(adapter: packet.info.adapter, number: link.number))
  }
}
