import HaloBluetoothCore

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
