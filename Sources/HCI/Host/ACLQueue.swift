import BluetoothCore

/// Hands ACL data to the controller in pieces that it can hold, never more at once than it has room for
/// (Core Specification Vol 4, Part E, 4.1.1). Links take turns.
struct ACLQueue {
  private struct Link {
    var handle: ConnectionHandle
    var packets: [[UInt8]] = []
    /// Packets that the controller holds.
    var inFlight = 0
    /// Whether it was full, and that it has room again was not reported yet.
    var wasFull = false
  }

  /// What one link may have waiting, in packets. A peer that makes us answer without end, on a link that takes
  /// nothing, must not fill the memory.
  static let maximumWaiting = 512
  /// From here on a link has no room for what can wait. The rest is for answers and confirmations, which can't.
  static let full = 128
  /// A link that was full has room again when no more than this waits.
  static let drained = 32

  private var links: [Link] = []
  private var nextTurn = 0
  private(set) var capacity = 0
  private(set) var dataLength = 27
  private var credits = 0

  /// Sets what LE Read Buffer Size said, and forgets everything.
  mutating func reset(capacity: Int, dataLength: Int) {
    links = []
    nextTurn = 0
    self.capacity = capacity
    self.dataLength = max(1, dataLength)
    credits = capacity
  }

  mutating func connected(_ handle: ConnectionHandle) {
    disconnected(handle)
    links.append(Link(handle: handle))
  }

  /// What the controller held for a link is gone with it, and its room is free again (7.7.5).
  mutating func disconnected(_ handle: ConnectionHandle) {
    guard let index = links.firstIndex(where: { $0.handle == handle }) else { return }
    credits = min(capacity, credits + links[index].inFlight)
    links.remove(at: index)
  }

  /// Whether a link has room for what can wait. Once it has not, ``takeDrained()`` names it when it has again.
  mutating func hasRoom(_ handle: ConnectionHandle) -> Bool {
    guard let index = links.firstIndex(where: { $0.handle == handle }) else { return false }
    if links[index].packets.count >= Self.full { links[index].wasFull = true }
    return !links[index].wasFull
  }

  /// The links that were full and have room again, each once.
  mutating func takeDrained() -> [ConnectionHandle] {
    var drained: [ConnectionHandle] = []
    for index in links.indices where links[index].wasFull && links[index].packets.count <= Self.drained {
      links[index].wasFull = false
      drained.append(links[index].handle)
    }
    return drained
  }

  /// Whether the controller holds packets.
  var hasPacketsInFlight: Bool { credits < capacity }

  /// How many packets wait on all links.
  var waitingCount: Int { links.reduce(0) { $0 + $1.packets.count } }

  /// Cuts a frame into packets and queues them.
  ///
  /// - Returns: false if the link is not known or has too much waiting
  mutating func enqueue(_ frame: RawSpan, on handle: ConnectionHandle) -> Bool {
    guard let index = links.firstIndex(where: { $0.handle == handle }),
      links[index].packets.count < Self.maximumWaiting
    else { return false }
    var offset = 0
    repeat {
      let end = min(offset + dataLength, frame.byteCount)
      let header = ACLHeader(
        handle: handle, boundary: offset == 0 ? .firstNonFlushable : .continuing,
        dataLength: UInt16(truncatingIfNeeded: end - offset))
      var packet = ByteWriter(capacity: 1 + ACLHeader.length + end - offset)
      packet.write(HCIPacketType.acl.rawValue)
      header.write(into: &packet)
      packet.write(frame.extracting(offset..<end))
      links[index].packets.append(packet.bytes)
      offset = end
    } while offset < frame.byteCount
    return true
  }

  /// The next packet to send; nil if none, or no room for it.
  mutating func next() -> [UInt8]? {
    guard credits > 0 else { return nil }
    for step in 0..<links.count {
      let index = (nextTurn + step) % links.count
      guard !links[index].packets.isEmpty else { continue }
      nextTurn = index + 1
      credits -= 1
      links[index].inFlight += 1
      return links[index].packets.removeFirst()
    }
    return nil
  }

  /// The controller has room again. What it claims beyond what it held is ignored.
  mutating func completed(_ count: Int, on handle: ConnectionHandle) {
    guard let index = links.firstIndex(where: { $0.handle == handle }) else { return }
    let freed = min(count, links[index].inFlight)
    links[index].inFlight -= freed
    credits = min(capacity, credits + freed)
  }
}
