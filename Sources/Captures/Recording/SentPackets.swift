import ATT
import HCI
import HaloBluetoothCore
import L2CAP

/// Packets that the stack has sent and that were not found in the recording yet.
///
/// Two packets that nothing puts in order may have been recorded in the other one. The stack has answered a peer's request
/// before or after its own next request; both are right, and which it was depended on when it was scheduled. So packets stand
/// in lanes, and the order matters within a lane only.
struct SentPackets {
  /// Packets whose order follows from received packets.
  private enum Lane: Hashable {
    /// HCI commands: the controller carries out one after the other.
    case commands
    /// A channel of a link. On ATT's, the requests of the client and the responses of the server are independent
    /// (Vol 3, Part F, 3.3.2).
    case channel(ConnectionHandle, UInt16, isResponse: Bool)
    /// Others, each a lane of its type.
    case type(UInt8)
  }

  private var packets: [(bytes: [UInt8], lane: Lane)] = []
  /// The lane of the last frame on a link, for its further fragments.
  private var lanes: [ConnectionHandle: Lane] = [:]

  var isEmpty: Bool { packets.isEmpty }

  mutating func append(_ packet: RawSpan) {
    let lane = lane(of: packet)
    if let link = Self.header(of: packet)?.handle { lanes[link] = lane }
    packets.append((Array(packet), lane))
  }

  /// Removes the packet that was recorded; of one that is truncated in the file, only the recorded part is compared.
  ///
  /// - Returns: whether it was sent, and nothing before it in its lane
  mutating func remove(_ record: [UInt8], originalLength: Int) -> Bool {
    var passed: Set<Lane> = []
    for (index, packet) in packets.enumerated() {
      let isRecorded = packet.bytes.count == originalLength && Self.isSame(packet.bytes, record)
      if isRecorded, !passed.contains(packet.lane) {
        packets.remove(at: index)
        return true
      }
      passed.insert(packet.lane)
    }
    return false
  }

  /// Whether a packet is the recorded one. Masks of events differ between versions of the stack: the controller answers each.
  private static func isSame(_ packet: [UInt8], _ record: [UInt8]) -> Bool {
    let command = HCIOpcode(ofCommand: record.span.bytes)
    let isMask = command == SetEventMask.opcode || command == LESetEventMask.opcode
    return packet.starts(with: isMask ? record.prefix(4) : record[...])
  }

  /// Removes the packet that was sent in place of the recorded one: the first of its lane, if there is one.
  mutating func removeInstead(of record: [UInt8]) -> [UInt8]? {
    let lane = lane(of: record.span.bytes)
    return packets.firstIndex { $0.lane == lane }.map { packets.remove(at: $0).bytes }
  }

  /// Removes the first packet.
  mutating func popFirst() -> [UInt8]? { packets.isEmpty ? nil : packets.removeFirst().bytes }

  private func lane(of packet: RawSpan) -> Lane {
    guard let type = packet.byte(at: 0) else { return .type(0) }
    switch HCIPacketType(rawValue: type) {
    case .command: return .commands
    case .acl:
      guard let header = Self.header(of: packet) else { return .type(type) }
      if header.boundary == .continuing { return lanes[header.handle] ?? .type(type) }
      return channel(of: packet, header.handle) ?? .type(type)
    default: return .type(type)
    }
  }

  /// The header of an ACL packet.
  private static func header(of packet: RawSpan) -> ACLHeader? {
    guard packet.byte(at: 0) == HCIPacketType.acl.rawValue else { return nil }
    var reader = ByteReader(packet.extracting(1...))
    return try? ACLHeader(parsing: &reader)
  }

  private func channel(of packet: RawSpan, _ link: ConnectionHandle) -> Lane? {
    // Type, ACL header, and the length of the L2CAP frame come before its channel.
    guard let low = packet.byte(at: 7), let high = packet.byte(at: 8) else { return nil }
    let channel = UInt16(low) | UInt16(high) << 8
    var isResponse = false
    if channel == ChannelID.attribute.rawValue, let opcode = packet.byte(at: 9) {
      isResponse = ATTOpcode(rawValue: opcode).kind == .response
    }
    return .channel(link, channel, isResponse: isResponse)
  }
}
