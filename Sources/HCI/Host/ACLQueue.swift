import HaloBluetoothCore

/// Sends ACL data to the controller in fragments, within its buffer size and number of free buffers (Core Specification
/// Vol 4, Part E, 4.1.1). Links take turns.
struct ACLQueue {
  private struct Link {
    var handle: ConnectionHandle
    var packets: [[UInt8]] = []
    /// Packets that the controller holds.
    var inFlight = 0
    /// Packets that it has sent.
    var sent: UInt64 = 0
    /// Whether the link was full, and new room was not yet reported.
    var wasFull = false
  }

  /// The maximum number of packets queued on one link. It bounds the memory used by answers to a peer that sends
  /// requests but receives nothing.
  static let maximumWaiting = 512
  /// From this number on, a link has no room for packets that can wait. The rest is reserved for responses and
  /// confirmations, which can't.
  static let full = 128
  /// A link that was full has room again when at most this number of packets is queued.
  static let drained = 32

  private var links: [Link] = []
  private var nextTurn = 0
  private(set) var capacity = 0
  private(set) var dataLength = 27
  private var credits = 0

  /// Sets the values from LE Read Buffer Size, and removes all links and packets.
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

  /// The controller drops the packets of a disconnected link, and their buffers are free again (7.7.5).
  mutating func disconnected(_ handle: ConnectionHandle) {
    guard let index = links.firstIndex(where: { $0.handle == handle }) else { return }
    credits = min(capacity, credits + links[index].inFlight)
    links.remove(at: index)
  }

  /// Whether a link has room for packets that can wait. If not, ``takeDrained()`` returns it when it has room again.
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

  /// The packets of a link that the controller has not sent, here and there.
  func unsent(_ handle: ConnectionHandle) -> Int {
    links.first { $0.handle == handle }.map { $0.packets.count + $0.inFlight } ?? 0
  }

  /// For each link, how many packets the controller holds, and has sent.
  var progress: [(handle: ConnectionHandle, inFlight: Int, sent: UInt64)] {
    links.map { ($0.handle, $0.inFlight, $0.sent) }
  }

  /// The number of packets queued on all links.
  var waitingCount: Int { links.reduce(0) { $0 + $1.packets.count } }

  /// Fragments a frame into packets and queues them.
  ///
  /// - Returns: false if the link is unknown or its queue is full
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

  /// The next packet to send; nil if there is none, or no free buffer.
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

  /// Buffers of the controller are free again. Numbers that exceed the outstanding packets are ignored.
  mutating func completed(_ count: Int, on handle: ConnectionHandle) {
    guard let index = links.firstIndex(where: { $0.handle == handle }) else { return }
    let freed = min(count, links[index].inFlight)
    links[index].inFlight -= freed
    links[index].sent &+= UInt64(freed)
    credits = min(capacity, credits + freed)
  }
}
