import HaloBluetoothCore

/// Decides when packets of ACL data are sent, within the number of the controller's free buffers (Core Specification Vol 4,
/// Part E, 4.1.1). Links take turns, and each link can have one buffer at any time: a link that stalls keeps all that it has
/// until its supervision timeout (espressif/esp-nimble 118, zephyrproject-rtos/zephyr 108224).
struct ACLQueue {
  private struct Link {
    var handle: ConnectionHandle
    var packets = PacketQueue()
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

  /// The fate of a packet of a link.
  enum Admission {
    /// It is to be sent now: the controller has a buffer for it.
    case sent
    /// A copy of it waits.
    case waits
    /// The link is unknown, or has no room for it.
    case refused
  }

  /// Whether a link may have one more buffer: one is kept for each other link that has none.
  private func mayUse(_ index: Int) -> Bool {
    guard credits > 0, links[index].inFlight > 0, credits < links.count else { return credits > 0 }
    return credits > links.reduce(0) { $0 + ($1.inFlight == 0 ? 1 : 0) }
  }

  /// Decides about the next packet of a link. It is sent at once if the link may have a buffer for it, and none of its packets
  /// waits.
  mutating func admit(_ packet: RawSpan, on handle: ConnectionHandle) -> Admission {
    guard let index = links.firstIndex(where: { $0.handle == handle }) else { return .refused }
    guard links[index].packets.isEmpty, mayUse(index) else {
      guard links[index].packets.count < Self.maximumWaiting else { return .refused }
      links[index].packets.append(packet)
      return .waits
    }
    credits -= 1
    links[index].inFlight += 1
    return .sent
  }

  /// Takes out the packets of the link whose turn it is, to send the first one. Give them back to ``return(_:to:)``.
  ///
  /// - Returns: the link; nil if no packet waits, or there is no free buffer
  mutating func takeNext(_ packets: inout PacketQueue) -> ConnectionHandle? {
    guard credits > 0 else { return nil }
    for step in 0..<links.count {
      let index = (nextTurn + step) % links.count
      guard !links[index].packets.isEmpty, mayUse(index) else { continue }
      nextTurn = index + 1
      credits -= 1
      links[index].inFlight += 1
      swap(&packets, &links[index].packets)
      return links[index].handle
    }
    return nil
  }

  /// Takes back the packets of a link, if it still exists.
  mutating func `return`(_ packets: inout PacketQueue, to handle: ConnectionHandle) {
    guard let index = links.firstIndex(where: { $0.handle == handle }) else { return packets.removeAll() }
    swap(&packets, &links[index].packets)
    // There are some if sending has led to another call.
    if !packets.isEmpty { links[index].packets.append(&packets) }
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

/// Data of links that the controller has not reported yet. Over USB, data and events take different paths, and the first data
/// of a link have come before its LE Connection Complete, by up to 11 ms (bluetooth-next#472, bumble#935, CachyOS
/// kernel-patches#180).
struct EarlyACLBuffer {
  struct Packet {
    let handle: ConnectionHandle
    /// ACL header and data.
    let body: [UInt8]
    let arrival: Arrival
  }

  /// How long data are kept.
  static let longestTime = Duration.milliseconds(100)
  static let maximumCount = 16

  private var packets: [Packet] = []
  /// Handles of links that have ended recently: their late data belong to no new link.
  private var ended: [(handle: ConnectionHandle, time: Instant)] = []

  /// Keeps a packet.
  ///
  /// - Returns: false if there are too many, or it may be of a link that has ended
  mutating func keep(_ body: RawSpan, of handle: ConnectionHandle, at arrival: Arrival) -> Bool {
    expire(at: arrival.time)
    guard packets.count < Self.maximumCount, !ended.contains(where: { $0.handle == handle }) else {
      return false
    }
    packets.append(Packet(handle: handle, body: Array(body), arrival: arrival))
    return true
  }

  /// The packets of a link, which is known now.
  mutating func take(of handle: ConnectionHandle, at time: Instant) -> [Packet] {
    guard !packets.isEmpty else { return [] }
    expire(at: time)
    let result = packets.filter { $0.handle == handle }
    packets.removeAll { $0.handle == handle }
    return result
  }

  /// A link has ended.
  mutating func ended(_ handle: ConnectionHandle, at time: Instant) {
    expire(at: time)
    packets.removeAll { $0.handle == handle }
    if ended.count == Self.maximumCount { ended.removeFirst() }
    ended.append((handle, time))
  }

  private mutating func expire(at time: Instant) {
    packets.removeAll { $0.arrival.time + Self.longestTime < time }
    ended.removeAll { $0.time + Self.longestTime < time }
  }
}
