import HCI
import HaloBluetoothCore
import HaloCapture
import L2CAP

/// A link, as far as the capture has shown it.
final class DissectedLink: CapturedLink {
  /// The handle, and the device at the other end.
  private(set) var identity: LinkIdentity
  var peer: BluetoothAddress? { identity.peer }
  let peerServer: DissectedServer
  let localServer: DissectedServer
  let security: ProtectionFollower
  @exclusivity(unchecked) var lastUsed = 0

  @exclusivity(unchecked) private var bearers = ATTBearers()
  @exclusivity(unchecked) private var channels = ChannelTable()
  @exclusivity(unchecked) private var ring = RingTracker()
  private let frames = LinkFrames()
  @exclusivity(unchecked) private var sentFragments = 0
  @exclusivity(unchecked) private var receivedFragments = 0
  @exclusivity(unchecked) private var sentPart = TruncatedFrame()
  @exclusivity(unchecked) private var receivedPart = TruncatedFrame()

  init(
    _ identity: LinkIdentity, peerServer: DissectedServer, localServer: DissectedServer,
    security: ProtectionFollower
  ) {
    self.security = security
    self.identity = identity
    self.peerServer = peerServer
    self.localServer = localServer
  }

  /// Whether a frame goes on whose beginning was truncated in the capture.
  var isTruncated: Bool { sentPart.isCollecting || receivedPart.isCollecting }

  /// The requests without a response.
  var open: [Int] { bearers.open + channels.open }

  /// The device has a new name.
  func rename(_ name: String?) {
    identity = identity.renamed(name)
  }

  /// Handles the data of an ACL packet, and adds the layers of the frame that it completes.
  func receive(_ acl: ACLPacket, into packet: inout DissectedPacket, at moment: PacketTime) {
    let isSent = frames.isSent(acl.header.boundary, packet.info.direction)
    // After the type byte and the header.
    receive(
      acl.data, at: 1 + ACLHeader.length, isStart: acl.header.boundary != .continuing, isSent: isSent,
      into: &packet,
      at: moment)
  }

  /// Handles a fragment of an L2CAP frame, and adds the layers of the frame that it completes.
  ///
  /// - Parameters:
  ///   - data: the fragment
  ///   - start: its offset in the packet's bytes
  ///   - isStart: whether a frame begins with it
  ///   - isSent: whether the host has sent it, or on the air the central
  @inline(__always)
  func receive(
    _ data: RawSpan, at start: Int, isStart: Bool, isSent: Bool, into packet: inout DissectedPacket,
    at moment: PacketTime
  ) {
    let recombiner = isSent ? frames.sent : frames.received
    var fragments = isStart ? 1 : (isSent ? sentFragments : receivedFragments) + 1
    let before = recombiner.counters
    var frame: L2CAPLayer?
    var whole: [UInt8]?
    recombiner.receive(data, isStart: isStart) { channel, payload in
      if fragments == 1 {
        // The frame is complete in the packet.
        frame = L2CAPLayer(
          channel: channel, range: start..<start + BasicHeader.length + payload.byteCount, fragments: 1)
      } else {
        var writer = ByteWriter(capacity: payload.byteCount + BasicHeader.length)
        BasicHeader.writeFrame(payload, on: channel, into: &writer)
        frame = L2CAPLayer(channel: channel, range: 0..<writer.count, fragments: fragments)
        whole = writer.bytes
      }
    }
    if frame != nil { fragments = 0 }
    if isSent { sentFragments = fragments } else { receivedFragments = fragments }
    packet.reassembled = whole
    packet.l2cap = frame
    let after = recombiner.counters
    if after.overlong > before.overlong {
      packet.note(.overlongFrame)
    } else if after.orphans > before.orphans {
      packet.note(.orphan)
    } else if after.unfinished > before.unfinished {
      packet.note(.unfinishedFrame)
    }
    if let frame { receive(frame, into: &packet, isSent: isSent, at: moment) }
  }

  /// Handles a packet that is truncated in the capture, or one whose frame began with such a packet.
  ///
  /// - Returns: whether the packet belongs to a frame that is not complete in the capture
  func receiveTruncated(
    _ header: ACLHeader, _ data: RawSpan, into packet: inout DissectedPacket, at moment: PacketTime
  ) -> Bool {
    receiveTruncated(
      data, length: Int(header.dataLength), isStart: header.boundary != .continuing,
      isSent: frames.isSent(header.boundary, packet.info.direction), into: &packet, at: moment)
  }

  /// The same for a fragment.
  ///
  /// - Parameters:
  ///   - data: the bytes of the fragment that the capture has
  ///   - length: of the fragment, as in its header
  ///   - isStart: whether a frame begins with it
  ///   - isSent: whether the host has sent it, or on the air the central
  func receiveTruncated(
    _ data: RawSpan, length: Int, isStart: Bool, isSent: Bool, into packet: inout DissectedPacket,
    at moment: PacketTime
  ) -> Bool {
    var part = isSent ? sentPart : receivedPart
    guard data.byteCount < length || !isStart && part.isCollecting else { return false }
    let frame = part.receive(data, length: length, isStart: isStart)
    if isSent { sentPart = part } else { receivedPart = part }
    (isSent ? frames.sent : frames.received).reset()
    guard let frame else { return true }
    packet.reassembled = part.bytes
    packet.l2cap = frame
    receive(frame, into: &packet, isSent: isSent, at: moment)
    return true
  }

