import ATT
import HCI
import HaloBluetoothCore
import HaloCapture
import HaloCaptureLinks
import L2CAP
import RingLink

/// A link, as far as the capture has shown it.
final class DissectedLink: CapturedLink {
  /// The handle, and the device at the other end.
  private(set) var identity: LinkIdentity
  var peer: BluetoothAddress? { identity.peer }
  let peerServer: DissectedServer
  let localServer: DissectedServer
  @exclusivity(unchecked) var lastUsed = 0

  @exclusivity(unchecked) private var bearers = ATTBearers()
  @exclusivity(unchecked) private var channels = ChannelTable()
  @exclusivity(unchecked) private var ring = RingTracker()
  private let frames = LinkFrames()
  @exclusivity(unchecked) private var sentFragments = 0
  @exclusivity(unchecked) private var receivedFragments = 0
  @exclusivity(unchecked) private var sentPart = TruncatedFrame()
  @exclusivity(unchecked) private var receivedPart = TruncatedFrame()

  init(_ identity: LinkIdentity, peerServer: DissectedServer, localServer: DissectedServer) {
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
      guard let att = ATTLayer(source, frame.payload) else { return }
      packet.att = att
      packet.gatt = bearers.receive(
        att, source, isSent: isSent, at: moment, peer: peerServer, local: localServer)
      findRing(in: source, of: att, into: &packet, at: moment)
    case .leSignaling, .signaling:
      packet.signaling = SignalingLayer(source, frame.payload)
      channels.follow(source, frame.payload, isSent: isSent)
    case .securityManager, ChannelID(rawValue: 7): packet.smp = SMPLayer(source, frame.payload)
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
      let source = packet.source
      guard let att = ATTLayer(source.span.bytes, unit.range) else { return }
      packet.att = att
      packet.gatt = open.bearers.receive(
        att, source.span.bytes, isSent: isSent, at: moment, peer: peerServer, local: localServer)
      findRing(in: source.span.bytes, of: att, into: &packet, at: moment)
    } else if open.psm == .att {
      guard let att = ATTLayer(bytes.span.bytes, frame.payload) else { return }
      packet.att = att
      packet.gatt = open.bearers.receive(
        att, bytes.span.bytes, isSent: isSent, at: moment, peer: peerServer, local: localServer)
    } else if !open.isRetransmitting {
      packet.profile = ProfileLayer(open, bytes.span.bytes, frame.payload, isSent: isSent)
    }
  }

  private func findRing(
    in source: RawSpan, of att: ATTLayer, into packet: inout DissectedPacket, at moment: PacketTime
  ) {
    guard let handle = att.handle, let value = att.value, att.opcode.carriesOnlyValue else {
      if att.opcode == .readResponse || att.opcode == .readByTypeResponse {
        ring.learnFirmware(packet)
      }
      return
    }
    packet.ring = ring.take(
      source, value, handle: handle, role: packet.gatt?.attribute?.ringRole ?? .unknown,
      isFromRing: !att.isFromClient,
      at: moment)
  }
}
