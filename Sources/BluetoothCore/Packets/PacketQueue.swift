/// Packets in the order in which they are sent: one after the other, each behind its length, in memory that is kept.
package struct PacketQueue: Sendable {
  private var bytes: [UInt8] = []
  /// Where the length of the first one is. Moving all at each removal would take as long as there are packets.
  private var start = 0
  /// The number of packets.
  package private(set) var count = 0

  private static let lengthSize = MemoryLayout<UInt32>.size

  package init() {}

  package var isEmpty: Bool { count == 0 }

  /// Adds a copy of a packet.
  package mutating func append(_ packet: RawSpan) {
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: packet.byteCount)) { bytes.append(contentsOf: $0) }
    packet.withUnsafeBytes { bytes.append(contentsOf: $0) }
    count += 1
  }

  /// Moves all packets of another queue behind those of this one.
  package mutating func append(_ others: inout PacketQueue) {
    bytes.append(contentsOf: others.bytes[others.start...])
    count += others.count
    others.removeAll()
  }

  /// The first packet; no bytes if there is none.
  package var first: RawSpan {
    @_lifetime(borrow self)
    get {
      let start = min(self.start + Self.lengthSize, bytes.count)
      return bytes.span.bytes.extracting(start..<start + firstLength)
    }
  }

  private var firstLength: Int {
    isEmpty ? 0 : Int(bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt32.self))
  }

  /// Removes the first packet, if there is one.
  package mutating func removeFirst() {
    guard count > 1 else { return removeAll() }
    start += Self.lengthSize + firstLength
    count -= 1
    guard start > bytes.count / 2 else { return }
    bytes.removeSubrange(..<start)
    start = 0
  }

  package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    (start, count) = (0, 0)
  }
}