  private func receive(
    _ frame: L2CAPLayer, into packet: inout DissectedPacket, isSent: Bool, at moment: PacketTime
  ) {
    let bytes = packet.source
    let source = bytes.span.bytes
    switch frame.channel {
    case .attribute:
      receive(frame.payload, on: &bearers, into: &packet, isSent: isSent, at: moment)
      if packet.att?.opcode == .signedWriteCommand { security.takeSigned(&packet, isSent: isSent) }
      findRing(in: &packet, at: moment)
    case .leSignaling, .signaling:
      packet.signaling = SignalingLayer(source, frame.payload)
      channels.follow(source, frame.payload, isSent: isSent)
    case .securityManager:
      packet.smp = SMPLayer(source, frame.payload)
      security.take(&packet, isSent: isSent)
    case ChannelID(rawValue: 7): packet.smp = SMPLayer(source, frame.payload)
    case let channel where channel.isDynamic: receive(on: channel, into: &packet, isSent: isSent, at: moment)
    default: break
    }
  }

  /// Handles a frame on a channel that was opened with signalling commands.
  private func receive(
    on channel: ChannelID, into packet: inout DissectedPacket, isSent: Bool, at moment: PacketTime
  ) {
    guard let frame = packet.l2cap, let open = channels[channel, isSent] else { return }
    packet.l2cap?.psm = open.psm
    let bytes = packet.source
    if open.isCreditBased {
      guard let unit = channels.receive(bytes.span.bytes, frame, open, isSent: isSent) else {
        packet.l2cap?.credits = channels.credits(of: open, isSent: isSent)
        return
      }
      packet.l2cap?.credits = unit.credits
      packet.l2cap?.unit = unit.range
      if let whole = unit.reassembled {
        packet.reassembled = whole
        packet.l2cap?.range = 0..<whole.count
        packet.l2cap?.fragments = unit.frames
      }
      guard open.psm == .enhancedATT else { return }
      receive(unit.range, on: &open.bearers, into: &packet, isSent: isSent, at: moment)
      findRing(in: &packet, at: moment)
    } else if open.psm == .att {
      receive(frame.payload, on: &open.bearers, into: &packet, isSent: isSent, at: moment)
    } else if !open.isRetransmitting {
      packet.profile = ProfileLayer(open, bytes.span.bytes, frame.payload, isSent: isSent)
    }
  }

  /// Handles an ATT PDU.
  private func receive(
    _ pdu: Range<Int>, on bearers: inout ATTBearers, into packet: inout DissectedPacket, isSent: Bool,
    at moment: PacketTime
  ) {
    let bytes = packet.source
    let source = bytes.span.bytes
    guard let att = ATTLayer(source, pdu) else { return }
    packet.att = att
    packet.gatt = bearers.receive(
      att, source, isSent: isSent, at: moment, peer: peerServer, local: localServer)
  }

  private func findRing(in packet: inout DissectedPacket, at moment: PacketTime) {
    guard let att = packet.att else { return }
    guard let handle = att.handle, let value = att.value, att.opcode.carriesOnlyValue else {
      if att.opcode == .readResponse || att.opcode == .readByTypeResponse { ring.learnFirmware(packet) }
      return
    }
    let source = packet.source
    packet.ring = ring.take(
      source.span.bytes, value, handle: handle, role: packet.gatt?.attribute?.ringRole ?? .unknown,
      isFromRing: !att.isFromClient, at: moment)
  }
}

/// An L2CAP frame of which the capture has only the beginning, as its packets were truncated (snap length). Headers
/// and opcodes are there, so that a response is found although its values are not.
struct TruncatedFrame {
  /// With the L2CAP header; the bytes that the capture has before the first missing one.
  private(set) var bytes: [UInt8] = []
  /// The number of bytes of the frame that were not sent yet, whether captured or not.
  private var remaining = 0
  private var fragments = 0
  /// Whether bytes are missing already: later ones have no place.
  private var isCut = false

  var isCollecting: Bool { remaining > 0 }

  /// Takes the packet that is truncated, or one that follows it.
  ///
  /// - Parameters:
  ///   - data: the bytes of the fragment that the capture has
  ///   - length: of the fragment, as in its header
  ///   - isStart: whether a frame begins
  /// - Returns: the layer of the frame that it completes, in ``bytes``
  mutating func receive(_ data: RawSpan, length: Int, isStart: Bool) -> L2CAPLayer? {
    if isStart {
      guard let low = data.byte(at: 0), let high = data.byte(at: 1), data.byteCount >= BasicHeader.length
      else {
        remaining = 0
        return nil
      }
      bytes = []
      remaining = Int(high) << 8 | Int(low)
      remaining += BasicHeader.length
      fragments = 0
      isCut = false
    }
    guard remaining > 0 else { return nil }
    fragments += 1
    if !isCut { bytes += Array(data) }
    if data.byteCount < length { isCut = true }
    remaining -= length
    guard remaining <= 0 else { return nil }
    remaining = 0
    let channel = ChannelID(rawValue: UInt16(bytes[3]) << 8 | UInt16(bytes[2]))
    return L2CAPLayer(channel: channel, range: 0..<bytes.count, fragments: fragments)
  }
}
