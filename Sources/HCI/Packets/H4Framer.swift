import HaloBluetoothCore

/// Splits a byte stream (a UART, a socket) into HCI packets, and resynchronizes after garbage (Core Specification Vol
/// 4, Part A).
///
/// H4 does not mark the start of a packet: each follows the previous one. A lost or extra byte makes the stream
/// undecodable until a start is found again. The framer is in one of two states.
///
/// - *In step*, a packet begins at the next byte. It is accepted if its type is allowed here and its length is
///   possible. If not, the byte is garbage and the framer is out of step.
/// - *Out of step*, bytes are skipped, and counted, until one begins a packet that is unlikely to occur by chance: an
///   event whose length matches its code, Command Complete and commands with an existing opcode, or ACL data that
///   starts an L2CAP frame of matching length. Other packets (continued ACL data, synchronous data, unknown events) are
///   not accepted, since a false start would discard valid packets.
///
/// The decision depends only on the bytes of the packet itself, never on those after it: the stream yields the same
/// packets however it is split into chunks. A false start costs at most one packet of maximum length.
///
/// A packet contained in one chunk is delivered in place. Only split packets are collected, in a buffer that is kept:
/// neither case allocates.
package final class H4Framer {
  /// The packet types that a host receives.
  package static let fromController: [HCIPacketType] = [.acl, .synchronous, .event, .isochronous]
  /// The packet types that a controller receives.
  package static let fromHost: [HCIPacketType] = [.command, .acl, .synchronous, .isochronous]

  /// The number of bytes that belonged to no packet.
  @exclusivity(unchecked) package private(set) var garbageBytes: UInt64 = 0

  private let legalTypes: UInt8
  private let largestData: Int
  @exclusivity(unchecked) private var inStep = true
  /// The start of an incomplete packet.
  @exclusivity(unchecked) private var pending: [UInt8]
  /// Counts resets, so that a reset during a chunk ends its processing.
  @exclusivity(unchecked) private var resets = 0

  /// - Parameters:
  ///   - types: the packet types allowed in this direction
  ///   - largestData: the maximum length of ACL or isochronous data in a packet; a greater length is garbage. LE
  ///     controllers have buffers of at most a few hundred bytes.
  package init(accepting types: [HCIPacketType] = fromController, largestData: Int = 4096) {
    legalTypes = types.reduce(0) { $0 | 1 << $1.rawValue }
    self.largestData = largestData
    pending = []
    pending.reserveCapacity(largestData + 5)
  }

  /// Discards an incomplete packet and expects a packet start at the next byte; for a restarted stream.
  /// ``garbageBytes`` is kept. May be called from within `deliver`: the rest of that chunk is dropped.
  package func reset() {
    pending.removeAll(keepingCapacity: true)
    inStep = true
    resets &+= 1
  }

  /// Processes the next bytes of the stream.
  ///
  /// - Parameters:
  ///   - chunk: the bytes of one read
  ///   - deliver: called for each complete packet, with its H4 type byte; the span is valid only during the
  ///     call. It must not feed the framer.
  package func receive(_ chunk: RawSpan, _ deliver: (RawSpan) -> Void) {
    let start = pending.isEmpty ? 0 : complete(with: chunk, deliver)
    guard let start, start < chunk.byteCount else { return }
    let resets = resets
    let end = scan(chunk, from: start, deliver)
    if self.resets == resets, end < chunk.byteCount { append(chunk, end..<chunk.byteCount) }
  }

  /// Completes the pending packet, consuming no more than it needs.
  /// - Returns: the number of bytes consumed; nil if the chunk has been processed completely.
  private func complete(with chunk: RawSpan, _ deliver: (RawSpan) -> Void) -> Int? {
    let resets = resets
    var taken = 0
    while true {
      switch verdict(on: pending.span.bytes, at: 0) {
      case .needs(let count):
        let more = min(count - pending.count, chunk.byteCount - taken)
        guard more > 0 else { return nil }
        append(chunk, taken..<taken + more)
        taken += more
      case .packet:
        inStep = true
        lend { packet in deliver(packet) }
        return self.resets == resets ? taken : nil
      case .garbage:
        // A packet may follow the false start: examine it together with the rest of the chunk.
        append(chunk, taken..<chunk.byteCount)
        var end = 0
        lend { bytes in
          end = scan(bytes, from: 0, deliver)
          if self.resets == resets, end < bytes.byteCount { append(bytes, end..<bytes.byteCount) }
        }
        return nil
      }
    }
  }

  /// Delivers every complete packet.
  /// - Returns: the start of the first incomplete packet.
  private func scan(_ bytes: RawSpan, from start: Int, _ deliver: (RawSpan) -> Void) -> Int {
    let resets = resets
    var offset = start
    while offset < bytes.byteCount {
      switch verdict(on: bytes, at: offset) {
      case .needs:
        return offset
      case .packet(let count):
        inStep = true
        deliver(bytes.extracting(offset..<offset + count))
        guard self.resets == resets else { return bytes.byteCount }
        offset += count
      case .garbage:
        inStep = false
        garbageBytes &+= 1
        offset += 1
      }
    }
    return offset
  }

  private func append(_ bytes: RawSpan, _ range: Range<Int>) {
    bytes.extracting(range).withUnsafeBytes { pending.append(contentsOf: $0) }
  }

  /// Moves the pending bytes out while they are used, so that `body` may use the buffer, and moves their memory back.
  private func lend(_ body: (RawSpan) -> Void) {
    var lent: [UInt8] = []
    swap(&lent, &pending)
    body(lent.span.bytes)
    lent.removeAll(keepingCapacity: true)
    if pending.capacity < lent.capacity {
      lent.append(contentsOf: pending)
      swap(&lent, &pending)
    }
  }

  private enum Verdict {
    /// A packet of the given number of bytes, all of which are available.
    case packet(Int)
    /// Possibly a packet: the given number of bytes from its start is needed to decide.
    case needs(Int)
    case garbage
  }

  private func verdict(on bytes: RawSpan, at start: Int) -> Verdict {
    let available = bytes.byteCount - start
    guard let type = bytes.byte(at: start) else { return .needs(1) }
    guard type < 8, legalTypes >> type & 1 == 1 else { return .garbage }
    func byte(_ index: Int) -> Int { Int(bytes.byte(at: start + index) ?? 0) }
    func word(_ index: Int) -> Int { byte(index) | byte(index + 1) << 8 }

    let packetType = HCIPacketType(rawValue: type)
    let header = packetType.headerLength
    guard let count = packetType.statedLength(in: bytes, at: start) else { return .needs(header) }
    guard isPossible(type, first: word(1), count: count) else { return .garbage }
    if !inStep {
      let telling = tellingBytes(type, code: byte(1), count: count)
      guard available >= telling else { return .needs(telling) }
      guard isConvincing(type, count: count, byte: byte, word: word) else { return .garbage }
    }
    return available >= header + count ? .packet(header + count) : .needs(header + count)
  }

  /// The conditions that any packet has to meet.
  private func isPossible(_ type: UInt8, first: Int, count: Int) -> Bool {
    switch HCIPacketType(rawValue: type) {
    case .event: first & 0xFF != 0
    case .acl: first & 0xFFF <= ConnectionHandle.highest.rawValue && count <= largestData
    case .isochronous: count <= largestData
    default: true
    }
  }

  /// The number of bytes that ``isConvincing(_:count:byte:word:)`` examines.
  private func tellingBytes(_ type: UInt8, code: Int, count: Int) -> Int {
    switch HCIPacketType(rawValue: type) {
    case .acl: min(5 + count, 9)
    case .event where code == HCIEventCode.commandComplete.rawValue: 3 + min(count, 3)
    case .event where code == HCIEventCode.leMeta.rawValue: 3 + min(count, 1)
    default: 0
    }
  }

  /// The additional conditions for the first packet after garbage.
  private func isConvincing(_ type: UInt8, count: Int, byte: (Int) -> Int, word: (Int) -> Int) -> Bool {
    switch HCIPacketType(rawValue: type) {
    case .command:
      return HCIOpcode(rawValue: UInt16(word(1))).name != nil
    case .acl:
      // The start of a frame on a point-to-point link, at least as long as the fragment.
      let flags = word(1) >> 12
      return (flags == 0 || flags == 2) && count >= 4 && word(5) + 4 >= count && word(7) != 0
    case .event:
      switch HCIEventCode(rawValue: UInt8(byte(1))) {
      case .commandComplete: return count >= 3 && HCIOpcode(rawValue: UInt16(word(4))).name != nil
      case .leMeta: return count >= 1 && Self.fits(LESubevent(rawValue: UInt8(byte(3))), count)
      case let code: return Self.fits(code, count)
      }
    default:
      return false
    }
  }

  /// Whether a relevant event can have this number of parameters.
  private static func fits(_ code: HCIEventCode, _ count: Int) -> Bool {
    switch code {
    case .disconnectionComplete, .encryptionChange, .commandStatus: count == 4
    case .readRemoteVersionInformationComplete: count == 8
    case .hardwareError: count == 1
    case .numberOfCompletedPackets: count >= 5 && count % 4 == 1
    case .encryptionKeyRefreshComplete: count == 3
    default: false
    }
  }

  /// Whether a relevant LE Meta event can have this number of parameters, including the subevent code.
  private static func fits(_ subevent: LESubevent, _ count: Int) -> Bool {
    switch subevent {
    case .connectionComplete: count == 19
    case .advertisingReport: count >= 12
    case .connectionUpdateComplete: count == 10
    case .readRemoteFeaturesComplete: count == 12
    case .longTermKeyRequest: count == 13
    case .remoteConnectionParameterRequest, .dataLengthChange: count == 11
    case .enhancedConnectionComplete: count == 31
    case .directedAdvertisingReport: count >= 18 && count % 16 == 2
    case .phyUpdateComplete: count == 6
    case .extendedAdvertisingReport: count >= 26
    case .scanTimeout: count == 1
    case .channelSelectionAlgorithm: count == 4
    case .enhancedConnectionCompleteV2: count == 34
    default: false
    }
  }
}
