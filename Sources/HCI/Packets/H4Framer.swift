import BluetoothCore

/// Cuts a byte stream (a UART, a socket) into HCI packets, and finds the next one after garbage
/// (Core Specification Vol 4, Part A).
///
/// H4 has no mark for the start of a packet: each follows the one before. One byte lost, or one too many, and
/// the stream has no meaning until a start is found again. So the framer is in one of two states.
///
/// - *In step*, a packet begins at the next byte. It is believed if its type is legal here and its length is
///   possible. If not, the byte is garbage and the framer is out of step.
/// - *Out of step*, bytes are skipped, and counted, until one begins a packet that hardly comes about by chance:
///   an event whose length fits its code, Command Complete and commands with an opcode that exists, or ACL data
///   that starts an L2CAP frame of fitting length. Everything else (continued ACL data, synchronous data,
///   unknown events) is worth less than a false start, which would swallow what is good.
///
/// The answer depends on the bytes of the packet itself alone, never on what has arrived after it: the stream yields
/// the same packets in whatever chunks it comes. A false start costs at most the greatest packet.
///
/// A packet that lies whole in a chunk is handed on where it lies. Only one that is cut is collected, in a buffer
/// that is kept: neither allocates.
public final class H4Framer {
  /// What a host receives.
  public static let fromController: [HCIPacketType] = [.acl, .synchronous, .event, .isochronous]
  /// What a controller receives.
  public static let fromHost: [HCIPacketType] = [.command, .acl, .synchronous, .isochronous]

  /// Bytes that belonged to no packet, since the framer was made.
  public private(set) var garbageBytes: UInt64 = 0

  private let legalTypes: UInt8
  private let largestData: Int
  private var inStep = true
  /// The start of a packet whose end has not come.
  private var pending: [UInt8]
  /// Counts resets, so that one in the middle of a chunk ends the work on it.
  private var resets = 0

  /// - Parameters:
  ///   - types: what may come from this side
  ///   - largestData: the most bytes of ACL or isochronous data in a packet; a length above is garbage. No
  ///     controller for LE has buffers of more than a few hundred bytes.
  public init(accepting types: [HCIPacketType] = fromController, largestData: Int = 4096) {
    legalTypes = types.reduce(0) { $0 | 1 << $1.rawValue }
    self.largestData = largestData
    pending = []
    pending.reserveCapacity(largestData + 5)
  }

  /// Forgets the start of a packet and believes the next byte to be a start; for a stream that begins anew.
  /// ``garbageBytes`` stays. May be called from within `deliver`: the rest of that chunk is dropped.
  public func reset() {
    pending.removeAll(keepingCapacity: true)
    inStep = true
    resets &+= 1
  }

  /// Takes the next bytes of the stream.
  /// - Parameter deliver: gets each packet that is complete now, with its H4 type byte, as a view that ends with
  ///   the call. It must not feed the framer.
  public func receive(_ chunk: RawSpan, _ deliver: (RawSpan) -> Void) {
    let start = pending.isEmpty ? 0 : complete(with: chunk, deliver)
    guard let start, start < chunk.byteCount else { return }
    let resets = resets
    let end = scan(chunk, from: start, deliver)
    if self.resets == resets, end < chunk.byteCount { append(chunk, end..<chunk.byteCount) }
  }

  /// Brings the packet that is pending to its end, taking no more than it needs.
  /// - Returns: how much of the chunk was taken; nil if all the work on it is done.
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
        // What follows the false start may be a packet: look at it together with the rest of the chunk.
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

  /// Hands on every packet that is whole.
  /// - Returns: where the first one begins that is not.
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

  /// Takes the pending bytes out while they are used, so that what `body` calls may use the buffer, and gives
  /// its memory back.
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
}

extension H4Framer {
  private enum Verdict {
    /// A packet of so many bytes, all of which are here.
    case packet(Int)
    /// Maybe a packet: so many bytes from its start on tell more.
    case needs(Int)
    case garbage
  }

  private func verdict(on bytes: RawSpan, at start: Int) -> Verdict {
    let available = bytes.byteCount - start
    guard let type = bytes.byte(at: start) else { return .needs(1) }
    guard type < 8, legalTypes >> type & 1 == 1 else { return .garbage }
    func byte(_ index: Int) -> Int { Int(bytes.byte(at: start + index) ?? 0) }
    func word(_ index: Int) -> Int { byte(index) | byte(index + 1) << 8 }

    let header: Int
    switch HCIPacketType(rawValue: type) {
    case .event: header = 3
    case .acl, .isochronous: header = 5
    default: header = 4
    }
    guard available >= header else { return .needs(header) }

    let count: Int
    switch HCIPacketType(rawValue: type) {
    case .acl: count = word(3)
    case .isochronous: count = word(3) & 0x3FFF
    default: count = byte(header - 1)
    }
    guard isPossible(type, first: word(1), count: count) else { return .garbage }
    if !inStep {
      let telling = tellingBytes(type, code: byte(1), count: count)
      guard available >= telling else { return .needs(telling) }
      guard isConvincing(type, count: count, byte: byte, word: word) else { return .garbage }
    }
    return available >= header + count ? .packet(header + count) : .needs(header + count)
  }

  /// What any packet has to fulfil.
  private func isPossible(_ type: UInt8, first: Int, count: Int) -> Bool {
    switch HCIPacketType(rawValue: type) {
    case .event: first & 0xFF != 0
    case .acl: first & 0xFFF <= ConnectionHandle.highest.rawValue && count <= largestData
    case .isochronous: count <= largestData
    default: true
    }
  }

  /// How many bytes ``isConvincing(_:count:byte:word:)`` looks at.
  private func tellingBytes(_ type: UInt8, code: Int, count: Int) -> Int {
    switch HCIPacketType(rawValue: type) {
    case .acl: min(5 + count, 9)
    case .event where code == HCIEventCode.commandComplete.rawValue: 3 + min(count, 3)
    case .event where code == HCIEventCode.leMeta.rawValue: 3 + min(count, 1)
    default: 0
    }
  }

  /// What a packet has to fulfil in addition to be the first one after garbage.
  private func isConvincing(_ type: UInt8, count: Int, byte: (Int) -> Int, word: (Int) -> Int) -> Bool {
    switch HCIPacketType(rawValue: type) {
    case .command:
      return HCIOpcode(rawValue: UInt16(word(1))).name != nil
    case .acl:
      // The start of a frame on a link to one peer, with a length that reaches at least as far as the fragment.
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

  /// Whether an event that matters here can have so many parameters.
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

  /// Whether an LE Meta event that matters here can have so many parameters, the subevent code included.
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
