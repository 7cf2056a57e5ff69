import HaloBluetoothCore

/// Packets in the order in which they are sent, with their H4 type bytes: one after the other, in memory that is kept.
struct PacketQueue {
  private var bytes: [UInt8] = []
  /// Where the first one is. Moving all at each removal would take as long as there are packets.
  private var start = 0
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  mutating func append(_ packet: RawSpan) {
    packet.withUnsafeBytes { bytes.append(contentsOf: $0) }
    count += 1
  }

  /// Moves all packets of another queue behind those of this one.
  mutating func append(_ others: inout PacketQueue) {
    bytes.append(contentsOf: others.bytes[others.start...])
    count += others.count
    others.removeAll()
  }

  /// The first packet. There must be one.
  var first: RawSpan {
    @_lifetime(borrow self)
    get { bytes.span.bytes.extracting(start..<firstEnd) }
  }

  private var firstEnd: Int {
    let header = HCIPacketType.acl.headerLength
    return start + header + (HCIPacketType.acl.statedLength(in: bytes.span.bytes, at: start) ?? 0)
  }

  /// Removes the first packet. There must be one.
  mutating func removeFirst() {
    start = firstEnd
    count -= 1
    if isEmpty {
      removeAll()
    } else if start > bytes.count / 2 {
      bytes.removeSubrange(..<start)
      start = 0
    }
  }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    (start, count) = (0, 0)
  }
}
